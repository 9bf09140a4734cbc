"""The command line as a person uses it: words in, exit code and text out."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import typer.main

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


@pytest.fixture(scope="package", autouse=True)
def made_once() -> Iterator[None]:
    """Typer makes all commands anew for each command line, which is half of what most of them take
    in a process that has loaded everything else."""
    make, made = typer.main.get_command, dict[Any, Any]()

    def known(app: typer.Typer) -> Any:
        shown = app.rich_markup_mode
        if shown not in made:
            made[shown] = make(app)
        return made[shown]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", known)
        yield


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
