"""How soon a page that is open in a browser shows what another process has written."""

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette

from benchmarks.kins import fresh_kin
from benchmarks.pages import CHROMIUM, served
from benchmarks.report import Row, Table, Target
from kinmem.http.guard import Guard, Sessions
from kinmem.http.tokens import Bearer
from kinmem.web.routes import SEGMENTS, web_routes

ROUNDS, FEW = 20, 3
MOST_SECONDS = 2.0
PATIENCE_MS = 30_000
PATHS = ("/memories", "/activity")
# Stores each line that it reads, and says when that was done.
WRITER = """
import json, sys, time, kinmem
with kinmem.open("bench", home=sys.argv[1]) as memory:
    for line in sys.stdin:
        memory.memorize(json.loads(line))
        print(time.time(), flush=True)
"""


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Seconds from the end of another process' write until the page shows it; nothing without a
    browser."""
    if CHROMIUM is None:
        return [], []
    from playwright.sync_api import sync_playwright

    rounds = FEW if short else ROUNDS
    chance = random.Random(rounds)
    rows: list[Row] = []
    with fresh_kin() as kin:
        sessions = Sessions(kin.settings.home, 1, lambda token: None, SEGMENTS)
        app = Starlette(routes=web_routes(lambda _: kin, sessions))
        with (
            served(Guard(app, [], lambda token: None, sessions)) as port,
            _writer(kin.settings.home) as writer,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page()
            invitation = sessions.invite(Bearer(kin.kin, "admin"))
            page.goto(f"http://127.0.0.1:{port}/login?key={invitation}")
            for path in PATHS:
                page.goto(f"http://127.0.0.1:{port}{path}")
                took = []
                for number in range(rounds):
                    time.sleep(chance.random())  # the page looks once a second, at any moment of it
                    told = f"jar {number} of {path} holds {chance.randrange(10**6)} beans"
                    done = _write(writer, told)
                    page.get_by_text(told).first.wait_for(timeout=PATIENCE_MS)
                    took.append(max(0.0, time.time() - done))
                rows.append((path, statistics.median(took), max(took)))
            browser.close()
    table = Table(
        "What another process writes appears on an open page, in seconds",
        ("page", "median", "longest"),
        rows,
        f"{rounds} memories for each page, stored by a process of its own while the page is open in"
        " Chromium; from the end of the write until the page shows it.",
    )
    longest = max(float(row[2] or 0) for row in rows)
    target = Target("seconds until an open page shows a write, longest", longest, MOST_SECONDS)
    return [table], [target]


@contextmanager
def _writer(home: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", WRITER, str(home)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _write(writer: "subprocess.Popen[str]", told: str) -> float:
    """Let the other process store it; return when it had done so."""
    assert writer.stdin is not None
    assert writer.stdout is not None
    print(json.dumps(told), file=writer.stdin, flush=True)
    return float(writer.stdout.readline())
