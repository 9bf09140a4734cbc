"""Merges several memories into one, in one transaction that can be undone. Nothing is erased.

Compressing does so by rules alone: it keeps each unique sentence (Kore).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import combinations
from typing import Any, Literal

import uuid_utils

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, MemoryNotFound, VersionConflict
from kinmem.language import (
    Kinship,
    Ladder,
    Pair,
    Weight,
    atoms,
    content_hash,
    join_knowledge,
    normalised,
    sentences,
    unproved,
)
from kinmem.llm.base import SIZE, Embedder, chunks_of
from kinmem.llm.naming import RULES, Naming
from kinmem.models import OF_ITS_TIME, TOLD_AT, Category, Chunks, Draft, Knowledge, Memory, State
from kinmem.models.draft import CONTEXT_BYTES
from kinmem.models.turns import Batch, Change, Repetition
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.store.history import batch_name
from kinmem.text import in_first_person
from kinmem.upkeep.candidates import Candidates
from kinmem.upkeep.groups import Group, day_of, one_day, weightiest
from kinmem.upkeep.steps import UNLIMITED, Budget
from kinmem.validation import TAGS, checked_content

MARKS = ".!?…。！？"
Outcome = Literal["merged", "changed", "known"]


def stated(group: Group, zone: tzinfo) -> list[str]:
    """Return what each memory of the group says. If the days differ, each sentence about an event
    gets its day appended. Lasting facts are the same on every day, and a day would hide that."""
    if one_day(group.memories, zone):
        return [memory.content for memory in group.memories]
    return [
        _dated(memory, zone) if _is_of_its_time(memory) else memory.content
        for memory in group.memories
    ]


def _is_of_its_time(memory: Memory) -> bool:
    """Return whether it is true of one moment only. A memory learned from a conversation has the
    time of its saying; if somebody memorizes a statement with a time, that time is meant."""
    is_named = memory.channel in ("explicit", "import") or TOLD_AT in memory.metadata
    return memory.category in OF_ITS_TIME or is_named and memory.occurred_at is not None


def _dated(memory: Memory, zone: tzinfo) -> str:
    day = day_of(memory, zone)
    if day is None:
        return memory.content
    parts = []
    for sentence in sentences(memory.content):
        said = sentence.strip()
        bare = said.rstrip(MARKS)
        known = day.isoformat() in atoms(said).dates or not bare
        parts.append(said if known else f"{bare} ({day.isoformat()}){said[len(bare) :] or '.'}")
    return "\n".join(parts)


def fits(text: str, embedder: Embedder) -> bool:
    """Return whether a text fits in one memory of one chunk, which can be merged again."""
    try:
        text = checked_content(text)
    except InvalidInput:
        return False
    return len(text) <= SIZE and len(chunks_of(text, embedder)) == 1


@dataclass(frozen=True, slots=True)
class Wording:
    """The text that is to stand for a group."""

    text: str
    category: Category
    subject: str | None
    model: str | None = None
    """The model that wrote it; None: rules."""


class Merge:
    """Lets new memories supersede groups; can be undone one by one or all at once."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        step: str,
        clock: Clock,
        zone: tzinfo,
        naming: Naming,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._step = step
        self._naming = naming
        self._clock = clock
        self._zone = zone
        self._run = batch_name(step)

    def __call__(self, group: Group, wording: Wording) -> Outcome:
        """Merge a group. If one of its memories has this text already, it supersedes the others.

        Does nothing and returns `changed` if a memory was changed in the meantime, `known` if a
        memory outside the group has the text. Raises ModelError if the embedder is unavailable.
        """
        text, now = checked_content(wording.text), self._clock()
        said = content_hash(text)
        kept = next((memory for memory in group.memories if memory.content_hash == said), None)
        if kept is not None:
            return self._apply(self._keeping(group, kept, now))
        memory = _merged(group.memories, replace(wording, text=text), now, self._zone)
        draft = Draft(memory, Chunks((text,)), knowledge=self._knowledge(group, memory))
        if self._store.same_statements([draft]) != [None]:
            return "known"
        vectors = self._embedder.embed([in_first_person(text)])
        draft = replace(draft, chunks=Chunks((text,), vectors, self._embedder.name))
        return self._apply(
            Batch(
                drafts=[draft],
                changes=_gone(group.memories, memory.id, self._step, now),
                parents={memory.id: [source.id for source in group.memories]},
                repeated=_repeated(group.memories, memory.id),
                name=self._run,
            )
        )

    def _keeping(self, group: Group, kept: Memory, now: datetime) -> Batch:
        """Keep one of the group, which inherits the values of the others."""
        others = [memory for memory in group.memories if memory.id != kept.id]
        why = f"{self._step}: stands for {', '.join(memory.id for memory in others)}"
        change = Change(kept.id, _worth(group.memories), "consolidated", why, kept.version)
        gone = _gone(others, kept.id, self._step, now)
        repeated = _repeated(others, kept.id)
        return Batch(changes=[change, *gone], repeated=repeated, name=self._run)

    def _apply(self, batch: Batch) -> Outcome:
        try:
            self._store.apply(batch)
        except (VersionConflict, MemoryNotFound):
            return "changed"
        return "merged"

    def _knowledge(self, group: Group, memory: Memory) -> Knowledge:
        """Return the entities of the whole group, and the relations that the new text states."""
        said = self._naming(memory.content, memory.speaker, memory.subject)
        known = [entity for one in group.memories for entity in self._store.entities(one.id)]
        return join_knowledge([*known, *said.entities], said.relations)


def _gone(memories: Sequence[Memory], heir: str, step: str, now: datetime) -> list[Change]:
    fields = {"state": State.SUPERSEDED, "superseded_by": heir, "valid_to": now}
    action = "consolidated"
    return [
        Change(memory.id, fields, action, f"{step}: merged into {heir}", memory.version)
        for memory in memories
    ]


def _repeated(memories: Sequence[Memory], heir: str) -> list[Repetition]:
    """Return that their turns repeat the heir: forgetting it is then forgetting what they say."""
    return [one for memory in memories for one in Repetition.of(memory, heir)]


def _worth(memories: Sequence[Memory]) -> dict[str, Any]:
    """Return the fields for which the strictest or the best of several memories decides.

    Uses are not added up: otherwise what was said three times would outrank what was used three
    times.
    """
    worths = [memory.importance for memory in memories if memory.importance is not None]
    ranks = [memory.set_priority for memory in memories if memory.set_priority is not None]
    used = [memory.recalled_at for memory in memories if memory.recalled_at]
    return {
        "importance": max(worths, default=None),
        "set_priority": max(ranks, default=None),
        "trust": min(memory.trust for memory in memories),
        "confidence": min(memory.confidence for memory in memories),
        "manual_tags": _tags(memories),
        "source_context": _context(memories),
        "recalled_count": max(memory.recalled_count for memory in memories),
        "recalled_at": max(used, default=None),
    }


def _merged(memories: Sequence[Memory], wording: Wording, now: datetime, zone: tzinfo) -> Memory:
    first = memories[0]
    times = [memory.occurred_at for memory in memories if memory.occurred_at]
    memory = Memory(
        id=str(uuid_utils.uuid7()),
        kin=first.kin,
        scope=first.scope,
        content=wording.text,
        content_hash=content_hash(wording.text),
        category=wording.category,
        subject=wording.subject,
        evidence=Weight(wording.text).evidence(first.speaker),
        speaker=first.speaker,
        channel="consolidation",
        model=wording.model,
        occurred_at=min(times) if times and one_day(memories, zone) else None,
        expires_at=first.expires_at,
        valid_from=now,  # until then its sources were valid, so as_of finds either them or it
        generation=max(memory.generation for memory in memories) + 1,
        source="sleep",
        created_at=now,
        content_updated_at=now,
    )
    return replace(memory, **_origin(memories), **_worth(memories))


def _origin(memories: Sequence[Memory]) -> dict[str, Any]:
    """Return their origin: what all have in common, and every turn."""
    common = {
        name: getattr(memories[0], name)
        for name in ("language", "client", "session", "place")
        if len({getattr(memory, name) for memory in memories}) == 1
    }
    turns = tuple(dict.fromkeys(turn for memory in memories for turn in memory.turns))
    return {
        **common,
        "turn_id": turns[0] if turns else None,
        "metadata": {"turns": list(turns)} if turns else {},
    }


def _tags(memories: Sequence[Memory]) -> tuple[str, ...]:
    tags = dict.fromkeys(tag for memory in memories for tag in memory.manual_tags)
    return tuple(tags)[:TAGS]


def _context(memories: Sequence[Memory]) -> str | None:
    """Join their source contexts, each once, as many whole ones as fit."""
    joined = ""
    known = set()
    for memory in memories:
        context = memory.source_context
        if context and normalised(context) not in known:
            known.add(normalised(context))
            longer = f"{joined}\n{context}".strip()
            joined = longer if len(longer.encode()) <= CONTEXT_BYTES else joined
    return joined or None


COMPRESSING = "compress"
# Most groups in one run; each merge embeds a text.
MOST = 200
# Most levels of merges (Kore): further ones collect what is only loosely alike.
DEEPEST = 3


def compress(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    clock: Clock,
    counts: Counter[str],
    budget: Budget = UNLIMITED,
    naming: Naming = RULES,
) -> None:
    """Merge each group into the text that says everything; if there is none, into the more
    important memory's text followed by the sentences that only the others have. Records of
    different days stay apart.

    Adds to `counts`, even if it fails: merged, refused (they contradict each other, or the text
    would be too long), known (already), changed (in the meantime), and read and left as in
    Candidates.counted. A dry run counts groups. Raises ModelError if the embedder is unavailable.
    """
    similarity, zone = settings.upkeep.compress_similarity, settings.general.zone
    merge = Merge(store, embedder, COMPRESSING, clock, zone, naming)
    candidates = Candidates(store, embedder, similarity, COMPRESSING, zone, "consolidate")
    if budget.dry_run:
        counts["groups"] += candidates.waiting()
        return
    with candidates.counted(counts):
        for group in candidates:
            wording = _wording(group, embedder, zone)
            candidates.settled(group, merge(group, wording) if wording else "refused")
            if candidates.outcomes.total() == MOST or budget.is_over():
                break


def _wording(group: Group, embedder: Embedder, zone: tzinfo) -> Wording | None:
    """Return the merged text; None if the memories must stay apart."""
    best = weightiest(group)
    texts = [best.content, *(memory.content for memory in group.memories if memory.id != best.id)]
    whole = _shortest(texts)
    if (
        max(memory.generation for memory in group.memories) >= DEEPEST
        or stated(group, zone) != [memory.content for memory in group.memories]
        or not fits(whole, embedder)
        or contradict(group.memories)
        or unproved(whole, texts, ())
    ):
        return None
    subjects = (memory.subject for memory in (best, *group.memories) if memory.subject)
    return Wording(whole, best.category, next(subjects, None))


def _shortest(texts: Sequence[str]) -> str:
    """Return the longest text that says everything the others do; if there is none, their union."""
    for text in sorted(texts, key=len, reverse=True):
        if united([text, *(other for other in texts if other != text)]) == text:
            return text
    return united(texts)


def united(texts: Sequence[str]) -> str:
    """Return the first text, followed by those sentences of the others, in order, that nothing
    before them says."""
    kept = [sentence.strip() for sentence in sentences(texts[0]) if sentence.strip()]
    added: list[str] = []
    for text in texts[1:]:
        for sentence in map(str.strip, sentences(text)):
            if sentence and not any(_says(known, sentence) for known in [*kept, *added]):
                added.append(sentence)
    return "\n".join([texts[0], *added])


def _says(known: str, sentence: str) -> bool:
    """Return whether the known sentence can stand for the other, however worded, without loss."""
    same = Pair(known, sentence).kinship(1.0, Ladder()) in (Kinship.SAME_TEXT, Kinship.DUPLICATE)
    if same or Pair(known, sentence).known_says_all:
        return True
    return not unproved(known, [known, sentence], ())


def contradict(memories: Sequence[Memory]) -> bool:
    """Return whether two of the memories cannot both hold."""
    return any(Pair(a.content, b.content).excludes for a, b in combinations(memories, 2))
