"""The words that a text is about: from them the automatic tags of a memory are taken."""

import re
from collections import Counter
from collections.abc import Iterator

from kinmem.language.lexicon import word_class
from kinmem.language.vocabulary import FUNCTION_WORDS, MODALS, NEGATORS, PAST, QUANTITIES, TENSES
from kinmem.language.weight import PRESSING
from kinmem.text import STOP_WORDS

SHORTEST = 4
"""Letters of a keyword; of Chinese, Japanese and Korean characters two say as much."""
SHORTEST_SIGNS = 2
LONGEST = 40
"""Characters of a keyword; what is longer is no word."""

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
