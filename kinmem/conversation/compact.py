"""Keeps long conversations short: spill, reduce, then summarise old turns, by a model or by their
most informative sentences, and fold the oldest summaries.

Sentences are judged as in learning (language/talk/prose.py), always with the same result. Nothing
is reworded: a line is what somebody said, with who and when, and with dates beside relative days.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from kinmem.clock import Clock
from kinmem.conversation.context import Talk, Turn, due, held_back, is_long, rendered, turns_of
from kinmem.conversation.sanitize import indented, who, without_delimiters
from kinmem.conversation.tool_results import Spill, reduce
from kinmem.errors import InvalidInput, ModelError
from kinmem.language import Dates, Prose, Weight, Wording, appraise, sentences
from kinmem.llm.base import ChatModel
from kinmem.llm.prompts import render
from kinmem.models import ROLES
from kinmem.models.turns import Message, Snapshot
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.text import asks, clean, estimated_tokens

# Attempts to read a session while another process summarises it.
READINGS = 5


class Compact:
    """Keeps the sessions of one Kin short.

    Repeating a step, even in two processes, does no harm.
    """

    def __init__(
        self, store: Store, model: ChatModel | None, settings: Settings, clock: Clock
    ) -> None:
        self._turns = store.turns
        self._snapshots = store.snapshots
        self._shown = store.shown
        self._model = model
        self._author = model.name if model else EXTRACTIVE
        self._settings = settings.compact
        self._zone = settings.general.zone
        self._clock = clock
        self._spill = Spill(Path(settings.home), settings.general.kin, settings.compact)

    def spill(self, message: Message) -> Message:
        """Move a long output to a file, and return the message with a preview in its place."""
        return self._spill(message, self._clock())

    def sweep(self) -> int:
        """Delete expired outputs, and return how many."""
        return self._spill.sweep(self._clock())

    def reduced(self, session: str) -> Counter[str]:
        """Count the messages that the context of a session shows shorter than they are."""
        messages = self._turns.messages(session, uncompacted=True)
        pairs = zip(messages, reduce(messages, self._settings), strict=True)
        return Counter(messages=sum(was.text != now.text for was, now in pairs))

    def summarise(self, session: str, counts: Counter[str] | None = None) -> Counter[str]:
        """Summarise old turns while any are due, and add what was made to `counts`.

        Raises ModelError. What was done before that stays done and is counted; the rest is due
        again the next time.
        """
        counts = Counter() if counts is None else counts
        self._fold(session, counts)
        messages = self._messages(session)
        turns = turns_of(messages)
        while count := due(turns, self._settings):
            if not self._summarised(session, turns[:count], messages[-1].id):
                break  # another process has summarised them, and carries on
            turns = turns[count:]
            counts["snapshots"] += 1
            counts["turns"] += count
            self._fold(session, counts)
        return counts

    def context(self, session: str, *, exact: bool = True) -> str:
        """See Service.context.

        The bytes stay the same as long as nothing is said, shown or summarised.
        """
        return rendered(self._talk(session, exact), self._settings, exact=exact)

    def _messages(self, session: str, but: Snapshot | None = None) -> list[Message]:
        """Return the messages that no summary replaces (except `but`), in order, in local time."""
        id = but.id if but else None
        return [
            replace(message, said_at=message.said_at.astimezone(self._zone))
            for message in self._turns.messages(session, uncompacted=True, but=id)
        ]

    def _talk(self, session: str, exact: bool) -> Talk:
        """Read all of a session as it was at one time, although that takes several queries.

        Unless `exact`, what was summarised last may still appear in full; see held_back.
        """
        snapshots = self._snapshots.of(session)
        for _ in range(READINGS):
            held = None if exact else held_back(snapshots, self._settings)
            messages = self._messages(session, held)
            before, snapshots = snapshots, self._snapshots.of(session)
            if before == snapshots:
                break
        if held and is_long(messages, self._settings):
            held, messages = None, self._messages(session)
        snapshots = [snapshot for snapshot in snapshots if snapshot != held]
        prompts = dict.fromkeys(message.turn for message in messages if message.role == "user")
        notes = {turn: self._shown.of(session, turn).texts for turn in prompts}
        beside = Counter(text for texts in notes.values() for text in texts)
        shown = self._shown.of(session).texts
        return Talk(snapshots, messages, notes, _without(shown, beside))

    def _summarised(self, session: str, turns: Sequence[Turn], seen: int) -> bool:
        """Summarise these turns. Returns False if another process has done it first.

        The model is asked first; then the summary and the fact that it replaces the turns are
        stored together or not at all.
        """
        ids = sorted(message.id for turn in turns for message in turn)
        earlier = self._snapshots.of(session)
        window = self._settings.context_window
        made = Snapshot(
            session=session,
            summary=summary_of(turns, earlier[-1] if earlier else None, self._model, window),
            model=self._author,
            first=ids[0],
            last=ids[-1],
            seen=seen,
            turns=len(turns),
            created_at=self._clock(),
        )
        return self._snapshots.compact(made, ids) is not None

    def _fold(self, session: str, counts: Counter[str]) -> None:
        """Merge the two oldest summaries while there are too many."""
        while len(snapshots := self._snapshots.of(session)) > self._settings.max_snapshots:
            older, newer = snapshots[:2]
            made = Snapshot(
                session=session,
                summary=fold(older, newer, self._model, self._settings.context_window),
                model=self._author,
                first=older.first,
                last=max(older.last, newer.last),
                seen=max(older.seen, newer.seen),
                turns=older.turns + newer.turns,
                depth=max(older.depth, newer.depth) + 1,
                created_at=self._clock(),
            )
            if self._snapshots.fold(made, [older.id, newer.id]) is None:
                break  # another process has folded them
            counts["folded"] += 1


def _without(texts: Sequence[str], others: Counter[str]) -> list[str]:
    """Return the texts that are not among the others; a text that occurs more often here is kept
    that many times."""
    left = Counter(texts) - others
    kept = []
    for text in texts:
        if left[text]:
            left[text] -= 1
            kept.append(text)
    return kept


LEAST_TOKENS = 1500
# A summary has at most this fraction (1/50) of the model's window, but may have LEAST_TOKENS.
SHARE_OF_WINDOW = 50
# The turns to summarise take at most half of the window.
SHARE_READ = 2
# Characters of a tool's result that the model is shown; KinBot's number.
RESULT = 500
# Most characters per message, tried in this order until the turns fit.
SHORTER = (20_000, 4_000, 1_000, 200)
EXTRACTIVE = "extractive"

# Share of what was said, in characters.
SHARE = 0.15
LEAST_CHARACTERS = 300
# Characters of one sentence.
LONGEST = 400
PER_TURN = 4
# Characters of one message that are read; the end of a longer one is left out.
LOOKED_AT = 20_000
# Characters; "ok" tells nothing.
LEAST_LENGTH = 4

# A `telling` of 1 stands for about four informative words, or two and a name or number. A person's
# words rank above an assistant's, and what is still to be done above what is over.
# "Never ..." matters more to learning than to a summary.
MOST_TELLING = 3.0
OF_PERSON = 0.6
OF_ASSISTANT = 0.6  # a factor
# A question to an assistant is work; among people it is talk.
WANTED, UNWANTED = 1.0, -2.0
OPEN = 2.0
LASTING = {"plan": 0.8, "decision": 0.8, "preference": 0.4, "identity": 0.4}
# Share of a merged summary that belongs to the newer one.
NEWER = 0.5


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence that may become part of a summary."""

    turn: int
    place: int
    worth: float
    text: str


def summary_of(
    turns: Sequence[Turn], earlier: Snapshot | None, model: ChatModel | None, window: int
) -> str:
    """Summarise these turns. `earlier` is the summary of the turns before. Raises ModelError."""
    limit = most_tokens(window)
    if model is None:
        return _checked(extracted(turns, limit), limit)
    prompt = render(
        "summarize",
        tokens=limit,
        earlier=earlier.summary if earlier else "(none)",
        turns=_shown(turns, window // SHARE_READ),
    )
    return _checked(_answered(prompt, model), limit)


def fold(older: Snapshot, newer: Snapshot, model: ChatModel | None, window: int) -> str:
    """Merge two consecutive summaries into one. Raises ModelError."""
    limit = most_tokens(window)
    if model is None:
        return _checked(condensed(older.summary, newer.summary, limit), limit)
    prompt = render("fold", tokens=limit, older=older.summary, newer=newer.summary)
    return _checked(_answered(prompt, model), limit)


def _answered(prompt: str, model: ChatModel) -> str:
    from kinmem.llm.reply import Summary  # late: pydantic takes 80 ms, which hooks do without

    return model.answer(prompt, Summary).summary


def most_tokens(window: int) -> int:
    """Return how many tokens one summary may have."""
    return max(LEAST_TOKENS, window // SHARE_OF_WINDOW)


def _shown(turns: Sequence[Turn], room: int) -> str:
    """Write the turns for the model, each message cut so far that all fit in `room` tokens."""
    messages = [message for turn in turns for message in turn]
    text = ""
    for most in SHORTER:
        text = "\n".join(_line(message, most) for message in messages)
        if estimated_tokens(text) <= room:
            return text
    return _ends(text, room)  # of thousands of messages, the first and last say most


def _line(message: Message, most: int) -> str:
    """Write a message. All lines but the first are indented, so that none poses as a message."""
    text = _ends(message.text, min(most, RESULT) if message.role == "tool" else most)
    return f"[{message.said_at:%Y-%m-%d %H:%M}] {who(message)}: {indented(text)}"


def _ends(text: str, most: int) -> str:
    """Drop the middle of a text that is too long: what is wanted comes first or last."""
    if len(text) <= most:
        return text
    head, tail = most * 2 // 3, most // 3
    return f"{text[:head]} [… {len(text) - head - tail:,} characters …] {text[-tail:]}"


def _checked(summary: str, limit: int) -> str:
    """Return the summary as it is stored: plain text within the limit, without our delimiters."""
    try:
        plain = clean(summary[: 16 * limit], "the summary", 64 * limit)
    except InvalidInput as error:
        raise ModelError("the summary is empty; the turns stay as they are") from error
    return shortened(without_delimiters(plain), limit)


def shortened(text: str, limit: int) -> str:
    """Return as many whole sentences or lines as fit in `limit` tokens; the first is cut if it
    alone is longer."""
    if estimated_tokens(text) <= limit:
        return text
    kept, left = "", limit
    for part in sentences(text):
        left -= estimated_tokens(part)
        if left < 0:
            break
        kept += part
    return kept.strip() or _beginning(text, limit)


def _beginning(text: str, limit: int) -> str:
    head = text[: 4 * (limit - 1)]
    while estimated_tokens(head) >= limit:
        head = head[: len(head) * 3 // 4]
    return f"{head.rstrip()}…"


def extracted(turns: Sequence[Turn], limit: int) -> str:
    """Return the most informative sentences in order: the best of each turn first, then the second
    best.

    They are about 15 % of what was said and at most `limit` tokens, but at least one line. Tool
    outputs are left out.
    """
    open_ends = _unanswered(turns)
    lines = [line for number, turn in enumerate(turns) for line in _lines(number, turn, open_ends)]
    talked = sum(len(one.text) for turn in turns for one in turn if one.role != "tool")
    room = min(max(LEAST_CHARACTERS, int(SHARE * talked)), 4 * limit)
    taken: dict[str, Line] = {}  # by text: a repeated sentence is taken once
    for line in _by_turns(lines):
        if line.text not in taken and (len(line.text) <= room or not taken):
            taken[line.text] = line
            room -= len(line.text)
    lines = sorted(taken.values(), key=lambda line: (line.turn, line.place))
    return "\n".join(line.text for line in lines) or _nothing_told(turns)


def condensed(older: str, newer: str, limit: int) -> str:
    """Join both summaries; if they are too long, keep their most informative lines, in order.

    Each gets half of the room, and what the other leaves.
    """
    halves = int(limit * NEWER)
    spare = max(0, halves - estimated_tokens(newer))
    kept = _best_parts(older, limit - halves + spare)
    return f"{kept}\n{_best_parts(newer, limit - estimated_tokens(kept) - 1)}".strip()


def _best_parts(text: str, limit: int) -> str:
    """Return the most informative sentences and lines that fit in `limit` tokens, in order."""
    if estimated_tokens(text) <= limit:
        return text
    parts = sentences(text)
    taken = set()
    for place in sorted(range(len(parts)), key=lambda at: (-_worth_of(parts[at]), -at)):
        tokens = estimated_tokens(parts[place])
        if tokens <= limit:
            taken.add(place)
            limit -= tokens
    return "".join(part for place, part in enumerate(parts) if place in taken).strip()


def _worth_of(part: str) -> float:
    part = part.strip()
    return Wording(part).telling + LASTING.get(appraise(part).category, 0.0)


def _unanswered(turns: Sequence[Turn]) -> set[int]:
    """Return the ids of messages after which nobody else has spoken."""
    talk = [message for turn in turns for message in turn if message.role != "tool"]
    answered = {id(one) for one, after in pairwise(talk) if who(one) != who(after)}
    return {id(message) for message in talk} - answered


def _lines(number: int, turn: Turn, open_ends: set[int]) -> Iterator[Line]:
    """Yield the informative sentences of a turn, with their worth."""
    place = 0
    for message in turn:
        if message.role == "tool":
            continue
        for one in Prose(message.text[:LOOKED_AT]).statements:
            if len(one.text) < LEAST_LENGTH:
                continue
            place += 1
            worth = _worth(Wording(one.text), message, is_open=id(message) in open_ends)
            if worth > 0:
                yield Line(number, place, worth, _written(message, one.text))


def _worth(one: Wording, message: Message, *, is_open: bool) -> float:
    """Return the worth of a sentence; 0: not worth a line."""
    if message.role != "user":
        return 0.0 if asks(one.text) or one.is_offer else OF_ASSISTANT * one.telling
    if one.is_small_question:
        return 0.0
    worth = min(one.telling, MOST_TELLING) + Weight(one.text).evidence(message.who)
    appraisal = appraise(one.text)
    if asks(one.text) or appraisal.asks_help:
        worth += OPEN if is_open else WANTED if message.speaker in (None, *ROLES) else UNWANTED
    if worth <= 0:
        return 0.0
    return worth + OF_PERSON + LASTING.get(appraisal.category, 0.0)


def _written(message: Message, text: str) -> str:
    """Write a line: - [2026-06-15] Ana: I leave tomorrow (16 June 2026)."""
    text = Dates(text[:LONGEST], message.said_at).written_out + text[LONGEST:]
    if len(text) > LONGEST:
        text = text[:LONGEST].rsplit(" ", 1)[0] + " …"
    return f"- [{message.said_at:%Y-%m-%d}] {who(message)}: {text}"


def _by_turns(lines: Sequence[Line]) -> list[Line]:
    """Order lines so that the best of every turn come first, most informative first, then the
    second best; at most PER_TURN of each turn."""
    taken: dict[int, int] = {}
    ranked = []
    for line in sorted(lines, key=lambda line: (-line.worth, line.turn, line.place)):
        rank = taken[line.turn] = taken.get(line.turn, 0) + 1
        if rank <= PER_TURN:
            ranked.append((rank, line))
    return [line for _, line in sorted(ranked, key=lambda pair: pair[0])]


def _nothing_told(turns: Sequence[Turn]) -> str:
    """Say how many turns there were, and which tools they used, if no sentence is informative."""
    tools = sorted({one.tool for turn in turns for one in turn if one.tool})
    used = f"; tools used: {', '.join(tools[:10])}" if tools else ""
    return f"{len(turns)} turns in which nothing was said that tells anything{used}."
