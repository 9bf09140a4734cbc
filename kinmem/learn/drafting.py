"""Stage 3 of learning: a note becomes the checked draft of a memory, with category, importance,
dates and the project in which it holds.

Rules, decisions and facts that come up in a repository belong to that repository. Who somebody is,
what they like and how they want to be answered holds wherever they work. What "we" do may be
somebody's life or their work, which the embedder tells apart in any language. In doubt a statement
belongs to the project: elsewhere a question still finds it, and it is only left out of notes.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

import uuid_utils

from kinmem.errors import ModelError
from kinmem.language import UNIMPORTANT, Dates, Weight, appraise, content_hash, only_asks, sentences
from kinmem.llm.base import Embedder, Judge, chunks_of
from kinmem.llm.naming import Naming, knowledge_of
from kinmem.models import (
    QUARANTINE,
    TOLD_AT,
    Category,
    Channel,
    Chunks,
    Draft,
    Memory,
    Note,
    State,
    Stored,
    Vector,
)
from kinmem.models.draft import CONTEXT_BYTES
from kinmem.models.places import place_of, spoken_of
from kinmem.store.base import Store
from kinmem.text import asks, count_words, late, says_here
from kinmem.validation import (
    checked_category,
    checked_confidence,
    checked_content,
    checked_context,
    checked_expiry,
    checked_importance,
    checked_scope,
    checked_subject,
    checked_tags,
    checked_time,
)

# How far a memory is believed follows from the way it came in, never from what it says of itself.
TRUST: Mapping[Channel, float] = {
    "user": 1.0,
    "explicit": 0.8,
    "extraction": 0.6,
    "consolidation": 0.6,
    "import": 0.3,
}
# Importance of a note that only asks. It is kept, since somebody wanted it kept.
OF_QUESTION = 1.0
READS_AS_QUESTION = "this reads as a question; recall answers questions"
HELD = (
    "held back, because it {why}; it is not recalled until a person releases it (kinmem review)."
    " Tell your user so"
)
# How far what only a tool's output says is believed.
TOOL_TRUST = 0.2
# Chance that a text is worth keeping below which its kind is a guess.
LEAST_WORTH = 0.25

# Categories that hold everywhere, and those that hold in their project alone.
PERSONAL = frozenset({"identity", "relationship"})
BOUND = frozenset({"decision"})
OF_ME = late(
    r"\bI\b|\bI['’]|(?i:\b(?:my|mine|me|myself|ich|mich|mir|meine?[mnrs]?|je|j['’]\w+|moi|mon|mes"
    r"|yo|mis?|conmigo|mio|mia|miei|eu|meus?|minhas?)\b|\bthe user\b)|我(?!们)"
)
OF_A_PROJECT = late(
    r"\b(?:repo(?:sitor\w+)?|project|codebase|app|branch|backend|frontend|service|projekt\w*"
    r"|projets?|dépôt|proyecto|repositorio|progetto|projeto)\b",
    re.IGNORECASE,
)
# How an assistant is to talk is what somebody likes.
OF_TALK = late(
    r"\b(?:answers?|repl(?:y|ies)|respon[ds]\w*|speak|talk|address|call me|antwort\w*|sprich"
    r"|siez\w*|duz\w*|répond\w*|parle\w*|tutoie\w*|vouvoie\w*|respond\w*|contest\w*|habl[ae]\w*|tutéame"
    r"|trata\w*|rispond\w*|parla\w*)\b",
    re.IGNORECASE,
)
# Characters of a statement that show what it is about.
READ = 400
# Chance from which a statement is about somebody's life (scripts/train_places.py).
LIFE = 0.8
# Chance below which what somebody says of himself is about the work on a project. Of the statements
# in the first person of three sets by other writers (training/places and one that was looked at to
# choose it), 8 of 9 about a project are below it, and none of 133 about a life.
WORK = 0.15
OF_BEING = late(
    r"\b(?:I['’]?m|I am|my name|ich bin|ich hei(?:ss|ß)e|je suis|je m['’]appelle|soy|me llamo|sono"
    r"|mi chiamo|sou|me chamo)\b|我是|我叫",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Candidate:
    """A note on its way through the stages."""

    note: Note
    draft: Draft
    vectors: Sequence[Vector] = ()
    """Where similar memories are searched; empty without vectors, and for long texts."""

    @property
    def memory(self) -> Memory:
        """The memory as it was drafted."""
        return self.draft.memory


def draft_of(
    note: Note,
    kin: str,
    embedder: Embedder,
    now: datetime,
    zone: tzinfo,
    *,
    naming: Naming,
    fresh: bool = False,
) -> Draft:
    """Return the note as a memory of this Kin, in chunks without vectors. Raises InvalidInput.

    A `fresh` memory is stored before it is compared by meaning.
    """
    occurred_at, told_at = _times(note, now, zone)
    memory = Memory(
        id=str(uuid_utils.uuid7()),
        occurred_at=occurred_at,
        kin=kin,
        state=State.QUARANTINED if note.quarantine else State.ACTIVE,
        status="pending" if fresh else "ingested",
        created_at=now,
        content_updated_at=now,
        **_statement(note, now, zone),
        **_origin(note, told_at),
    )
    chunks = Chunks(chunks_of(memory.content, embedder))
    return Draft(memory, chunks, knowledge=knowledge_of(note, memory, naming))


def _statement(note: Note, now: datetime, zone: tzinfo) -> dict[str, Any]:
    """Return what the note says and about whom, checked."""
    content = checked_content(note.content)
    speaker = checked_subject(note.speaker)
    return {
        "scope": checked_scope(note.scope),
        "content": content,
        "content_hash": content_hash(content),
        "category": checked_category(note.category or "fact"),
        "subject": checked_subject(note.subject),
        "source_context": checked_context(note.source_context),
        "importance": checked_importance(note.importance),
        "manual_tags": checked_tags(note.tags),
        "expires_at": checked_expiry(note.expires, now, zone),
        "valid_to": Dates(content, now.astimezone(zone)).end,
        "speaker": speaker,
        "evidence": Weight(content).evidence(speaker),
        "confidence": checked_confidence(note.confidence),
    }


def classify(note: Note, judge: Judge | None = None) -> Note:
    """Return the note with the category and importance that its words suggest, unless given.

    With a `judge` it is judged as a statement in a turn is; where the judge fails, by words alone.
    """
    if note.category is not None and note.importance is not None:
        return note
    content = checked_content(note.content)
    category, weight = judgement(content, judge)
    if note.category is not None:
        weight = Weight(content).importance(checked_category(note.category))
    return replace(
        note,
        category=note.category or category,
        importance=weight if note.importance is None else note.importance,
    )


# Characters of a statement up to which its dates are written beside it.
DATED_UP_TO = 2_000
# Words that make a statement. Of a single one ("ab", "ok") the judge decides at random.
LEAST_SAID = 2


def with_dates(note: Note, said: datetime, embedder: Embedder | None, leading: str = "") -> Note:
    """Return the note with the dates that its words mean in its source context, and where a
    relative time of it could mean several and nothing else tells the day on which it was said,
    with that day. A context that would be too long stays. `said` is in the speaker's zone;
    `leading` is what its speaker has said before it. Raises InvalidInput for no context."""
    if len(note.content) > DATED_UP_TO:
        return note
    is_day_known = note.occurred_at is not None
    try:
        dates = Dates(note.content, said, happens_once(embedder), leading)
        meant = dates.meant(is_day_known=is_day_known)
    except ModelError:
        meant = Dates(note.content, said, leading=leading).meant(is_day_known=is_day_known)
    parts = filter(None, [checked_context(note.source_context), *meant])
    context = " | ".join(parts) or None
    return (
        note
        if len((context or "").encode()) > CONTEXT_BYTES
        else replace(note, source_context=context)
    )


def happens_once(embedder: Embedder | None) -> Callable[[str], float] | None:
    """Return what tells a day to come from one of every week, if the embedder has learned that."""
    probe = embedder.calibration.once if embedder is not None else None
    if embedder is None or probe is None:
        return None
    return lambda said: probe.chance(embedder.embed([said])[0])


def judgement(text: str, judge: Judge | None = None) -> tuple[Category, float]:
    """Return the category and importance that the words of a text suggest, as for a statement in a
    turn. A text that only asks is a fact that hardly matters."""
    statements = [sentence for sentence in sentences(text) if not only_asks(sentence)]
    if not statements:
        return "fact", OF_QUESTION
    if count_words(text) < LEAST_SAID:
        return "fact", Weight(text).importance("fact")
    appraisals = {statement: appraise(statement) for statement in statements}
    surest = max(appraisals, key=lambda statement: appraisals[statement].confidence)
    best = appraisals[surest]
    if judge is not None:
        with suppress(ModelError):
            best = appraise(surest, judge.kinds(surest))
    category = best.category if best.worth >= LEAST_WORTH else "fact"
    weight = Weight(text).importance(category)
    is_hearsay = best.kind == "others_words" and category == "knowledge"
    return category, min(weight, UNIMPORTANT) if is_hearsay else weight


def _times(note: Note, now: datetime, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Return when it happened, and when it was said if its words name the day of that.

    A given time is when it happened, except that of a turn, which is when it was said. A model has
    read the day already, and it is not known when an imported text was said.
    """
    given = checked_time(note.occurred_at, "occurredAt", zone, now=now)
    is_settled = note.model is not None or (given is not None and not note.turns)
    if is_settled or note.channel == "import":
        return given, None
    told_at = given or now
    day = Dates(note.content, told_at.astimezone(zone)).of_event
    is_of_turn = given is not None and told_at.astimezone(zone).date() == day
    if day is None or is_of_turn:
        return given, None
    return checked_time(day.isoformat(), "occurredAt", zone), told_at


def _origin(note: Note, told_at: datetime | None) -> dict[str, Any]:
    """Return where the note comes from."""
    return {
        "channel": note.channel,
        "trust": TOOL_TRUST if note.speaker == "tool" else TRUST[note.channel],
        "client": note.client,
        "session": note.session,
        "turn_id": note.turns[0] if note.turns else None,
        "model": note.model,
        "place": note.place or None,
        "source": "chat" if note.turns or note.channel in ("user", "extraction") else "tool",
        "metadata": _metadata(note, told_at),
    }


def _metadata(note: Note, told_at: datetime | None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"turns": list(note.turns)} if len(note.turns) > 1 else {}
    if note.quarantine:
        metadata[QUARANTINE] = note.quarantine
    if told_at is not None:
        metadata[TOLD_AT] = told_at.astimezone(UTC).isoformat()
    return metadata


def describe(outcome: Stored, memory: Memory) -> Stored:
    """Return the outcome with the category and importance that the memory was stored with, and a
    remark if it reads like a question."""
    if why := memory.metadata.get(QUARANTINE):
        outcome = replace(outcome, reason=HELD.format(why=why))
    if outcome.id != memory.id:
        return outcome
    may_ask = memory.importance == OF_QUESTION or asks(memory.content)
    is_question = may_ask and only_asks(memory.content)
    reason = outcome.reason or (READS_AS_QUESTION if is_question else None)
    return replace(outcome, reason=reason, category=memory.category, importance=memory.importance)


def project_of(
    category: str | None,
    content: str,
    subject: str | None,
    place: str | None,
    embedder: Embedder | None = None,
    known: Callable[[], Iterable[str]] = tuple,
) -> str | None:
    """Return `place` if the statement is about the project, not about whoever works in it.

    If it names one of the places that `known` returns, or this one, and is not about a person, it
    belongs to that: "I switched Stallplan to Postgres" may be said anywhere. Without a category,
    the words decide. Without an `embedder` that tells lives from projects, what "we" do belongs to
    the project.
    """
    if not place or not isinstance(content, str):
        return None
    category = category or judgement(content)[0]
    if category not in PERSONAL and (named := spoken_of(content, {place, *known()})):
        return named
    if belongs(category, content, subject):
        return None if _is_of_life(content, category, embedder) else place
    return place if _is_of_work(content, category, subject, embedder) else None


def belongs(category: str, content: str, subject: str | None = None) -> bool:
    """Return whether, by its words, a statement holds only in the project where it was learned."""
    if category in PERSONAL or category == "preference" and (subject or OF_TALK.search(content)):
        return False
    if category in BOUND or OF_A_PROJECT.search(content):
        return True
    return not OF_ME.search(content) and not OF_TALK.match(content.lstrip())


def _is_of_life(content: str, category: str | None, embedder: Embedder | None) -> bool:
    """Return whether, by its meaning, it is about somebody's life: "our daughter is six". The first
    call of a process waits for the model, half a second: a place stays for good."""
    if category in BOUND or OF_A_PROJECT.search(content):
        return False
    chance = _chance_of_life(content, embedder)
    return chance is not None and chance >= LIFE


def _is_of_work(
    content: str, category: str | None, subject: str | None, embedder: Embedder | None
) -> bool:
    """Return whether it surely says how somebody works on this project ("I write migrations by
    hand") or what is wanted of a part of it ("the backend uses poetry, never call pip"). Who they
    are and what they like holds everywhere, unless they say "here"."""
    if OF_BEING.search(content) or OF_TALK.search(content):
        return False
    if OF_ME.search(content):
        if category in ("preference", "relationship") and not says_here(content):
            return False
    elif category != "preference" or subject is None:
        return False
    chance = _chance_of_life(content, embedder)
    return chance is not None and chance < WORK


def _chance_of_life(content: str, embedder: Embedder | None) -> float | None:
    life = embedder.calibration.life if embedder is not None else None
    if embedder is None or life is None:
        return None
    try:
        return float(life.chance(embedder.embed([content[:READ]])[0]))
    except ModelError:
        return None


def settle_places(store: Store) -> None:
    """Set the places of memories from before kinmem knew places. If the folder is gone, they hold
    everywhere, as before."""
    waiting = store.unplaced()
    if not waiting:
        return
    folders = {memory.place: place_of((memory.place or "")[1:]) for memory in waiting}
    store.set_places(
        {
            memory.id: project_of(
                memory.category, memory.content, memory.subject, folders[memory.place]
            )
            for memory in waiting
        }
    )
