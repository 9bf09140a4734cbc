"""The commands and their options as Markdown, for docs/cli.md."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from kinmem.cli.app import app

ELSEWHERE = {"help", "kin", "home", "as_json"}


def markdown() -> str:
    """One section per command, in the order of the help."""
    return "\n".join(_sections("kinmem", get_command(app), top=True))


def _sections(path: str, command: Any, *, top: bool = False) -> Iterator[str]:
    yield from (f"## {path}", "", " ".join((command.help or "").split()), "")
    shown = [p for p in command.params if top or p.name not in ELSEWHERE]
    if shown:
        yield from ("| argument or option | meaning |", "| --- | --- |")
        yield from (_row(parameter) for parameter in shown)
        yield ""
    for name, part in getattr(command, "commands", {}).items():
        yield from _sections(f"{path} {name}", part)


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"| {parameter.metavar} | {parameter.help} |"
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    value = f" {parameter.metavar}" if parameter.metavar else ""
    return f"| {names}{value.replace('|', ' or ')} | {parameter.help} |"
