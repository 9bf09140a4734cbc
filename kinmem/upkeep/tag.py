"""A step of upkeep: give memories automatic tags, and refresh them after a week."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from kinmem.clock import Clock
from kinmem.language import keywords, sentences
from kinmem.models import Memory
from kinmem.store.base import Store
from kinmem.text import language_of
from kinmem.upkeep.steps import Budget

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
