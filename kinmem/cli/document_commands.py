"""add, summarize: storing documents, and summarising long memories."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext, command, full_id
from kinmem.cli.terminal import exit_code, one_line, progress_bar
from kinmem.documents.document import Given, files_of, from_file
from kinmem.errors import InvalidInput
from kinmem.models import Progress
from kinmem.store.history import batch_name

if TYPE_CHECKING:
    from kinmem.service import Service

app = typer.Typer()
PANEL = "Remember"
POLL_SECONDS = 0.3
# Seconds without a new vector, after which the command no longer waits for vectors.
STUCK_SECONDS = 30.0

STORED = ("created", "updated", "quarantined")

# The outcome for one file, in the form for programs.
Outcome = dict[str, Any]


@command(app, rich_help_panel=PANEL)
def add(
    context: CommandContext,
    files: take.Files,
    recursive: take.Recursive = False,
    title: take.Title = None,
    description: take.Description = None,
    tag: take.NewTags = None,
    scope: take.Scope = None,
    subject: take.Subject = None,
    category: take.Category = None,
    importance: take.Importance = None,
    trusted: take.Trusted = False,
    dry_run: take.DryRun = False,
) -> None:
    """Store files in memory: Markdown, text, HTML, PDF. A changed file replaces its earlier
    version."""
    batch = None if dry_run else batch_name("add")
    details = {
        "title": title,
        "description": description,
        "tags": tuple(tag or ()),
        "scope": scope or "private",
        "subject": subject,
        "category": category or "knowledge",
        "importance": importance,
        "trusted": trusted,
    }
    with context.memory(may_be_new=True) as memory, progress_bar() as progress:
        told = list(_added(memory, list(_meant(files, recursive, title)), details, batch, progress))
        stored = any(one.get("status") in STORED for one in told)
        complete = not stored or _vectors(memory, progress)
    done = {"batch": batch} if stored else {}
    context.tell({"documents": told, **done}, *_lines(told, done.get("batch"), complete=complete))
    codes = {exit_code(one["error"]["code"]) for one in told if "error" in one}
    if codes:
        raise typer.Exit(min(codes))


@command(app, rich_help_panel=PANEL)
def summarize(context: CommandContext, memory_ids: take.Ids = None) -> None:
    """Summarise long memories and documents: those named, or all whose summary is missing or
    outdated."""
    with context.memory() as memory:
        ids = [memory.store.get(full_id(memory, typed)).id for typed in memory_ids or ()]
        with progress_bar() as progress:
            made = memory.summarize(ids, progress)
        found = memory.store.summaries.of(ids)
        shown: list[RenderableType] = [Text(f"{made:,} summaries made.")]
        shown += [Text(f"  {id[-8:]}  {found.get(id, '(short enough itself)')}") for id in ids]
    context.tell({"made": made, "summaries": found}, *shown)


def _meant(names: list[str], recursive: bool, title: str | None) -> Iterator[str]:
    if "-" in names and len(names) > 1:
        raise typer.BadParameter("- is all that can be read then", param_hint="FILE")
    files = (
        names if names == ["-"] else [str(path) for path in files_of(names, recursive=recursive)]
    )
    if title is not None and len(files) > 1:
        raise typer.BadParameter("a title is for one document", param_hint="--title")
    yield from files


def _added(
    memory: "Service", files: list[str], details: Outcome, batch: str | None, progress: Progress
) -> Iterator[Outcome]:
    """Yield the outcome for each file; without a batch, what the outcome would be."""
    for done, file in enumerate(files):
        progress(done, len(files), "files")
        try:
            given = _given(file, details)
            told = _planned(memory, given) if batch is None else _stored(memory, given, batch)
            yield {"file": file, **told}
        except InvalidInput as error:
            yield {"file": file, "error": {"code": error.code, "message": str(error)}}


def _given(file: str, details: Outcome) -> Given:
    if file != "-":
        return from_file(Path(file), **details)
    bare = getattr(sys.stdin, "buffer", sys.stdin)
    return Given(data=bare.read(), **details)


def _planned(memory: "Service", given: Given) -> Outcome:
    plan = memory.documents.plan(given)
    status = "known" if plan.known else "would update" if plan.replaces else "would create"
    one, id = plan.draft.memory, plan.known or (plan.replaces.id if plan.replaces else None)
    return (
        {"status": status} | ({"id": id} if id else {}) | _facts(one.title, one.metadata, plan.held)
    )


def _stored(memory: "Service", given: Given, batch: str) -> Outcome:
    stored = memory.add(given, batch)
    one = memory.store.get(stored.id or "")
    return {"status": stored.status, "id": one.id} | _facts(
        one.title, one.metadata, one.ingest_metadata.get("held", 0)
    )


def _facts(title: str | None, metadata: Any, held: int) -> Outcome:
    facts = {"title": title, "type": metadata.get("type"), "chunks": metadata.get("parts")}
    facts |= {"pages": metadata.get("pages"), "held": held or None}
    return {name: value for name, value in facts.items() if value is not None}


def _vectors(memory: "Service", progress: Progress) -> bool:
    """Wait until the vectors are made, and return whether all of them are."""
    lacking: int | None = None
    since = time.monotonic()
    while not memory.settle(POLL_SECONDS):
        about = memory.stats()
        known = next((one for one in about.embedders if one.embedder == about.embedder), None)
        if known is None or known.total - known.done != lacking:
            since = time.monotonic()
        if known is not None:
            lacking = known.total - known.done
            progress(known.done, known.total, "vectors")
        if time.monotonic() - since > STUCK_SECONDS:
            return False
    return True


def _lines(told: list[Outcome], batch: str | None, *, complete: bool) -> Iterator[RenderableType]:
    for one in told:
        if "error" in one:
            yield Text(f"{one['error']['code']}: {one_line(one['error']['message'])}", style="red")
            continue
        facts = [f"{one[name]:,} {name}" for name in ("pages", "chunks") if name in one]
        said = f"{one['status']}  {one_line(one['file'])}  {one_line(one.get('title', ''))}"
        yield Text(f"{said}  ({', '.join([str(one.get('type')), *facts])})")
        if one.get("held"):
            yield Text(
                f"  {one['held']} chunks read like instructions to a model and are never recalled",
                style="yellow",
            )
    if batch is not None:
        yield Text(f"kinmem undo {batch} takes it back.", style="dim")
    if not complete:
        yield Text("The vectors are not all there: kinmem reembed goes on.", style="yellow")
