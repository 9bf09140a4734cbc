"""Memories and answers as people read them."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kinmem.cli.explain import explanation
from kinmem.cli.maps import connected
from kinmem.cli.pages import short_id
from kinmem.cli.terminal import columns, one_line, safe
from kinmem.models import CONVERSATION
from kinmem.places import name_of
from kinmem.rules.time.when import age_in_words

if TYPE_CHECKING:
    from kinmem.models import Answer, Forgotten, Hit, Memory, Page, Review, Stored
    from kinmem.service import Service

QUIET = "dim"
WEAK = "Nothing remembered is likely to answer this. The nearest, weak:"
ALSO_WEAK = "Weak, unlikely to answer:"
NEWER = "not found itself: what was found may hold no longer because of it"
BECAME = {
    "created": ("Remembered:", "green"),
    "duplicate_of": ("Known already, so nothing was stored:", "yellow"),
    "merged_into": ("Added to what was known:", "green"),
    "superseded": ("Remembered, in place of what is true no longer:", "green"),
    "conflict": ("Remembered, but it contradicts what is known:", "yellow"),
    "updated": ("A new version is in place of the one before:", "green"),
    "quarantined": ("Held back until somebody has looked at it:", "yellow"),
}
"""What is said of each status of Stored that has a memory."""
DEGRADED = {
    "embedding": "Found by words only: the embedder cannot be used. kinmem doctor says why.",
    "pending": "Some memories have no vector yet and are found by words only: kinmem reembed.",
    "rewrite": "The model that makes follow-ups whole failed or was late; rules did.",
    "multi_query": "The model for other wordings failed or was late; the question stands alone.",
    "hyde": "The model that makes up an answer failed or was late; the question stands alone.",
    "rerank": "The model that reads the hits again failed or was late; they stand as found.",
}


def answer_cards(answer: "Answer", memory: "Service", *, explain: bool) -> Iterator[RenderableType]:
    """The hits of a recall, best first, each with its reasons if asked for; the weak ones under a
    line that says so."""
    told = answer.hits
    best = next((hit.score for hit in told if not hit.is_fetched), 0.0)
    was_weak = False
    for place, hit in enumerate(told, 1):
        if hit.weak and not was_weak:
            yield Text(WEAK if answer.abstained else ALSO_WEAK, style="yellow")
        was_weak = hit.weak
        parts = [memory_card(hit.memory, memory, hit=hit, place=place)]
        if explain or hit.weak:
            sure = Text(f"answers the question with a chance of {hit.confidence:.0%}", style=QUIET)
            parts.append(Padding(sure, (0, 0, 0, 3)))
        if explain:
            reasons = NEWER if hit.is_fetched else explanation(hit.why, hit.score, best)
            parts.append(Padding(reasons, (0, 0, 1, 3)))
            lines = () if hit.is_turn else connected(hit.memory, memory)
            parts += [Padding(line, (0, 0, 0, 3)) for line in lines]
        yield Group(*parts)
    if not told:
        yield _nothing(memory)
    if answer.asked:
        yield Text(f"Searched for: {safe(answer.asked)}", style=QUIET)
    for reason in answer.degraded:
        yield Text(DEGRADED.get(reason, reason), style="yellow")


def memory_card(
    one: "Memory", memory: "Service", *, hit: "Hit | None" = None, place: int | None = None
) -> RenderableType:
    """What it says, then what it is."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", min_width=2, style=QUIET)
    grid.add_column(overflow="fold")
    excerpt = None if hit is None else hit.excerpt
    if excerpt is None and one.is_document:
        excerpt = one.content
    content = one.content if excerpt is None else f"… {excerpt} …"
    if one.title:
        grid.add_row("", Text(one_line(one.title), style="bold underline"))
    if hit is not None and hit.part is not None:
        where = f"chunk {hit.part.number} of {hit.part.of}"
        grid.add_row("", Text(f"{where}: {one_line(hit.part.place)}".rstrip(": "), style=QUIET))
    grid.add_row("" if place is None else str(place), Text(safe(content), style="bold"))
    grid.add_row("", Text(" · ".join(_facts(one, memory)), style=QUIET))
    if (newer := memory.newer(one.id).get(one.id)) is not None:
        grid.add_row("", Text(f"may be out of date, newer: {short_id(newer)}", style="yellow"))
    if one.source_context:
        grid.add_row("", Text(f"from: {one_line(one.source_context)}", style=QUIET))
    return grid


def listing(page: "Page", memory: "Service") -> Iterator[RenderableType]:
    """One line per memory."""
    if not page.memories:
        yield _nothing(memory)
        return
    rows, newer = [], memory.newer(*(one.id for one in page.memories))
    for one in page.memories:
        mark = "" if one.state == "active" else f"({one.state}) "
        what = (short_id(one.id), age(one.content_updated_at, memory), one.category)
        said = one.title if one.is_document and one.title else one.content
        if one.id in newer:
            mark += f"(newer: {short_id(newer[one.id])}) "
        rows.append((*what, one.subject or "", whose(one, memory), mark + said))
    yield from columns(("id", "age", "category", "subject", "whose", "content"), rows)
    if page.next_cursor is not None:
        told = f"There is more: --all, or --cursor {page.next_cursor}"
        yield Text(told, style=QUIET, no_wrap=True, overflow="ignore")


def what_became(stored: "Stored", memory: "Service") -> Iterator[RenderableType]:
    """The answer to memorize."""
    if stored.id is None:
        return
    told, style = BECAME[stored.status]
    yield Text(told, style=style)
    yield memory_card(memory.store.get(stored.id), memory)
    others = memory.store.memories([*stored.supersedes, *stored.conflicts])
    for one in others.values():
        yield Text(f"  {short_id(one.id)}  {one_line(one.content)}", style=QUIET)
    if stored.conflicts:
        yield Text("kinmem review shows how to settle it.", style=QUIET)


def forgotten(done: "Forgotten", memory: "Service") -> RenderableType:
    """The answer to forget."""
    if done.restorable_until is None:
        return Text(f"Erased {short_id(done.id)} for good.")
    day = done.restorable_until.astimezone(memory.settings.general.zone).date()
    return Text(f"Forgotten. Until {day} it comes back with: kinmem restore {short_id(done.id)}")


def issues(found: "Review", memory: "Service") -> Iterator[RenderableType]:
    """What a review found, each with the memories it is about."""
    yield Text(safe(found.summary), style="bold")
    known = memory.store.memories([id for issue in found.issues for id in issue.memory_ids])
    for issue in found.issues:
        yield Text(f"\n{issue.type} {issue.id}: {safe(issue.description)}", style="yellow")
        for id in issue.memory_ids:
            content = one_line(known[id].content) if id in known else "(gone)"
            yield Text(f"  {short_id(id)}  {content}")
        yield Text(f"  suggestion: {issue.suggestion}", style=QUIET)
        if issue.suggested_content:
            yield Text(f"  as: {one_line(issue.suggested_content)}", style=QUIET)
    if found.issues:
        yield Text("\nkinmem review --apply ID does it, --refuse ID never asks again.", style=QUIET)


def whose(one: "Memory", memory: "Service") -> str:
    """private, shared, or the Kin that shared it."""
    return one.scope if one.kin == memory.kin else f"shared by {one.kin}"


def age(moment: datetime, memory: "Service") -> str:
    """How long ago, in words."""
    return age_in_words(moment, memory.clock())


def _facts(one: "Memory", memory: "Service") -> Iterator[str]:
    if one.source == CONVERSATION:
        yield f"said by {one_line(one.speaker or '')} in {one_line(one.session or '')}"
        yield f"{one.said_at.astimezone(memory.settings.general.zone):%Y-%m-%d %H:%M}"
        yield one.id
        return
    yield one.category
    if one.subject:
        yield one_line(one.subject)
    yield whose(one, memory)
    if one.state != "active":
        yield one.state
    if one.pinned:
        yield "pinned"
    if one.place is not None:
        yield f"in {one_line(name_of(one.place))}"
    if one.importance is not None:
        yield f"importance {one.importance:g}"
    if one.occurred_at:
        yield f"happened {one.occurred_at.astimezone(memory.settings.general.zone).date()}"
    if one.tags:
        yield " ".join(f"#{one_line(tag)}" for tag in one.tags)
    yield age(one.content_updated_at, memory)
    yield short_id(one.id)


def _nothing(memory: "Service") -> Text:
    if sum(memory.store.counts()["kin"].values()):
        return Text("Nothing fits.")
    return Text(f'{memory.kin} remembers nothing yet. Try: kinmem memorize "Bob likes tea"')
