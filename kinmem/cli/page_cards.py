"""What an import of Markdown pages would do, or has done, for people and programs."""

from collections.abc import Iterator
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
        for edit in plan.edits[:SHOWN]:
            yield Text(f"  {short_id(edit.id)}  {one_line(edit.content)}")
        for item in plan.new[:SHOWN]:
            yield Text(f"  new  {one_line(item.content)}")
    if plan.known:
        yield Text(f"  {plan.known:,} of the new ones were known already")
    if plan.missing and not plan.forgotten:
        what = "will be forgotten" if delete_missing else "stay; --delete-missing forgets them"
        yield Text(f"  {len(plan.missing):,} are no longer on their page: {what}", style="yellow")
    for ids, told in (
        (plan.conflicts, "were changed here as well since the export, and stay as they are"),
        (plan.erased, "were erased here, and stay erased"),
    ):
        if ids:
            named = ", ".join(map(short_id, ids[:SHOWN]))
            yield Text(f"  {len(ids):,} {told}: {named}", style="yellow")
    for problem in plan.problems[:SHOWN]:
        yield Text(f"  {one_line(problem)}", style="red")
    if done and (plan.updated or plan.created or plan.forgotten):
        yield Text(f"kinmem undo {plan.batch} takes it back.", style="dim")
