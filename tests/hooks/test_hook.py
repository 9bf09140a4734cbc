"""`kinmem hook` as clients run it: one object on stdout and exit code 0, whatever comes in."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinmem.hooks.local_socket import answered
from kinmem.hooks.socket_server import serve_local
from kinmem.settings import load
from kinmem.wiring.open_memory import open_service
from tests.hooks.conftest import CLIENTS, ROOT, Hook, recorded

PROMPT = {
    "session_id": "s",
    "cwd": "/w",
    "hook_event_name": "UserPromptSubmit",
    "prompt_id": "p",
    "prompt": "Where do I live?",
}


class Server:
    """Stands at the socket in place of kinmem serve, and answers every hook with the same."""

    def __init__(self, home: Path) -> None:
        self.requests: list[dict[str, Any]] = []
        self.told: dict[str, Any] = {"notes": "You live in Lyon."}
        self.delay = 0.0
        self.door = serve_local(home, "default", self.answer)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        time.sleep(self.delay)
        return self.told


@pytest.fixture
def server(home: Path) -> Iterator[Server]:
    server = Server(home)
    yield server
    server.door.close()


HOSTILE = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"not JSON", id="no JSON"),
    pytest.param(b"\x00\xff\xfe", id="bytes"),
    pytest.param(b'{"hook_event_name":', id="cut off"),
    pytest.param(b"[" * 100_000, id="deep"),
    pytest.param(b"1" * 10_000, id="a huge number"),
    pytest.param([], id="list"),
    pytest.param(None, id="null"),
    pytest.param({}, id="no fields"),
    pytest.param({"hook_event_name": "Nonsense", "session_id": "s"}, id="unknown event"),
    pytest.param({"hook_event_name": ["Stop"], "session_id": "s"}, id="event of a wrong type"),
    pytest.param({**PROMPT, "prompt": {"a": 1}}, id="prompt of a wrong type"),
    pytest.param({**PROMPT, "session_id": None}, id="no session"),
    pytest.param({**PROMPT, "prompt": "\0\0"}, id="a prompt of NULs"),
    pytest.param({"hook_event_name": "Stop", "session_id": "s"}, id="no message"),
    pytest.param(b'"' + b"x" * 50_000_000 + b'"', id="50 MB"),
]


@pytest.mark.parametrize("given", HOSTILE)
def test_what_cannot_be_understood_is_let_pass(hook: Hook, given: object, home: Path) -> None:
    done = hook(given)

    assert (done.returncode, json.loads(done.stdout)) == (0, {})
    assert done.stderr.count(b"\n") <= 1
    assert b"Traceback" not in done.stderr and b"JSONDecodeError" not in done.stderr
    assert not (home / "kins").exists()


@pytest.mark.parametrize("words", [["nonsense"], ["--kin"], ["--what", "x"], ["--home"], []])
def test_words_it_does_not_know_are_let_be(hook: Hook, words: list[str]) -> None:
    done = hook({}, *words)

    assert (done.returncode, done.stdout) == (0, b"{}\n")


def test_without_standard_streams_it_ends_well() -> None:
    closed = "exec <&- >&- 2>&-; exec " + f"{sys.executable} -m kinmem hook"
    done = subprocess.run(["/bin/sh", "-c", closed], cwd=ROOT, timeout=60)

    assert done.returncode == 0


def test_a_client_that_hangs_up_is_no_error(hook: Hook, server: Server) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "kinmem", "hook"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    process.stdin.write(json.dumps(PROMPT).encode())
    process.stdin.close()

    assert process.wait(60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_client_that_never_ends_its_input_is_not_waited_for(home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "kinmem", "hook"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stdout.read() == b"{}\n"
        assert process.wait(10) == 0


@pytest.mark.parametrize(("most", "printed"), [(60, b'{"told": 1}\n'), (1, b"{}\n")])
def test_a_hook_that_computes_is_given_more_time_than_one_that_waits(
    most: int, printed: bytes
) -> None:
    code = (
        "import time\n"
        "from kinmem.hooks.hook import StandardStreams\n"
        "streams = StandardStreams([])\n"
        f"streams.watch(0.5, {most})\n"
        "until = time.monotonic() + 2\n"
        "while time.monotonic() < until: pass\n"
        'streams.put({"told": 1})\n'
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60)

    assert done.stdout == printed


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_what_a_server_says_too_late_is_told_by_the_hook_itself(
    hook: Hook, home: Path, event: str
) -> None:
    """The server has noted it as told; a busy one that starts cold does so for every session."""
    go = threading.Event()
    settings = load({"KINMEM_HOME": home})
    with open_service(settings, resident=False) as service:
        service.memorize("The staging database of the shop is called heron-staging")

        def answer_late(request: dict[str, Any]) -> dict[str, Any]:
            told = answered(service, request)
            go.wait(60)
            return told

        door = serve_local(home, "default", answer_late)
        prompt = {"prompt": "What is the staging database of the shop called?", "prompt_id": "p"}
        done = hook({"session_id": "s", "hook_event_name": event, **prompt}, "claude")
        go.set()
        door.close()

        kept = [turn.text for turn in service.turns("s")]

    assert b"heron-staging" in done.stdout
    assert kept == ([] if event == "SessionStart" else [prompt["prompt"]])


def test_a_hook_that_asks_a_server_is_given_the_time_to_do_it_itself_after_that() -> None:
    code = (
        "import time\n"
        "from kinmem.hooks.hook import StandardStreams\n"
        "outlet = StandardStreams([])\n"
        "outlet.watch(0.5, 60)\n"
        "with outlet.asking(): time.sleep(3)\n"
        'outlet.put({"told": 1})\n'
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60)

    assert done.stdout == b'{"told": 1}\n'


def test_a_hook_without_a_server_reads_no_tables_it_does_without() -> None:
    code = (
        "import sys\n"
        "import kinmem.conversation.observe, kinmem.recall.pipeline, kinmem.store.sqlite.store\n"
        "from kinmem.language.secrets.kinds import NAMED\n"
        "print([name for name in sys.argv[1:] if name in sys.modules])\n"
        "print(any('_compiled' in vars(pattern) for pattern, _ in NAMED))\n"
    )
    late = ("kinmem.conversation.compact", "kinmem.language.relations")
    spared = ("pydantic", "litellm", *late, "tempfile")

    done = subprocess.run(
        [sys.executable, "-c", code, *spared], cwd=ROOT, capture_output=True, timeout=60
    )

    assert done.stdout == b"[]\nFalse\n"


def test_notes_of_the_server_reach_the_client(hook: Hook, server: Server) -> None:
    done = hook(PROMPT, "claude")

    assert json.loads(done.stdout) == {
        "hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": "You live in Lyon.",
        }
    }
    assert done.stderr == b""
    (request,) = server.requests
    assert (request["client"], request["place"]) == ("claude-code", "/w")


@pytest.mark.parametrize("client", CLIENTS)
def test_every_call_is_answered_with_one_object(
    hook: Hook, server: Server, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in recorded(client)[:8]:
        done = hook(given, client)

        assert done.returncode == 0
        assert isinstance(json.loads(done.stdout), dict)
        assert done.stderr == b""


def test_what_nobody_can_keep_is_one_line(hook: Hook, server: Server) -> None:
    server.told = {"error": "the memory is full\nof sand"}

    done = hook(PROMPT, KINMEM_NONSENSE="1")

    assert (done.returncode, done.stdout) == (0, b"{}\n")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("kinmem hook: ") and "does not know" in line


def test_notes_are_plain_ascii_on_the_wire(hook: Hook, server: Server) -> None:
    """Whatever encoding a client's pipe has."""
    server.told = {"notes": "Café \u2028 \ud800"}

    done = hook(PROMPT, PYTHONIOENCODING="latin-1")

    assert done.stdout.isascii()
    told = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert told.startswith("Café \u2028")


def test_a_byte_order_mark_is_no_harm(hook: Hook, server: Server) -> None:
    assert b"Lyon" in hook(b"\xef\xbb\xbf" + json.dumps(PROMPT).encode()).stdout


def test_the_kin_may_be_named(hook: Hook, home: Path) -> None:
    asked: list[dict[str, Any]] = []
    door = serve_local(home, "bob", lambda request: asked.append(request) or {"notes": "Hi, Bob"})

    assert b"Bob" in hook(PROMPT, "claude", "--kin", "bob").stdout
    assert b"Bob" in hook(PROMPT, KINMEM_KIN="bob").stdout
    door.close()


def test_with_a_server_nothing_heavy_is_loaded(server: Server) -> None:
    code = (
        "import sys; from kinmem.cli import main; from kinmem.hooks import hook\n"
        "hook.SERVER_SECONDS = 20\n"  # else a hook on a busy machine does it itself
        "main(['hook'])\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        input=json.dumps(PROMPT).encode(),
        capture_output=True,
    )

    assert b"Lyon" in done.stdout
    heavy = "mcp numpy litellm apsw pydantic asyncio typer dataclasses inspect pathlib subprocess"
    assert not set(done.stderr.decode().split()) & set(heavy.split())
