"""history, undo: what was done, and taking it back."""

from typing import TYPE_CHECKING

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command
from kinmem.cli.terminal import say

if TYPE_CHECKING:
    from kinmem.service import Service

app = typer.Typer()
PANEL = "Remember"
DIGITS = 19
"""Of the greatest number a database has; Python reads numbers of some thousand digits only."""


@command(app, rich_help_panel=PANEL)
def history(
    here: Here,
    memory_id: take.MaybeId = None,
    limit: take.WriteLimit = 20,
    before: take.Before = None,
    as_of: take.AsOfWrite = None,
) -> None:
    """What was done, the latest first: to one memory, or to all of this Kin's."""
    from kinmem.cli import writes
    from kinmem.cli.pages import full_id

    with here.memory(resident=False) as memory:
        if as_of is not None:
            then = list(memory.as_of(as_of).values())
            here.tell(writes.memories_then(then, memory), *writes.listing_then(then))
        elif memory_id is not None:
            events = memory.history(full_id(memory, memory_id), limit)
            here.tell(writes.lines(events, memory), *writes.line_list(events, memory))
        else:
            events = memory.history(None, limit, before=before)
            here.tell(writes.grouped(events, memory, limit), *writes.table(events, memory, limit))


@command(app, rich_help_panel=PANEL)
def undo(
    here: Here,
    what: take.What = None,
    last: take.Last = 1,
    cascade: take.Cascade = False,
    dry_run: take.DryRunUndo = False,
) -> None:
    """Take back what was done: the last thing, or a write, batch or memory's last change."""
    from kinmem.cli import writes

    with here.memory() as memory:
        done = memory.undo(_meant(memory, what), last=last, cascade=cascade, dry_run=dry_run)
        if here.json:
            here.tell(writes.undone(done))
        else:
            say(*writes.undone_cards(done, memory))


def _meant(memory: "Service", what: str | None) -> int | str | None:
    """The number of a write, the name of a batch, or a memory's whole id."""
    from kinmem.cli.pages import full_id

    if what is None:
        return None
    past = memory.store.past
    if what.isdecimal() and len(what) <= DIGITS and past.write(int(what)):
        return int(what)
    if past.batch(what):
        return what
    return full_id(memory, what)
