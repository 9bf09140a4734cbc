"""Two steps of upkeep: give memories automatic tags, and refresh them after a week; and extract
entities from unread memories, and merge two names of one entity.

Memories are read for entities when they are written; the step reads those of older versions and
merged ones.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from rapidfuzz.distance import OSA

from kinmem.clock import Clock
from kinmem.language import keywords, sentences
from kinmem.llm.naming import Naming
from kinmem.models import THE_USER, Memory
from kinmem.store.base import Store
from kinmem.store.graph import Key, Named
from kinmem.text import language_of
from kinmem.upkeep.steps import UNLIMITED, Budget

MOST = 6
LONGEST = 40
"""Characters of a tag."""
SUMMARY = 2
"""Sentences that keywords are taken from."""
READ = 4000
"""Characters of a text in which these sentences are looked for: some texts have no full stops."""

SOURCES = frozenset({"chat", "tool", "upload", "connector", "import", "sleep"})
EXTENSIONS = frozenset(
    """pdf md markdown txt text rst html htm doc docx odt rtf epub tex csv tsv xls xlsx ods ppt
    pptx json jsonl yaml yml toml xml eml msg log py js ts java go rs sql sh ipynb png jpg jpeg
    mp3 mp4""".split()
)
PROVIDERS = frozenset(
    """google-drive notion slack github gitlab gmail outlook dropbox onedrive sharepoint confluence
    jira linear discord telegram""".split()
)
GENERIC = SOURCES | EXTENSIONS | PROVIDERS
"""Tags that say how something came in: two memories that share one have nothing in common."""


def auto_tags(memory: Memory, shared: Collection[str]) -> tuple[str, ...]:
    """Source type, file extension and provider of its connector, then those of its subjects that
    are `shared` with another memory, since a tag of one memory leads nowhere; six at most, lower
    case, each once. No content: none."""
    if not memory.content.strip():
        return ()
    tags = dict.fromkeys(_origin(memory))
    tags |= dict.fromkeys(subject for subject in subjects(memory) if subject in shared)
    return tuple(tags)[:MOST]


def subjects(memory: Memory) -> list[str]:
    """The keywords of its title, then those of its first two sentences; each once."""
    language = language_of(memory.content[:READ])
    title = keywords(_stem(memory.title or ""), language)
    return list(dict.fromkeys([*title, *keywords(_summary(memory.content), language)]))


def topics(tags: tuple[str, ...]) -> frozenset[str]:
    """Those tags that say what a memory is about, not how it came in."""
    return frozenset(tags) - GENERIC


def _summary(content: str) -> str:
    kept = [part for part in sentences(content[:READ]) if part.strip()]
    return " ".join(kept[:SUMMARY])


def _origin(memory: Memory) -> Iterator[str]:
    if memory.source in SOURCES:
        yield memory.source
    extension = _extension(memory)
    if extension:
        yield extension
    provider = _told(memory, "provider") or _told(memory, "connector")
    if provider:
        yield "-".join(re.findall(r"[^\W_]+", provider.casefold()))[:LONGEST]


def _extension(memory: Memory) -> str | None:
    """Of its file, as long as it is a known kind: a title such as "Node.js" is no file's name."""
    names = [_told(memory, "filename"), memory.source_ref]
    if memory.source not in ("chat", "tool", "sleep"):
        names.append(memory.title)
    endings = (PurePosixPath(name).suffix[1:].casefold() for name in names if name)
    return next((ending for ending in endings if ending in EXTENSIONS), None)


def _told(memory: Memory, name: str) -> str | None:
    for kept in (memory.metadata, memory.ingest_metadata):
        value = _text(kept, name)
        if value:
            return value
    return None


def _text(kept: Mapping[str, Any], name: str) -> str | None:
    value = kept.get(name)
    return value.strip() if isinstance(value, str) else None


def _stem(title: str) -> str:
    """A title without the extension of a file's name; only a name, not a sentence, has one."""
    path = PurePosixPath(title)
    return path.stem if path.suffix[1:].casefold() in EXTENSIONS else title


REFRESHED = timedelta(days=7)
# Memories refreshed in one run (Kybernesis).
PER_RUN = 20
# Memories tagged for the first time in one run, 10 s. With 20 an hour, an import of as many would
# take three weeks.
NEW_PER_RUN = 10_000
# Memories in one transaction.
TOGETHER = 100
# Memories read for each word, by title and by text. One besides its own is enough, but the index
# also finds other forms of the word, and sentences from which no tag is taken.
HOLDERS = 4


def tag(store: Store, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Tag own live memories that were never tagged, or not since they were edited, and the 20 that
    were tagged longest ago, more than seven days. Counts seen and changed.

    Manual tags are never touched. Automatic tags follow from the memory alone, so they do not count
    as a change: no history line, no new version.
    """
    rounds = store.rounds
    due = rounds.due("tagged_at", clock() - REFRESHED, PER_RUN)
    due += rounds.unseen("tagged_at", NEW_PER_RUN)
    for start in range(0, len(due), TOGETHER):
        if budget.is_over():
            return
        part = due[start : start + TOGETHER]
        if budget.dry_run:
            tags = _tags(store, part)
            changed = sum(tags[memory.id] != memory.auto_tags for memory in part)
        else:
            changed = tag_these(store, part, clock)
        counts["seen"] += len(part)
        counts["changed"] += changed


def tag_these(store: Store, memories: Sequence[Memory], clock: Clock) -> int:
    """Tag these own memories, and those that shared a tag with no other before; returns how many of
    all have other tags now."""
    tags = _tags(store, memories)
    seen = {memory.id: memory.content_hash for memory in store.memories(list(tags)).values()}
    return store.rounds.tagged(tags, seen, clock())


def _tags(store: Store, memories: Sequence[Memory]) -> Mapping[str, tuple[str, ...]]:
    """Return by id the tags of these memories, and of those own memories whose tags change as a
    result."""
    about = {memory.id: subjects(memory) for memory in memories}
    holders = store.rounds.holding({word for words in about.values() for word in words}, HOLDERS)
    others = store.memories({id for ids in holders.values() for id in ids} - about.keys())
    about |= {id: subjects(memory) for id, memory in others.items()}
    shared: dict[str, set[str]] = defaultdict(set)
    for id, words in about.items():
        for word in words:
            shared[word].add(id)
    known = {word for word, ids in shared.items() if len(ids) > 1}
    tags = {memory.id: auto_tags(memory, known) for memory in memories}
    for id, memory in others.items():
        new = auto_tags(memory, known.union(memory.auto_tags))
        if new != memory.auto_tags and memory.kin == store.kin and memory.tagged_at is not None:
            tags[id] = new
    return tags


# Memories in one transaction.
READ_TOGETHER = 100
# Memories read in one run; ten to twenty-five seconds.
READ_PER_RUN = 10_000
# Mentions searched for duplicate names, the latest ones.
NAMES = 20_000
# Letters added, missing, replaced or swapped by which two spellings of one name may differ:
# Katharina, Katarina. Schmidt and Schmitz differ by two.
SLIP = 1
# Least letters of such a name; shorter ones are often as similar and yet different: Hanna, Hannah.
SHORTEST = 8
# Letters that both spellings begin with.
BEGINS = 3
# The mark of the revision of the own memories up to which names were merged.
MERGED = "entities"


def entities(store: Store, naming: Naming, budget: Budget, counts: Counter[str]) -> None:
    """Extract entities from own memories whose content was not read yet, the latest first; then
    merge entities of own memories that are certainly the same. Counts read, found and merged.

    A first name is merged into the one full name that begins with it, if a memory names both or
    they share a relation or a subject; two spellings, if they share a relation and no memory names
    both. The memories do not change: no history is written, and everything can be extracted again.
    """
    _read(store, naming, budget, counts)
    if not budget.is_over():
        _merge(store, budget, counts)


def _read(store: Store, naming: Naming, budget: Budget, counts: Counter[str]) -> None:
    graph = store.graph
    if budget.dry_run:
        counts["read"] += len(graph.unread(READ_PER_RUN))
        return
    for _ in range(READ_PER_RUN // READ_TOGETHER):
        part = graph.unread(READ_TOGETHER)
        if not part or budget.is_over():
            return
        knowledge = {
            memory.id: (memory.version, naming(memory.content, memory.speaker, memory.subject))
            for memory in part
        }
        if not graph.keep(knowledge):
            return  # all were changed in the meantime: left to the next run
        counts["read"] += len(part)
        counts["found"] += sum(len(named.entities) for _, named in knowledge.values())


def _merge(store: Store, budget: Budget, counts: Counter[str]) -> None:
    """Merge names. Those that differ only in accents or case are one entity from the start."""
    if store.jobs.mark(MERGED) == store.revision[0]:
        return
    for kept, gone in same(store.graph.names(NAMES), budget):
        if budget.dry_run or store.graph.merge(kept, gone):
            counts["merged"] += 1
    if not budget.dry_run and not budget.is_over():
        store.jobs.set_mark(MERGED, store.revision[0])


def same(names: Sequence[Named], budget: Budget = UNLIMITED) -> Iterator[tuple[Key, Key]]:
    """Yield (kept, gone) for entities that are the same, until the budget is over; none is in two
    pairs."""
    taken = set[Key]()
    for kept, gone in chain(_first_names(names, budget), _spellings(names, budget)):
        if taken.isdisjoint((kept.key, gone.key)):
            taken.update((kept.key, gone.key))
            yield kept.key, gone.key


def _first_names(names: Sequence[Named], budget: Budget) -> Iterator[tuple[Named, Named]]:
    """Match Anna with Anna Schmidt, if there is no Anna Meyer."""
    full: Mapping[str, list[Named]] = defaultdict(list)
    for named in names:
        first, _, rest = named.key.folded.partition(" ")
        if rest and named.key.type in ("person", "other") and named.key.folded != THE_USER:
            full[first].append(named)
    for short in names:
        if budget.is_over():
            return
        fitting = full.get(short.key.folded, [])
        is_person = "person" in (short.key.type, *(named.key.type for named in fitting))
        if len(fitting) != 1 or not is_person or not _fits(short, fitting[0]):
            continue
        if _is_confirmed(short, fitting[0]):
            yield fitting[0], short


def _spellings(names: Sequence[Named], budget: Budget) -> Iterator[tuple[Named, Named]]:
    """Match two spellings of a name. They differ by one slip only if they are equal after each
    loses at most one letter, so each is compared only with the few that share a shortened form.

    Numbers are not spellings: iPhone 14 is not iPhone 15.
    """
    alike: Mapping[tuple[str, str], list[Named]] = defaultdict(list)
    for one in names:
        if budget.is_over():
            return
        name = one.key.folded
        if len(name) < SHORTEST or not one.around.relations:
            continue
        digits = _digits(name)
        for left in _shortened(name):
            for other in alike[digits, left]:
                if _fits(one, other) and _is_misspelt(one, other):
                    kept = max(other, one, key=lambda named: len(named.around.memories))
                    yield kept, other if kept is one else one
            alike[digits, left].append(one)


def _shortened(name: str) -> set[str]:
    """Return the name, and its forms without one letter after the first three."""
    return {name, *(name[:at] + name[at + 1 :] for at in range(BEGINS, len(name)))}


def _fits(named: Named, other: Named) -> bool:
    types = {named.key.type, other.key.type}
    return len(types) == 1 or "other" in types


def _is_confirmed(short: Named, full: Named) -> bool:
    """Return whether a memory names both, they share a relation, or they share a subject other than
    the name."""
    a, b = short.around, full.around
    subjects = (a.subjects & (b.subjects | {full.key.folded})) - {short.key.folded}
    return bool(a.memories & b.memories or a.relations & b.relations or subjects)


def _is_misspelt(named: Named, other: Named) -> bool:
    a, b = named.around, other.around
    if not a.relations & b.relations or a.memories & b.memories:
        return False
    return OSA.distance(named.key.folded, other.key.folded, score_cutoff=SLIP) <= SLIP


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())
