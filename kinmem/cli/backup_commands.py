"""backup, backup list, backup verify, backup restore: a way back for the whole home."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext, command
from kinmem.errors import InvalidInput
from kinmem.text import many

if TYPE_CHECKING:
    from rich.text import Text

    from kinmem.backup.archive import Backup, Manifest
    from kinmem.backup.backups import Backups
    from kinmem.backup.restore import Plan
    from kinmem.models.reports import Difference

PANEL = "Look after"
SHOWN = 10
SHOWN_CHARACTERS = 200
MAKE = "make"


class MakesByDefault(typer.core.TyperGroup):
    """A group whose first word may be left out: `kinmem backup DIR` is `kinmem backup make DIR`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {*self.commands, "--help", "-h"}
        if not known.intersection(args):
            args = [MAKE, *args]
        return super().parse_args(ctx, args)


backups = typer.Typer(
    cls=MakesByDefault,
    help="Backups of the whole home, with all memories and conversations. Without a command, makes"
    " one.",
)


@command(backups, MAKE)
def backup_make(
    context: CommandContext,
    folder: take.BackupFolder = None,
    encrypt: take.Encrypt = False,
    passphrase_file: take.PassphraseFile = None,
) -> None:
    """Make a backup beside whoever is at work: in the home, or in another folder."""
    from rich.text import Text

    passphrase = _passphrase(passphrase_file, confirm=True) if encrypt else None
    made = _backups(context).make("manual", folder, passphrase)
    lines = [Text(f"Backed up to {made.path}"), *_contents(made.manifest)]
    context.tell({"path": str(made.path), **_told(made.manifest)}, *lines)


@command(backups, "list")
def backup_list(context: CommandContext) -> None:
    """List the backups in the home, and those elsewhere that it remembers."""
    from kinmem.cli.tables import backup_table

    known = _backups(context)
    rows = [
        {
            "path": str(one.path),
            "at": one.made_at.isoformat(),
            "reason": one.reason,
            "bytes": one.path.stat().st_size,
            "encrypted": one.is_encrypted,
        }
        for one in known.listed()
    ]
    elsewhere = [
        {
            "path": str(one.path),
            "at": one.made_at.isoformat(),
            "encrypted": one.is_encrypted,
            "found": one.path.exists(),
        }
        for one in known.elsewhere()
        if one.path.parent != known.folder.resolve()
    ]
    zone = context.settings().general.zone
    context.tell({"backups": rows, "elsewhere": elsewhere}, backup_table(rows, elsewhere, zone))


@command(backups, "verify")
def backup_verify(
    context: CommandContext,
    which: take.WhichBackup = None,
    passphrase_file: take.PassphraseFile = None,
) -> None:
    """Read a whole backup and check everything in it; the latest if none is named."""
    from rich.text import Text

    from kinmem.backup.restore import verify

    known = _backups(context)
    path = _chosen(known, which)
    found = verify(known, path, _passphrase_for(path, passphrase_file))
    told = {"path": str(path), "sound": not found.problems, "problems": found.problems}
    if found.problems:
        shown = [Text(f"{path.name} is damaged:"), *(Text(one) for one in found.problems)]
    else:
        shown = [Text(f"{path.name} is sound."), *_contents(found.manifest)]
    context.tell({**told, **_told(found.manifest)}, *shown)
    if found.problems:
        raise typer.Exit(1)


@command(backups, "restore")
def backup_restore(
    context: CommandContext,
    which: take.WhichBackup = None,
    only: take.OnlyKins = None,
    dry_run: take.RestoreDryRun = False,
    yes: take.RestoreYes = False,
    passphrase_file: take.PassphraseFile = None,
) -> None:
    """Let the home be as a backup has it; the latest if none is named. Shows what would change and
    asks first; what is there now is backed up before."""
    from rich.text import Text

    from kinmem.backup.restore import planned, restore
    from kinmem.cli.terminal import Refused, say
    from kinmem.hooks.socket_server import without_workers

    known = _backups(context)
    path = _chosen(known, which)
    passphrase = _passphrase_for(path, passphrase_file)
    if dry_run or not yes:
        plan = planned(known, path, passphrase, only or ())
        if dry_run:
            context.tell(_plan(plan), *_plan_lines(plan))
            return
        if not sys.stdin.isatty():
            raise Refused(
                "a restore replaces what is there, and nobody is here to be asked; --dry-run shows"
                " what would change, --yes does it"
            )
        say(*_plan_lines(plan))
        typer.confirm("Restore it?", abort=True, err=True)
    with without_workers(known.home):
        done = restore(known, path, passphrase, only or ())
    before = str(done.before.path) if done.before else None
    lines = [*_plan_lines(done.plan), Text(f"Restored from {path.name}.", style="green")]
    if before:
        lines.append(Text(f"What was there before: {before}"))
    lines += [Text(STILL_THERE.format(name), style="yellow") for name in done.unreached]
    context.tell(
        {
            **_plan(done.plan),
            "restored": True,
            "before": before,
            "unreached": list(done.unreached),
        },
        *lines,
    )


STILL_THERE = (
    "{} still holds what was erased: it cannot be rewritten now, which is tried again daily"
)


@command(backups, "accept")
def backup_accept(context: CommandContext) -> None:
    """Go on with files that are gone, or that lack what was stored last: kinmem refuses them until
    then. Whoever has a backup restores it instead."""
    from rich.text import Text

    known = _backups(context)
    missing = known.files.missing(known.home)
    lines = [Text(f"{name} {_lack(count)}") for name, count in missing.items()]
    for name in missing:
        known.files.accept(known.home, name)
    context.tell({"accepted": missing}, *(lines or [Text("No file lacks anything.")]))


def _lack(count: int | None) -> str:
    if count is None:
        return "is gone; a new one is made when the memory is opened"
    return f"goes on without the last {many(count, 'write', 'writes')}"


def _backups(context: CommandContext) -> "Backups":
    from kinmem.wiring.open_home import open_backups

    return open_backups(context.settings())


def _chosen(known: "Backups", which: str | None) -> Path:
    """Return the backup that is meant: a path, a name in the home's folder, or the latest."""
    if which is not None:
        here = known.folder / which
        return here if here.is_file() else Path(which)
    found: Sequence[Backup] = known.listed()
    if not found:
        raise InvalidInput(f"there is no backup in {known.folder} yet; kinmem backup makes one")
    return found[0].path


def _passphrase_for(path: Path, file: Path | None) -> str | None:
    return _passphrase(file, confirm=False) if path.name.endswith(".age") else None


def _passphrase(file: Path | None, *, confirm: bool) -> str:
    """Read the passphrase from a file, or ask for it without showing it."""
    if file is not None:
        given = _read(file).strip("\r\n")
    elif sys.stdin.isatty():
        given = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
    else:
        raise InvalidInput("nobody is here to be asked for the passphrase; use --passphrase-file")
    if not given:
        raise InvalidInput("the passphrase is empty")
    return str(given)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is no text in UTF-8, as a passphrase must be") from None


def _told(manifest: "Manifest") -> dict[str, Any]:
    return {
        "at": manifest.made_at.isoformat(),
        "reason": manifest.reason,
        "files": {
            name: {"memories": one.memories, "turns": one.turns, "schema": one.schema}
            for name, one in manifest.files.items()
        },
        "damaged": dict(manifest.damaged),
    }


def _contents(manifest: "Manifest") -> "Iterator[Text]":
    from rich.text import Text

    for name, one in manifest.files.items():
        memories = many(one.memories, "memory", "memories")
        yield Text(f"  {name}: {memories}, {many(one.turns, 'message', 'messages')}")
    for name, problem in manifest.damaged.items():
        yield Text(f"  {name} is damaged in the home itself: {problem}", style="yellow")


def _plan(plan: "Plan") -> dict[str, Any]:
    return {
        "path": str(plan.path),
        **_told(plan.manifest),
        "changes": {
            name: {
                "added": list(one.added),
                "removed": list(one.removed),
                "changed": list(one.changed),
                "turnsAdded": one.turns_added,
                "turnsRemoved": one.turns_removed,
                "differences": {id: _as_told(it) for id, it in one.differences.items()},
            }
            for name, one in plan.files.items()
        },
        "staying": list(plan.staying),
    }


def _plan_lines(plan: "Plan") -> "Iterator[Text]":
    from rich.text import Text

    from kinmem.cli.command_context import short_id

    yield Text(f"{plan.path.name}, made {plan.manifest.made_at:%Y-%m-%d %H:%M} UTC:", style="bold")
    for name, one in plan.files.items():
        if one.is_empty:
            continue
        yield Text(
            f"  {name}: memories that come back: {len(one.added):,}, go: {len(one.removed):,},"
            f" change: {len(one.changed):,}; messages that come back: {one.turns_added:,},"
            f" go: {one.turns_removed:,}"
        )
        for what, ids in (("come back", one.added), ("go", one.removed), ("change", one.changed)):
            if ids:
                yield Text(f"    {what}:")
            for id in ids[:SHOWN]:
                yield from _difference_lines(short_id(id), one.differences[id])
            if len(ids) > SHOWN:
                yield Text(f"      and {len(ids) - SHOWN:,} more", style="dim")
    if same := [name for name, one in plan.files.items() if one.is_empty]:
        more = f" and {len(same) - SHOWN:,} more" if len(same) > SHOWN else ""
        yield Text(f"  as in the backup already: {', '.join(same[:SHOWN])}{more}")
    for name in plan.staying:
        yield Text(f"  {name} stays as it is")


def _difference_lines(id: str, one: "Difference") -> "Iterator[Text]":
    """Yield what becomes of one memory: its text, or both if another takes its place, and whatever
    else differs."""
    from rich.text import Text

    told = _as_told(one)
    texts = {name: told[name] for name in ("now", "then") if told[name] is not None}
    if len(texts) == 2 and texts["now"] != texts["then"]:
        lines = [f"{id}  now: {texts['now']}", f"{' ' * len(id)}  then: {texts['then']}"]
    else:
        lines = [f"{id}  {next(iter(texts.values()), '')}"]
    for line in lines:
        yield Text(f"      {line}", no_wrap=True, overflow="ellipsis")
    for name, (now, then) in told["fields"].items():
        yield Text(
            f"      {' ' * len(id)}  {name}: {now or 'none'} → {then or 'none'}", style="dim"
        )


def _as_told(one: "Difference") -> dict[str, Any]:
    """Return it for people and programs: each text as one line without secrets."""
    from kinmem.cli.terminal import one_line
    from kinmem.language import redact

    def shown(text: str) -> str:
        return one_line(redact(text)[0], SHOWN_CHARACTERS)

    return {
        "now": None if one.now is None else shown(one.now),
        "then": None if one.then is None else shown(one.then),
        "fields": {name: [shown(part) for part in pair] for name, pair in one.fields.items()},
    }
