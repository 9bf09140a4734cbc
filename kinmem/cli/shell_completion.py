"""Values that a shell can offer for the options and arguments of a command."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any

import typer

from kinmem.cli.command_context import CommandContext, kin_names, short_id
from kinmem.cli.terminal import one_line
from kinmem.text import cut
from kinmem.upkeep.steps import NAMES

if TYPE_CHECKING:
    from kinmem.service import Service

# Number of memories whose ids are offered.
NEWEST = 100
Complete = Callable[[typer.Context, list[str], str], list[Any]]


def among(*values: str) -> Complete:
    """Offer the values that begin with what was typed."""

    def complete(ctx: typer.Context, args: list[str], incomplete: str) -> list[Any]:
        return [value for value in values if value.startswith(incomplete)]

    return complete


def from_memory(offered: Callable[[CommandContext], Iterable[Any]]) -> Complete:
    """Offer values from the memory that the command line selects; nothing if it cannot be read."""

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


def _context_of(ctx: typer.Context) -> CommandContext:
    """Build the context from the options typed so far, before or after the command."""
    typed = [one.params for one in (ctx, ctx.parent) if one is not None]
    given = {
        name: next((params[name] for params in typed if params.get(name)), None)
        for name in ("kin", "home")
    }
    return CommandContext(given["kin"], given["home"])


def _memory(context: CommandContext) -> "AbstractContextManager[Service]":
    """Open the memory if it exists: none is created for a suggestion."""
    if not context.settings().home.is_dir():
        raise FileNotFoundError
    return context.memory(resident=False)


def kins(context: CommandContext) -> Iterable[str]:
    return kin_names(context.settings().home)


def ids(context: CommandContext) -> Iterable[tuple[str, str]]:
    """Return the newest ids, each with what the memory says."""
    with _memory(context) as memory:
        newest = memory.list_memories(limit=NEWEST).memories
    return [(short_id(one.id), cut(one_line(one.content), 60)) for one in newest]


def subjects(context: CommandContext) -> Iterable[str]:
    with _memory(context) as memory:
        return memory.subjects("", NEWEST)


def sessions(context: CommandContext) -> Iterable[str]:
    with _memory(context) as memory:
        return [one.name for one in memory.sessions(NEWEST)]


def steps(context: CommandContext) -> Iterable[str]:
    return NAMES
