"""A conversation as a model can be given it: summaries, then the turns not due for one yet; and
where the last one stopped."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kinmem.conversation.sanitize import indented, who
from kinmem.conversation.tool_results import begins_group, reduce
from kinmem.language import sentences
from kinmem.models.turns import CLIENT, Message, Snapshot
from kinmem.settings import CompactSettings
from kinmem.text import estimated_tokens

Turn = list[Message]


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Group messages into turns, in order: what a person says and everything until they speak
    again.

    Messages with the same turn id belong together, even if another turn came between them. Messages
    that belong to no prompt join the turn before.
    """
    turns: list[Turn] = []
    known: dict[str, Turn] = {}
    for message in messages:
        turn = known.get(message.turn)
        if turn is None:
            if message.role == "user" or not turns:
                turns.append([])
            turn = known[message.turn] = turns[-1]
        turn.append(message)
    return turns


def batch_and_keep(settings: CompactSettings) -> tuple[int, int]:
    """Return how many turns a summary replaces and how many stay.

    A Kin's threshold is split in the same proportion.
    """
    batch, keep = settings.batch_turns, settings.min_keep_turns
    if settings.turn_threshold is None:
        return batch, keep
    share = max(1, settings.turn_threshold * batch // (batch + keep))
    return share, settings.turn_threshold - share


def due(turns: Sequence[Turn], settings: CompactSettings) -> int:
    """Return how many of the oldest turns to summarise now; 0 if none are due.

    With more turns than a batch and those that stay, that is the batch. With more tokens than the
    threshold, even with reduced tool results, it is as many turns as bring the tokens down to the
    share of the threshold that the turns to keep are of all turns; at most a batch, and never the
    latest turn. If they were brought down to just the threshold, every further turn would need a
    summary.
    """
    batch, keep = batch_and_keep(settings)
    if len(turns) > batch + keep:
        return batch
    limit = threshold(settings)
    sizes = _sizes(turns, settings) if limit else []
    left = sum(sizes)
    if left <= limit:
        return 0
    count = 0
    for size in sizes[: min(batch, len(turns) - 1)]:
        if left * (batch + keep) <= limit * keep:
            break
        count += 1
        left -= size
    return count


def threshold(settings: CompactSettings) -> int:
    """Return the number of tokens above which a context is too long; 0: never."""
    return settings.context_window * settings.threshold_percent // 100


def tokens(turn: Sequence[Message]) -> int:
    """Estimate how many tokens of the turn a model reads."""
    return sum(estimated_tokens(message.text) for message in turn)


def _sizes(turns: Sequence[Turn], settings: CompactSettings) -> list[int]:
    """Return the tokens of each turn with reduced tool results."""
    messages = sorted((message for turn in turns for message in turn), key=lambda one: one.id)
    shorter = reduce(messages, settings)
    of = {id(was): estimated_tokens(now.text) for was, now in zip(messages, shorter, strict=True)}
    return [sum(of[id(message)] for message in turn) for turn in turns]


EARLIER = "# Earlier in this conversation, summarised"
TOLD = "# Notes from before"
LATELY = "# The conversation"
# Most tokens of notes that were shown beside turns that are summarised now; the latest are kept.
MOST_TOLD = 1500
DAY = estimated_tokens("[2026-06-15]\n")

# A context that is too long even when cut may grow by a quarter before the next epoch.
GROWTH = 1.25
# Share of the budget that an overfull context is cut down to, so that not every message drops
# another.
ROOM = 0.75


@dataclass(frozen=True, slots=True)
class Talk:
    """Everything known of one session, as it was at one time."""

    snapshots: Sequence[Snapshot]
    messages: Sequence[Message]
    """The messages that no snapshot replaces. Days are shown in the zone of their times."""
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By turn: the notes shown beside its prompt."""
    others: Sequence[str] = ()
    """Other notes: those shown at the session's start, and beside turns that are summarised now."""


def rendered(talk: Talk, settings: CompactSettings, *, exact: bool) -> str:
    """Return the context as text; empty for an empty conversation.

    With `exact`, tool results are reduced as of now. Otherwise they are reduced as of the latest
    epoch and those after it stay whole, so that the text only grows until the next epoch.
    """
    messages = talk.messages
    seen = max((snapshot.seen for snapshot in talk.snapshots), default=0)
    until = len(messages) if exact else settled(messages, seen, settings)
    entries = _entries([*reduce(messages[:until], settings), *messages[until:]], talk.notes)
    days = [f"{message.said_at:%Y-%m-%d}" for message in messages]
    head = _head(talk, settings.history_tokens)
    first = 0
    if budget := settings.history_tokens:
        left = budget - estimated_tokens("\n".join([*head, LATELY])) - DAY
        sizes = [estimated_tokens(entry) + 1 + DAY * new for entry, new in _dated(entries, days)]
        first = first_kept(sizes, until, max(0, left))
    lines = [
        f"[{day}]\n{entry}" if new else entry
        for day, (entry, new) in zip(
            days[first:], _dated(entries[first:], days[first:]), strict=True
        )
    ]
    if not head and not lines:
        return ""
    return "\n".join([*head, f"{LATELY}\n", *lines]) + "\n"


def _head(talk: Talk, budget: int) -> list[str]:
    """Return what comes before the conversation, within half of the budget; the oldest is dropped
    first."""
    summaries = [f"## {_title(one)}\n\n  {indented(one.summary)}\n" for one in talk.snapshots]
    told = _latest([f"{text}\n" for text in talk.others], MOST_TOLD)
    if budget:
        told = _latest(told, budget // 4)
        summaries = _latest(summaries, budget // 2 - sum(map(estimated_tokens, told)))
    head = [f"{EARLIER}\n", *summaries] if summaries else []
    return [*head, f"{TOLD}\n", *told] if told else head


def _title(snapshot: Snapshot) -> str:
    return "The client's own summary" if snapshot.model == CLIENT else f"{snapshot.turns} turns"


def _latest(texts: Sequence[str], room: int) -> list[str]:
    """Drop the oldest texts that do not fit."""
    first = len(texts)
    while first and (room := room - estimated_tokens(texts[first - 1])) >= 0:
        first -= 1
    return list(texts[first:])


def _entries(messages: Sequence[Message], notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Write each message, with a turn's notes below the first message of its person."""
    entries = []
    told = set()
    for message in messages:
        entry = f"{who(message)}: {indented(message.text)}"
        if message.role == "user" and message.turn not in told:
            told.add(message.turn)
            entry = "\n".join([entry, *notes.get(message.turn, ())])
        entries.append(entry)
    return entries


def _dated(entries: Sequence[str], days: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield each entry with whether its day differs from that of the previous one."""
    before = ""
    for entry, day in zip(entries, days, strict=True):
        yield entry, day != before
        before = day


def held_back(snapshots: Sequence[Snapshot], settings: CompactSettings) -> Snapshot | None:
    """Return the summary that is not shown yet; None if there is a budget for the whole.

    Each new summary invalidates everything cached after it, so summaries are shown in pairs. Until
    then the turns of the first stay as they were said.
    """
    ours = [snapshot for snapshot in snapshots if snapshot.model != CLIENT]
    batches = sum(snapshot.turns for snapshot in ours) // batch_and_keep(settings)[0]
    if not batches % 2 or ours[-1].depth or settings.history_tokens:
        return None
    return ours[-1]


def is_long(messages: Sequence[Message], settings: CompactSettings) -> bool:
    """Return whether the messages exceed what a context takes."""
    limit = threshold(settings)
    return bool(limit) and tokens(reduce(messages, settings)) > limit


def settled(messages: Sequence[Message], seen: int, settings: CompactSettings) -> int:
    """Return how many of the messages, from the first on, are reduced as of the latest epoch.

    The first epoch is the latest summary, when `seen` was the latest message. Each message that
    begins one group of tool calls more than the zones hold, or raises the tokens above the
    threshold, is another.
    """
    at = sum(message.id <= seen for message in messages)
    if not settings.window:
        return at
    most, limit = settings.keep_last + settings.window, threshold(settings)
    size = tokens(reduce(messages[:at], settings))
    allowed = max(limit, GROWTH * size)
    groups = 0
    for place in range(at, len(messages)):
        groups += begins_group(messages, place)
        size += tokens(messages[place : place + 1])
        if groups > most or (limit and size > allowed):
            at, groups = place + 1, 0
            size = tokens(reduce(messages[:at], settings))
            allowed = max(limit, GROWTH * size)
    return at


def first_kept(sizes: Sequence[int], settled: int, budget: int) -> int:
    """Return the position of the first message that fits together with all after it; the last
    always fits.

    At the epoch as many are kept as the budget allows. Whenever later messages exceed it, the
    oldest are dropped until a part of it is free again.
    """
    first = _fitting(sizes, 0, settled, budget)
    used = sum(sizes[first:settled])
    for end in range(settled, len(sizes)):
        used += sizes[end]
        if used > budget:
            first = _fitting(sizes, first, end + 1, int(ROOM * budget))
            used = sum(sizes[first : end + 1])
    return first


def _fitting(sizes: Sequence[int], first: int, end: int, room: int) -> int:
    used = sum(sizes[first:end])
    while used > room and end - first > 1:
        used -= sizes[first]
        first += 1
    return first


# Latest turns to look at for where it stood, among those that no summary replaces.
LATEST = 10
# How a line of an extract begins; without it, nothing worth showing was said.
LINE = "- ["
# The beginning of a summary that is too long, where it says what it is about, gets a third of the
# room.
BEGINNING = 3


def where_it_stood(last: Snapshot, after: Sequence[Message], limit: int) -> str:
    """Return the last summary, then the most informative of the turns after it, in at most `limit`
    tokens.

    Each gets half of the room, and what the other leaves.
    """
    spare = max(0, limit // 2 - estimated_tokens(last.summary))
    lately = _lately(turns_of(after)[-LATEST:], limit // 2 + spare)
    return f"{_ends(last.summary, limit - estimated_tokens(lately) - 1)}\n{lately}".strip()


def _lately(turns: Sequence[Turn], room: int) -> str:
    """Return what was said in the latest turns, as many as fit."""
    from kinmem.conversation.compact import extracted  # late: takes 25 ms, used only here

    told = [lines for turn in turns[::-1] if (lines := extracted([turn], room)).startswith(LINE)]
    return "\n".join(_that_fit(told, room)[::-1])


def _ends(text: str, room: int) -> str:
    """Drop sentences from the middle of a text that is too long: the latest come last."""
    if estimated_tokens(text) <= room:
        return text
    parts = sentences(text)
    tail = _that_fit(parts[::-1], room - room // BEGINNING)
    left = room - sum(map(estimated_tokens, tail))
    head = _that_fit(parts[: len(parts) - len(tail)], left)
    return f"{''.join(head).rstrip()} … {''.join(reversed(tail)).lstrip()}".strip()


def _that_fit(parts: Sequence[str], room: int) -> list[str]:
    """Return the first parts, as many as fit."""
    kept: list[str] = []
    for part in parts:
        room -= estimated_tokens(part)
        if room < 0:
            break
        kept.append(part)
    return kept
