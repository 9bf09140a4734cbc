"""Recorded sessions of every client, told to a real memory: what is kept, and what is told."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from kinmem.hooks.dialects import heard, reply
from kinmem.hooks.local_socket import answered, attend, request_of
from kinmem.hooks.socket_server import StayingWorker, serve_local
from kinmem.service import Service
from kinmem.wiring.open_memory import open_service
from tests.conftest import MovableClock
from tests.hooks.conftest import CLIENTS, ROOT, Hook, recorded
from tests.hooks.golden import golden

HOME = "I live in Lyon, close to the Rue Mercière"
SHOP = "The shop sells bicycles"
PROMPT = {
    "session_id": "s",
    "cwd": "/w",
    "hook_event_name": "UserPromptSubmit",
    "prompt_id": "p",
    "prompt": "Is the Rue Mercière in Lyon close to where I live?",
}
STOP = {
    "session_id": "s",
    "cwd": "/w",
    "hook_event_name": "Stop",
    "prompt_id": "p",
    "last_assistant_message": "In Lyon.",
}


def printed(service: Service, client: str, given: dict[str, Any]) -> dict[str, Any]:
    """The answer to a call. Memories in it are only named: how they are put is not for hooks."""
    hook = heard(given, client)
    notes = attend(service, hook)
    named = [name for text, name in ((HOME, "home"), (SHOP, "shop")) if text in notes]
    return reply(hook, " ".join(named))


def kept(service: Service) -> list[dict[str, Any]]:
    """What was stored of the session; turns that have got a name of their own are numbered."""
    (session,) = service.sessions()
    messages = service.turns(session.name)
    names = list(dict.fromkeys(message.turn for message in messages))
    return [
        {
            "turn": names.index(message.turn) + 1,
            "role": message.role,
            "text": message.text,
            "tool": message.tool,
            "client": message.client,
            "place": message.place,
        }
        for message in messages
    ]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_recorded_session(client: str, service: Service, clock: MovableClock) -> None:
    service.memorize(HOME)
    service.memorize(SHOP, importance=9)
    told = []
    for given in recorded(client):
        clock.advance(seconds=30)
        told.append(printed(service, client, given))

    golden(f"{client}.kept.json", {"printed": told, "kept": kept(service)})


@pytest.mark.parametrize("client", CLIENTS)
def test_the_same_session_through_two_hosts_is_kept_once(client: str, service: Service) -> None:
    for given in recorded(client):
        printed(service, client, given)
        once = kept(service) if service.sessions() else []
        printed(service, "claude", given)
        assert (kept(service) if service.sessions() else []) == once


@pytest.mark.parametrize("hooks", [("AfterAgent",), ("BeforeAgent", "AfterAgent")], ids=str)
def test_geminis_prompt_is_kept_whichever_hooks_are_there(
    hooks: tuple[str, ...], service: Service, clock: MovableClock
) -> None:
    said = {
        "session_id": "s",
        "timestamp": "t",
        "prompt": "I own a canoe.",
        "prompt_response": "Ah.",
    }
    for event in hooks:
        printed(service, "gemini", {**said, "hook_event_name": event})
        clock.advance(minutes=3)

    assert [one["text"] for one in kept(service)] == ["I own a canoe.", "Ah."]
    assert {one["turn"] for one in kept(service)} == {1}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_is_told_the_same(client: str, service: Service) -> None:
    """What is asked through the socket comes out as if it was told here."""
    for given in recorded(client):
        answered(service, json.loads(json.dumps(request_of(heard(given, client)))))

    through = kept(service)
    assert [one["text"] for one in through] == [
        one["text"] for one in json.loads(json.dumps(expected(client)))
    ]


def expected(client: str) -> Any:
    path = Path(__file__).parent / "recordings" / f"{client}.kept.json"
    return json.loads(path.read_text(encoding="utf-8"))["kept"]


def test_a_request_of_another_release_is_not_answered(service: Service) -> None:
    with pytest.raises(ValueError, match="protocol"):
        answered(service, {**request_of(heard(PROMPT)), "protocol": 0})


def test_what_the_memory_refuses_is_told(service: Service) -> None:
    request = request_of(heard(PROMPT))
    request["heard"][0][1]["session"] = ""

    assert "session is empty" in answered(service, request)["error"]


# the whole way, as a process


def test_without_a_server_the_hook_opens_the_memory(hook: Hook, service: Service) -> None:
    service.memorize(HOME)

    done = hook(PROMPT, KINMEM_KIN="ana")

    assert HOME in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert done.stderr == b""
    assert [message.text for message in service.turns("s")] == [PROMPT["prompt"]]


def test_with_a_server_the_hook_asks_it(hook: Hook, service: Service, home: Path) -> None:
    service.memorize(HOME)
    door = serve_local(home, "ana", lambda request: answered(service, request))

    done = hook(PROMPT, "claude", "--kin", "ana")
    again = hook(PROMPT, "claude", "--kin", "ana")
    hook(STOP, "claude", "--kin", "ana")
    door.close()

    assert HOME in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert again.stdout == done.stdout
    assert [message.role for message in service.turns("s")] == ["user", "assistant"]


def test_after_an_answer_somebody_learns_from_it(hook: Hook, service: Service) -> None:
    """Without a server a process of its own does, and nobody waits for it."""
    service.close()
    done = hook(
        {**PROMPT, "prompt": "I live in Lyon and my sister is called Clara."}, KINMEM_KIN="ana"
    )
    hook(STOP, KINMEM_KIN="ana")
    assert done.stderr == b""

    assert learned(service)


def learned(service: Service) -> bool:
    """Whether the worker gets to it within a while."""
    latest = time.monotonic() + 60
    while time.monotonic() < latest:
        with open_service(service.settings, resident=False) as memory:
            if all(message.learned_at for message in memory.turns("s")):
                return True
        time.sleep(0.2)
    return False


def test_what_takes_too_long_is_finished_without_the_client(
    hook: Hook, service: Service, home: Path
) -> None:
    """A database that somebody has locked; the call is repeated by a process nobody waits for."""
    service.close()
    lock = locked(home)

    done = hook(PROMPT, KINMEM_KIN="ana")
    lock.execute("ROLLBACK")
    lock.close()

    assert (done.returncode, done.stdout) == (0, b"{}\n")
    assert kept_later(service) == [PROMPT["prompt"]]


def test_a_server_that_hangs_is_not_waited_for(hook: Hook, service: Service, home: Path) -> None:
    hanging = threading.Event()
    door = serve_local(home, "ana", lambda request: {"notes": str(hanging.wait(100))})

    done = hook(PROMPT, KINMEM_KIN="ana")  # ends, though the server still hangs
    hanging.set()
    door.close()

    assert done.returncode == 0
    assert kept_later(service) == [PROMPT["prompt"]]


REFUSALS = [
    pytest.param({"error": "ana.db: another process is writing", "retry": True}, id="it is busy"),
    pytest.param({"error": "ana.db is not a kinmem file"}, id="it cannot"),
    pytest.param({"error": ""}, id="it does not say why"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_what_a_server_refuses_is_kept_without_it(
    hook: Hook, service: Service, home: Path, refusal: dict[str, Any]
) -> None:
    service.memorize(HOME)
    door = serve_local(home, "ana", lambda request: refusal)
    done = hook(PROMPT, KINMEM_KIN="ana")
    stopped = hook(STOP, KINMEM_KIN="ana")
    door.close()

    assert HOME in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert (stopped.returncode, stopped.stdout) == (0, b"{}\n")
    assert done.stderr + stopped.stderr == b""
    assert [message.text for message in service.turns("s")] == [
        PROMPT["prompt"],
        STOP["last_assistant_message"],
    ]


IMPATIENT = """
import sys
from kinmem.hooks import hook
from kinmem.hooks.hook import main
from kinmem.store.sqlite import driver
driver.BUSY_SECONDS = hook.RETRY_SECONDS = 0.01
sys.exit(main(sys.argv[1:]))
"""
"""A hook that waits for nothing longer than that, but as often."""


def impatient(home: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", IMPATIENT, *words, "--kin", "ana"],
        input=json.dumps(PROMPT).encode(),
        capture_output=True,
        cwd=ROOT,
        env={
            **os.environ,
            "KINMEM_HOME": str(home),
            "KINMEM_LINGER_MINUTES": "0",
            "KINMEM_JUDGE": "off",
        },
        timeout=60,
        check=True,
    )


def locked(home: Path) -> apsw.Connection:
    """Ana's file, as if another process was writing; nobody else here may have it open."""
    lock = apsw.Connection(str(next(home.rglob("ana.db"))))
    lock.execute("BEGIN IMMEDIATE")
    return lock


def test_what_fails_for_now_is_finished_without_the_client(service: Service, home: Path) -> None:
    service.close()
    lock = locked(home)
    done = impatient(home)
    lock.execute("ROLLBACK")
    lock.close()

    assert done.stdout == b"{}\n"
    assert (
        done.stderr == b"kinmem hook: ana.db: another process is writing; try again in a moment\n"
    )
    assert kept_later(service) == [PROMPT["prompt"]]


def test_a_late_hook_tries_until_the_file_is_free(service: Service, home: Path) -> None:
    """Twice the server refuses and the file is locked. What is told late, nobody sees."""
    service.memorize(HOME)
    service.close()
    lock = locked(home)
    asked: list[dict[str, Any]] = []

    def refuse(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        if len(asked) == 3:
            lock.execute("ROLLBACK")
        return {"error": "busy"}

    door = serve_local(home, "ana", refuse)
    impatient(home, "--late")
    door.close()
    lock.close()

    with open_service(service.settings, resident=False) as memory:
        assert [message.text for message in memory.turns("s")] == [PROMPT["prompt"]]
        assert HOME in attend(memory, heard({**PROMPT, "prompt_id": "q"}))


def test_the_end_of_a_session_wakes_a_worker(hook: Hook, service: Service) -> None:
    """Whoever served the session may be gone with it."""
    service.close()
    hook({**PROMPT, "prompt": "I live in Lyon and my sister is called Clara."}, KINMEM_KIN="ana")
    done = hook({**PROMPT, "hook_event_name": "SessionEnd", "reason": "other"}, KINMEM_KIN="ana")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}\n", b"")
    assert learned(service)


def kept_later(service: Service) -> list[str]:
    latest = time.monotonic() + 60
    while time.monotonic() < latest:
        with open_service(service.settings, resident=False) as memory:
            if found := memory.turns("s"):
                return [message.text for message in found]
        time.sleep(0.2)
    return []


def test_a_worker_that_stays_answers_the_next_hook(
    hook: Hook, service: Service, home: Path
) -> None:
    service.memorize(HOME)
    staying = StayingWorker(home, "ana")
    staying.answer(service)
    told = hook(PROMPT, KINMEM_KIN="ana").stdout
    staying.close()

    assert HOME in json.loads(told)["hookSpecificOutput"]["additionalContext"]


def workers(home: Path) -> list[int]:
    """The processes that hooks of this home have started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            learns = b"--due" in (folder / "cmdline").read_bytes()
            if learns and os.fsencode(home) in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    "given", [PROMPT, {**PROMPT, "hook_event_name": "SessionEnd"}], ids=["a prompt", "the end"]
)
def test_however_many_hooks_come_one_worker_is_started(
    hook: Hook, service: Service, home: Path, given: dict[str, Any]
) -> None:
    service.close()
    told = [{**given, "session_id": f"{at}"} for at in range(3)]

    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda one: hook(one, KINMEM_KIN="ana", KINMEM_LINGER_MINUTES="5"), told))

    started = workers(home)
    for process in started:
        os.kill(process, signal.SIGKILL)
    assert len(started) == 1


def test_a_second_worker_leaves_before_it_opens_the_memory(home: Path) -> None:
    staying = StayingWorker(home, "ana")

    worker = [sys.executable, "-X", "importtime", "-m", "kinmem", "sleep", "--due", "--linger"]
    environment = {**os.environ, "KINMEM_HOME": str(home), "KINMEM_KIN": "ana"}
    done = subprocess.run(worker, cwd=ROOT, env=environment, capture_output=True, check=True)
    staying.close()

    assert b"onnxruntime" not in done.stderr
    assert b"kinmem.wiring.open_memory" not in done.stderr


def test_a_worker_ends_when_nobody_asks(service: Service, home: Path) -> None:
    staying = StayingWorker(home, "ana")
    staying.answer(service)

    staying.wait(minutes=0.001)
    staying.close()
