"""Automatic tags: where a memory comes from, then what it speaks of as other memories do.

Kybernesis' rules, at most six. A person's own tags are another list; nothing here touches them.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from kinmem.language import keywords, sentences
from kinmem.models import Memory
from kinmem.text import language_of

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
