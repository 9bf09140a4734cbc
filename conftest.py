"""For every test and every documented example: nothing outside is read, written or reached."""

import ipaddress
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from types import FrameType
from typing import Any

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

CODE = Path(__file__).parent / "kinmem"
UNPACKED = {".copying", ".erasing", ".restoring", ".verifying"}
"""Folders of copies that a backup makes or reads; tests unpack backups in opened-*."""
PREFIXES = ("KINMEM_", "MEMORY_", "COMPACTING_", "TOOL_", "OBSERVATION_", "HISTORY_")

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/*.md"],
    fixtures=["home"],
).pytest()


@pytest.fixture(scope="session", autouse=True)
def no_setting_from_outside() -> Iterator[None]:
    """Before any other fixture: servers that a whole module shares would be given them as well."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in list(os.environ):
            if variable.startswith(PREFIXES):
                patch.delenv(variable)
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test keeps memories: in a home of its own."""
    # Not with mktemp(), which reads the names of all the homes before it.
    folder = Path(mkdtemp(prefix="home", dir=tmp_path_factory.getbasetemp()))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("KINMEM_HOME", str(folder / ".kinmem"))
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    return folder / ".kinmem"


@pytest.fixture(scope="session", autouse=True)
def loopback_only(request: pytest.FixtureRequest) -> None:
    """This process reaches no other machine; who tries, litellm above all, fails with the name.

    Unless it was started to ask real providers.
    """
    if request.config.option.markexpr == "live":
        return

    def guard(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            refuse_unless_local(arguments[1][0])
        elif event == "socket.getaddrinfo" and arguments[0] is not None:
            refuse_unless_local(arguments[0])

    sys.addaudithook(guard)  # stays for the life of the process: there is no way to take it out


@pytest.fixture(scope="session", autouse=True)
def only_sqlite_opens_databases() -> None:
    """Whoever in kinmem opens a file of a home beside SQLite drops its locks on closing it."""

    def guard(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and is_opened_by_kinmem(*arguments):
            raise AssertionError(f"{arguments[0]} is SQLite's; kinmem must not open it")

    sys.addaudithook(guard)


def is_opened_by_kinmem(path: object, mode: str | None, flags: int) -> bool:
    """Whether code of kinmem, not a test, opens a database that may be in use: one that is being
    created is not."""
    if not isinstance(path, str | bytes) or flags & os.O_EXCL:
        return False
    name = Path(os.fsdecode(path))
    if not re.search(r"\.db(-wal|-shm|-journal)?$", name.name):
        return False
    if name.parent.name != "kins" and not name.name.startswith("shared.db"):
        return False
    is_unpacked = UNPACKED & set(name.parts) or any(
        part.startswith("opened-") for part in name.parts
    )
    if is_unpacked or not name.exists():
        return False
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not frame.f_code.co_filename.startswith(str(CODE)):
        if "tests" in frame.f_code.co_filename:
            return False
        frame = frame.f_back
    return frame is not None


def refuse_unless_local(host: str | bytes) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name == "localhost" or name == "":
        return
    try:
        if ipaddress.ip_address(name).is_loopback or name == "0.0.0.0":
            return
    except ValueError:
        pass
    raise PermissionError(f"a test tried to reach {name}; only this machine is allowed")
