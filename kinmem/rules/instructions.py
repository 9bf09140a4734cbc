"""Text that wants to command a model, where it should only inform one.

What tools and web pages say is learned from as well, so it must not be able to leave orders in the
memory. Each repetition is bounded, so that time grows with the length only.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from kinmem.rules.instruction_signs import CLASSES, SELF, SIGNS

# Tag characters behind a black flag are a region's flag; variation selectors come one at a time.
_SMUGGLED = re.compile(
    "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0001-\U000e007f]"
    "|[\u202a\u202b\u202d\u202e]|[\u2066-\u2069]{2}"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}|[\u200b\u2060-\u2064\ufeff\u00ad\u180e]{3}"
)
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_SPACED = re.compile(r"(?<!\w)(?:\w ){4,60}\w(?!\w)")
_LOOKALIKE = str.maketrans("аеорсухіјѕԁΙІοΟ", "aeopcyxijsdIIoO")
_MIXED = re.compile(r"\b(?=\w{0,40}[a-zA-Z])(?=\w{0,40}[а-яА-Яіјѕԁα-ωΑ-ΩІ])\w{2,40}\b")


def suspicious(text: str) -> str | None:
    """Why the text reads like an instruction to a model, None if it does not.

    Hidden and look-alike characters are seen through. People's own wishes ("never recommend
    horror films to me") are none. Time grows with the length only.
    """
    if _SMUGGLED.search(text):
        return "holds hidden characters"
    plain = _plain(text)
    return next((why for why, sign in _signs().items() if sign.search(plain)), None)


@cache
def _signs() -> Mapping[str, re.Pattern[str]]:
    """Compiled when first needed: 30 ms that most starts need not pay."""
    return {why: re.compile("|".join(_read(signs))) for why, signs in SIGNS.items()}


def _read(signs: str) -> list[str]:
    """Lines of the notation of instruction_signs as regular expressions."""
    classes = {name: _class(words) for name, words in CLASSES.items()} | {"SELF": SELF}
    read = []
    for line in signs.strip().splitlines():
        line = line.strip().replace("{{", "{").replace("}}", "}")
        line = line.replace(" .. ", r"[^.!?\n]{0,40}?").replace(" . ", r"[^.!?\n]{0,15}?")
        for name, pattern in classes.items():
            line = line.replace(f"{{{name}}}", pattern)
        read.append(f"(?:{line})")
    return read


def _class(words: str) -> str:
    """Any of the words: whole ones, but in scripts without spaces; * stands for an ending."""
    spaced: list[str] = []
    unspaced: list[str] = []
    for word in (part.strip() for part in words.split("|")):
        pattern = re.escape(word).replace(r"\*", r"\w{0,8}").replace(r"\ ", " ")
        (spaced if word < "\u3040" else unspaced).append(pattern)
    whole = rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"
    return f"(?:{'|'.join([whole, *unspaced])})"


def _plain(text: str) -> str:
    """In lower case, without hidden characters, look-alikes and s p a c e d letters undone."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
        text = _MIXED.sub(lambda word: word[0].translate(_LOOKALIKE), text)
        text = text.replace("’", "'").replace("…", "...")
    lines = (" ".join(_joined(line).split()) for line in text.lower().splitlines())
    return "\n".join(lines)


def _joined(line: str) -> str:
    """Letters with one space between are a word; two spaces part such words."""
    return _SPACED.sub(lambda run: run[0].replace(" ", ""), line)
