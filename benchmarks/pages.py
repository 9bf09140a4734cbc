"""The page over 10,000 memories: its first and its last byte against a bare page's, and how
smoothly the graph moves in a real browser."""

import shutil
import socket
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from benchmarks.corpus import made
from benchmarks.doubles import KnownVectors
from benchmarks.kins import fresh_kin
from benchmarks.latency import fill
from benchmarks.report import Row, Table, Target
from kinmem.documents.document import Given
from kinmem.http.guard import Guard, Sessions
from kinmem.http.tokens import Bearer
from kinmem.models.record import Link
from kinmem.service import Service
from kinmem.web.routes import SEGMENTS, web_routes
from kinmem.web.views import VIEWS, review_queue

MEMORIES, SHORT = 10_000, 500
LINKS = 5_000
TURNS, SETTLING_SECONDS = 20, 120.0
REVIEWING_SECONDS = 600.0
ROUNDS = 40
MOST_TIMES, LEAST_FRAMES = 10.0, 20.0
MS = 1000.0
CHROMIUM = shutil.which("chromium")
PAN_SECONDS = 4.0
LAST_CHUNK = b"\r\n0\r\n\r\n"
# Counts the frames that the browser shows while somebody drags.
COUNT = """() => { window.frames_seen = []; const see = (at) => { window.frames_seen.push(at);
requestAnimationFrame(see); }; requestAnimationFrame(see); }"""


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """First bytes of each view, and frames a second while the graph is dragged."""
    corpus = made(SHORT if short else MEMORIES, 1)
    embedder = KnownVectors([str(corpus.notes[0]["content"])], corpus.vectors[:1])
    embedder.other = corpus.vectors[0]
    with fresh_kin(embedder, KINMEM_JUDGE="off") as kin:
        fill(kin, corpus)
        _link(kin, LINKS if not short else SHORT)
        _talk(kin)
        sessions = Sessions(kin.settings.home, 1, lambda token: None, SEGMENTS)
        pages = Starlette(routes=web_routes(lambda _: kin, sessions))
        with (
            served(Guard(pages, [], lambda token: None, sessions)) as port,
            served(Starlette(routes=[Route("/", _bare)])) as bare_port,
        ):
            rows, targets = _first_bytes(kin, sessions, port, bare_port)
            frames, aimed = _frames(sessions, port)
    return [
        Table(
            "First and last byte of a page, median in ms",
            ("page", "first byte", "times a bare page", "last byte", "times it", "of CPU"),
            rows,
            f"{len(corpus.notes):,} memories; {ROUNDS} requests each, in turn with those of a bare"
            " Starlette page of 20 bytes, each over a connection that is open already, with"
            " TCP_NODELAY. Of CPU: the ratio of processor time, which other programs on the machine"
            " change least. These are second visits: what is kept until the memory changes is not"
            " worked out anew.",
        ),
        *frames,
    ], targets + aimed


def _link(kin: Service, count: int) -> None:
    """Join memories that stand near each other, and a few that do not."""
    chance = np.random.default_rng(count)
    ids = kin.store.links.densest(2_000)
    near = chance.integers(1, 12, count)
    found: dict[frozenset[str], Link] = {}
    for at in chance.integers(0, len(ids), 3 * count):
        step = int(near[len(found) % count]) if chance.random() < 0.9 else len(ids) // 3
        link = Link(ids[at], ids[(at + step) % len(ids)], "related_to")
        found.setdefault(link.ends, link)
        if len(found) == count:
            break
    kin.store.links.add(list(found.values()))


def _talk(kin: Service) -> None:
    """Let a conversation be in it, and a document."""
    for number in range(TURNS):
        kin.record_turn("bench", f"Is shelf {number} full?", f"Shelf {number} is half empty.")
    text = "\n\n".join(f"# Room {number}\n\nThe lamp is on hook {number}." for number in range(20))
    kin.add(Given(data=text.encode(), name="rooms.md", source_ref="upload:rooms.md"), None)
    kin.settle(SETTLING_SECONDS)
    kin.reembed()


async def _bare(request: Request) -> HTMLResponse:
    return HTMLResponse("<h1>Hello there</h1>")


@contextmanager
def served(app: ASGIApp) -> Iterator[int]:
    """Serve it on a free port as kinmem does."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_keep_alive=600))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(10)


def _first_bytes(
    kin: Service, sessions: Sessions, port: int, bare_port: int
) -> tuple[list[Row], list[Target]]:
    session = sessions.accept(sessions.invite(Bearer(kin.kin, "admin")))
    assert session is not None
    cookie = f"{sessions.cookie}={session.key}"
    one = kin.list_memories(limit=1).memories[0].id
    review_queue.REVIEWS.latest(kin, REVIEWING_SECONDS)
    rows: list[Row] = []
    targets: list[Target] = []
    bare = Asking(bare_port, "")
    with closing(bare), closing(Asking(port, cookie)) as asking:
        for path in _paths(one):
            asking.ask(path)  # what is kept for the next time is kept now
            times = [(*asking.ask(path), *bare.ask("/")) for _ in range(ROUNDS)]
            first, last, there, whole = (
                statistics.median(some) for some in zip(*times, strict=True)
            )
            name = path.replace(one, "{id}")
            spent = _processor_time(asking, path) / _processor_time(bare, "/")
            rows.append((name, first * MS, first / there, last * MS, last / whole, spent))
            targets.append(Target(f"first byte / bare page, {name}", first / there, MOST_TIMES))
    return rows, targets


def _paths(one: str) -> Iterator[str]:
    """Every view, and what lies below some."""
    yield from (view.path for view in VIEWS if view.is_listed)
    yield from (f"/memory/{one}", f"/memory/{one}/edit", "/conversations/one?name=bench")


def _processor_time(asking: "Asking", path: str) -> float:
    """Return the seconds of processor time that asking some times takes, the asking included."""
    begun = time.process_time()
    for _ in range(ROUNDS // 2):
        asking.ask(path)
    return time.process_time() - begun


class Asking:
    """A connection over which pages are asked for, one after the other."""

    def __init__(self, port: int, cookie: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._cookie = cookie

    def ask(self, path: str) -> tuple[float, float]:
        """Seconds until the answer begins, and until it has come whole."""
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {self._cookie}\r\n\r\n"
        begun = time.perf_counter()
        self._socket.sendall(request.encode())
        answer = self._socket.recv(1 << 16)
        first = time.perf_counter() - begun
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head[:80]
        sizes = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
        left = int(sizes[0].split(b":")[1]) - len(body) if sizes else 0
        while left > 0:
            left -= len(self._socket.recv(1 << 16))
        while not sizes and not body.endswith(LAST_CHUNK):
            body += self._socket.recv(1 << 16)
        return first, time.perf_counter() - begun

    def close(self) -> None:
        self._socket.close()


def _frames(sessions: Sessions, port: int) -> tuple[list[Table], list[Target]]:
    """Frames a second while the graph is dragged in Chromium; nothing without one."""
    if CHROMIUM is None:
        return [], []
    from playwright.sync_api import sync_playwright

    link = f"http://127.0.0.1:{port}/login?key={sessions.invite(Bearer('bench', 'admin'))}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(link)
        page.goto(f"http://127.0.0.1:{port}/topology")
        page.wait_for_selector(".canvas canvas", timeout=60_000)
        page.wait_for_timeout(1000)
        box = page.locator(".canvas").bounding_box()
        assert box is not None
        nodes = page.evaluate("document.querySelector('.canvas').drawn.nodes().length")
        lines = page.evaluate("document.querySelector('.canvas').drawn.edges().length")
        page.mouse.move(box["x"] + 300, box["y"] + 300)
        page.mouse.down()
        page.evaluate(COUNT)
        ends_at, step = time.monotonic() + PAN_SECONDS, 0
        while time.monotonic() < ends_at:
            step += 1
            page.mouse.move(box["x"] + 300 + 3 * (step % 60), box["y"] + 300 + 2 * (step % 40))
        seen: Sequence[float] = page.evaluate("window.frames_seen")
        page.mouse.up()
        browser.close()
    frames = (len(seen) - 1) / (seen[-1] - seen[0]) * MS
    slowest = max(after - before for before, after in zip(seen, seen[1:], strict=False))
    title = "The graph while it is dragged, in Chromium without a graphics card"
    table = Table(
        title,
        ("nodes", "lines", "frames a second", "longest frame, ms"),
        [(nodes, lines, frames, slowest)],
    )
    return [table], [Target("frames a second of the graph", frames, LEAST_FRAMES, at_most=False)]
