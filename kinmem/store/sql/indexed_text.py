"""The texts that the word index gets: of a memory, and of any other text.

Word indexes drop all punctuation and keep a run of Chinese or Japanese as one token: C# would be
"c", and no part of 乌龙茶 found. So texts and questions both go through `named` and `pairs`.
"""

from kinmem.clock import spoken_date
from kinmem.models import ROLES, Memory
from kinmem.text import late

CJK = late("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
SHARP = late(r"(?<=\b[A-Za-z])#(?!\w)")
PLUS_PLUS = late(r"(?<=[A-Za-z])\+\+")


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
    return CJK.sub(lambda run: f" {' '.join([*pairs(run.group()), run.group()[-1]])} ", named(text))


def named(text: str) -> str:
    return PLUS_PLUS.sub("plusplus", SHARP.sub("sharp", text))


def pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]
