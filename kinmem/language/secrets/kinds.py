"""The formats of keys and tokens, the names of what is secret, and the ways to say it, in eleven
languages: read from lexicon/secrets.json.

Prefixes are as the providers document them. Every repetition is bounded, possessive, or begins
behind a character that it cannot contain, so that time grows with the length of a text only.
Patterns of several lines are joined; <signs> in them stand for the lists of that file.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from kinmem.language.lexicon import either, lexicon
from kinmem.language.secrets.values import (
    COMMON,
    FIRST_UNSPACED,
    NO_PASSWORDS,
    OF_AN_ACCOUNT,
    STATES,
    bare,
    describes,
    is_code,
    is_door_code,
    is_id_number,
    is_in_groups,
    is_made_up,
    is_mixed,
    is_mnemonic,
    is_odd,
    is_phrase,
    is_random,
    is_short,
    is_strong,
    stands_for_one,
)
from kinmem.text import late

ANSWERS = frozenset(["yes", "no", "true", "false", "none", "null"])
"""(using password: YES)"""
SHORTEST, SHORTEST_KEY = 3, 8
POSTAL = re.compile(r"[1-9]\d{5}")
OWN_WITHIN = 30
OWN = late(
    r"(?i:\b(?:my|our|your|his|her|card|sim|phone|bank|atm|app|mein\w*|unser\w*|mon|ma|mi|il|meu|minha|karte|handy)\b)"
)
"""Whose it is, or of what: then six digits are a PIN."""


def _is_assigned(found: re.Match[str]) -> bool:
    """password = hunter2, "token": "a1b2c3d4": what a program would read."""
    value = found["secret"]
    if stands_for_one(value):
        return False
    if found["number"]:
        return value[-1:].isdigit()
    if found["password"]:
        if found["quote"] or found["sign"] == "=":
            return len(value) >= SHORTEST
        return _is_said(found)
    return len(value) >= SHORTEST_KEY and is_random(value)


def _is_said(found: re.Match[str]) -> bool:
    """The password is hunter2: a value rather than a word about passwords."""
    value = bare(found["secret"])
    if len(value) < SHORTEST or stands_for_one(value) or value.casefold() in ANSWERS:
        return False
    group = found.groupdict()
    if not group.get("quote") and value[0] >= FIRST_UNSPACED:
        return False
    if group.get("number"):
        digits = sum(map(str.isdigit, value))
        return digits >= SHORTEST and "." not in value and not _is_of_everybody(found, value)
    if group.get("key"):
        return len(value) >= SHORTEST_KEY and is_random(value)
    if group.get("quote"):
        return True
    if any(map(str.isdigit, value)):
        return not value.isdigit() or len(value) >= 4
    if not value.isascii() and not value.isalpha():
        return True
    inner = value[1:]
    if re.search(r"[!@#$%^&*_+=~?]", inner) or (
        not inner.islower() and not value.isupper() and inner.isalpha()
    ):
        return True
    word = value.casefold()
    return bool(group.get("last") is not None and word not in NO_PASSWORDS and not describes(word))


def _is_of_everybody(found: re.Match[str], value: str) -> bool:
    """Whether it is the state of a server, or an Indian postal code: PIN code 560001."""
    name = found["number"].casefold()
    if value in STATES and "code" in name:
        return True
    is_postal = re.fullmatch(r"pin[\s-]?(?:code|number)?", name) and POSTAL.fullmatch(value)
    before = found.string[max(0, found.start() - OWN_WITHIN) : found.start()]
    return bool(is_postal) and not OWN.search(before)


def _is_named(found: re.Match[str]) -> bool:
    """hunter2 is my password: a word that only a sentence's beginning could be, or a value."""
    word = found["secret"].casefold().strip(".,;:!?")
    if found["first"] is None or not word.isalpha():
        return _is_said(found)
    return word not in NO_PASSWORDS | COMMON and not describes(word) and not stands_for_one(word)


def _is_said_with_digits(found: re.Match[str]) -> bool:
    """password hunter2: no verb says that it is one."""
    return any(map(str.isdigit, found["secret"])) and _is_said(found)


def _is_answered(found: re.Match[str]) -> bool:
    """Password? Sommer2024! What stands alone behind the question for it answers it."""
    if not found["password"]:
        return _is_said(found)
    value = bare(found["secret"])
    return is_strong(value) and not stands_for_one(value)


def _is_pointed_at(found: re.Match[str]) -> bool:
    """The password used to be hunter22, but now it's Tr0ub4dor: a pronoun, or now, stands for the
    name; what follows is a value by its form, or since the name's own first value was."""
    value = bare(found["secret"])
    if stands_for_one(value):
        return False
    if is_mixed(value):
        return True
    old = bare(found["old"] or "")
    return is_random(old) and is_random(value)


@lru_cache(maxsize=1)
def _determined() -> re.Pattern[str]:
    """What stands before a thing, never before a password. A function, since hooks do without."""
    return re.compile(rf"(?<![^\W_])(?:{either('determiners')})\s\Z", re.IGNORECASE)


def _is_beside_its_name(found: re.Match[str]) -> bool:
    """The NAS has had the same password for years, Sommer!Regen8: what nobody would write but as a
    password, in a sentence that names one or says how to get in."""
    value = bare(found["secret"])
    if not is_odd(value) or stands_for_one(value):
        return False
    text, (start, end) = found.string, found.span("secret")
    if _determined().search(text, max(0, start - BESIDE), start):  # the Fritz!Box7590
        return False
    before = BORDER.split(text[max(0, start - BESIDE) : start])[-1]
    behind = BORDER.split(text[end : end + BESIDE])[0]
    return any(NAMES_ONE.search(part) for part in (before, behind))


SAID: Mapping[str, Callable[[re.Match[str]], bool]] = {
    "assigned": _is_assigned,
    "said": _is_said,
    "said_with_digits": _is_said_with_digits,
    "named": _is_named,
    "answered": _is_answered,
    "pointed_at": _is_pointed_at,
    "beside_its_name": _is_beside_its_name,
    "stands_alone": lambda found: not stands_for_one(found["secret"]),
}
"""By the rule that a way of saying names (secrets.json): whether a match of it has a secret."""


JUDGED: Mapping[str, Callable[[str], bool]] = {
    "digits": lambda value: sum(map(str.isdigit, value)) >= OF_AN_ACCOUNT,
    "code": is_code,
    "id": is_id_number,
    "door": is_door_code,
    "strong": is_strong,
    "short": is_short,
    "made_up": is_made_up,
    "spelled": is_in_groups,
    "mnemonic": is_mnemonic,
    "phrase": is_phrase,
    "random": is_random,
    "any": bool,
}
"""By the rule that a name of secrets has there: whether a value behind it is one."""


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
    "ends": r"(?=\s{0,2}(?:[,;!?)、。](?!\d)|\.(?!\w)|\n|\Z|(?<=\s)<and>\s))",
}
"""`and` begins another statement; where a value ends, no noun or unit tells what it counts."""


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
LOG_IN = tuple(_TABLES["log_in"])
OTHER_ANCHORS = ("-u", *LOG_IN)
"""Of what has no name: curl -u; and of what is got into: the wifi."""
BESIDE = 120
"""Characters in which a sentence names what stands in it."""
BORDER = late(r"\n|(?<=[.!?])\s")
NAMES_ONE = late(
    rf"(?<![^\W_])(?:{'|'.join(_TABLES['password_names'])}"
    rf"|(?:{'|'.join(_TABLES['log_in_names'])})(?![^\W_]))",
    re.IGNORECASE,
)
"""Names of passwords go on into compounds, those of a log-in do not: signing."""
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
    named = {"passwords": PASSWORDS, "places_of_passwords": (*PASSWORDS, *LOG_IN)}
    anchors = named[row["anchors"]] if isinstance(row["anchors"], str) else tuple(row["anchors"])
    pattern = late(_spelled(row["pattern"]), _FLAGS)
    return Announced(anchors, row["ahead"], row["behind"], pattern, SAID[row["rule"]])


ANNOUNCED = tuple(map(_announced, _TABLES["announced"]))
"""I changed my password to hunter2; use hunter2 as the password; hunter2 is my password."""

Span = tuple[int, int]


class WayIn(NamedTuple):
    """What stands around that by which somebody gets in, in its clause."""

    forms: frozenset[str]
    before: re.Pattern[str]
    behind: re.Pattern[str]


def _way_in(row: dict[str, Any]) -> WayIn:
    before = late(rf"(?:{_spelled(row['before'])})\Z", _FLAGS)
    behind = late(rf"(?:{_spelled(row['behind'])}){_ENDS}", _FLAGS)
    return WayIn(frozenset(row["forms"]), before, behind)


_ENDS = r"\s{0,2}(?:[.;:!?)](?!\w)|,(?!\s?\d)|\n|\Z)"
WAYS_IN = tuple(map(_way_in, _TABLES["ways_in"]))
_BEHIND_MEANS = "|".join(rf"(?<={word}\s)" for word in _TABLES["with"])
TYPED = late(
    rf"""(?<!\S)(?=[^\s\d]{{0,40}}+\d)(?:(?P<first>\A|(?<=[\n(])|(?<=[;:!?.,)–—]\s))|{_BEHIND_MEANS})
    [\"'`“„(]{{0,2}}(?P<secret>[^\s\"'`“„”»(]{{4,60}}+)(?(first)(?<![.,;:!?)]))
    [\"'`”»]?(?(first)(?=\s\w))""",
    _FLAGS,
)
"""What has a digit, where a clause begins and goes on or behind what says that it is a means."""
MAY_END = late(
    rf"(?:{'|'.join(_spelled(row['behind']) for row in _TABLES['ways_in'])}){_ENDS}", _FLAGS
)
CLAUSE = late(r"[;:!?()\n–—]|[.,](?=\s)")
LONGEST_CLAUSE = 100


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
        if value and not stands_for_one(value) and JUDGED[self.rule](value):
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
