"""A step of upkeep: summarise long memories and their parts."""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel

from kinmem.errors import InvalidInput, MemoryNotFound, ModelError
from kinmem.language import order_in, redact, summary
from kinmem.llm.base import ChatModel
from kinmem.llm.prompts import render
from kinmem.models import Memory
from kinmem.store.base import Store
from kinmem.store.memory import EXTRACTIVE, Summary
from kinmem.text import clean, cut
from kinmem.upkeep.steps import UNLIMITED, Budget

# Memories in one run by rules.
MOST = 500
# Memories in one run for which a model is asked.
MOST_BY_MODEL = 20
# Model calls for one memory; the rest is summarised by rules.
MOST_CALLS = 10
PARTS_AT_ONCE = 12
# Chunks read at once.
READ_AT_ONCE = 1000
# Characters of a memory that the model sees; of a longer one its most informative sentences.
SHOWN = 12_000
SENTENCES, SENTENCES_IN_ARCHIVE, SENTENCES_OF_PART = 3, 2, 2
CHARACTERS, CHARACTERS_OF_PART = 500, 300

logger = logging.getLogger(__name__)


class PartSummary(BaseModel):
    """The summary of one part, by its number."""

    id: int
    summary: str


class Told(BaseModel):
    """The shape of an answer to prompts/summarize_memory.md."""

    summary: str
    parts: list[PartSummary] = []


def summarize(store: Store, model: ChatModel | None, budget: Budget, counts: Counter[str]) -> None:
    """Summarise own live memories that are long and have no summary, or one of another content or
    tier. Counts summaries, and as summaries.rules those for which a model failed.

    Oldest first, 500 in one run, 20 with a model.
    """
    due = store.summaries.due(MOST if model is None else MOST_BY_MODEL)
    if budget.dry_run:
        counts["summaries"] += len(due)
        return
    summarize_these(store, due, model, budget, counts)


def summarize_these(
    store: Store,
    ids: Iterable[str],
    model: ChatModel | None,
    budget: Budget = UNLIMITED,
    counts: Counter[str] | None = None,
) -> int:
    """Summarise these own memories again; returns how many have a summary now."""
    counts = Counter() if counts is None else counts
    made = 0
    for id in ids:
        if budget.is_over():
            break
        try:
            memory = store.get(id)
            summaries = _summaries(store, memory, model, counts)
        except MemoryNotFound:  # erased in the meantime
            continue
        if store.summaries.put(memory, summaries) and summaries[0].text:
            made += 1
            counts["summaries"] += 1
    return made


def _summaries(
    store: Store, memory: Memory, model: ChatModel | None, counts: Counter[str]
) -> list[Summary]:
    """Return the summary of the whole, then those of the parts that need one."""
    if not memory.is_document:
        summaries = [_of_text(memory, memory.content)]
        return (
            summaries
            if model is None or not summaries[0].text
            else _asked(memory, memory.content, [], summaries, model, counts)
        )
    parts = list(_parts(store, memory.id))
    text = "\n\n".join(part for part in parts if part)
    summaries = [_of_text(memory, text), *_of_parts(parts if len(parts) > 1 else [])]
    return summaries if model is None else _asked(memory, text, parts, summaries, model, counts)


def _parts(store: Store, id: str) -> Iterator[str]:
    """Yield the text of each chunk without what it repeats; an empty text for a chunk that is held
    back."""
    first = end = 0
    while read := store.documents.parts(id, first, READ_AT_ONCE):
        for place, text in read:
            yield "" if place.held else text[max(0, end - place.start) :].strip()
            end = place.start + len(text)
        first += len(read)


def _of_text(memory: Memory, text: str) -> Summary:
    count = SENTENCES_IN_ARCHIVE if memory.tier == "archive" else SENTENCES
    return Summary(summary(text, count, CHARACTERS, memory.title or memory.subject or ""))


def _of_parts(parts: Sequence[str]) -> list[Summary]:
    summaries = (summary(text, SENTENCES_OF_PART, CHARACTERS_OF_PART) for text in parts)
    return [
        Summary(sentence, EXTRACTIVE, chunk) for chunk, sentence in enumerate(summaries) if sentence
    ]


def _asked(
    memory: Memory,
    text: str,
    parts: Sequence[str],
    by_rules: Sequence[Summary],
    model: ChatModel,
    counts: Counter[str],
) -> list[Summary]:
    """Return the summaries with the model's in place of the rules', as far as it answers."""
    summaries = {made.chunk: made for made in by_rules}
    wanted = [chunk for chunk in summaries if chunk is not None]
    title = memory.title or memory.subject or "(none)"
    shown = (
        text if len(text) <= SHOWN else summary(text, SHOWN // 100, SHOWN, title) or text[:SHOWN]
    )
    groups = [wanted[at : at + PARTS_AT_ONCE] for at in range(0, len(wanted), PARTS_AT_ONCE)]
    for call, group in enumerate((groups or [[]])[:MOST_CALLS]):
        lines = [
            json.dumps({"id": chunk, "text": parts[chunk]}, ensure_ascii=False) for chunk in group
        ]
        prompt = render(
            "summarize_memory", title=title, text=shown, parts="\n".join(lines) or "(none)"
        )
        try:
            answer = model.answer(prompt, Told)
        except ModelError as error:
            logger.warning("summary of %s by rules: %s", memory.id, error)
            counts["summaries.rules"] += 1
            break
        if call == 0:
            summaries[None] = _checked(answer.summary, CHARACTERS, summaries[None], model.name)
        for part in answer.parts:
            if part.id in group:
                old = summaries[part.id]
                summaries[part.id] = _checked(part.summary, CHARACTERS_OF_PART, old, model.name)
    return [summaries.pop(None), *summaries.values()]


def _checked(answer: str, most: int, by_rules: Summary, model: str) -> Summary:
    """Return the model's summary as it is stored, or the rules' if it is unusable."""
    try:
        text = " ".join(clean(cut(redact(answer)[0], most), "the summary", 4 * most).split())
    except InvalidInput:
        return by_rules
    return by_rules if order_in(text) else Summary(text, model, by_rules.chunk)
