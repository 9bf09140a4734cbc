"""Keeps long conversations short: spill, reduce, then summarise and fold (summarize_turns)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kinmem.clock import Clock
from kinmem.conversation.context import Talk, Turn, due, held_back, is_long, rendered, turns_of
from kinmem.conversation.summarize_turns import EXTRACTIVE, fold, summary_of
from kinmem.conversation.tool_results import Spill, reduce
from kinmem.llm.base import ChatModel
from kinmem.models.turns import Message, Snapshot
from kinmem.settings import Settings
from kinmem.store.base import Store

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
