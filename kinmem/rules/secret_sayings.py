"""How a secret is assigned or said to be one, in eleven languages: patterns, and what they mean."""

import re
from collections.abc import Callable

from kinmem.rules.secret_kinds import (
    EXPRESSIONS,
    FOR,
    IS,
    KEY,
    NO_PASSWORDS,
    NUMBER,
    PASSWORD,
    PASSWORDS,
    SEED,
)
from kinmem.text import STOP_WORDS

# A body of fewer different characters is somebody's XXXX or 0000, not a key.
DIFFERENT = 6
SHORTEST = 3
SHORTEST_KEY = 8
SHORTEST_PHRASE = 4
"""Words."""


def is_random(value: str) -> bool:
    """Whether nobody would write this but a machine: letters and digits, many different ones."""
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and len(set(value)) >= DIFFERENT
    )


_OF_CODE = ("(", "[", "password", "passwd", "_hash", "credential")


def stands_for_one(value: str) -> bool:
    """Whether it is a variable, an example or a mask."""
    plain = value.strip("\"'`").casefold()
    return (
        not plain
        or plain[0] in "$<{%[("
        or any(sign in plain for sign in _OF_CODE)
        or plain.split(".")[0] in EXPRESSIONS
        or plain.startswith(("your", "my_", "example", "xxx", "...", "***"))
        or len(set(plain)) < 2
    )


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


def bare(value: str) -> str:
    """Without the sentence's marks behind it; ! ends many passwords and few sentences with one."""
    return value.rstrip(".,;:?)。、")


def _is_said(found: re.Match[str]) -> bool:
    """The password is hunter2: a value rather than a word about passwords."""
    value = bare(found["secret"])
    if len(value) < SHORTEST or stands_for_one(value):
        return False
    group = found.groupdict()
    if group.get("number"):
        return sum(map(str.isdigit, value)) >= SHORTEST
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
    return bool(
        group.get("last") is not None and word not in NO_PASSWORDS and not _DESCRIBES.search(word)
    )


_DESCRIBES = re.compile(
    r"(?:ed|ing|able|ible|ive|ful|less|ly|ent|ant|ous|ten|lich|bar|ig|é|ée|ada|ado|ida|ido|ata|ato|t[oó]ri[oa]|pflichtig)$"
)


def _is_phrase(found: re.Match[str]) -> bool:
    """Words that make no sentence: correct horse battery staple."""
    said = found["secret"].casefold().split()
    return len(said) >= SHORTEST_PHRASE and STOP_WORDS["en"].isdisjoint(said)


# No letter before it, but for scripts without spaces.
_NAME = rf"""(?:(?<![^\W_])|(?=[\u3040-\u9fff\uac00-\ud7af]))
(?:(?P<password>{PASSWORD})|(?P<number>{NUMBER})|(?P<key>{KEY}))"""
_QUOTE = r"""(?P<quote>["'`“”„«「])"""
_FLAGS = re.IGNORECASE | re.VERBOSE
_VALUE = r"[^\s\"'`“”„«»「」]{3,200}+"

IS_NAME = re.compile(_NAME, _FLAGS)
IsSecret = Callable[[re.Match[str]], bool]
NAMED: tuple[tuple[re.Pattern[str], IsSecret], ...] = (
    (  # DB_PASSWORD=..., "api_key": "...", --token ..., password => '...'
        re.compile(
            rf"""{_NAME}_?\d{{0,2}}["'`]?(?P<sign>\s?(?::=|=>|=|:)\s?|(?<=\w)(?=:))
            \s{{0,3}}{_QUOTE}?(?P<secret>(?(quote)[^"'`“”»」\n]{{3,200}}+|[^\s"'`,;&|<>]{{3,200}}+))
            (?P<last>(?=[\s.,;!?)]*(?:\n|\Z)))?""",
            _FLAGS,
        ),
        lambda found: _is_assigned(found),
    ),
    (  # the wifi password is hunter2; das Passwort fürs WLAN lautet ...
        re.compile(
            rf"""{_NAME}(?:\s(?:{FOR})\s[^.!?\n:=]{{1,40}}?)?,?
            (?:\s{{0,3}}(?:(?<=\s)(?:{IS})|=|:|['’]s\b|是|は|が)\s{{0,3}}:?\s{{0,3}})
            {_QUOTE}?(?P<secret>{_VALUE})(?P<last>(?=["'`”»」]?\s*(?:[.,;!?。)]|\n|\Z)))?""",
            _FLAGS,
        ),
        lambda found: _is_said(found),
    ),
    (  # password hunter2; --password hunter2; PIN 4711
        re.compile(
            rf"""{_NAME}\s{_QUOTE}?(?P<secret>{_VALUE})""",
            _FLAGS,
        ),
        lambda found: any(map(str.isdigit, found["secret"])) and _is_said(found),
    ),
)
"""What begins with a name."""
ANNOUNCED: tuple[tuple[tuple[str, ...], re.Pattern[str], IsSecret], ...] = (
    (  # changed my password to hunter2; setze das Passwort auf ...
        PASSWORDS,
        re.compile(
            rf"""(?:chang|set|reset|updat|änder|setz|cambi|mud)\w{{0,5}}\s(?:\w{{1,12}}\s){{0,4}}?
            (?P<password>{PASSWORD})(?:\s(?:{FOR})\s[^.!?\n:=]{{1,40}}?)?\s(?:to|auf|zu|en|a|in|para)\s
            {_QUOTE}?(?P<secret>{_VALUE})(?P<last>(?=["'`”»」]?\s*(?:[.,;!?)]|\n|\Z)))?""",
            _FLAGS,
        ),
        lambda found: _is_said(found),
    ),
    (  # use hunter2 as the password
        PASSWORDS,
        re.compile(
            rf"""\b(?:use|used|using|with|enter|type|nimm|utilise|usa)\s{_QUOTE}?(?P<secret>{_VALUE})["'`”»]?
            \s(?:as|als|comme|como|come)\s(?:\w{{1,10}}\s){{0,2}}(?P<password>{PASSWORD})""",
            _FLAGS,
        ),
        lambda found: _is_said(found),
    ),
    (
        ("phrase",),
        re.compile(
            rf"""(?:{SEED})(?:\s(?:{FOR})\s[^.!?\n:=]{{1,40}}?)?\s{{0,3}}(?:is|:|ist|lautet|=)\s{{0,3}}:?\s{{0,3}}
            ["'`“„]?(?P<secret>\w{{2,20}}+(?:[\s-]\w{{2,20}}+){{3,24}}+)""",
            _FLAGS,
        ),
        _is_phrase,
    ),
    (  # curl -u name:password
        ("-u",),
        re.compile(r"""\s-u\s["']?[\w.@-]{1,60}:(?P<secret>[^\s"']{3,200}+)"""),
        lambda found: not stands_for_one(found["secret"]),
    ),
)
