"""A conversation as a model can be given it: summaries, then the turns after them. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kinmem.compact.epochs import first_kept, settled
from kinmem.compact.inert import inert, who
from kinmem.compact.reduce import reduce
from kinmem.settings import CompactSettings
from kinmem.text import estimated_tokens
from kinmem.turns import CLIENT, Message, Snapshot

EARLIER = "# Earlier in this conversation, summarised"
TOLD = "# Notes from before"
LATELY = "# The conversation"
MOST_TOLD = 1500
"""Tokens of notes that stood beside turns which are summarised now; the latest stay."""
DAY = estimated_tokens("[2026-06-15]\n")


@dataclass(frozen=True, slots=True)
class Talk:
    """Everything that is known of one session, read at one time."""

    snapshots: Sequence[Snapshot]
    messages: Sequence[Message]
    """What no snapshot stands for; days are told in the zone of their times."""
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By turn: what was shown beside its prompt."""
    others: Sequence[str] = ()
    """What else was shown: at the session's start, and beside turns that are summarised now."""


def rendered(talk: Talk, settings: CompactSettings, *, exact: bool) -> str:
    """The text; empty for an empty conversation.

    `exact` reduces tool results as of now. Otherwise they are reduced as of the latest epoch, and
    what came after is whole: so the text only grows until the next epoch.
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
    """What stands before the conversation, in half of the budget: the oldest go first."""
    summaries = [f"## {_title(one)}\n\n  {inert(one.summary)}\n" for one in talk.snapshots]
    told = _latest([f"{text}\n" for text in talk.others], MOST_TOLD)
    if budget:
        told = _latest(told, budget // 4)
        summaries = _latest(summaries, budget // 2 - sum(map(estimated_tokens, told)))
    head = [f"{EARLIER}\n", *summaries] if summaries else []
    return [*head, f"{TOLD}\n", *told] if told else head


def _title(snapshot: Snapshot) -> str:
    return "The client's own summary" if snapshot.model == CLIENT else f"{snapshot.turns} turns"


def _latest(texts: Sequence[str], room: int) -> list[str]:
    """Without the oldest, as far as they do not fit."""
    first = len(texts)
    while first and (room := room - estimated_tokens(texts[first - 1])) >= 0:
        first -= 1
    return list(texts[first:])


def _entries(messages: Sequence[Message], notes: Mapping[str, Sequence[str]]) -> list[str]:
    """What each message says, the notes of a turn below the first that its person says."""
    entries = []
    told = set()
    for message in messages:
        entry = f"{who(message)}: {inert(message.text)}"
        if message.role == "user" and message.turn not in told:
            told.add(message.turn)
            entry = "\n".join([entry, *notes.get(message.turn, ())])
        entries.append(entry)
    return entries


def _dated(entries: Sequence[str], days: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each with whether its day is another than that of the one before."""
    before = ""
    for entry, day in zip(entries, days, strict=True):
        yield entry, day != before
        before = day
