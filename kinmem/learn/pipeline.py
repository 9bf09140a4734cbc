"""How kinmem learns: six stages in order; docs/conversations.md has a section for each.

A note, many notes, and a turn of a conversation all take the same way. They differ in where notes
come from (stage 1) and in what is screened (stage 2). Notes that arrive in bulk are stored at once
and go through stages 4 to 6 later, in `settle`. The number behind a line is the stage, as given in
the first line of the file that the function is imported from.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, MemoryNotFound, ModelError, VersionConflict
from kinmem.learn.apply import Changes, changes_of_stored, retried
from kinmem.learn.ask import ask_about
from kinmem.learn.change_chance import excerpt
from kinmem.learn.compare import JUDGED_IN_BULK, Compare, judged_per_note
from kinmem.learn.drafting import Candidate, classify, describe, draft_of, project_of, with_dates
from kinmem.learn.edit import Correction
from kinmem.learn.extract import by_its_speaker, extract
from kinmem.learn.reconcile import Flag, Keep, Neighbour, Outdated, Verdict
from kinmem.learn.screen import Gate, Screen
from kinmem.llm.base import ChatModels, Embedder, Judge
from kinmem.llm.naming import Naming
from kinmem.llm.relating import PATIENCE
from kinmem.models import Chunks, Memory, Note, Stored, Vector
from kinmem.models.places import place_of
from kinmem.models.turns import Message, Repetition
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.text import asks
from kinmem.validation import Border

# Pairs that are remembered as compared.
MOST_COMPARED = 20_000
# Memories whose neighbours are looked up at once: so many that a look-up costs a third, so few that
# little is looked up in vain.
SETTLED_TOGETHER = 16


class Unsettled:
    """Memories that were stored before they could be compared."""

    def __init__(self, store: Store, embedder: Embedder, compare: Compare) -> None:
        self._store = store
        self._embedder = embedder
        self._compare = compare
        self._compared: set[frozenset[tuple[str, int]]] = set()
        self._is_outdated = False

    def look_again(self) -> None:
        """Note that a memory was changed, so that others may be near now."""
        self._is_outdated = True

    def pairs(self, vectors: Mapping[str, Vector]) -> Iterator[tuple[Memory, list[Neighbour]]]:
        """Yield each memory with the older memories near it, the oldest first: it gives way to the
        next that contradicts it, and not to a later one."""
        waiting = sorted(vectors.items(), key=lambda one: one[0])
        while waiting:
            self._is_outdated = False
            part = waiting[:SETTLED_TOGETHER]
            near = self._compare.related_to_each([vector for _, vector in part])
            for (id, vector), neighbours in zip(part, near, strict=True):
                del waiting[0]
                for pair in self._pairs_of(id, vector, neighbours):
                    yield pair
                    if self._is_outdated:
                        break
                if self._is_outdated:
                    break

    def _pairs_of(
        self, id: str, vector: Vector, near: Sequence[Neighbour]
    ) -> list[tuple[Memory, list[Neighbour]]]:
        """Return the memory beside the older ones, then each newer one beside it. Newer ones that
        wait to be compared themselves will meet it then."""
        memory = next((memory for memory, _ in near if memory.id == id), None)
        if memory is None or memory.kin != self._store.kin:
            return []  # no longer live, or of several chunks, which say more than one thing
        chunks = Chunks((memory.content,), vector[None], self._embedder.name)
        vectors = self._compare.vectors_of(memory.content, chunks)
        if len(vectors) > 1:
            near = self._compare.related(vectors)
        older, newer = [], []
        for other, cosine in near:
            waits = other.id > id and other.status == "pending"
            if waits or not self._is_first_time(memory, other):
                continue
            if other.id < id:
                older.append((other, cosine))
            elif other.kin == memory.kin:
                newer.append((other, [(memory, cosine)]))
        return [(memory, older), *newer]

    def _is_first_time(self, a: Memory, b: Memory) -> bool:
        """Return whether these two have not been compared as they are; each is near the other."""
        pair = frozenset({(a.id, a.version), (b.id, b.version)})
        if a.id == b.id or pair in self._compared:
            return False
        if len(self._compared) >= MOST_COMPARED:
            self._compared.clear()
        self._compared.add(pair)
        return True


# Outcomes that the counts of a turn name otherwise.
COUNTED = {"duplicate_of": "duplicate", "merged_into": "merged"}
# What becomes of a message that is worth learning only as a change, and is none.
CHANGES_NOTHING = Stored("refused", reason="it changes nothing that is stored")
# Chance that a stored statement answers a question from which that only asks for it.
ANSWERED = 0.5


@dataclass(frozen=True)
class Source:
    """Where notes come from, as far as the stages treat them differently."""

    turn: Sequence[Message] = ()
    """The turn that they were found in; empty if a caller gave them."""
    repeated: Sequence[Repetition] = ()
    """What the turn repeats of the memories that its session was shown."""
    batch: str | None = None
    """Groups the history lines, so that they are undone together."""
    is_bulk: bool = False
    """Store them now; compare them by meaning later."""

    @property
    def is_given(self) -> bool:
        """Whether a caller gave them."""
        return not self.turn

    def message_of(self, note: Note) -> str | None:
        """What was said with it; None if it is not the words of a message. The note of somebody
        who introduces himself has his name, and his message, as it is stored, has none."""
        told = (
            message.text
            for message in self.turn
            if message.role == "user" or message.who == note.speaker
        )
        return next((excerpt(text, note.content) for text in told if note.content in text), None)

    @property
    def project(self) -> str | None:
        """The project that the turn was said in."""
        return place_of(next((message.place for message in self.turn if message.place), None))


class Learn:
    """Stores what is new, ends what it contradicts, and reports what became of each note."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: Settings,
        clock: Clock,
        models: ChatModels,
        naming: Naming,
    ) -> None:
        """Without a model for extraction, rules find the notes in a turn, with the judge if any."""
        self._store = store
        self._embedder = embedder
        self._models = models
        self._settings = settings
        self._clock = clock
        self._naming = naming
        self._mode = settings.learn.conflict_mode
        self._compare = Compare(store, embedder, settings, clock, models.judge)
        self._border = Border(settings.learn.secrets)
        self._gate = Gate(models.judge, embedder)
        self._screen = Screen(store, self._compare, self._gate, self._border)
        self._unsettled = Unsettled(store, embedder, self._compare)
        self.corrected = Correction(store, embedder, self._compare, self._mode)

    def note(self, note: Note, batch: str | None = None) -> Stored:
        """Learn one note. Raises InvalidInput if it cannot be stored."""
        source = Source(batch=batch)
        screened = self.screened(note, self._models.judge)  # 2
        candidate = self._draft(screened, source)  # 3
        [outcome] = self._learn([candidate], source) or []  # 4 to 6
        return describe(outcome, candidate.memory)

    def notes(
        self,
        notes: Sequence[Note],
        batch: str | None = None,
        progress: Callable[[int], None] = lambda done: None,
        *,
        is_few: bool = False,
    ) -> list[Stored]:
        """Learn many notes in one transaction, compared by words only and without vectors. The
        judge reads them only if they are few.

        Returns what became of each note, in order. A note that cannot be stored is refused alone.
        The worker makes the vectors (upkeep/embed.py) and then calls `settle`.
        """
        source = Source(is_bulk=True, batch=batch)
        judge = self._models.judge if is_few else None
        drafted: list[Candidate | Stored] = []
        for note in notes:
            drafted.append(self._draft_or_refuse(note, source, judge))  # 2, 3
            progress(len(drafted))
        outcomes = self._learn(drafted, source) or []  # 4 to 6
        return [
            describe(outcome, draft.memory) if isinstance(draft, Candidate) else outcome
            for outcome, draft in zip(outcomes, drafted, strict=True)
        ]

    def turn(self, turn: Sequence[Message], before: Sequence[Message]) -> Counter[str]:
        """Learn from one turn, and count what became of the notes: created, duplicate, merged,
        superseded, conflict, quarantined, echo, refused.

        One transaction stores everything, with the mark that the turn was learned from. There are
        no counts if another process was faster. Raises ModelError, and then nothing is stored.
        """
        found = self._find(turn, before)  # 1
        screened = self._screen(found, turn, before)  # 2
        source = Source(turn, screened.repeated, f"turn {turn[0].session} {turn[0].turn}")
        notes = [one for one in screened.notes if not (one.quarantine and one.only_as_change)]
        drafted = [self._draft_or_refuse(note, source) for note in notes]  # 3
        outcomes = self._learn(drafted, source)  # 4 to 6
        if outcomes is None:
            return Counter()
        counts = Counter(
            COUNTED.get(outcome.status, outcome.status)
            for outcome in outcomes
            if outcome is not CHANGES_NOTHING
        )
        return +(counts + Counter(echo=screened.echoes))

    def settle(self, vectors: Mapping[str, Vector]) -> None:
        """Compare memories that `notes` has stored, as `note` would have compared them.

        Of two such memories the newer is compared with the older, whichever gets its vector first.
        """
        for memory, older in self._unsettled.pairs(vectors):  # 4
            verdict = self._compare.verdict(memory, older, most=JUDGED_IN_BULK)  # 5
            chunks = self._compare.merged_chunks(verdict)
            changes = changes_of_stored(verdict, memory, chunks, self._mode, self._naming)  # 6
            if changes is None:
                continue
            try:
                self._store.apply(changes)
            except (VersionConflict, MemoryNotFound):  # changed meanwhile: a review finds the pair
                self._unsettled.look_again()
            if changes.changes:
                self._unsettled.look_again()

    def screened(self, note: Note, judge: Judge | None = None) -> Note:
        """Return a given note as it may be stored, quarantined if it reads like an order to an
        assistant, with its category and importance. The `judge` helps to tell: 12 ms, too long for
        many. Raises InvalidInput."""
        note = classify(self._border.passed(note), judge)
        why = None if note.trusted else Gate(judge, self._embedder).why_note(note)
        return replace(note, quarantine=why, scope="private") if why else note

    def why_held(self, changes: Mapping[str, Any]) -> str | None:
        """Return why a memory must not be changed so before a person has seen it; None if it may
        be."""
        tags = changes.get("tags")
        note = Note(
            content=changes.get("content") or "",
            subject=changes.get("subject"),
            source_context=changes.get("source_context"),
            tags=tuple(tags) if isinstance(tags, list | tuple) else (),
        )
        return self._gate.why_note(note)

    def _find(self, turn: Sequence[Message], before: Sequence[Message]) -> list[Note]:
        """Stage 1: ask the model if there is one, else apply the rules."""
        zone = self._settings.general.zone
        if self._models.extraction is None:
            return extract(turn, before, zone, self._models.judge, self._embedder)
        turn = [by_its_speaker(message, self._models.judge) for message in turn]
        return ask_about(turn, before, self._models.extraction, self._store, self._embedder, zone)

    def _draft_or_refuse(
        self, note: Note, source: Source, judge: Judge | None = None
    ) -> Candidate | Stored:
        try:
            return self._draft(self.screened(note, judge) if source.is_given else note, source)
        except InvalidInput as error:
            return Stored("refused", reason=str(error))

    def _draft(self, note: Note, source: Source) -> Candidate:
        """Stage 3. What a turn teaches is private and belongs to the project that it is about."""
        if not source.is_given:
            about = note.category, note.content, note.subject
            place = project_of(*about, source.project, self._embedder, self._store.places)
            note = replace(note, scope="private", place=place)
        elif note.occurred_at is None and note.model is None and note.channel != "import":
            said = self._clock().astimezone(self._settings.general.zone)
            note = with_dates(note, said, None if source.is_bulk else self._embedder)
        draft = draft_of(
            note,
            self._store.kin,
            self._embedder,
            self._clock(),
            self._settings.general.zone,
            naming=self._naming,
            fresh=source.is_bulk,
        )
        return Candidate(note, draft)

    def _learn(self, drafted: Sequence[Candidate | Stored], source: Source) -> list[Stored] | None:
        """Stages 4 to 6: what becomes of each draft; refusals pass through. None if the turn was
        learned from already."""
        candidates = self._compare.by_words(drafted) if source.is_given else list(drafted)
        if source.is_given and not any(isinstance(item, Candidate) for item in candidates):
            return [item for item in candidates if isinstance(item, Stored)]
        if not source.is_bulk:
            candidates = self._compare.embed(candidates, is_settled_later=not source.is_given)
        return retried(partial(self._decide_and_store, candidates, source))

    def _decide_and_store(
        self, candidates: Sequence[Candidate | Stored], source: Source
    ) -> list[Stored] | None:
        changes = Changes(self._mode, self._naming)
        most = judged_per_note(sum(isinstance(item, Candidate) for item in candidates))
        outcomes = [
            self._decide(candidate, changes, source, most)
            if isinstance(candidate, Candidate)
            else candidate
            for candidate in candidates
        ]
        learned = [message.id for message in source.turn]
        ids = self._store.apply(changes.batch(source.repeated, learned, source.batch))
        return None if ids is None else changes.stored_as(ids, outcomes)

    def _tells_of_change(self, content: str, verdict: Verdict) -> bool:
        """Return whether a message may have changed what is stored. A question that this answers
        asks for it: "where do I live?"."""
        if not isinstance(verdict, Flag):
            return False
        judge = self._models.judge
        if judge is None or not asks(content):
            return True
        doubted = [doubt.known.content for doubt in verdict.doubts]
        try:
            read = judge.answers(content, doubted, deadline=PATIENCE)
        except ModelError:
            return True
        return any(one.answers < ANSWERED for one in read)

    def _decide(self, candidate: Candidate, changes: Changes, source: Source, most: int) -> Stored:
        """Decide about one note beside what is stored and what its turn has taught already."""
        note, memory = candidate.note, candidate.memory
        if note.quarantine is not None:
            return changes.hold(candidate, self._compare.quarantined())
        if source.is_bulk:
            return changes.add(candidate, Keep())
        near = changes.neighbours(self._compare.near(candidate.vectors), candidate.vectors)  # 4
        updates = note.updates
        if not source.is_given:
            updates = self._screen.correction(note, near, changes.ended, source.turn)
        verdict = self._compare.verdict(  # 5
            memory,
            near,
            updates=updates,
            is_given=source.is_given,
            told_in=source.project,
            message=source.message_of(note),
            most=most,
            ends_nothing=note.only_as_change,
        )
        if note.only_as_change and not self._tells_of_change(note.content, verdict):
            return CHANGES_NOTHING
        if isinstance(verdict, Outdated):
            known = self._compare.ended_before(candidate)
            if known is not None:
                return changes.repeat(candidate, known, verdict.reason)
        chunks = self._compare.merged_chunks(verdict, candidate.draft)
        outcome = changes.add(candidate, verdict, chunks)  # 6
        return self._compare.with_copies(outcome, memory, near)
