"""The formats of keys and tokens, the names of what is secret, and the ways to say it, in eleven
languages: read from lexicon/secrets.json.

Prefixes are as the providers document them. Every repetition is bounded, possessive, or begins
behind a character that it cannot contain, so that time grows with the length of a text only.
Patterns of several lines are joined; <signs> in them stand for the lists of that file.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from kinmem.language.lexicon import lexicon
from kinmem.language.secrets.values import CALLED as RULES
from kinmem.language.secrets.values import SAID, bare, is_random, stands_for_one
from kinmem.text import late

_TABLES = lexicon("secrets")
_FLAGS = re.IGNORECASE | re.VERBOSE
_SIGN = re.compile(r"(?<!P)<(\w+)>")
_NAME = r"""(?:(?<![^\W_])|(?=[\u3040-\u9fff\uac00-\ud7af]))
(?:(?P<password><password_names>)|(?P<number><number_names>)|(?P<key><key_names>))"""
"""No letter before it, but for scripts without spaces."""
_SIGNS = {
    "name": _NAME,
    "quote": r"""(?P<quote>["'`“”„«「])""",
    "value": r"[^\s\"'`“”„«»「」]{3,200}+",
    "and": r"""(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|и)\s(?:my|our|the|i|we|it|mein|unser
        |der|die|das|ich|wir|mon|ma|le|la|je|mi|el|yo|il|mio|mia|io|meu|minha|o|a|eu|мой|я)""",
    "is": r"(?:\s{0,2}(?:<called_is>))",
}
"""`and` begins another statement."""


def _spelled(pattern: Sequence[str] | str) -> str:
    """The pattern with what its signs stand for."""
    text = pattern if isinstance(pattern, str) else "\n".join(pattern)
    return _SIGN.sub(lambda sign: _spelled(_meaning(sign[1])), text)


def _meaning(sign: str) -> str:
    if sign in _SIGNS:
        return _SIGNS[sign]
    return "|".join(_TABLES[sign])


class Kind(NamedTuple):
    """A format that is a secret wherever it stands."""

    name: str
    hint: str
    """Stands in every text that has one: looked for first, since most texts have none."""
    pattern: re.Pattern[str]
    """What is secret: the group `secret`, else all of it."""
    spaced: bool = True
    """Whether it may have spaces, or stand among other signs."""
    begins: tuple[str, ...] = ()
    """What it may begin with, in small letters; none: found by reading all."""


def _formats() -> Iterator[Kind]:
    for line in _TABLES["formats"]:
        name, hint, pattern = line.split(" | ", 2)
        whole = late(rf"(?<![A-Za-z0-9_-])(?:{pattern})", re.ASCII)
        yield Kind(name, hint, whole, " " in pattern)


def _kinds(table: str) -> Iterator[Kind]:
    for row in _TABLES[table]:
        begins = tuple(row.get("begins", ()))
        yield Kind(row["name"], row["hint"], late(row["pattern"]), begins=begins)


KEYS = (*_formats(), *_kinds("holders"))
"""Formats that are a key whatever stands around them."""
SHOWN = tuple(_kinds("shown"))
"""What is secret where it stands, though it has no format of a key.

What has no word to begin with begins with a sign that can be searched for: nothing else is as fast.
"""
ANCHORS, PASSWORDS = tuple(_TABLES["anchors"]), tuple(_TABLES["passwords"])
"""One of the first, in small letters, stands in every name of a secret; the second are those of
passwords."""
OTHER_ANCHORS = ("-u",)
"""Of what has no name: curl -u."""
WITHIN_WORDS = frozenset(_TABLES["within_words"])
"""Those that may stand behind a letter: apikey."""

IsSecret = Callable[[re.Match[str]], bool]
IS_NAME = late(_spelled(_NAME), _FLAGS)
NAMED: tuple[tuple[re.Pattern[str], IsSecret], ...] = tuple(
    (late(_spelled(row["pattern"]), _FLAGS), SAID[row["rule"]]) for row in _TABLES["named"]
)
"""What begins with a name: DB_PASSWORD=..., the wifi password is hunter2, PIN 4711."""


class Announced(NamedTuple):
    """A way to say what is secret before its name, or far behind it."""

    anchors: tuple[str, ...]
    ahead: int
    """Characters around an anchor in which all that belongs to it stands."""
    behind: int
    pattern: re.Pattern[str]
    is_secret: IsSecret


def _announced(row: dict[str, Any]) -> Announced:
    anchors = PASSWORDS if row["anchors"] == "passwords" else tuple(row["anchors"])
    pattern = late(_spelled(row["pattern"]), _FLAGS)
    return Announced(anchors, row["ahead"], row["behind"], pattern, SAID[row["rule"]])


ANNOUNCED = tuple(map(_announced, _TABLES["announced"]))
"""I changed my password to hunter2; use hunter2 as the password; hunter2 is my password."""

Span = tuple[int, int]


class Called(NamedTuple):
    """A secret by what it is called: accounts, backup codes, logins, seed phrases, cookies."""

    begins: tuple[str, ...]
    """What the name may begin with, in small letters."""
    pattern: re.Pattern[str]
    rule: str

    def secrets(self, found: re.Match[str]) -> Iterator[Span]:
        """Where in a match they stand."""
        if self.rule == "cookies":
            yield from _cookies(found)
            return
        value = bare(found["secret"])
        if value and not stands_for_one(value) and RULES[self.rule](value):
            yield found.start("secret"), found.start("secret") + len(value)


CALLED = tuple(
    Called(tuple(row["begins"]), late(_spelled(row["pattern"]), _FLAGS), row["rule"])
    for row in _TABLES["called"]
)
"""By how a name begins; a pattern is tried only there."""
BEGINNINGS = tuple(dict.fromkeys(word for kind in CALLED for word in kind.begins))

_COOKIE = late(r"(?<![\w.-])(?P<name>[\w.-]{1,60}+)=(?P<secret>[^;\s\"',]{8,4096}+)")
_SESSION = late(r"sess|auth|sid|token|csrf|jwt|login|remember", re.IGNORECASE)
_LONG = 16


def _cookies(found: re.Match[str]) -> Iterator[Span]:
    """The values that let somebody in; not what a site keeps of colours and languages."""
    for one in _COOKIE.finditer(found.string, *found.span("values")):
        value = one["secret"]
        is_session = _SESSION.search(one["name"]) or len(value) >= _LONG
        if is_session and is_random(value) and not stands_for_one(value):
            yield one.span("secret")
