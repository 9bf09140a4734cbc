"""memorize, update, forget, restore, history, undo: changing memories, and taking changes back;
add, summarize: storing documents, and summarising long memories."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import typer
from rich.console import RenderableType
from rich.text import Text

from kinmem.cli import details
from kinmem.cli import options as take
from kinmem.cli.cards import connected, forgotten, memory_card, still_said, what_became
from kinmem.cli.command_context import (
    CommandContext,
    command,
    full_id,
    last_change,
    note_change,
)
from kinmem.cli.forgetting_command import forget_about, scrub_secrets
from kinmem.cli.terminal import Refused, exit_code, one_line, progress_bar, say
from kinmem.documents.document import Given, files_of, from_file
from kinmem.errors import InvalidInput
from kinmem.models import Memory, Progress
from kinmem.store.history import batch_name
from kinmem.text import cut

if TYPE_CHECKING:
    from kinmem.service import Service

app = typer.Typer()
PANEL = "Remember"
# Digits of the largest number in a database. Python refuses to parse numbers of thousands of
# digits.
DIGITS = 19


@command(app, rich_help_panel=PANEL)
def memorize(
    context: CommandContext,
    text: take.Text,
    speaker: take.Speaker = None,
    key: take.IdempotencyKey = None,
    trust: take.Trusted = False,
    **details: Unpack[take.Details],
) -> None:
    """Store a memory. What is known already is not stored twice."""
    content = _typed(text)
    with context.changing(may_be_new=True) as memory:
        stored = memory.memorize(
            content, idempotency_key=key, speaker=speaker, trusted=trust, **details
        )
        if stored.status == "refused":
            raise Refused(stored.reason or "it was not stored")
        if context.json:
            from kinmem.mcp.tool_answers import MemorizedItem, as_json  # late: 50 ms

            context.tell(as_json(MemorizedItem.of(stored)))
        else:
            say(*what_became(stored, memory))


@command(app, rich_help_panel=PANEL)
def update(
    context: CommandContext,
    memory_id: take.Id,
    content: take.Content = None,
    pinned: take.Pinned = None,
    priority: take.Priority = None,
    archived: take.Archived = None,
    link: take.Link = None,
    unlink: take.Unlink = None,
    clear: take.Clear = None,
    if_version: take.IfVersion = None,
    trust: take.Trusted = False,
    **details: Unpack[take.Details],
) -> None:
    """Change a memory of this Kin."""
    text = None if content is None else _typed([content])
    changes = _given(content=text, pinned=pinned, priority=priority, archived=archived, **details)
    changes |= _cleared(clear or [])
    changes |= {"trusted": True} if trust else {}
    _change(context, memory_id, _update_of(changes, link or (), unlink or (), if_version))


@command(app, rich_help_panel=PANEL)
def forget(
    context: CommandContext,
    memory_id: take.ForgottenId = None,
    about: take.About = None,
    erase: take.Erase = False,
    yes: take.Yes = False,
    dry_run: take.DryRunAbout = False,
) -> None:
    """Take a memory out of use; it can be restored for a while. Or erase everything about a person
    or thing."""
    if (memory_id is None) == (about is None):
        raise typer.BadParameter("name one memory, or what to forget with --about")
    if about is not None:
        forget_about(context, about, yes=yes, dry_run=dry_run)
        return
    if dry_run:
        raise typer.BadParameter("--dry-run goes with --about")
    with context.changing(resident=False) as memory:
        id = full_id(memory, memory_id or "")
        if erase and not yes and sys.stdin.isatty():
            said = one_line(memory.store.get(id).content)
            typer.confirm(f'Erase "{said[:60]}" for good?', abort=True, err=True)
        done = memory.forget(id, erase=erase)
        if context.json:
            from kinmem.mcp.tool_answers import Forgotten, as_json  # late: 50 ms

            context.tell(as_json(Forgotten.of(done, memory)))
        else:
            say(forgotten(done, memory), *still_said(done, memory))


@command(app, rich_help_panel=PANEL)
def confirm(context: CommandContext, memory_id: take.Id) -> None:
    """Vouch for what another Kin shares, so that it is told like this Kin's own memories."""
    _change(context, memory_id, lambda memory, id: memory.confirm(id))


@command(app, rich_help_panel=PANEL)
def mute(context: CommandContext, kin_name: take.MaybeOtherKin = None) -> None:
    """See nothing more of what a Kin shares. Without a name, list who is muted."""
    with context.memory(resident=False) as memory:
        if kin_name:
            memory.mute(kin_name)
        _tell_muted(context, memory)


@command(app, rich_help_panel=PANEL)
def unmute(context: CommandContext, kin_name: take.OtherKin) -> None:
    """See again what a Kin shares."""
    with context.memory(resident=False) as memory:
        memory.unmute(kin_name)
        _tell_muted(context, memory)


def _tell_muted(context: CommandContext, memory: "Service") -> None:
    muted = memory.muted()
    told = f"Muted: {', '.join(muted)}." if muted else "Nobody is muted."
    context.tell({"muted": muted}, Text(told))


@command(app, rich_help_panel=PANEL)
def scrub(
    context: CommandContext, yes: take.Yes = False, dry_run: take.DryRunScrub = False
) -> None:
    """Take passwords, keys and other secrets out of everything that is stored already."""
    scrub_secrets(context, yes=yes, dry_run=dry_run)


@command(app, rich_help_panel=PANEL)
def restore(context: CommandContext, memory_id: take.Id) -> None:
    """Bring back a memory that was forgotten or archived."""
    _change(context, memory_id, lambda memory, id: memory.restore(id))


def _update_of(
    changes: dict[str, Any], link: Sequence[str], unlink: Sequence[str], if_version: int | None
) -> "Callable[[Service, str], Memory]":
    def change(memory: "Service", id: str) -> Memory:
        links = list(_links(memory, link, unlink))
        also: dict[str, Any] = {"links": links} if links else {}
        return memory.update_memory(id, if_version=if_version, **changes, **also)

    return change


def _change(
    context: CommandContext, typed: str, change: "Callable[[Service, str], Memory]"
) -> None:
    with context.changing() as memory:
        changed = change(memory, full_id(memory, typed))
        if context.json:
            from kinmem.mcp.tool_answers import Memory, as_json  # late: 50 ms

            context.tell(as_json(Memory.whole(changed, memory)))
        else:
            say(memory_card(changed, memory), *connected(changed, memory))


def _links(
    memory: "Service", added: Iterable[str], taken: Iterable[str]
) -> Iterator[dict[str, str | None]]:
    """Yield what --link and --unlink name. Ids may be the short ones that lists show."""
    for argument in added:
        typed, _, relation = argument.partition(":")
        yield {"id": full_id(memory, typed), "relation": relation.strip() or "related_to"}
    for typed in taken:
        yield {"id": full_id(memory, typed), "relation": None}


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _cleared(names: list[str]) -> dict[str, None]:
    for name in names:
        if name not in take.CLEARABLE:
            told = f"{name!r} is none of {', '.join(take.CLEARABLE)}"
            raise typer.BadParameter(told, param_hint="--clear")
    return {name.replace("-", "_"): None for name in names}


def _typed(words: list[str]) -> str:
    return sys.stdin.read() if words == ["-"] else " ".join(words)


@command(app, rich_help_panel=PANEL)
def history(
    context: CommandContext,
    memory_id: take.MaybeId = None,
    limit: take.WriteLimit = 20,
    before: take.Before = None,
    as_of: take.AsOfWrite = None,
) -> None:
    """Show what was done, the latest first: to one memory, or to all of this Kin's."""
    with context.memory(resident=False) as memory:
        if as_of is not None:
            then = list(memory.as_of(as_of).values())
            context.tell(details.rows_then(then, memory), *details.listing_then(then))
        elif memory_id is not None:
            events = memory.history(full_id(memory, memory_id), limit)
            context.tell(details.event_rows(events, memory), *details.event_lines(events, memory))
        else:
            events = memory.history(None, limit, before=before)
            context.tell(
                details.write_rows(events, memory, limit),
                *details.write_table(events, memory, limit),
            )


@command(app, rich_help_panel=PANEL)
def undo(
    context: CommandContext,
    what: take.What = None,
    last: take.Last = 1,
    cascade: take.Cascade = False,
    dry_run: take.DryRunUndo = False,
) -> None:
    """Take back changes: the last one, or a write, a batch, or the last change of a memory."""
    with context.memory() as memory:
        if what is None and last == 1 and not dry_run:
            _ask_before_other_changes(memory)
        done = memory.undo(_meant(memory, what), last=last, cascade=cascade, dry_run=dry_run)
        if done.batch:
            note_change(memory)
        if context.json:
            context.tell(details.undone_row(done))
        else:
            say(*details.undone_cards(done))


def _ask_before_other_changes(memory: "Service") -> None:
    """Raise InvalidInput, or ask a person, if the last change was not made by the last command."""
    planned, (first, last) = memory.undo(dry_run=True), last_change(memory)
    newest = max(planned.writes, default=0)
    if first <= newest <= last:
        return
    by = "the last change was not made by a command"
    if newest <= last:
        by = "the last command changed nothing that can be undone"
    if sys.stdin.isatty():
        say(*details.undone_cards(planned))
        typer.confirm(f"{by}. Take this back all the same?", abort=True, err=True)
        return
    texts = [f"{planned.became[id]}: {one_line(text)}" for id, text in planned.texts.items()]
    raise InvalidInput(f"{by}; kinmem undo {newest} takes back ({cut('; '.join(texts), TOLD)})")


# Characters of what an undo would do that a refusal tells.
TOLD = 300


def _meant(memory: "Service", what: str | None) -> int | str | None:
    """Return the number of a write, the name of a batch, or a memory's whole id."""
    if what is None:
        return None
    past = memory.store.past
    if what.isdecimal() and len(what) <= DIGITS and past.write(int(what)):
        return int(what)
    if past.batch(what):
        return what
    return full_id(memory, what)


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
    fields = {
        "title": title,
        "description": description,
        "tags": tuple(tag or ()),
        "scope": scope or "private",
        "subject": subject,
        "category": category or "knowledge",
        "importance": importance,
        "trusted": trusted,
    }
    with context.changing(may_be_new=True) as memory, progress_bar() as progress:
        told = list(
            _added(memory, list(_files_meant(files, recursive, title)), fields, batch, progress)
        )
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


def _files_meant(names: list[str], recursive: bool, title: str | None) -> Iterator[str]:
    if "-" in names and len(names) > 1:
        raise typer.BadParameter("- is all that can be read then", param_hint="FILE")
    files = (
        names if names == ["-"] else [str(path) for path in files_of(names, recursive=recursive)]
    )
    if title is not None and len(files) > 1:
        raise typer.BadParameter("a title is for one document", param_hint="--title")
    yield from files


def _added(
    memory: "Service", files: list[str], fields: Outcome, batch: str | None, progress: Progress
) -> Iterator[Outcome]:
    """Yield the outcome for each file; without a batch, what the outcome would be."""
    for done, file in enumerate(files):
        progress(done, len(files), "files")
        try:
            given = _file_given(file, fields)
            told = _planned(memory, given) if batch is None else _stored(memory, given, batch)
            yield {"file": file, **told}
        except InvalidInput as error:
            yield {"file": file, "error": {"code": error.code, "message": str(error)}}


def _file_given(file: str, fields: Outcome) -> Given:
    if file != "-":
        return from_file(Path(file), **fields)
    bare = getattr(sys.stdin, "buffer", sys.stdin)
    return Given(data=bare.read(), **fields)


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
