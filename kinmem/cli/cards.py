"""Memories, answers, entities and timelines in the form for people."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kinmem.cli.command_context import short_id
from kinmem.cli.terminal import columns, one_line, safe
from kinmem.clock import age_in_words
from kinmem.models import (
    CONVERSATION,
    LIVE,
    Answer,
    ErasedFromBackups,
    Forgotten,
    Hit,
    Issue,
    Memory,
    Page,
    Review,
    Settled,
    Stored,
)
from kinmem.models.places import name_of
from kinmem.text import many

if TYPE_CHECKING:
    from kinmem.knowledge import Card, Connection, Relation, Way
    from kinmem.service import Service

QUIET = "dim"
WEAK = "Nothing remembered is likely to answer this. The nearest, weak:"
ALSO_WEAK = "Weak, unlikely to answer:"
NEWER = "not found itself: what was found may hold no longer because of it"
# The headline for each status of Stored that has a memory.
BECAME = {
    "created": ("Remembered:", "green"),
    "duplicate_of": ("Known already, so nothing was stored:", "yellow"),
    "merged_into": ("Added to what was known:", "green"),
    "superseded": ("Remembered, in place of what is true no longer:", "green"),
    "conflict": ("Remembered; it may contradict what is known:", "yellow"),
    "updated": ("A new version is in place of the one before:", "green"),
    "quarantined": ("Held back until somebody has looked at it:", "yellow"),
}
# The wording for each suggestion of an Issue.
SUGGESTED = {
    "delete": "put what is not needed into the bin",
    "merge": "let one stand for all",
    "update": "correct it",
    "keep": "leave it",
    "release": "release it",
}
ENDED = {"deleted": "in the bin", "superseded": "replaced", "updated": "says now"}
ASKED = "kinmem review asks which holds"
DEGRADED = {
    "embedding": "Found by words only: the embedder cannot be used. kinmem doctor says why.",
    "pending": "Some memories have no vector yet and are found by words only: kinmem reembed.",
    "rewrite": "The model that makes follow-ups whole failed or was late; rules did.",
    "multi_query": "The model for other wordings failed or was late; the question stands alone.",
    "hyde": "The model that makes up an answer failed or was late; the question stands alone.",
    "damage": "Something is damaged and was left out: kinmem doctor names it.",
    "rerank": "The model that reads the hits again failed or was late; they stand as found.",
}
BAR_WIDTH = 20
EIGHTHS = " ▏▎▍▌▋▊▉"
MEANINGS = {
    "meaning": "how near the meanings are",
    "words": "words they share",
    "neighbours": "near a match in the talk",
    "answers": "answers a question that fits",
    "evidence": "tells more than it asks",
    "not by an assistant": "the user said it, or it was noted",
    "named": "said by or about the one named",
    "then": "said at the time named",
    "judge": "how surely it answers, as read",
    "standing wish": "a lasting wish of the user",
    "semantic": "how relevant it is",
    "recency": "how lately it was used",
    "retention": "how little it has faded",
    "importance": "how important it is",
    "confidence": "how sure it is",
}
LINKED_CHARACTERS = 80
MOST_LINKED = 20
# Memories to list for each alias.
MOST_SHOWN = 5


def answer_cards(answer: Answer, memory: "Service", *, explain: bool) -> Iterator[RenderableType]:
    """Yield the hits of a recall, best first, with their reasons if `explain`; weak ones under a
    headline."""
    told = answer.hits
    best = next((hit.score for hit in told if not hit.is_fetched), 0.0)
    was_weak = False
    for place, hit in enumerate(told, 1):
        if hit.weak and not was_weak:
            yield Text(WEAK if answer.abstained else ALSO_WEAK, style="yellow")
        was_weak = hit.weak
        if hit.weak and not explain:
            yield weak_line(hit, place)
            continue
        parts = [memory_card(hit.memory, memory, hit=hit, place=place)]
        if explain:
            sure = Text(f"answers the question with a chance of {_chance(hit)}", style=QUIET)
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


def weak_line(hit: Hit, place: int) -> RenderableType:
    """Return a weak hit in short, with its id and chance; more would hide the better answers."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", min_width=2, style=QUIET)
    grid.add_column(overflow="fold")
    told = Text(one_line(hit.excerpt or hit.memory.content))
    told.append(f"  {short_id(hit.memory.id)}, {_chance(hit)}", style=QUIET)
    grid.add_row(str(place), told)
    return grid


def _chance(hit: Hit) -> str:
    """Return how likely it answers; an estimate is never shown as 0 or 100 %."""
    return "under 1%" if hit.confidence < 0.01 else f"{min(hit.confidence, 0.99):.0%}"


def memory_card(
    one: Memory, memory: "Service", *, hit: Hit | None = None, place: int | None = None
) -> RenderableType:
    """Return what the memory says, then its details."""
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


def listing(page: Page, memory: "Service") -> Iterator[RenderableType]:
    """Yield one line per memory."""
    if not page.memories:
        yield _nothing(memory)
        return
    rows, newer = [], memory.newer(*(one.id for one in page.memories))
    is_placed = any(one.place is not None for one in page.memories)
    for one in page.memories:
        mark = "" if one.state == "active" else f"({one.state}) "
        what = (short_id(one.id), age(one.content_updated_at, memory), one.category)
        said = one.title if one.is_document and one.title else one.content
        mark += _doubt(one, newer)
        where = [name_of(one.place) if one.place else ""] * is_placed
        rows.append((*what, one.subject or "", whose(one, memory), *where, mark + said))
    head = ("id", "age", "category", "subject", "whose", *["place"] * is_placed, "content")
    yield from columns(head, rows)
    if page.next_cursor is not None:
        told = f"There is more: --all, or --cursor {page.next_cursor}"
        yield Text(told, style=QUIET, no_wrap=True, overflow="ignore")


def _doubt(one: Memory, newer: Mapping[str, str]) -> str:
    """Return the mark of a memory that may be out of date. `newer`: see Service.newer."""
    return f"(newer: {short_id(newer[one.id])}) " if one.id in newer else ""


def what_became(stored: Stored, memory: "Service") -> Iterator[RenderableType]:
    """Yield the answer to memorize."""
    if stored.id is None:
        return
    told, style = BECAME[stored.status]
    yield Text(told, style=style)
    if stored.reason and memory.store.get(stored.id).is_held:
        yield Text(f"{one_line(stored.reason)}, or: kinmem memorize --trust", style="yellow")
    yield memory_card(memory.store.get(stored.id), memory)
    others = memory.store.memories([*stored.supersedes, *stored.conflicts])
    for one in others.values():
        yield Text(f"  {short_id(one.id)}  {one_line(one.content)}", style=QUIET)
    if stored.conflicts:
        yield Text("kinmem review shows how to settle it.", style=QUIET)


def forgotten(done: Forgotten, memory: "Service") -> RenderableType:
    """Return the answer to forget."""
    if done.restorable_until is None:
        return Text("\n".join(_erased(done)))
    day = done.restorable_until.astimezone(memory.settings.general.zone).date()
    return Text(f"Forgotten. Until {day} it comes back with: kinmem restore {short_id(done.id)}")


def still_said(done: Forgotten, memory: "Service") -> Iterator[RenderableType]:
    """Yield what stays in use although it says nearly the same."""
    known = memory.store.memories(done.still_said_by)
    if known:
        yield Text("Still in use, and nearly the same or in conflict with it:", style="yellow")
    for one in known.values():
        yield Text(f"  {short_id(one.id)}  {one_line(one.content)}", style=QUIET)


def _erased(done: Forgotten) -> Iterator[str]:
    count = len(done.backups.rewritten)
    also = f", also from {count} backup{'' if count == 1 else 's'}" if count else ""
    yield f"Erased {short_id(done.id)} for good{also}."
    yield from backups_left(done.backups)


def backups_left(reached: ErasedFromBackups) -> Iterator[str]:
    """Name the backups that may still have what was erased."""
    if reached.later:
        yield f"{reached.later} backups in the home follow with the next sleep: kinmem sleep backup"
    for path in reached.unreached:
        yield f"May still be in {one_line(path)}, which cannot be reached: delete it by hand."


def issues(found: Review, memory: "Service") -> Iterator[RenderableType]:
    """Yield what was settled first, then what the review found, each issue with its memories."""
    for done in found.settled:
        yield from _settled(done, memory)
    yield Text(safe(found.summary), style="bold")
    known = memory.store.memories([id for issue in found.issues for id in issue.memory_ids])
    for issue in found.issues:
        yield Text(f"\n{issue.type} {issue.id}: {safe(issue.description)}", style="yellow")
        for id in issue.memory_ids:
            content = one_line(known[id].content) if id in known else "(gone)"
            yield Text(f"  {short_id(id)}  {content}")
        for line in _suggested(issue, known):
            yield Text(line, style=QUIET)
    if found.issues:
        how = "\nAnswer with kinmem review --apply ISSUE, --refuse ISSUE, or --apply ISSUE --keep"
        how += " MEMORY."
        yield Text(how, style=QUIET)


def _suggested(issue: Issue, known: Mapping[str, Memory]) -> Iterator[str]:
    """Yield what applying the issue does. Of a contradiction one of the memories stays as it is."""
    stays = issue.staying(known[id] for id in issue.memory_ids if id in known)
    if issue.type == "contradiction" and issue.suggestion != "keep" and stays:
        yield f"  suggestion: {short_id(stays.id)} stays"
    elif issue.type == "contradiction" and issue.suggestion == "keep":
        yield "  suggestion: keep both"
    else:
        yield f"  suggestion: {SUGGESTED[issue.suggestion]}"
        if issue.suggested_content:
            yield f"  so that it says: {one_line(issue.suggested_content)}"
    for answer, does in issue.answers.items():
        yield f"  --{answer.replace('with ', '--')}: {does}"


def _settled(done: Settled, memory: "Service") -> Iterator[RenderableType]:
    """Yield what was done about an issue, memory by memory, and how to take it back."""
    if not done.changed:
        told = f"Issue {done.issue}: nothing is changed, and it is not asked about again."
        yield Text(told, style="green")
        yield Text(f'kinmem undo "{done.batch}" takes it back.', style=QUIET)
        return
    yield Text(f"Issue {done.issue} is settled:", style="green")
    stood = {done.kept: "stays"} if done.kept else {}
    stood |= {id: ENDED.get(became, became) for id, became in done.changed}
    known = memory.store.memories(list(stood))
    for id, became in stood.items():
        content = one_line(known[id].content) if id in known else ""
        yield Text(f"  {short_id(id)}  {became}: {content}")
    yield Text(f'kinmem undo "{done.batch}" takes it back.', style=QUIET)


def whose(one: Memory, memory: "Service") -> str:
    """Return private, shared, or the Kin that shared it."""
    if one.kin == memory.kin:
        return one.scope
    is_confirmed = one.id in memory.store.others.confirmed()
    return f"shared by {one.kin}{'' if is_confirmed else ', unconfirmed'}"


def age(moment: datetime, memory: "Service") -> str:
    """Return how long ago it was, in words, or how long until then."""
    now = memory.clock()
    if moment <= now:
        return age_in_words(moment, now)
    ahead = age_in_words(now, moment)
    return f"in {ahead.removesuffix(' ago')}" if ahead.endswith(" ago") else ahead


def _facts(one: Memory, memory: "Service") -> Iterator[str]:
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
    if one.expires_at:
        yield f"ends {one.expires_at.astimezone(memory.settings.general.zone):%Y-%m-%d %H:%M}"
    if one.tags:
        yield " ".join(f"#{one_line(tag)}" for tag in one.tags)
    yield age(one.content_updated_at, memory)
    yield short_id(one.id)


def _nothing(memory: "Service") -> Text:
    is_empty = not sum(memory.store.counts()["kin"].values())
    if waiting := memory.store.turns.counts()["waiting"]:
        count = many(waiting, "message of a conversation waits", "messages of conversations wait")
        told = f"{memory.kin} has learned nothing yet." if is_empty else "Nothing fits."
        return Text(f"{told} {count} to be learned from: kinmem sleep --kin {memory.kin} does it.")
    if not is_empty:
        return Text("Nothing fits.")
    told = f"{memory.kin} remembers nothing yet."
    return Text(f'{told} Try: kinmem memorize --kin {memory.kin} "Bob likes tea"')


def explanation(why: Mapping[str, float], score: float, best: float) -> Group:
    """Return a line for each part that was added, then how the parts make the score.

    A bar of full width is the answer's best score. See Hit.why: parts are added up, their sum is
    multiplied by the factors, and the rest informs.
    """
    grid = Table.grid(padding=(0, 1))
    parts = {name[1:]: value for name, value in why.items() if name.startswith("+")}
    for name, value in parts.items():
        drawn = Text(bar(value, best).ljust(BAR_WIDTH), style="green")
        meant = Text(MEANINGS.get(name, ""), style="dim")
        grid.add_row(Text(name), drawn, Text(f"{value:.3f}"), meant)
    lines: list[RenderableType] = [
        grid,
        Text(" ".join(_sum_of_parts(why, parts, score)), style="bold"),
    ]
    noted = [f"{name} {value:.3f}" for name, value in why.items() if name[0] not in "+x"]
    if noted:
        lines.append(Text("besides: " + ", ".join(noted), style="dim"))
    return Group(*lines)


def bar(value: float, best: float) -> str:
    """Draw a bar of up to BAR_WIDTH cells; the full width is the best score."""
    if best <= 0 or value <= 0:
        return ""
    eighths = max(1, round(min(value / best, 1.0) * BAR_WIDTH * 8))
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _sum_of_parts(
    why: Mapping[str, float], parts: Mapping[str, float], score: float
) -> Iterator[str]:
    added = " + ".join(f"{value:.3f}" for value in parts.values())
    factors = [
        f"× {name[1:]} {value:.3f}"
        for name, value in why.items()
        if name.startswith("x") and f"{value:.3f}" != "1.000"
    ]
    yield f"({added})" if factors and len(parts) > 1 else added
    yield from factors
    yield f"= {score:.3f}"


def connected(one: Memory, memory: "Service") -> Iterator[RenderableType]:
    """Yield a line for each link of a memory; nothing if it has none."""
    found = memory.links(one.id).get(one.id, [])
    if found:
        yield Text("links", style=QUIET)
    for link in found[:MOST_LINKED]:
        other, is_open = link.memory, link.undecided is not None
        relation = "may contradict" if is_open else link.relation.replace("_", " ")
        begins = one_line(other.content, LINKED_CHARACTERS)
        yield Text(f"  {relation}  {short_id(other.id)}  {begins}{_how_sure(link)}")


def _how_sure(link: "Connection") -> str:
    """Return how sure it is that a link holds, or why a person has to decide. A link that a person
    made is certain."""
    if link.undecided is not None:
        sure = link.confidence
        why = one_line(link.undecided) if sure is None else f"{sure * 100:.0f} % likely"
        return f" ({'; '.join(filter(None, (ASKED, why)))})"
    if link.is_automatic and link.confidence is not None:
        return f" ({link.confidence:.0%} sure)"
    return ""


def moments(page: Page, memory: "Service") -> Iterator[RenderableType]:
    """Yield one line per memory, with its day, and until when it held if it no longer does."""
    if not page.memories:
        yield Text("Nothing is remembered of that time.")
        return
    zone = memory.settings.general.zone
    rows, newer = [], memory.newer(*(one.id for one in page.memories))
    for one in page.memories:
        until = f"(until {one.valid_to.astimezone(zone).date()}) " if one.valid_to else ""
        mark = "" if one.state == "active" or until else f"({one.state}) "
        mark += _doubt(one, newer)
        at = one.said_at.astimezone(zone)
        when = f"{at:%Y-%m-%d %H:%M}".removesuffix(" 00:00")
        rows.append((when, short_id(one.id), one.subject or "", until + mark + one.content))
    yield from columns(("when", "id", "subject", "what happened"), rows)
    if page.next_cursor is not None:
        told = f"There is more: --cursor {page.next_cursor}"
        yield Text(told, style=QUIET, no_wrap=True, overflow="ignore")


def entity_card(card: "Card", way: "Way | None", memory: "Service") -> Iterator[RenderableType]:
    """Yield its names, relations, neighbours and latest memories, and the path to another
    entity."""
    yield Text(safe(card.name), style="bold").append(f"  {card.type}", style=QUIET)
    if card.is_past:
        yield Text("Nothing told here holds now: no memory in use is about it.", style="yellow")
    for alias in card.aliases:
        where = ", ".join(short_id(id) for id in card.called.get(alias, ())[:MOST_SHOWN])
        yield Text(f"also called {safe(alias)}, merged into this name: {where}", style=QUIET)
    if card.also:
        yield Text(f"others of that name: {safe(', '.join(card.also))}", style=QUIET)
    yield Text(_known_since(card, memory), style=QUIET)
    if card.relations:
        yield from columns(
            ("relation", "to", "strength", ""), [_relation_row(one) for one in card.relations]
        )
    if card.neighbours:
        yield from columns(
            ("neighbour", "relation", "to", "strength", ""),
            [(one.of, *_relation_row(one)) for one in card.neighbours],
        )
    if way is not None:
        yield Text(_path_line(way))
    newer = memory.newer(*(one.id for one in card.latest))
    for one in card.latest:
        mark = ("" if one.state in LIVE else f"({one.state}) ") + _doubt(one, newer)
        yield Text(f"{short_id(one.id)}  {mark}{one_line(one.content)}")


def _relation_row(one: "Relation") -> tuple[str, str, str, str]:
    ended = f"until {one.ended.date()}" if one.ended else ""
    return one.relation.replace("_", " "), one.to, f"{one.strength:.2f}", ended


def _known_since(card: "Card", memory: "Service") -> str:
    count = f"{card.memories} {'memory' if card.memories == 1 else 'memories'}"
    if card.first is None or card.last is None:
        return count
    zone = memory.settings.general.zone
    first, last = card.first.astimezone(zone).date(), card.last.astimezone(zone).date()
    days = f"of {first}" if first == last else f"of {first} to {last}"
    return f"{count} {days}" + (f", salience {card.salience:.2f}" if card.salience else "")


def _path_line(way: "Way") -> str:
    if not way.steps:
        return safe(f"No way of five relations is known from {way.source} to {way.target}.")
    steps = (f" -{one.relation.replace('_', ' ')}-> {one.to}" for one in way.steps)
    return safe(way.source + "".join(steps))
