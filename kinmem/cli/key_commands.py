"""key, key set, key remove: encrypting the files of a home."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext
from kinmem.cli.commands import command, without_command

if TYPE_CHECKING:
    from kinmem.wiring.home_key import KeyChange, KeyState

PANEL = "Look after"
keys = typer.Typer(help="Encryption of the home's files. Without a command, shows its state.")


@command(keys, "show")
def key_show(context: CommandContext) -> None:
    """Show whether the home is encrypted, and where its key is."""
    from kinmem.wiring.home_key import key_state  # late, as in the others: loads the store

    state = key_state(context.settings())
    context.tell(asdict(state), Text(_told(state)))


@command(keys, "set")
def key_set(context: CommandContext, where: take.KeyPlace = None) -> None:
    """Encrypt the files with a new key, or give encrypted ones another. Nobody else may use the
    home meanwhile; it is backed up first."""
    from kinmem.hooks.socket_server import without_workers
    from kinmem.wiring.home_key import set_key

    settings = context.settings()
    with without_workers(settings.home):
        change = set_key(settings, where)
    _tell(context, change)


@command(keys, "remove")
def key_remove(context: CommandContext) -> None:
    """Decrypt the files. The key stays where it is, for backups."""
    from kinmem.hooks.socket_server import without_workers
    from kinmem.wiring.home_key import remove_key

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
