"""A step of upkeep: close memories become one. A model writes the text, the proof decides."""

import json
import logging
from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo
from typing import Literal

from pydantic import BaseModel

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, ModelError
from kinmem.llm.base import ChatModel, Embedder
from kinmem.models import CATEGORIES, Category, Memory
from kinmem.prompts import render
from kinmem.rules.border import checked_subject
from kinmem.rules.proof import unproved
from kinmem.rules.similarity import normalised
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.text import folded, sentences
from kinmem.upkeep.excluding import exclude
from kinmem.upkeep.groups import Group, day_of, find_groups, last_finished, weightiest
from kinmem.upkeep.merge import fits, merge, stated

logger = logging.getLogger(__name__)

STEP = "consolidate"
ASKED = 3
"""Groups asked about for each memory that a run may make; most are left apart."""
PATIENCE = 2
"""Failures in a row after which the model counts as gone; one may be about a single group."""

Outcome = Literal["merged", "aborted", "refused", "changed", "known"]


class Merged(BaseModel):
    """What the model makes of a group."""

    abort: bool = False
    content: str = ""
    category: str = ""
    subject: str | None = None
    importance: float | None = None
    """Not used: the highest of the sources holds."""
    superseded: list[str] = []


def consolidate(
    store: Store, embedder: Embedder, model: ChatModel, settings: Settings, clock: Clock
) -> Counter[str]:
    """Merge at most settings.upkeep.consolidation_max groups; counts of what became of them.

    merged, aborted by the model, refused by the proof, known already, changed meanwhile, failed;
    read and left: memories looked at, and what is left for the next run. What was aborted or
    refused is never asked again.
    Raises ModelError when the model or the embedder is away; what was merged before stays merged.
    """
    counts: Counter[str] = Counter()
    most, zone = settings.upkeep.consolidation_max, settings.general.zone
    if most == 0:
        return counts
    found = find_groups(
        store,
        embedder,
        settings.upkeep.consolidation_similarity,
        store.journal.refused(STEP),
        zone,
        since=last_finished(store.journal, "read", "left"),
    )
    counts["read"], failures = found.read, 0
    for at, group in enumerate(found.groups, start=1):
        if counts["merged"] >= most or at > ASKED * most:
            break
        try:
            counts[_settle(store, embedder, model, group, clock, zone)] += 1
            failures = 0
        except ModelError:
            failures += 1
            counts["failed"] += 1
            if failures == PATIENCE or at == len(found.groups):
                raise
    done = sum(counts[outcome] for outcome in ("merged", "aborted", "refused", "known"))
    counts["left"] = found.left + len(found.groups) - done
    return counts


def _settle(
    store: Store,
    embedder: Embedder,
    model: ChatModel,
    group: Group,
    clock: Clock,
    zone: tzinfo,
) -> Outcome:
    """Ask, check, ask once more, and do it or remember that it was not done."""
    sources = stated(group, zone)
    answer = _asked(model, group, sources, [], zone)
    problems = [] if answer.abort else _problems(answer, group, sources, embedder)
    if problems:
        answer = _asked(model, group, sources, problems, zone)
        problems = [] if answer.abort else _problems(answer, group, sources, embedder)
    if answer.abort or problems:
        store.journal.refuse(STEP, group.ids)
        logger.info("not merged: %s (%d problems)", sorted(group.ids), len(problems))
        return "aborted" if answer.abort else "refused"
    done = merge(
        store,
        embedder,
        group,
        answer.content,
        _category(answer, group),
        _subject(answer, group),
        step=STEP,
        now=clock(),
        zone=zone,
        model=model.name,
    )
    if done == "known":
        store.journal.refuse(STEP, group.ids)
    return done


def _asked(
    model: ChatModel,
    group: Group,
    sources: Sequence[str],
    problems: Sequence[str],
    zone: tzinfo,
) -> Merged:
    lines = [
        _line(memory, text, zone) for memory, text in zip(group.memories, sources, strict=True)
    ]
    told = "\n".join(problems) or "nothing yet"
    return model.answer(render(STEP, memories="\n".join(lines), problems=told), Merged)


def _line(memory: Memory, text: str, zone: tzinfo) -> str:
    day = day_of(memory, zone)
    told = {
        "category": memory.category,
        "subject": memory.subject,
        "importance": memory.importance,
        "at": day.isoformat() if day else None,
        "text": text,
    }
    return json.dumps(told, ensure_ascii=False)


def _problems(
    answer: Merged, group: Group, sources: Sequence[str], embedder: Embedder
) -> list[str]:
    """Why this answer cannot stand for the group; empty if it can."""
    if not fits(answer.content, embedder):
        return ["the text is empty or too long; write one to three short sentences"]
    given_up = [text for text in answer.superseded if _gives_way(text, sources)]
    return unproved(answer.content, sources, given_up)


def _gives_way(statement: str, sources: Sequence[str]) -> bool:
    """Whether a source says this, and a later one something that excludes it.

    Else a model could leave out whatever it likes by calling it superseded.
    """
    said = normalised(statement)
    return any(
        said in {normalised(sentence) for sentence in sentences(source)}
        and any(exclude(statement, later) for later in sources[at:])
        for at, source in enumerate(sources, start=1)
    )


def _category(answer: Merged, group: Group) -> Category:
    """The model's if there is such a one, else that of the most important source."""
    for category in CATEGORIES:
        if category == answer.category:
            return category
    return weightiest(group).category


def _subject(answer: Merged, group: Group) -> str | None:
    """The model's if a source has it, in its spelling; else that of the most important source."""
    subjects = {folded(m.subject): m.subject for m in group.memories if m.subject}
    try:
        wanted = checked_subject(answer.subject)
    except InvalidInput:
        wanted = None
    own = weightiest(group).subject or next(iter(subjects.values()), None)
    return subjects.get(folded(wanted), own) if wanted else own
