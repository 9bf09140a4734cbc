"""A double of Anthropic's messages API on loopback: answers by a script, keeps the requests."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]
Block = dict[str, Any]
Script = Callable[[Request], Block]
"""The one block of content that answers a request: text, or the call of a tool."""


class MessagesApi:
    """Serves until closed; `requests` holds the bodies of /v1/messages, in order."""

    def __init__(self, script: Script) -> None:
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script, self.requests))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def messages_api(script: Script) -> Iterator[MessagesApi]:
    """One that is closed afterwards."""
    api = MessagesApi(script)
    try:
        yield api
    finally:
        api.close()


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def call(tool: str, **arguments: object) -> Block:
    return {"type": "tool_use", "id": "toolu_1", "name": tool, "input": arguments}


def _handler(script: Script, requests: list[Request]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            path = self.path.partition("?")[0]
            if path == "/v1/messages":
                requests.append(body)
                self._answer(_message(body, script(body)), streamed=bool(body.get("stream")))
            elif path == "/v1/messages/count_tokens":
                self._put("application/json", json.dumps({"input_tokens": 100}))
            else:
                self.send_error(404)

        def _answer(self, message: dict[str, Any], *, streamed: bool) -> None:
            if streamed:
                lines = (
                    f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in _events(message)
                )
                self._put("text/event-stream", "".join(lines))
            else:
                self._put("application/json", json.dumps(message))

        def _put(self, kind: str, body: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _message(request: Request, block: Block) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [block],
        "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same, as it is streamed: a block begins empty, and comes in one piece."""
    (block,) = message["content"]
    if block["type"] == "tool_use":
        begun = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        begun = {**block, "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": begun}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}
