"""Automatic tags: where a memory comes from, then what it speaks of as other memories do.

Kybernesis' rules, at most six. A person's own tags are another list; nothing here touches them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from kinmem.language.importance import PRESSING
from kinmem.language.lexicon import word_class
from kinmem.language.vocabulary import FUNCTION_WORDS, MODALS, NEGATORS, PAST, QUANTITIES, TENSES
from kinmem.models import Memory
from kinmem.sentences import sentences
from kinmem.text import STOP_WORDS, language_of

MOST = 6
SHORTEST = 4
"""Letters of a keyword; of Chinese, Japanese and Korean characters two say as much."""
SHORTEST_SIGNS = 2
SUMMARY = 2
"""Sentences that keywords are taken from."""
READ = 4000
"""Characters of a text in which these sentences are looked for: some texts have no full stops."""
LONGEST = 40
"""Characters of a keyword; what is longer is no word."""

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

# What a text does, or is said to: true of any text, and nothing that it is about.
_SAYING = word_class("saying")
_EMPTY = _SAYING | FUNCTION_WORDS | PRESSING | MODALS | NEGATORS | PAST | QUANTITIES | TENSES

_ADDRESS = re.compile(
    r"(?:https?://|www\.)\S+|\S+@\S+|\[\[[^\[\]]*\]\]|\b[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}\b",
    re.IGNORECASE,
)
_HAN, _KANA, _HANGUL = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "\u30a0-\u30ff", "\uac00-\ud7af"
_TERM = re.compile(
    rf"(?P<han>[{_HAN}々]+)|(?P<katakana>[{_KANA}]+)|(?P<hangul>[{_HANGUL}]+)"
    rf"|(?P<word>(?:(?![{_HAN}{_KANA}{_HANGUL}\u3040-\u309f\u0e00-\u0eff\u1780-\u17ff])[^\W_])+)"
)
# A run of Chinese has no spaces: it is cut at what only holds a sentence together.
_PARTICLES = re.compile(
    "每天|喜欢|[的了是在和与及或我你您他她它们这那有不也就都要会能可很最着过把被给让对从到为以于之而但"
    "吗呢吧啊个每用去来说请没无将曾还又再只喝吃住买做看想]"
)
_JAPANESE = re.compile("[\u3040-\u30ff]")
_LONGEST_RUN = 6
"""Characters between two of them that are taken for a word, or for two that belong together."""
_KOREAN_ENDING = re.compile("(?:에서|에게|으로|까지|부터|은|는|이|가|을|를|의|에|도|와|과|로)$")


def auto_tags(memory: Memory, shared: Collection[str]) -> tuple[str, ...]:
    """Source type, file extension and provider of its connector, then those of its subjects that
    are `shared` with another memory, since a tag of one memory leads nowhere; six at most, lower
    case, each once. No content: none."""
    if not memory.content.strip():
        return ()
    found = dict.fromkeys(_origin(memory))
    found |= dict.fromkeys(subject for subject in subjects(memory) if subject in shared)
    return tuple(found)[:MOST]


def subjects(memory: Memory) -> list[str]:
    """The keywords of its title, then those of its first two sentences; each once."""
    language = language_of(memory.content[:READ])
    title = keywords(_stem(memory.title or ""), language)
    return list(dict.fromkeys([*title, *keywords(_summary(memory.content), language)]))


def keywords(text: str, language: str) -> list[str]:
    """The words that the text is about: the most frequent first, of equals the first.

    Words of at least four letters that are no stop words of the language; runs of two to four
    characters where no spaces stand between words; nothing of scripts that cannot be cut, as Thai.
    """
    stop = STOP_WORDS[language] | _EMPTY
    counts = Counter(
        term for term in _terms(_ADDRESS.sub(" ", text).casefold()) if term not in stop
    )
    return sorted(counts, key=lambda term: -counts[term])


def topics(tags: tuple[str, ...]) -> frozenset[str]:
    """Those tags that say what a memory is about, not how it came in."""
    return frozenset(tags) - GENERIC


def _summary(content: str) -> str:
    told = [part for part in sentences(content[:READ]) if part.strip()]
    return " ".join(told[:SUMMARY])


def _terms(text: str) -> Iterator[str]:
    is_japanese = bool(_JAPANESE.search(text))
    for match in _TERM.finditer(text):
        kind, term = match.lastgroup, match.group()
        if kind == "word":
            letters = sum(map(str.isalpha, term))
            if letters >= SHORTEST and 2 * letters > len(term) and len(term) <= LONGEST:
                yield term
        elif kind == "han":
            yield from _cut(term, is_japanese)
        elif kind == "hangul":
            bare = _KOREAN_ENDING.sub("", term) if len(term) > SHORTEST_SIGNS else term
            if len(bare) >= SHORTEST_SIGNS:
                yield bare
        elif SHORTEST_SIGNS <= len(term) <= LONGEST:
            yield term


def _cut(run: str, is_japanese: bool) -> Iterator[str]:
    """What stands between particles, where it is short enough to be a word; those of Japanese are
    written in another script, and end a run anyway."""
    for part in [run] if is_japanese else _PARTICLES.split(run):
        if SHORTEST_SIGNS <= len(part) <= _LONGEST_RUN:
            yield part


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
