"""forget --about and scrub: show what would be erased, ask, erase it, and report what is left."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from kinmem.cli.cards import QUIET, backups_left, whose
from kinmem.cli.command_context import CommandContext, short_id
from kinmem.cli.terminal import Refused, one_line, say
from kinmem.language import redact
from kinmem.text import many

if TYPE_CHECKING:
    from kinmem.service import Service
    from kinmem.undo.forget_about import Forgetting, Proof
    from kinmem.undo.scrub import Scrub

SHOWN = 20
# What rows of each table are called for people: one, and several.
CALLED = {
    "turns": ("thing said in conversations", "things said in conversations"),
    "snapshots": ("summary of a conversation", "summaries of conversations"),
    "history": ("line of the history", "lines of the history"),
    "shown": ("note that a session was shown", "notes that sessions were shown"),
    "entities": ("entity", "entities"),
    "links": ("link", "links"),
    "memories": ("memory by where it comes from", "memories by where they come from"),
    "old_texts": ("earlier version of a document", "earlier versions of documents"),
    "conflicts": ("contradiction", "contradictions"),
    "runs": ("report", "reports"),
}


def forget_about(context: CommandContext, name: str, *, yes: bool, dry_run: bool) -> None:
    """Show what is about a name, ask, erase it, and report what is left."""
    with context.changing() as memory:
        found = memory.forget_about(name)
        if dry_run or found.is_empty:
            context.tell(_plan(found), *_plan_cards(found, memory))
            return
        if not yes:
            _ask(found, memory)
        proof = found.erase()
        context.tell({**_plan(found), **_proof(proof)}, *_proof_cards(proof, found.mention.name))
    if proof.places:
        raise typer.Exit(1)


def scrub_secrets(context: CommandContext, *, yes: bool, dry_run: bool) -> None:
    """Show where secrets are stored, ask, take them out, and report where they are left."""
    with context.memory() as memory:
        found = memory.scrub()
        if not (dry_run or found.is_empty):
            if not yes:
                _ask_to_scrub(found, memory)
            found.carry_out()
            if not context.json:
                say(Text("Taken out everywhere here.", style="green"))
        is_done = not (dry_run or found.is_empty)
        context.tell(_scrub_row(found, is_done), *([] if is_done else _scrub_cards(found, memory)))
        if not context.json:
            say(*_remarks(found.remarks))
        for path in found.backups:
            if not context.json:
                told = "This backup holds secrets; delete it, and make a new one: "
                say(Text(told + one_line(str(path)), style="yellow"))


def _ask_to_scrub(found: "Scrub", memory: "Service") -> None:
    if not sys.stdin.isatty():
        raise Refused(
            "this takes secrets out for good, and nobody is here to be asked; --dry-run shows"
            " where, --yes does it"
        )
    say(*_scrub_cards(found, memory))
    typer.confirm("Take them out for good?", abort=True, err=True)


def _scrub_row(found: "Scrub", is_done: bool) -> dict[str, Any]:
    return {
        "done": is_done,
        "kinds": found.kinds,
        "memories": [one.id for one in found.memories],
        "elsewhere": dict(found.counts),
        "files": list(found.files),
        "othersShared": list(found.others),
        "backups": [str(path) for path in found.backups],
        "remarks": list(found.remarks),
    }


def _scrub_cards(found: "Scrub", memory: "Service") -> Iterator[RenderableType]:
    if found.is_empty:
        yield Text(f"No secrets are stored for {memory.kin}.")
        return
    yield Text(f"Secrets are stored ({', '.join(found.kinds) or 'in conversations'}):")
    for one in found.memories[:SHOWN]:
        yield Text(f"  {short_id(one.id)}  {one_line(redact(one.content)[0])}")
    if len(found.memories) > SHOWN:
        yield Text(f"  and {len(found.memories) - SHOWN:,} more memories")
    yield from (Text(f"  {told}") for told in _elsewhere(found.counts))
    yield from (Text(f"  the file {one_line(file)}") for file in found.files)
    if found.others:
        told = ", ".join(map(short_id, found.others[:SHOWN]))
        yield Text(f"Other Kins share memories with secrets: {told}.", style="yellow")


def _ask(found: "Forgetting", memory: "Service") -> None:
    if not sys.stdin.isatty():
        raise Refused(
            "this erases for good, and nobody is here to be asked; --dry-run shows what, --yes does"
            " it"
        )
    say(*_plan_cards(found, memory))
    typer.confirm("Erase all of it for good?", abort=True, err=True)


def _plan(found: "Forgetting") -> dict[str, Any]:
    return {
        "about": found.mention.name,
        "memories": [
            {"id": one.id, "content": one.content, "scope": one.scope, "state": str(one.state)}
            for one in found.memories
        ],
        "elsewhere": dict(found.counts),
        "files": list(found.files),
        "othersShared": list(found.others),
        "deleteByHand": [str(path) for path in found.copies],
        "backups": [str(path) for path in found.backups],
        "ownWords": list(found.kept),
    }


def _proof(proof: "Proof") -> dict[str, Any]:
    return {
        "erased": proof.erased,
        "blanked": dict(proof.blanked),
        "deleted": list(proof.deleted),
        "searched": list(proof.searched),
        "backupsRewritten": list(proof.backups.rewritten),
        "backupsLeft": list(proof.backups.unreached),
        "left": [
            {"file": place.file, "count": place.count, "what": place.what} for place in proof.places
        ],
        "remarks": list(proof.remarks),
    }


def _plan_cards(found: "Forgetting", memory: "Service") -> Iterator[RenderableType]:
    name = one_line(found.mention.name)
    if found.is_empty:
        yield Text(f"Nothing of {memory.kin}'s is about {name}.")
    else:
        yield Text(f"About {name}:", style="bold")
    for one in found.memories[:SHOWN]:
        yield Text(f"  {short_id(one.id)}  {one_line(one.content)} ({whose(one, memory)})")
    if len(found.memories) > SHOWN:
        more = len(found.memories) - SHOWN
        yield Text(f"  and {more:,} more {'memory' if more == 1 else 'memories'}")
    yield from (Text(f"  {told}") for told in _elsewhere(found.counts))
    yield from (Text(f"  the file {one_line(file)}") for file in found.files)
    yield from (Text(f"  the backup {one_line(path.name)}, in part") for path in found.backups)
    if found.others:
        others = "memory that another Kin shares names", "memories that other Kins share name"
        named = many(len(found.others), *others)
        yield Text(
            f"{named} it as well; only they may change what is theirs:"
            f" {', '.join(map(short_id, found.others[:SHOWN]))}",
            style="yellow",
        )
    yield from _staying(found.copies, found.kept, name)


def _proof_cards(proof: "Proof", name: str) -> Iterator[RenderableType]:
    yield Text(f"Erased for good: {many(proof.erased, 'memory', 'memories')}.", style="green")
    yield from (Text(f"  {told}") for told in _elsewhere(proof.blanked))
    yield from (Text(f"  the file {one_line(file)}") for file in proof.deleted)
    rewritten = len(proof.backups.rewritten)
    if rewritten:
        yield Text(f"  {rewritten:,} backup{'' if rewritten == 1 else 's'}, in part")
    yield from (Text(told, style="yellow") for told in backups_left(proof.backups))
    count = len(proof.searched)
    files = f"{count:,} {'file' if count == 1 else 'files'} searched byte by byte"
    if proof.remarks:
        files = f"{files}, and all rows in the database read"
    if not proof.places:
        yield Text(f"{files}: nothing of it is left.", style="green")
    for place in proof.places:
        what = one_line(name) if place.what == "name" else "an erased text"
        times = "once" if place.count == 1 else f"{place.count:,} times"
        yield Text(f"{files}: {what} is still in {place.file}, {times}.", style="yellow")
    if proof.others:
        told = ", ".join(map(short_id, proof.others[:SHOWN]))
        yield Text(f"Other Kins share memories that name it: {told}.", style="yellow")
    yield from _staying(proof.copies, proof.kept, one_line(name))
    yield from _remarks(proof.remarks)
    yield Text("Other Kins' own files were not looked at.", style=QUIET)


def _remarks(remarks: Sequence[str]) -> Iterator[RenderableType]:
    return (Text(f"{told[:1].upper()}{told[1:]}.", style="yellow") for told in remarks)


def _staying(copies: Sequence[Path], kept: Sequence[str], name: str) -> Iterator[RenderableType]:
    for path in copies:
        yield Text(
            f"A copy of shared.db names it and stays, for other Kins' memories are in it too."
            f" Delete it when none of you needs it: {one_line(str(path))}",
            style="yellow",
        )
    if kept:
        yield Text(
            f"{name} is also a word of kinmem's own, or a Kin's name, which stays: in"
            f" {', '.join(kept)}.",
            style="yellow",
        )


def _elsewhere(counts: Mapping[str, int]) -> Iterator[str]:
    for table, count in counts.items():
        one, several = CALLED[table]
        yield f"{count:,} {one if count == 1 else several}"
