"""For every test and every documented example: nothing outside is read, written or reached."""

import ipaddress
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

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
    folder = tmp_path_factory.mktemp("home")
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
