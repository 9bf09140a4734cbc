"""A provider of embeddings, OpenAI's shape, that fails in every way seen; for tests, on loopback.

The first part of the path is the mode: FaultProvider.base("drip") is the address of one that drips.
What hangs or drips does so until the test is over: whoever waits for it never answers.
"""

import json
import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

WIDTH = 8
LEAKED = "sk-LEAKEDLEAKEDLEAKED1234"
"""Looks like a key; some providers repeat the one they were given."""


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is what half of the modes are for."""


class FaultProvider:
    """Runs while its `with` block does. `hits` counts the requests of each mode."""

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.over = threading.Event()
        self._server = Quiet(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def base(self, mode: str) -> str:
        return f"{self.address}/{mode}/v1"

    def answer(self, mode: str, reply: "Reply", body: dict[str, Any]) -> None:
        """Do what the mode says."""
        MODES[mode](reply, body.get("input") or body.get("texts") or [])

    def encrypt(self, context: ssl.SSLContext) -> None:
        """From now on it speaks TLS only."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.address = self.address.replace("http://", "https://")

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(provider) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                mode = urlsplit(self.path).path.split("/")[1]
                provider.hits[mode] += 1
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                provider.bodies.append(body)
                provider.paths.append(self.path)
                provider.headers.append({k.lower(): v for k, v in self.headers.items()})
                provider.answer(mode, Reply(self, provider), body)

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                """Nothing on stderr: tests look at it."""

        return Handler


class Reply:
    """The answer to one request, and the provider it comes from."""

    def __init__(self, handler: BaseHTTPRequestHandler, provider: FaultProvider) -> None:
        self.handler = handler
        self.provider = provider

    def send(self, status: int, content: object, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.handler.send_response(status)
        self.handler.send_header("Content-Length", str(len(data)))
        self.handler.send_header("Content-Type", headers.pop("kind", "application/json"))
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def vectors(self, rows: list[Any], number: Callable[[int], int] = int, **headers: str) -> None:
        data = [
            {"object": "embedding", "index": number(n), "embedding": r} for n, r in enumerate(rows)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self.send(200, {"object": "list", "model": "m", "data": data, "usage": usage}, **headers)

    def drip(self, start: bytes) -> None:
        """A byte every tenth of a second, for as long as somebody listens."""
        self.handler.close_connection = True
        self.handler.wfile.write(start)
        while not self.provider.over.wait(0.1):
            self.handler.wfile.write(b" ")

    def reset(self) -> None:
        self.handler.close_connection = True
        self.handler.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.handler.connection.close()


def vector_of(text: str) -> list[float]:
    """Tells texts apart by their length; its own length is not 1."""
    return [float(len(text)), 1.0] + [0.0] * (WIDTH - 2)


def rows_of(texts: list[str], value: Any = None) -> list[list[Any]]:
    return [[value] * WIDTH if value is not None else vector_of(text) for text in texts]


def error(text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "fault", "code": None}}


def ok(reply: Reply, texts: list[str]) -> None:
    reply.vectors(rows_of(texts))


def backwards(reply: Reply, texts: list[str]) -> None:
    data = [
        {"object": "embedding", "index": n, "embedding": vector_of(text)}
        for n, text in reversed(list(enumerate(texts)))
    ]
    reply.send(200, {"object": "list", "model": "m", "data": data, "usage": {}})


def failing_twice(reply: Reply, texts: list[str]) -> None:
    if reply.provider.hits["500then"] % 2:
        reply.send(500, error("boom"))
    else:
        ok(reply, texts)


def redirect(reply: Reply, texts: list[str]) -> None:
    reply.send(302, b"", Location=f"{reply.provider.address}/landed/v1/embeddings")


def endless(reply: Reply, texts: list[str]) -> None:
    reply.handler.close_connection = True
    reply.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while not reply.provider.over.is_set():
        reply.handler.wfile.write(b" " * 1_000_000)


HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

MODES: dict[str, Callable[[Reply, list[str]], object]] = {
    "ok": ok,
    "landed": ok,
    "backwards": backwards,
    "hang": lambda reply, texts: reply.provider.over.wait(),
    "drip": lambda reply, texts: reply.drip(HEADERS + b"Content-Length: 9999\r\n\r\n"),
    "dripping-head": lambda reply, texts: reply.drip(b"HTTP/1.1 200 OK\r\nX-Slow: "),
    "429": lambda reply, texts: reply.send(429, error("slow down"), Retry_After="0.2"),
    "429long": lambda reply, texts: reply.send(429, error("slow down"), Retry_After="3600"),
    "500": lambda reply, texts: reply.send(500, error("boom")),
    "500then": failing_twice,
    "401": lambda reply, texts: reply.send(401, error(f"incorrect key {LEAKED}")),
    "garbage": lambda reply, texts: reply.send(200, b"{not json <html>"),
    "html": lambda reply, texts: reply.send(200, b"<html>sign in</html>", kind="text/html"),
    "unnumbered": lambda reply, texts: reply.vectors(rows_of(texts), lambda n: 0),
    "one-twice": lambda reply, texts: reply.vectors(rows_of(texts), lambda n: min(n, 1)),
    "no-data": lambda reply, texts: reply.vectors([]),
    "fewer": lambda reply, texts: reply.vectors(rows_of(texts)[1:]),
    "wrong-width": lambda reply, texts: reply.vectors([[1.0] * (WIDTH - 3)] * len(texts)),
    "uneven": lambda reply, texts: reply.vectors([[1.0] * (n + 1) for n in range(len(texts))]),
    "nan": lambda reply, texts: reply.vectors(rows_of(texts, float("nan"))),
    "infinite": lambda reply, texts: reply.vectors(rows_of(texts, float("inf"))),
    "zero": lambda reply, texts: reply.vectors(rows_of(texts, 0.0)),
    "booleans": lambda reply, texts: reply.vectors(rows_of(texts, True)),
    "too-large": lambda reply, texts: reply.vectors(rows_of(texts, 1e308)),
    "strings": lambda reply, texts: reply.vectors(rows_of(texts, "0.1")),
    "reset": lambda reply, texts: reply.reset(),
    "redirect": redirect,
    "endless": endless,
}
