"""The socket that hooks ask at."""

import json
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from kinmem.hooks import socket_server
from kinmem.hooks.local_socket import (
    MOST_BYTES,
    OPEN_FOLDERS,
    address_of,
    ask_local,
    socket_path,
)
from kinmem.hooks.socket_server import serve_local
from tests.hooks.conftest import ROOT

Serve = Callable[..., Any]


@pytest.fixture
def serve(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Opens doors that answer with their name; closed after the test."""
    monkeypatch.setattr(socket_server, "TAKEOVER_SECONDS", 0.02)
    opened = []

    def open_door(name: str, kin: str = "ana", **told: Any) -> Any:
        opened.append(serve_local(home, kin, lambda request: {"by": name, **request, **told}))
        return opened[-1]

    yield open_door
    for one in opened:
        one.close()


def asked(home: Path, kin: str = "ana", **request: Any) -> dict[str, Any] | None:
    return ask_local(home, kin, request, 5)


def connected(home: Path, kin: str = "ana") -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(60)
    with address_of(str(socket_path(home, kin))) as address:
        client.connect(address)
    return client


def by(home: Path, expected: str | None) -> bool:
    """Whether that server answers, within a while."""
    latest = time.monotonic() + 60
    while time.monotonic() < latest:
        answer = asked(home)
        if (answer and answer["by"]) == expected:
            return True
    return False


def test_a_request_is_answered(serve: Serve, home: Path) -> None:
    serve("first")

    assert asked(home, text="Café \ud800\u2028\n") == {"by": "first", "text": "Café \ud800\u2028\n"}


def test_only_the_user_can_reach_it(serve: Serve, home: Path) -> None:
    (home / "run").mkdir(parents=True)
    (home / "run").chmod(0o777)
    serve("first")

    path = Path(str(socket_path(home, "ana")))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_without_a_server_nobody_answers(home: Path) -> None:
    assert asked(home) is None
    assert not (home / "run").exists()


def test_kins_have_doors_of_their_own(serve: Serve, home: Path) -> None:
    serve("first", "ana")
    serve("second", "bob")

    assert (asked(home, "ana") or {})["by"] == "first"
    assert (asked(home, "bob") or {})["by"] == "second"
    assert asked(home, "eve") is None


def test_a_second_server_takes_over_when_the_first_is_gone(serve: Serve, home: Path) -> None:
    first = serve("first")
    serve("second")
    assert by(home, "first")

    first.close()
    assert by(home, "second")


def test_a_closed_door_leaves_nothing_to_knock_at(serve: Serve, home: Path) -> None:
    first = serve("first")
    first.close()
    first.close()

    assert not Path(str(socket_path(home, "ana"))).exists()
    assert asked(home) is None


def test_a_server_that_waits_can_be_closed(serve: Serve, home: Path) -> None:
    serve("first")
    serve("second").close()

    assert by(home, "first")


def test_the_socket_of_a_killed_server_is_replaced(serve: Serve, home: Path) -> None:
    code = (
        "from kinmem.hooks.socket_server import serve_local; import sys, time\n"
        f"serve_local({str(home)!r}, 'ana', lambda request: {{'by': 'killed'}})\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as killed:
        assert killed.stdout and killed.stdout.readline() == b"ready\n"
        assert by(home, "killed")
        serve("second")
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert Path(str(socket_path(home, "ana"))).exists()

    assert by(home, "second")


def test_a_file_in_the_way_is_no_server(serve: Serve, home: Path) -> None:
    (home / "run").mkdir(parents=True)
    Path(str(socket_path(home, "ana"))).write_text("not a socket")

    assert asked(home) is None
    serve("first")
    assert by(home, "first")


def test_clients_that_do_nothing_disturb_nobody(serve: Serve, home: Path) -> None:
    serve("first")
    with ExitStack() as stack:
        silent = [
            stack.enter_context(connected(home)) for _ in range(socket_server.MOST_CLIENTS - 1)
        ]
        silent[0].sendall(b'{"half a')
        silent[1].shutdown(socket.SHUT_WR)

        assert by(home, "first")


def test_too_many_clients_are_sent_away_and_then_served_again(
    serve: Serve, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_server, "PATIENCE_SECONDS", 0.3)
    serve("first")
    with ExitStack() as stack:
        for _ in range(3 * socket_server.MOST_CLIENTS):
            stack.enter_context(connected(home))

        assert by(home, "first")  # the silent ones have 0.3 s


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\n", id="empty"),
        pytest.param(b"not JSON\n", id="no JSON"),
        pytest.param(b"[1]\n", id="no object"),
        pytest.param(b"\xff\x00\n", id="bytes"),
        pytest.param(b"[" * 100_000 + b"\n", id="deep"),
        pytest.param(b"x" * (MOST_BYTES + 100_000), id="too long"),
    ],
)
def test_a_bad_line_ends_only_its_own_connection(serve: Serve, home: Path, line: bytes) -> None:
    serve("first")

    with connected(home) as client:
        with suppress(OSError):  # it may hang up while it is still written to
            client.sendall(line)
        assert received(client) == b""
    assert by(home, "first")


def test_what_the_answer_raises_ends_only_its_connection(home: Path) -> None:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if "fail" in request:
            raise RuntimeError("no")
        return {"by": "first"}

    opened = serve_local(home, "ana", answer)

    assert asked(home, fail=True) is None
    assert asked(home) == {"by": "first"}
    opened.close()


def test_what_is_too_long_goes_the_long_way(serve: Serve, home: Path) -> None:
    serve("first", big="x" * MOST_BYTES)

    assert asked(home, text="x" * MOST_BYTES) is None
    assert asked(home) is None  # the answer is too long as well


def test_large_texts_pass(serve: Serve, home: Path) -> None:
    serve("first")

    assert asked(home, text="x" * (MOST_BYTES // 2)) == {
        "by": "first",
        "text": "x" * (MOST_BYTES // 2),
    }


def test_a_slow_server_is_not_waited_for(home: Path) -> None:
    go = threading.Event()
    opened = serve_local(home, "ana", lambda request: go.wait(30) or {})

    assert ask_local(home, "ana", {}, 0.1) is None
    go.set()
    opened.close()


@pytest.mark.skipif(not Path(OPEN_FOLDERS).is_dir(), reason="only Linux reaches so far")
@pytest.mark.parametrize("length", [20, 120, 240])
def test_a_home_of_any_length_has_a_socket(tmp_path: Path, length: int) -> None:
    home, kin = tmp_path / ("h" * length), "k" * 60
    opened = serve_local(home, kin, lambda request: {"by": "first"})

    assert ask_local(home, kin, {}, 5) == {"by": "first"}
    assert ask_local(home, "k" * 59, {}, 5) is None
    opened.close()


def test_a_path_that_is_too_long_elsewhere_has_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinmem.hooks.local_socket.OPEN_FOLDERS", str(tmp_path / "none"))
    home = tmp_path / ("h" * 120)
    opened = serve_local(home, "ana", lambda request: {})

    assert ask_local(home, "ana", {}, 5) is None
    opened.close()


@pytest.mark.parametrize("kin", ["../ana", "a/b", ".", ""])
def test_a_name_that_is_none_leads_nowhere_else(home: Path, kin: str) -> None:
    path = socket_path(home, kin)

    assert path and Path(path).parent == home / "run"


def test_a_home_that_cannot_be_written_has_no_socket(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    serve_local(tmp_path / "file", "ana", lambda request: {}).close()


def received(client: socket.socket) -> bytes:
    try:
        return client.recv(1000)
    except OSError:
        return b""


def test_many_ask_at_once(serve: Serve, home: Path) -> None:
    serve("first")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: asked(home, n=n), range(64)))

    assert [json.loads(json.dumps(answer))["n"] for answer in answers if answer] == list(range(64))
