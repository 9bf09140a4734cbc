"""export, import: all that a Kin remembers, to a file and back."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext, command, short_id
from kinmem.cli.terminal import Refused, json_text, one_line, say
from kinmem.text import many

if TYPE_CHECKING:
    from kinmem.backup.importing import Import
    from kinmem.backup.jsonl import Exported
    from kinmem.backup.markdown import PagesImport
    from kinmem.service import Service


app = typer.Typer()
PANEL = "Look after"
SHOWN = 5
# What is here and stays, or cannot be read: field of Import -> what it is called.
STAYING = {
    "in_bin": "are in the bin here; kinmem restore brings them back",
    "conflicts": "are here with another content, which stays",
    "others": "are another Kin's here",
    "erased": "were erased here, and stay erased",
}


@command(app, rich_help_panel=PANEL)
def export(
    context: CommandContext,
    file: take.ExportFile = None,
    format: take.ExportFormat = "jsonl",
    out: take.ExportFolder = None,
    keep_secrets: take.KeepSecrets = False,
    schema: take.ExportSchema = False,
) -> None:
    """Write everything that is remembered to a JSONL file, without loss; or the memories in use as
    Markdown, one page for each subject."""
    from kinmem.cli.terminal import progress_bar

    if schema:
        from kinmem.backup.jsonl import schema as of_line

        typer.echo(json_text(of_line()))
        return
    if format == "markdown":
        _export_pages(context, file, out, keep_secrets=keep_secrets)
        return
    if out is not None:
        raise typer.BadParameter("a folder is for --format markdown", param_hint="--out")
    context.require_own_file()
    with context.memory(resident=False) as memory, progress_bar() as progress:
        target = _stdout() if file in (None, "-") else Path(str(file))
        done = memory.export(target, keep_secrets=keep_secrets, progress=progress)
    if isinstance(target, Path):
        context.tell(_exported_row(done, file), *_exported_cards(done, str(file)))


@command(app, "import", rich_help_panel=PANEL)
def import_(
    context: CommandContext,
    file: take.ImportFile,
    dry_run: take.DryRunImport = False,
    yes: take.YesImport = False,
    keep_secrets: take.KeepSecrets = False,
    delete_missing: take.DeleteMissing = False,
) -> None:
    """Store what an export holds and this Kin does not have, or what was edited on Markdown pages.
    What is here already stays."""
    from kinmem.cli.terminal import progress_bar

    if Path(file).is_dir() or file.endswith(".md"):
        _import_pages(context, file, dry_run=dry_run, yes=yes, delete_missing=delete_missing)
        return
    if delete_missing:
        raise typer.BadParameter("it is for Markdown pages", param_hint="--delete-missing")
    opened = context.memory if dry_run else context.changing
    with opened(resident=False, may_be_new=not dry_run) as memory:
        if dry_run or not yes:
            with progress_bar() as progress:
                plan = memory.import_(
                    file, dry_run=True, keep_secrets=keep_secrets, progress=progress
                )
            if dry_run:
                context.tell(plan.described(), *_import_cards(plan, done=False))
                return
            if not plan.is_empty:
                _ask(_import_cards(plan, done=False))
        with progress_bar() as progress:
            done = memory.import_(file, keep_secrets=keep_secrets, progress=progress)
            _make_vectors(memory, done)
        context.tell(done.described(), *_import_cards(done, done=True))


def _export_pages(
    context: CommandContext, file: str | None, out: str | None, *, keep_secrets: bool
) -> None:
    from rich.text import Text

    from kinmem.cli.terminal import progress_bar

    folder = out or file
    if folder is None or folder == "-":
        raise typer.BadParameter("name the folder for the pages", param_hint="--out")
    context.require_own_file()
    with context.memory(resident=False) as memory, progress_bar() as progress:
        done = memory.export_pages(folder, keep_secrets=keep_secrets, progress=progress)
    row = {"folder": folder, "pages": done.pages, "memories": done.memories}
    memories = many(done.memories, "memory is", "memories are")
    told = f"{memories} on {many(done.pages, 'page', 'pages')} in {one_line(folder)}."
    redacted = [Text(f"  secrets were taken out of {done.redacted:,}", style="yellow")]
    context.tell(
        row | ({"redacted": done.redacted} if done.redacted else {}),
        Text(told),
        *(redacted if done.redacted else []),
    )


def _import_pages(
    context: CommandContext, path: str, *, dry_run: bool, yes: bool, delete_missing: bool
) -> None:
    from kinmem.cli.terminal import progress_bar

    opened = context.memory if dry_run else context.changing
    with opened(may_be_new=not dry_run) as memory:
        plan = memory.import_pages(path, dry_run=True)
        if dry_run:
            context.tell(pages_row(plan), *pages_cards(plan, delete_missing=delete_missing))
            return
        if not yes and not (plan.is_empty and not (delete_missing and plan.missing)):
            _ask(pages_cards(plan, delete_missing=delete_missing))
        with progress_bar() as progress:
            done = memory.import_pages(path, delete_missing=delete_missing, progress=progress)
        context.tell(pages_row(done), *pages_cards(done, done=True, delete_missing=delete_missing))


def _make_vectors(memory: "Service", done: "Import") -> None:
    """Make the vectors of what was imported. Whatever interrupts it, the import is done."""
    from kinmem.cli.terminal import progress_bar
    from kinmem.errors import ModelError

    if not done.stored:
        return
    try:
        with progress_bar() as progress:
            memory.reembed(progress)
    except (ModelError, KeyboardInterrupt):
        typer.echo("Imported. The vectors are not all there: kinmem reembed goes on.", err=True)


def _stdout() -> Any:
    if sys.stdout.isatty():
        raise typer.BadParameter("name a file, or send the output to one", param_hint="FILE")
    return getattr(sys.stdout, "buffer", sys.stdout)


def _ask(cards: "Iterable[RenderableType]") -> None:
    if not sys.stdin.isatty():
        raise Refused(
            "nobody is here to be asked; --dry-run shows what would be stored, --yes stores it"
        )
    say(*cards)
    typer.confirm("Import it?", abort=True, err=True)


def _exported_row(done: "Exported", file: str | None) -> dict[str, Any]:
    row = {
        "file": file,
        "records": done.counts,
        "redacted": done.redacted or None,
        "leftOut": list(done.left_out) or None,
    }
    return {name: value for name, value in row.items() if value is not None}


def _exported_cards(done: "Exported", file: str) -> "Iterator[RenderableType]":
    from rich.text import Text

    memories, messages = done.counts.get("memory", 0), done.counts.get("message", 0)
    told = f"{many(memories, 'memory', 'memories')} and {many(messages, 'message', 'messages')}"
    yield Text(f"{told} are in {one_line(file)}.")
    if done.redacted:
        records = many(done.redacted, "record", "records")
        yield Text(f"  secrets were taken out of {records}", style="yellow")
    if done.left_out:
        held = many(len(done.left_out), "document holds", "documents hold")
        yield Text(f"  left out: {held} a secret", style="yellow")


def _import_cards(plan: "Import", *, done: bool) -> "Iterator[RenderableType]":
    from rich.text import Text

    verb = "were imported" if done else "are new here"
    yield Text(
        f"{many(plan.memories, 'memory', 'memories')} and"
        f" {many(plan.messages, 'message', 'messages')} of {plan.kin} {verb}.",
        style="green" if done else "bold",
    )
    if plan.known:
        yield Text(f"  {many(plan.known, 'memory is', 'memories are')} here already")
    for name, told in STAYING.items():
        if ids := getattr(plan, name):
            yield Text(f"  {len(ids):,} {told}: {_listed(ids)}", style="yellow")
    for problem in plan.problems[:SHOWN]:
        yield Text(f"  line {problem.line}: {one_line(problem.why)}", style="red")
    if len(plan.problems) > SHOWN:
        more = many(len(plan.problems) - SHOWN, "more problem", "more problems")
        yield Text(f"  and {more}", style="red")
    if done and plan.stored:
        yield Text(f"kinmem undo {plan.batch} takes it back.", style="dim")


def _listed(ids: Sequence[str]) -> str:
    from kinmem.cli.command_context import short_id

    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return ", ".join(map(short_id, ids[:SHOWN])) + more


def pages_row(plan: "PagesImport") -> dict[str, Any]:
    """Return an import for programs; `updated`, `created` and `forgotten` are 0 for a dry run."""
    row = {
        "batch": plan.batch,
        "edits": [{"id": one.id, "content": one.content, "where": one.where} for one in plan.edits],
        "new": [
            {"content": one.content, "subject": one.subject, "where": one.where} for one in plan.new
        ],
        "unchanged": plan.unchanged,
        "missing": plan.missing,
        "conflicts": plan.conflicts,
        "erased": plan.erased,
        "problems": plan.problems,
        "updated": plan.updated,
        "created": plan.created,
        "known": plan.known,
        "forgotten": plan.forgotten,
    }
    return {name: value for name, value in row.items() if value != []}


def pages_cards(
    plan: "PagesImport", *, done: bool = False, delete_missing: bool = False
) -> Iterator[RenderableType]:
    """Yield an import for people."""
    if done:
        told = f"{many(plan.updated, 'memory', 'memories')} updated, {plan.created:,} new"
        told += f", {plan.forgotten:,} forgotten" if plan.forgotten else ""
        yield Text(f"{told}, {plan.unchanged:,} unchanged.", style="green")
    else:
        told = f"{len(plan.edits):,} edited, {len(plan.new):,} new, {plan.unchanged:,} unchanged."
        yield Text(told, style="bold")
        yield from _first(
            [f"{short_id(edit.id)}  {one_line(edit.content)}" for edit in plan.edits], "edited"
        )
        yield from _first([f"new  {one_line(item.content)}" for item in plan.new], "new")
    if plan.known:
        yield Text(f"  {plan.known:,} of the new ones were known already")
    gone = "would be forgotten" if delete_missing else "stay; --delete-missing forgets them"
    for ids, told in (
        ([] if plan.forgotten else plan.missing, f"are no longer on their page, and {gone}"),
        (plan.conflicts, "were changed here as well since the export, and stay as they are"),
        (plan.erased, "were erased here, and stay erased"),
    ):
        if ids:
            named = ", ".join(map(short_id, ids[:SHOWN]))
            named += f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
            yield Text(f"  {len(ids):,} {told}: {named}", style="yellow")
    yield from _first(list(map(one_line, plan.problems)), "problems", style="red")
    if done and (plan.updated or plan.created or plan.forgotten):
        yield Text(f"kinmem undo {plan.batch} takes it back.", style="dim")


def _first(lines: Sequence[str], what: str, style: str = "") -> Iterator[Text]:
    """Yield the first lines, and say how many more there are."""
    for line in lines[:SHOWN]:
        yield Text(f"  {line}", style=style)
    if len(lines) > SHOWN:
        yield Text(f"  and {len(lines) - SHOWN:,} more {what}", style=style)
