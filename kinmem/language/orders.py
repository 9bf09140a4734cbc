"""Text that wants to command a model, where it should only inform one.

What tools and web pages say is learned from as well, so it must not be able to leave orders in the
memory. The signs of an order are in lexicon/orders.json: in a sign {NAME} is a word of that class,
` .. ` up to 40 characters of the same sentence, ` . ` up to 15; words of a class that end in * may
go on. Languages stand side by side, since what is said in mixed ones counts too. Signs are read in
lower case with single spaces; each repetition is bounded, so that time grows with the length only.
"""

import base64
import codecs
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from html import unescape
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from kinmem.language.lexicon import lexicon
from kinmem.text import late

# Tag characters behind a black flag are a region's flag; variation selectors come one at a time.
_SMUGGLED = late(
    "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0001-\U000e007f]"
    "|[\u202a\u202b\u202d\u202e]|[\u2066-\u2069]{2}"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}|[\u200b\u2060-\u2064\ufeff\u00ad\u180e]{3}"
)
_INVISIBLE = late(
    "[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_SPACED = late(r"(?<!\w)(?:\w ){4,60}\w(?!\w)")
_DOTTED = late(r"(?<![\w.])\w(?P<sign>[._*|~-])(?:\w(?P=sign)){1,60}\w(?!\w)")
GAPS = {" .. ": r"[^.!?\n]{0,40}?", " . ": r"[^.!?\n]{0,15}?"}
EVERYTHING = -1
"""All hints."""
_LOOKALIKE = str.maketrans("аеорсухіјѕԁΙІοΟ", "aeopcyxijsdIIoO")
_FOREIGN = late("[а-яА-Яіјѕԁα-ωΑ-ΩІ]")
_MIXED = late(r"\b(?=\w{0,40}[a-zA-Z])(?=\w{0,40}[а-яА-Яіјѕԁα-ωΑ-ΩІ])\w{2,40}\b")


_LEET = late(r"(?<!\w)(?=\w{0,20}[a-z][013457]{1,2}[a-z])[a-z013457]{4,20}(?!\w)")
_LETTERS = str.maketrans("013457", "oieast")
_DIGIT = late(r"[013457](?<=[a-z].)(?=[a-z013457])")
_OTHERS = late(
    r"\b(?:the|this|any|every|our|your) (?:user|human|customer|reader)s?\b"
    r"|\b(?:dem|der|den|des) (?:nutzer|benutzer|anwender)|l'utili[sz]at|l'utente|all'utente"
    r"|\b(?:el|al|del) usuario|\b(?:o|ao|do) usuário|用户|ユーザー|사용자|пользовател"
)
"""Who speaks of the user speaks for somebody else."""


class _Sign(NamedTuple):
    """How an order is worded."""

    pattern: str
    needs: int
    """Bits of the index; without them there is no use in trying the pattern."""


class _Signs(NamedTuple):
    """All signs, by what they tell of."""

    by_reason: Mapping[str, Sequence[_Sign]]
    needs: frozenset[int]
    """Of each of them."""
    met: Callable[[str], int]


def order_in(text: str, known: int | None = None, *, own: bool = False) -> str | None:
    """Why the text reads like an instruction to a model, None if it does not.

    Hidden and look-alike characters are seen through. People's own wishes ("never recommend
    horror films to me") are none. Time grows with the length only. `known`: its hints, or more.
    `own`: a person says it to their assistant, whom they may tell how to answer and what to
    remember; not that it sets its instructions aside, takes another role or sends data away.
    """
    if not text.isascii() and _SMUGGLED.search(text):
        return "holds hidden characters"
    return _order_in(_plain(text), known, own=own) or next(
        filter(None, (_order_in(_plain(hidden), None) for hidden in encoded_in(text))), None
    )


def _order_in(plain: str, known: int | None, *, own: bool = False) -> str | None:
    reasons = _reasons(plain, _signs().met(plain) if known is None else known)
    if own and _OTHERS.search(plain) is None:
        return next((why for why in reasons if why not in lexicon("orders")["own"]), None)
    return next(reasons, None)


def order_hints(text: str) -> int:
    """What in the text an order could be worded with: those of a whole are those of its parts, in
    one number by |. Many times cheaper than looking for orders, for texts that are cut in many
    ways."""
    if not text.isascii() and _SMUGGLED.search(text):
        return EVERYTHING
    return EVERYTHING if next(encoded_in(text), None) else _signs().met(_plain(text))


def may_be_orders(hints: int) -> bool:
    """Whether a text with these hints has to be looked at."""
    return any(not needs & ~hints for needs in _signs().needs)


MOST_ENCODED, LONGEST_ENCODED = 20, 4000
"""Runs of a text that are decoded, and characters of each."""
_RUN = late(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = late(r"(?<![0-9A-Za-z])(?:(?:\\x|0x)?[0-9A-Fa-f]{2}[ ,:]?){10,}(?![0-9A-Za-z])")
_PERCENT, _ENTITY = (
    re.compile("(?:%[0-9A-Fa-f]{2}.{0,30}?){3}"),
    re.compile(r"(?:&#?\w{2,7};.{0,30}?){3}"),
)
_ROT13 = late(r"(?i)\b(?:vtaber|qvfertneq|cerivbhf|vafgehpgvba|flfgrz cebzcg|sbetrg nyy)")


def encoded_in(text: str) -> Iterator[str]:
    """What the text says in base64, in hexadecimal, percent-encoded, in entities or in rot13."""
    for run in islice(_RUN.finditer(text), MOST_ENCODED):
        found = run[0][:LONGEST_ENCODED].replace("-", "+").replace("_", "/")
        with suppress(ValueError):
            yield from _read(base64.b64decode(found + "=" * (-len(found) % 4)))
    for run in islice(_HEX.finditer(text), MOST_ENCODED):
        with suppress(ValueError):
            digits = re.sub(r"\\x|0x|[ ,:]", "", run[0][:LONGEST_ENCODED])
            yield from _read(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    if _PERCENT.search(text):
        yield unquote(text)
    if _ENTITY.search(text):
        yield unescape(text)
    if _ROT13.search(text):
        yield codecs.decode(text, "rot13")


def _read(data: bytes) -> Iterator[str]:
    """The bytes as a text, if they are one."""
    with suppress(UnicodeDecodeError):
        text = data.decode()
        if text.replace("\n", " ").isprintable() and any(map(str.isalpha, text)):
            yield text


def _reasons(plain: str, met: int) -> Iterator[str]:
    """Each once, the weightiest first."""
    for why, signs in _signs().by_reason.items():
        if any(not sign.needs & ~met and _compiled(sign.pattern).search(plain) for sign in signs):
            yield why


@cache
def _signs() -> _Signs:
    """Read when first needed: most starts need not pay for it."""
    table = lexicon("orders")
    by_reason = {
        why: [
            _Sign(sign, sum(1 << need for need in needs))
            for sign, needs in zip(signs, table["needed"][why], strict=True)
        ]
        for why, signs in table["signs"].items()
    }
    needed = frozenset(sign.needs for signs in by_reason.values() for sign in signs)
    return _Signs(by_reason, needed, _Index(table["needs"]).met)


@cache
def _compiled(sign: str) -> re.Pattern[str]:
    """Each when it may fit for the first time: all of them take 30 ms."""
    for name, pattern in _meanings().items():
        sign = sign.replace(name, pattern)
    return re.compile(sign)


@cache
def _meanings() -> Mapping[str, str]:
    """What stands for what in a sign: see lexicon/orders.json."""
    table = lexicon("orders")
    classes = {f"{{{name}}}": _class(words) for name, words in table["classes"].items()}
    return GAPS | classes | {"{BEGINS}": table["begins"], "{SELF}": table["self"]}


def _class(words: Sequence[str]) -> str:
    """Any of the words: whole ones, but in scripts without spaces; * stands for an ending."""
    spaced: list[str] = []
    unspaced: list[str] = []
    for word in words:
        pattern = re.escape(word).replace(r"\*", r"\w{0,8}").replace(r"\ ", " ")
        (spaced if word < "\u3040" else unspaced).append(pattern)
    whole = rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"
    return f"(?:{'|'.join([whole, *unspaced])})"


def _plain(text: str) -> str:
    """In lower case, without hidden characters, look-alikes and s p a c e d letters undone."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
        if _FOREIGN.search(text):
            text = _MIXED.sub(lambda word: word[0].translate(_LOOKALIKE), text)
        text = text.replace("’", "'").replace("…", "...")
    lines = (" ".join(_joined(line).split()) for line in text.lower().splitlines())
    plain = "\n".join(lines)
    if _DIGIT.search(plain):
        plain = _LEET.sub(lambda word: word[0].translate(_LETTERS), plain)
    return plain


def _joined(line: str) -> str:
    """Letters with one space between are a word; two spaces part such words."""
    line = _DOTTED.sub(lambda run: run[0].replace(run["sign"], ""), line)
    return _SPACED.sub(lambda run: run[0].replace(" ", ""), line)


WORD = late(r"\w+")
START = 4
"""Letters by which a word is known whose ending may vary."""


class _Index:
    """By what a text holds the needs that it meets, one bit for each: one of its words as a whole,
    the beginning of one, or one of its parts anywhere (scripts/order_needs.py)."""

    def __init__(self, needs: Sequence[Mapping[str, Sequence[str]]]) -> None:
        self._words, self._starts = defaultdict[str, int](int), defaultdict[str, int](int)
        self._parts, self._foreign = defaultdict[str, int](int), defaultdict[str, int](int)
        for number, need in enumerate(needs):
            parts = need.get("parts", ())
            for index, keys in (
                (self._words, need.get("words", ())),
                (self._starts, need.get("starts", ())),
                (self._parts, filter(str.isascii, parts)),
                (self._foreign, (part for part in parts if not part.isascii())),
            ):
                for key in keys:
                    index[key] |= 1 << number

    def met(self, plain: str) -> int:
        """`plain`: in lower case, its words one space apart."""
        words, starts = self._words, self._starts
        met = 0
        for word in set(WORD.findall(plain)):
            met |= words.get(word, 0) | starts.get(word[:START], 0)
        for parts in (self._parts, {} if plain.isascii() else self._foreign):
            for part, bits in parts.items():
                if part in plain:
                    met |= bits
        return met
