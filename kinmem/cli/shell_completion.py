"""What a shell may offer behind the options and arguments of a command, besides their names."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kinmem.cli.command_context import CommandContext
    from kinmem.service import Service

NEWEST = 100
"""Memories whose ids are offered."""
Complete = Callable[[typer.Context, list[str], str], list[Any]]


def among(*values: str) -> Complete:
    """Those of these values that begin as typed."""

    def complete(ctx: typer.Context, args: list[str], incomplete: str) -> list[Any]:
        return [value for value in values if value.startswith(incomplete)]

    return complete


def from_memory(offered: "Callable[[CommandContext], Iterable[Any]]") -> Complete:
    """What the memory that is meant has, as far as it can be read without harm; else nothing."""

    def complete(ctx: typer.Context, args: list[str], incomplete: str) -> list[Any]:
        found: list[Any] = []
        with suppress(Exception):  # a suggestion is not worth an error
            found = [
                value
                for value in offered(_context_of(ctx))
                if (value if isinstance(value, str) else value[0]).startswith(incomplete)
            ]
        return found

    return complete


def _context_of(ctx: typer.Context) -> "CommandContext":
    """With the options as far as they were typed, before the command or behind it."""
    from kinmem.cli.command_context import CommandContext

    typed = [one.params for one in (ctx, ctx.parent) if one is not None]
    given = {
        name: next((params[name] for params in typed if params.get(name)), None)
        for name in ("kin", "home")
    }
    return CommandContext(given["kin"], given["home"])


def _memory(context: "CommandContext") -> "AbstractContextManager[Service]":
    """The one that is there: none is made for a suggestion."""
    if not context.settings().home.is_dir():
        raise FileNotFoundError
    return context.memory(resident=False)


def kins(context: "CommandContext") -> Iterable[str]:
    from kinmem.cli.command_context import kin_names

    return kin_names(context.settings().home)


def ids(context: "CommandContext") -> Iterable[tuple[str, str]]:
    """The newest ones, each with what it says."""
    from kinmem.cli.memory_ids import short_id
    from kinmem.cli.terminal import one_line
    from kinmem.text import cut

    with _memory(context) as memory:
        newest = memory.list_memories(limit=NEWEST).memories
    return [(short_id(one.id), cut(one_line(one.content), 60)) for one in newest]


def subjects(context: "CommandContext") -> Iterable[str]:
    with _memory(context) as memory:
        return memory.subjects("", NEWEST)


def sessions(context: "CommandContext") -> Iterable[str]:
    with _memory(context) as memory:
        return [one.name for one in memory.sessions(NEWEST)]


def steps(context: "CommandContext") -> Iterable[str]:
    from kinmem.upkeep.steps import NAMES

    return NAMES
