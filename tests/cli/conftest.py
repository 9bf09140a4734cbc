"""The command line as a person uses it: words in, exit code and text out."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from kinmem.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Kinmem = Callable[..., Ran]


@pytest.fixture
def kinmem(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Kinmem:
    """Runs one command in this process; `typed` is what stdin holds."""

    def run(*words: str, typed: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        capsys.readouterr()
        code = main(words)
        told = capsys.readouterr()
        return Ran(code, told.out, told.err)

    return run


@pytest.fixture
def memorized(kinmem: Kinmem) -> Callable[..., str]:
    """Memorizes and gives the id."""

    def memorize(content: str, *options: str) -> str:
        ran = kinmem("memorize", content, *options, "--json")
        assert ran.code == 0, ran.err
        return str(ran.json["id"])

    return memorize
