"""store migrate, key, key set, key remove: how the files of a home are kept: on which engine, and
encrypted with which key."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.text import Text

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext, kin_names
from kinmem.cli.commands import command, without_command
from kinmem.cli.terminal import one_line

if TYPE_CHECKING:
    from kinmem.backup.moving import Moved
    from kinmem.settings import Settings
    from kinmem.wiring.home_keeping import KeyChange, KeyState


PANEL = "Look after"
SHOWN = 5
stores = typer.Typer(help="Where memories are kept: files of the home, or PostgreSQL.")


@command(stores, "migrate")
def migrate(
    context: CommandContext,
    to: take.ToStore,
    source: take.FromStore = None,
    only: take.OnlyKin = None,
) -> None:
    """Copy everything of all Kins to another store, and compare both. The source stays as it is.
    If it was interrupted, the same command goes on."""
    from kinmem.cli.terminal import progress_bar
    from kinmem.http.tokens import tokens_of
    from kinmem.wiring.home_keeping import migrate as moved_to

    here, there = _settings(context, source), _settings(context, to)
    kins = only or kin_names(here)
    with progress_bar() as progress:
        done = list(moved_to(here, there, kins, progress=progress))
    tokens = tokens_of(there).adopt(tokens_of(here).tokens())
    row = {"kins": [asdict(one) for one in done], "tokens": tokens}
    context.tell(row, *_cards(done, tokens))
    if not all(one.is_whole for one in done):
        raise typer.Exit(1)


def _settings(context: CommandContext, place: str | None) -> "Settings":
    """Return the settings with memories at that place: an address of PostgreSQL, or a home."""
    if place is None:
        return context.settings()
    if place.startswith(("postgresql://", "postgres://")):
        return context.settings(KINMEM_STORE=place)
    settings = context.settings()
    home = Path(place).expanduser().absolute()
    return replace(settings, home=home, general=replace(settings.general, store=""))


def _cards(done: "list[Moved]", tokens: int) -> Iterator[RenderableType]:
    if not done:
        yield Text("Nobody has memories there.")
    for one in done:
        count = sum(one.records.values())
        if one.is_whole:
            told = f"{one.kin}: {count:,} records are the same in both"
            yield Text(f"{told}; {one.stored:,} of them and {one.vectors:,} vectors are new there.")
        else:
            told = ", ".join(map(one_line, one.differing[:SHOWN]))
            yield Text(
                f"{one.kin}: {len(one.differing):,} of {count:,} records are not the same: {told}."
                " If it was in use meanwhile, stop what uses it and move it to an empty place.",
                style="red",
            )
        if one.without_vector:
            yield Text(f"  {one.without_vector:,} texts have no vector yet", style="dim")
    if tokens:
        yield Text(f"{tokens:,} {'token' if tokens == 1 else 'tokens'} for HTTP too.")


keys = typer.Typer(help="Encryption of the home's files. Without a command, shows its state.")


@command(keys, "show")
def key_show(context: CommandContext) -> None:
    """Show whether the home is encrypted, and where its key is."""
    from kinmem.wiring.home_keeping import key_state  # late, as in the others: loads the store

    state = key_state(context.settings())
    context.tell(asdict(state), Text(_told(state)))


@command(keys, "set")
def key_set(context: CommandContext, where: take.KeyPlace = None) -> None:
    """Encrypt the files with a new key, or give encrypted ones another. Nobody else may use the
    home meanwhile; it is backed up first."""
    from kinmem.hooks.socket_server import without_workers
    from kinmem.wiring.home_keeping import set_key

    settings = context.settings()
    with without_workers(settings.home):
        change = set_key(settings, where)
    _tell(context, change)


@command(keys, "remove")
def key_remove(context: CommandContext) -> None:
    """Decrypt the files. The key stays where it is, for backups."""
    from kinmem.hooks.socket_server import without_workers
    from kinmem.wiring.home_keeping import remove_key

    settings = context.settings()
    with without_workers(settings.home):
        change = remove_key(settings)
    _tell(context, change)


without_command(keys, key_show)


def _tell(context: CommandContext, change: "KeyChange") -> None:
    lines = [Text(f"{change.files} files changed. {_told(change.state)}")]
    if change.backup is not None:
        lines.append(Text(f"Backed up before that to {change.backup}"))
    if change.state.key is not None:
        lines.append(Text("Without the key nobody can read them: keep a copy of it elsewhere."))
    if change.in_the_clear:
        told = (
            "These backups are from before and not encrypted; delete them if you need them no more:"
        )
        lines += [Text(told), *(Text(f"  {path}") for path in change.in_the_clear)]
    described = {
        **asdict(change.state),
        "files": change.files,
        "backup": change.backup and str(change.backup),
        "inTheClear": [str(path) for path in change.in_the_clear],
    }
    context.tell(described, *lines)


def _told(state: "KeyState") -> str:
    if state.is_changing:
        return "A change was cut short: run kinmem key set, or kinmem key remove, again."
    if state.key is None:
        return "The files are not encrypted. kinmem key set encrypts them."
    place = "the keyring" if state.where == "keyring" else state.where
    return f"The files are encrypted; the key {state.key} is in {place}."
