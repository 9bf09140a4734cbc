"""What is indexed for the word search, and how a question's words become a MATCH expression.

Both sides go through `_named` and `_pairs`, so that they agree. FTS5's tokenizer drops all
punctuation and keeps a run of Chinese or Japanese as one token: C# would be "c", and no part of
乌龙茶 found.
"""

from collections.abc import Sequence

from kinmem.models import ROLES, Memory
from kinmem.rules.pattern import late
from kinmem.rules.time.when import spoken_date

CJK = late("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
SHARP = late(r"(?<=\b[A-Za-z])#(?!\w)")
PLUS_PLUS = late(r"(?<=[A-Za-z])\+\+")
TOKEN = late(r"[^\W_]+")
# More terms cost time without finding more: 20,000 took 1.1 s (reliability, R20).
MOST_TERMS = 64


def indexed(memory: Memory) -> tuple[str, str, str]:
    """The texts of the columns content, subject and context."""
    said = [memory.content]
    said += filter(None, (memory.title, memory.description))
    if memory.speaker and memory.speaker not in ROLES:
        said.insert(0, memory.speaker)
    if memory.occurred_at:
        said.append(spoken_date(memory.occurred_at))
    return (
        spread("\n".join(said)),
        spread(memory.subject or ""),
        spread(memory.source_context or ""),
    )


def spread(text: str) -> str:
    """The text with CJK runs as overlapping pairs, and with C#, F#, C++ as words.

    The last character of a run stands alone: so every character begins a token.
    """
    if text.isascii() and "#" not in text and "++" not in text:
        return text
    return CJK.sub(
        lambda run: f" {' '.join([*_pairs(run.group()), run.group()[-1]])} ", _named(text)
    )


def match_any(words: Sequence[str]) -> str:
    """An expression for rows with any of the words; empty when none can be found in an index."""
    return " OR ".join(_terms(words))


def match_all(words: Sequence[str], *, beginnings: bool = False) -> str:
    """An expression for rows with all of the words, or else with words that begin so."""
    if not beginnings:
        return " AND ".join(_terms(words))
    return " AND ".join(term.removesuffix(" *") + " *" for term in _terms(words))


def _terms(words: Sequence[str]) -> list[str]:
    """Each word as a quoted phrase of its tokens: nothing of it can be read as query syntax."""
    terms: dict[str, None] = {}
    for word in words:
        parted = CJK.sub(
            lambda run: f" {' '.join(_pairs(run.group()) or run.group())} ", _named(word)
        )
        for part in parted.split():
            if tokens := TOKEN.findall(part):
                begins = " *" if CJK.fullmatch(part) and len(part) == 1 else ""
                terms['"' + " ".join(tokens) + '"' + begins] = None
    return list(terms)[:MOST_TERMS]


def _named(text: str) -> str:
    return PLUS_PLUS.sub("plusplus", SHARP.sub("sharp", text))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]
