"""What an import of Markdown pages would do, or has done, for people and programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from kinmem.cli.command_context import short_id
from kinmem.cli.terminal import one_line
from kinmem.transfer.page_import import PagesImport

SHOWN = 5


def pages_row(plan: PagesImport) -> dict[str, Any]:
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
    plan: PagesImport, *, done: bool = False, delete_missing: bool = False
) -> Iterator[RenderableType]:
    """Yield an import for people."""
    if done:
        told = f"{plan.updated:,} memories updated, {plan.created:,} new"
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
