"""Links and timelines as people read them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from kinmem.cli.pages import short_id
from kinmem.cli.terminal import columns, one_line
from kinmem.text import cut

if TYPE_CHECKING:
    from kinmem.models import Memory, Page
    from kinmem.service import Service

QUIET = "dim"
LINKED_CHARACTERS = 80
MOST_LINKED = 20


def connected(one: "Memory", memory: "Service") -> Iterator[RenderableType]:
    """What a memory is linked with, a line each; nothing for one that stands alone."""
    found = memory.links(one.id).get(one.id, [])
    if found:
        yield Text("links", style=QUIET)
    for link in found[:MOST_LINKED]:
        sure = f" ({link.confidence:.0%} sure)" if link.is_automatic else ""
        relation, other = link.relation.replace("_", " "), link.memory
        begins = cut(one_line(other.content), LINKED_CHARACTERS)
        yield Text(f"  {relation}  {short_id(other.id)}  {begins}{sure}")


def moments(page: "Page", memory: "Service") -> Iterator[RenderableType]:
    """One line for each, with the day, and until when it was so if it is so no longer."""
    if not page.memories:
        yield Text("Nothing is remembered of that time.")
        return
    zone = memory.settings.general.zone
    rows = []
    for one in page.memories:
        until = f"(until {one.valid_to.astimezone(zone).date()}) " if one.valid_to else ""
        mark = "" if one.state == "active" or until else f"({one.state}) "
        at = one.said_at.astimezone(zone)
        when = f"{at:%Y-%m-%d %H:%M}".removesuffix(" 00:00")
        rows.append((when, short_id(one.id), one.subject or "", until + mark + one.content))
    yield from columns(("when", "id", "subject", "what happened"), rows)
    if page.next_cursor is not None:
        told = f"There is more: --cursor {page.next_cursor}"
        yield Text(told, style=QUIET, no_wrap=True, overflow="ignore")
