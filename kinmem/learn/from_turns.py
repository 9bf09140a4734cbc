"""What a turn of a conversation teaches: find, screen, drop echoes, draft, embed, reconcile, store
at once. What somebody tells kinmem to remember comes by memorize.py."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, ModelError
from kinmem.language import Echoes, without_unkept
from kinmem.learn.apply import Deeds, decided, deeds
from kinmem.learn.ask import ask
from kinmem.learn.extract import extract
from kinmem.learn.near import MOST_JUDGED, Neighbour
from kinmem.learn.prepare import draft_of
from kinmem.learn.projects import project_of
from kinmem.learn.reconcile import Merge, Outdated, Verdict
from kinmem.learn.screen import Gate, screened
from kinmem.learn.verdicts import Verdicts
from kinmem.llm.base import ChatModel, Embedder, Judge
from kinmem.llm.naming import Naming
from kinmem.models import (
    LIVE,
    ROLES,
    Draft,
    Filters,
    Memory,
    Note,
    State,
    Vector,
    Vectors,
)
from kinmem.models.places import place_of
from kinmem.models.turns import Batch, Change, Conflict, Message, Repetition
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.text import content_words

MOST_KNOWN = 10
"""Memories near a turn that a model is told of."""
SPOKEN_OF = 0.3
"""Share of a text's content words that was said (Keyoku's bound for one subject)."""
JUDGED_OF_A_TURN, LEAST_JUDGED = 24, 2
"""Pairs of its statements with stored ones, 3 ms each; of each statement at least so many."""
READ_FOR_KNOWN = 2000
"""Characters of what was said by which they are found."""

COUNTED = {
    "created": "created",
    "duplicate_of": "duplicate",
    "merged_into": "merged",
    "superseded": "superseded",
    "conflict": "conflict",
}


class Learn:
    """Learns from one turn at a time; each is learned from once, whatever happens in between."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        model: ChatModel | None,
        settings: Settings,
        clock: Clock,
        verdicts: Verdicts,
        naming: Naming,
        judge: Judge | None = None,
    ) -> None:
        """Without a `model` it learns by rules, with the `judge` if there is one."""
        self._store = store
        self._embedder = embedder
        self._model = model
        self._judge, self._gate, self._naming = judge, Gate(judge), naming
        self._settings = settings
        self._clock = clock
        self._verdicts = verdicts

    def turn(self, messages: Sequence[Message], before: Sequence[Message]) -> Counter[str]:
        """What became of the turn's statements, counted: created, duplicate, merged, superseded,
        conflict, quarantined, echo, refused.

        All of it is stored in one transaction, with the mark that the turn was learned from; no
        counts if somebody else was faster. Raises ModelError, and then nothing is stored.
        """
        notes = screened(self._found(messages, before), messages, self._gate)
        news, echoes = self._news(notes, messages)
        counts = Counter(echo=len(notes) - len(news))
        news = self._grounded(news, [*before, *messages])
        project = place_of(next((one.place for one in messages if one.place), None))
        sought = [
            (note, draft, self._vectors(draft))
            for note, draft in self._drafts(news, counts, project)
        ]
        done = decided(lambda: self._woven_and_stored(sought, messages, echoes))
        return Counter() if done is None else +(counts + done)

    def _woven_and_stored(
        self,
        sought: Sequence[tuple[Note, Draft, list[Vector]]],
        messages: Sequence[Message],
        echoes: Sequence[Repetition],
    ) -> Counter[str] | None:
        """What became of the notes; None if the turn was learned from already."""
        work = self._woven(sought, messages)
        work.repeated += echoes
        done = self._store.apply(work.batch(messages))
        return None if done is None else work.counts

    def _found(self, messages: Sequence[Message], before: Sequence[Message]) -> list[Note]:
        zone = self._settings.general.zone
        if self._model is None:
            return extract(messages, before, zone, self._judge)
        messages, before = _kept(messages), _kept(before)
        if not messages:
            return []
        return ask(self._model, messages, before, self._known(messages), zone)

    def _known(self, messages: Sequence[Message]) -> list[Memory]:
        """What a model is told of: what is near the turn, then what the session was shown."""
        said = " ".join(one.text for one in messages if one.role in ("user", "assistant"))
        ids: list[str] = []
        if said and self._embedder.ready:
            try:
                vector = self._embedder.embed([said[:READ_FOR_KNOWN]])[0]
            except ModelError:
                pass
            else:
                near = self._store.index.nearest(vector, self._embedder.name, MOST_KNOWN, Filters())
                ids = [id for id, _ in sorted(near, key=lambda found: -found[1])][:MOST_KNOWN]
        shown = sorted(self._store.shown.versions(messages[0].session, latest=100))
        found = self._store.memories([*ids, *shown])
        ordered = [found[id] for id in dict.fromkeys([*ids, *shown]) if id in found]
        return [memory for memory in ordered if memory.state in LIVE]

    def _news(
        self, notes: Sequence[Note], messages: Sequence[Message]
    ) -> tuple[list[Note], list[Repetition]]:
        """The notes that do not only repeat what the session was shown of the memory, and which of
        the Kin's own memories the others repeat."""
        if not notes:
            return [], []
        shown = self._store.memories(self._store.shown.ids(messages[0].session))
        people = {one.speaker for one in messages if one.role == "user" and one.speaker}
        echoes = Echoes(
            (memory.content for memory in shown.values()),
            names=people - ROLES if len(people) == 1 else (),
        )
        news, repeated = [], []
        for note in notes:
            told = None if note.quarantine else echoes.sources(note.content)
            if told is None:
                news.append(note)
                continue
            known = (one for one in shown.values() if one.kin == self._store.kin)
            repeated += [
                again
                for one in known
                if one.content in told
                for again in Repetition.of(note, one.id)
            ]
        return news, repeated

    def _grounded(self, notes: Sequence[Note], talk: Sequence[Message]) -> list[Note]:
        """Those that a model made out of nothing are quarantined: their words were not said, and
        nothing that was said is near them."""
        said = frozenset(content_words(" ".join(f"{one.who}: {one.text}" for one in talk)))
        vectors = cache(partial(self._vectors_of, talk))
        return [
            note
            if note.model is None
            or note.quarantine
            or share_said(note.content, said) >= SPOKEN_OF
            or self._is_near(note.content, vectors)
            else replace(note, quarantine="nothing that was said speaks of it")
            for note in notes
        ]

    def _is_near(self, content: str, talk: Callable[[], list[Vectors]]) -> bool:
        near = self._verdicts.near
        own = near.chunks(content).vectors
        if own is None:
            return True  # nobody can tell
        return any((one @ own.T).max() >= near.ladder.related for one in talk())

    def _vectors_of(self, talk: Sequence[Message]) -> list[Vectors]:
        texts = [one.text[:READ_FOR_KNOWN] for one in talk if one.role in ("user", "assistant")]
        vectors = (self._verdicts.near.chunks(text).vectors for text in texts)
        return [one for one in vectors if one is not None]

    def _drafts(
        self, notes: Sequence[Note], counts: Counter[str], project: str | None
    ) -> list[tuple[Note, Draft]]:
        """Each with its vectors; without, it is compared when the worker has made them."""
        now, zone = self._clock(), self._settings.general.zone
        drafts = []
        for note in notes:
            try:
                about = note.category, note.content, note.subject
                place = project_of(*about, project, self._embedder)
                note = replace(note, scope="private", place=place)
                draft = draft_of(
                    note, self._store.kin, self._embedder, now, zone, naming=self._naming
                )
            except InvalidInput:
                counts["refused"] += 1
                continue
            chunks = self._verdicts.near.embedded(draft.chunks)
            memory = draft.memory
            if chunks.vectors is None:
                memory = replace(memory, status="pending")
            drafts.append((note, replace(draft, memory=memory, chunks=chunks)))
        return drafts

    def _vectors(self, draft: Draft) -> list[Vector]:
        return self._verdicts.near.vectors_of(draft.memory.content, draft.chunks)

    def _woven(
        self, sought: Sequence[tuple[Note, Draft, list[Vector]]], messages: Sequence[Message]
    ) -> "_Work":
        work, said = _Work(), _words_of(messages)
        most = min(MOST_JUDGED, max(LEAST_JUDGED, JUDGED_OF_A_TURN // max(1, len(sought))))
        for note, draft, vectors in sought:
            if note.quarantine is not None:
                self._hold(draft, work)
                continue
            near = work.beside(self._verdicts.beside(vectors), vectors)
            updates = self._update(note, work, self._verdicts.near.close(near), said)
            verdict = self._verdicts.of(draft.memory, near, updates=updates, most=most)
            if isinstance(verdict, Outdated):
                again = self._verdicts.ended_before(draft.memory, vectors)
                if again is not None:
                    work.repeat(draft.memory, again)
                    continue
            chunks = self._verdicts.merged_chunks(verdict, draft)
            done = deeds(verdict, draft.memory, chunks, self._verdicts.mode, self._naming)
            work.take(done, verdict, draft)
        return work

    def _update(
        self, note: Note, work: "_Work", near: Sequence[Neighbour], said: frozenset[str]
    ) -> str | None:
        """What a model says it corrects: one's own private memory, if it still stands.

        It is believed only where the note is near the memory, or the turn speaks of it: a text may
        have told the model to say so.
        """
        if note.updates is None or note.updates in work.ended:
            return None
        known = self._store.memories([note.updates]).get(note.updates)
        if known is None or known.kin != self._store.kin or known.scope != "private":
            return None
        is_near = any(memory.id == known.id for memory, _ in near)
        return known.id if is_near or share_said(known.content, said) >= SPOKEN_OF else None

    def _hold(self, draft: Draft, work: "_Work") -> None:
        """Keep it out of use; once is enough, however often the page is read."""
        held = self._store.page(Filters(states=(State.QUARANTINED,)), "newest", 100).memories
        known = {memory.content_hash: memory.id for memory in held} | work.held
        if draft.memory.content_hash in known:
            work.repeat(draft.memory, known[draft.memory.content_hash])
            return
        work.held[draft.memory.content_hash] = draft.memory.id
        work.drafts[draft.memory.id] = draft
        work.counts["quarantined"] += 1


def _kept(messages: Sequence[Message]) -> list[Message]:
    """Without what people ask not to keep, nor what they are answered in that turn, which may say
    it again."""
    kept: list[Message] = []
    turns: set[str] = set()
    for one in messages:
        text = without_unkept(one.text) if one.role == "user" else one.text
        if text != one.text:
            turns.add(one.turn)
        if text and (one.role == "user" or one.turn not in turns):
            kept.append(replace(one, text=text))
    return kept


def share_said(text: str, said: frozenset[str]) -> float:
    """How many of a text's content words were said, 0 to 1."""
    words = [word for word in content_words(text) if word not in ROLES]
    return sum(word in said for word in words) / len(words) if words else 0.0


def _words_of(messages: Sequence[Message]) -> frozenset[str]:
    """Said by people and assistants."""
    texts = (one.text for one in messages if one.role in ("user", "assistant"))
    return frozenset(content_words(" ".join(texts)))


@dataclass
class _Work:
    """What one turn does to the memories, as it grows note by note."""

    drafts: dict[str, Draft] = field(default_factory=dict)
    changed: dict[str, Memory] = field(default_factory=dict)
    """Stored ones as they will stand."""
    changes: dict[str, Change] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)
    held: dict[str, str] = field(default_factory=dict)
    """What this turn has put into quarantine: hash -> id."""
    repeated: list[Repetition] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def beside(self, stored: Sequence[Neighbour], vectors: Sequence[Vector]) -> list[Neighbour]:
        """The neighbours as this turn leaves them, and its own new ones among them."""
        near = [
            (self.changed.get(memory.id, memory), cosine)
            for memory, cosine in stored
            if memory.id not in self.ended
        ]
        for draft in self.drafts.values():
            own = draft.chunks.vectors
            if own is not None and len(own) == 1 and vectors and draft.memory.state in LIVE:
                near.append((draft.memory, max(float(own[0] @ one) for one in vectors)))
        return sorted(near, key=lambda found: -found[1])

    def take(self, done: Deeds, verdict: Verdict, draft: Draft) -> None:
        """Add what a verdict about a draft asks for."""
        for change in done.changes:
            self._change(change)
        if isinstance(verdict, Merge):
            self.changed[verdict.known.id] = replace(verdict.known, **done.changes[0].fields)
        if done.memory is not None:
            self.drafts[draft.memory.id] = replace(draft, memory=done.memory)
        self.conflicts += done.conflicts
        self.repeated += done.repeated
        self.counts[COUNTED[done.told.status]] += 1

    def repeat(self, new: Memory, known: str) -> None:
        """It is stored already."""
        self.repeated += Repetition.of(new, known)
        self.counts["duplicate"] += 1

    def _change(self, change: Change) -> None:
        fields: dict[str, Any] = dict(change.fields)
        if change.id in self.drafts:
            draft = self.drafts[change.id]
            self.drafts[change.id] = replace(
                draft,
                memory=replace(draft.memory, **fields),
                chunks=change.chunks or draft.chunks,
                knowledge=change.knowledge or draft.knowledge,
            )
            return
        known = self.changes.get(change.id)
        if known is not None:
            change = replace(
                change,
                fields={**known.fields, **fields},
                version=known.version,
                chunks=change.chunks or known.chunks,
                knowledge=change.knowledge or known.knowledge,
            )
        self.changes[change.id] = change
        if fields.get("state") == State.SUPERSEDED:
            self.ended.add(change.id)

    def batch(self, messages: Sequence[Message]) -> Batch:
        first = messages[0]
        return Batch(
            drafts=list(self.drafts.values()),
            changes=list(self.changes.values()),
            conflicts=self.conflicts,
            learned=[message.id for message in messages],
            repeated=self.repeated,
            name=f"turn {first.session} {first.turn}",
        )
