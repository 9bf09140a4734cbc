"""What is a secret because of its form and of what is told beside it: a password that only a
machine or a careful person would make up, a key of a service, words that open a wallet.

Words name what is told (secrets.json, near); the form decides. What is spelled like a name, a
version, a path, a hash or a measure is none, and what stands behind `on` or `for` is a place.
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kinmem.language.lexicon import lexicon
from kinmem.language.secrets.kinds import COMMON, FIRST_UNSPACED, bare, stands_for_one
from kinmem.text import STOP_WORDS, late

Span = tuple[int, int]
_TOKEN = re.compile(r"[^\s\"'`“”„«»「」‚‘’<>()\[\]{}|,;=→、。，；（）：]{6,200}+")
"""What stands together; marks that hold a value, or part it from its name, are not in it."""
_SIGN = re.compile(r"(?<=[^\W_])[!#$%&*+^_~.@?-]+(?=[^\W_])")
"""Between letters and digits."""
_ADDRESS = re.compile(
    r"[/\\]|://|@[\w-]+\.|^[\w.-]+:\d+$|\.[A-Za-z]{1,5}$|^\.|^-|^\d[\d.,:/%-]*\w{0,5}$"
)
_VERSION = re.compile(r"[vV]?[A-Za-z]*[-_.]?\d+(?:[.-]\d+)*[A-Za-z]{0,4}")
"""Argon2, SHA-256, utf8, Python3.12, web113: a name and its number."""
_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*|[A-Z0-9]+(?:[-_][A-Z0-9]+)*")
"""mon-2, db-prod-01, MAX_RETRIES_2: names of things are in letters of one height."""
_OF_CODE = re.compile(
    r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|%[0-9A-F]{2}|\d-\d.*[a-zA-Z]-[a-zA-Z]|[a-z]-[a-z].*\d-\d"
)
"""httpx2.Request, Chat%20on, 0-9a-fA-F."""
_HASH = re.compile(
    r"(?:[0-9a-f]{2}){16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
_EARNEST = re.compile(r"[a-z][!&$](?=[A-Za-z0-9])|[A-Za-z0-9]!(?=[a-z])")
"""A sign that stands within no word, name or number."""
LEAST, LEAST_ALONE, LEAST_KEY = 8, 9, 16
RANDOM_BITS = 3.2
"""Bits a character, from which it is a machine's; words of many languages have less in 20
characters."""
_WORD = r"(?:\d{1,2}[.)]\s?)?[a-z]{3,8}"
_SEED = late(rf"(?<![\w-])(?:{_WORD}[ ,\n]{{1,2}}){{11,23}}{_WORD}(?![\w-])")
MNEMONICS = (12, 15, 18, 21, 24)
"""Words that a list of BIP 39 may have."""
_SPELLED = late(
    r"(?<![\w-])(?:[A-Za-z2-7]{4}[ -]){3,15}[A-Za-z2-7]{4}(?![\w-])"
    r"|(?<![\w.,-])(?:\d{4,6}[ -]){3,8}\d{4,6}(?![\w-]|[.,]\d)"
)
"""A key in groups: of base 32, or of digits."""


def is_made_up(value: str) -> bool:
    """Whether nobody would write this but as a password: letters of both heights or signs within,
    and digits, and it is no name, version, path, address, measure or hash."""
    plain = value.rstrip(".:?")
    if len(plain) < LEAST or not plain.isascii() or _is_something_else(plain):
        return False
    has_sign = bool(_SIGN.search(plain)) or plain[-1] in "!$*"
    kinds = [any(map(kind, plain)) for kind in (str.isdigit, str.isupper, str.islower)]
    return kinds[0] and kinds[2] and (kinds[1] or bool(_EARNEST.search(plain))) and has_sign


def _is_something_else(value: str) -> bool:
    return bool(
        _ADDRESS.search(value)
        or _VERSION.fullmatch(value)
        or _NAME.fullmatch(value)
        or _HASH.fullmatch(value)
        or _OF_CODE.search(value)
        or stands_for_one(value)
    )


def is_earnest(value: str) -> bool:
    """Whether it is a password even if nothing beside it says so."""
    plain = bare(value)
    return len(plain) >= LEAST_ALONE and is_made_up(plain) and bool(_EARNEST.search(plain))


def is_of_a_machine(value: str) -> bool:
    """Whether its characters are as mixed as those of a key, and it is no hash."""
    plain = value.removeprefix("base64:").rstrip(".:")
    has_digit = any(map(str.isdigit, plain))
    if len(plain) < LEAST_KEY or not has_digit or not plain.isascii() or _HASH.fullmatch(plain):
        return False
    if re.search(r"://|\\|^[/.]|[-_.][a-z]{3,}[-_.]|\.\w{1,5}$", plain) or stands_for_one(plain):
        return False
    if _DOTTED.fullmatch(plain):
        return False
    parts = len(_PART.findall(plain))
    return _entropy(plain) >= RANDOM_BITS and PART_SIGNS * parts >= len(plain)


def _entropy(value: str) -> float:
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())


_DOTTED = re.compile(r"[A-Za-z_]\w{0,14}(?:\.[A-Za-z_]\w{0,14})+")
"""base64.b64encode"""
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
"""A word in a name: LowestHandler2 has three."""
PART_SIGNS = 3.2
"""Signs that the words of a name have at least, on average."""


class Near(NamedTuple):
    """Words, and how what stands beside them has to look."""

    words: tuple[str, ...]
    ahead: int
    """Characters before a word in which it may stand."""
    behind: int
    kind: str
    is_one: Callable[[str], bool]


FORMS: Mapping[str, Callable[[str], bool]] = {
    "password": is_made_up,
    "key": is_of_a_machine,
}
_TABLE = lexicon("secrets")["near"]
NEAR = tuple(
    Near(tuple(row["words"]), row["ahead"], row["behind"], row["kind"], FORMS[row["form"]])
    for row in _TABLE["values"]
)
_OPEN = tuple(_TABLE["open"])
_PLACES = frozenset(_TABLE["places"])
NEAR_WORDS = tuple(dict.fromkeys(word for one in NEAR for word in one.words))
SEED_WORDS, KEY_WORDS = tuple(_TABLE["seeds"]), tuple(_TABLE["spelled"])
SEED_BEHIND, SPELLED_BEHIND = 120, 60


def near(text: str, places: Mapping[str, list[int]]) -> Iterator[tuple[str, Span]]:
    """What is a secret by its form and what stands beside it, each with its kind."""
    named = [(one, sorted(_whole(text, places, one.words))) for one in NEAR]
    named = [(one, found) for one, found in named if found]
    if named or _EARNEST.search(text):
        yield from _values(text, named)
    yield from _behind(text, places, SEED_WORDS, SEED_BEHIND, _SEED, "seed phrase", _is_mnemonic)
    yield from _behind(text, places, KEY_WORDS, SPELLED_BEHIND, _SPELLED, "token", _is_spelled)


def _whole(text: str, places: Mapping[str, list[int]], words: Sequence[str]) -> Iterator[int]:
    """Where one of the words stands as a whole."""
    for word in words:
        for at in places.get(word, ()):
            behind = text[at + len(word) : at + len(word) + 1]
            if not (behind.isalpha() and behind < FIRST_UNSPACED):
                yield at


def _values(text: str, named: Sequence[tuple[Near, Sequence[int]]]) -> Iterator[tuple[str, Span]]:
    for token in _TOKEN.finditer(text):
        value = token[0]
        if not any(map(str.isdigit, value)):
            continue
        start, end = token.start(), token.start() + len(bare(value))
        if is_earnest(value):
            yield "password", (start, end)
            continue
        for one, found in named:
            if _is_beside(found, start, end, one) and one.is_one(value):
                if not (
                    _is_a_place(text, start) or (one.kind == "token" and _is_open(text, start, end))
                ):
                    yield one.kind, (start, end)
                break


def _is_beside(found: Sequence[int], start: int, end: int, one: Near) -> bool:
    which = bisect_left(found, start - one.behind)
    return which < len(found) and found[which] <= end + one.ahead


def _is_a_place(text: str, start: int) -> bool:
    """Whether the word before it says that it is where, not what."""
    before = text[max(0, start - 24) : start].rstrip(" \"'`“„").rpartition(" ")[2]
    return before.casefold() in _PLACES


def _is_open(text: str, start: int, end: int) -> bool:
    """Whether it is what everybody may know of a key."""
    around = text[max(0, start - 70) : end + 40].casefold()
    return (
        any(word in around for word in _OPEN)
        or _OF_AN_ALGORITHM.search(text[max(0, start - 9) : start]) is not None
    )


_OF_AN_ALGORITHM = re.compile(r"(?i:sha|md|blake)\d{1,3}[:=-]\Z")


def _behind(
    text: str,
    places: Mapping[str, list[int]],
    words: Sequence[str],
    behind: int,
    pattern: re.Pattern[str],
    kind: str,
    is_one: Callable[[str], bool],
) -> Iterator[tuple[str, Span]]:
    """What has a form and begins behind one of the words."""
    done = 0
    for at in sorted(at for word in words for at in places.get(word, ())):
        for found in pattern.finditer(text, max(at, done), at + behind + 400):
            if found.start() > at + behind:
                break
            done = found.end()
            if is_one(found[0]):
                yield kind, found.span()


def _is_mnemonic(value: str) -> bool:
    said = re.findall(r"[a-z]+", value)
    return len(said) in MNEMONICS and not any(word in STOP_WORDS["en"] for word in said[1:])


def _is_spelled(value: str) -> bool:
    plain = re.sub(r"[ -]", "", value)
    if plain.isdigit():
        return len(set(plain)) > 3
    has_digit, has_letter = any(map(str.isdigit, plain)), any(map(str.isalpha, plain))
    groups = re.split(r"[ -]", value.casefold())
    return has_digit and has_letter and not any(one in COMMON for one in groups)
