"""How a secret is assigned or said to be one, in eleven languages: patterns, and what they mean."""

import re
from collections.abc import Callable

from kinmem.language.pattern import late
from kinmem.language.secrets.kinds import (
    EXPRESSIONS,
    FOR,
    IS,
    KEY,
    NO_PASSWORDS,
    NUMBER,
    PASSWORD,
    PASSWORDS,
)
from kinmem.text import STOP_WORDS

COMMON = frozenset().union(*STOP_WORDS.values())

# A body of fewer different characters is somebody's XXXX or 0000, not a key.
DIFFERENT = 6
SHORTEST = 3
SHORTEST_KEY = 8


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
    return bool(group.get("last") is not None and word not in NO_PASSWORDS and not describes(word))


_DESCRIBES = late(
    r"(?:ed|ing|able|ible|ive|ful|less|ly|ent|ant|ous|ten|lich|bar|ig|é|ée|ada|ado|ida|ido|ata|ato|t[oó]ri[oa]|pflichtig)$"
)


def describes(word: str) -> bool:
    """Whether the word tells how something is: expired, abgelaufen, segura."""
    return _DESCRIBES.search(word) is not None


def _is_named(found: re.Match[str]) -> bool:
    """hunter2 is my password: a word that only a sentence's beginning could be, or a value."""
    word = found["secret"].casefold().strip(".,;:!?")
    if found["first"] is None or not word.isalpha():
        return _is_said(found)
    return word not in NO_PASSWORDS | COMMON and not describes(word) and not stands_for_one(word)


# No letter before it, but for scripts without spaces.
_NAME = rf"""(?:(?<![^\W_])|(?=[\u3040-\u9fff\uac00-\ud7af]))
(?:(?P<password>{PASSWORD})|(?P<number>{NUMBER})|(?P<key>{KEY}))"""
_QUOTE = r"""(?P<quote>["'`“”„«「])"""
_FLAGS = re.IGNORECASE | re.VERBOSE
_MINE = r"""my|our|the|mein|unser|das|mon|notre|le|mi|nuestra|la|el|mia|la\smia|minha|a\sminha|a
|мой|наш"""
_AND = r"""(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|и)\s
(?:my|our|the|i|we|it|mein|unser|der|die|das|ich|wir|mon|ma|le|la|je|mi|el|yo|il|mio|mia|io|meu|minha|o|a|eu|мой|я)"""
"""Another statement begins."""
_VALUE = r"[^\s\"'`“”„«»「」]{3,200}+"

IS_NAME = late(_NAME, _FLAGS)
IsSecret = Callable[[re.Match[str]], bool]
NAMED: tuple[tuple[re.Pattern[str], IsSecret], ...] = (
    (  # DB_PASSWORD=..., "api_key": "...", --token ..., password => '...'
        late(
            rf"""{_NAME}_?\d{{0,2}}["'`]?(?P<sign>\s?(?::=|=>|=|:)\s?|(?<=\w)(?=:))
            \s{{0,3}}{_QUOTE}?(?P<secret>(?(quote)[^"'`“”»」\n]{{3,200}}+|[^\s"'`,;&|<>]{{3,200}}+))
            (?P<last>(?=[\s.,;!?)]*(?:\n|\Z)))?""",
            _FLAGS,
        ),
        lambda found: _is_assigned(found),
    ),
    (  # the wifi password is hunter2; das Passwort fürs WLAN lautet ...
        late(
            rf"""{_NAME}(?:\s(?:{FOR})\s[^.!?\n:=]{{1,40}}?)?,?
            (?:\s{{0,3}}(?:(?<=\s)(?:{IS})|=|:|['’]s\b|是|は|が|는|은|为|為)\s{{0,3}}:?\s{{0,3}})
            {_QUOTE}?(?P<secret>{_VALUE})(?P<last>(?=["'`”»」]?\s*(?:[.,;!?。)]|\n|\Z|(?:{_AND})\s)))?""",
            _FLAGS,
        ),
        lambda found: _is_said(found),
    ),
    (  # password hunter2; --password hunter2; PIN 4711
        late(
            rf"""{_NAME}\s{_QUOTE}?(?P<secret>{_VALUE})""",
            _FLAGS,
        ),
        lambda found: any(map(str.isdigit, found["secret"])) and _is_said(found),
    ),
)
"""What begins with a name."""
AHEAD, BEHIND = 270, 600
"""Characters around an announcing word in which all that belongs to it stands."""
ANNOUNCED: tuple[tuple[tuple[str, ...], int, int, re.Pattern[str], IsSecret], ...] = (
    (  # changed my password to hunter2; setze das Passwort auf ...
        PASSWORDS,
        AHEAD,
        BEHIND,
        late(
            rf"""(?:chang|set|reset|updat|änder|setz|cambi|mud)\w{{0,5}}\s(?:\w{{1,12}}\s){{0,4}}?
            (?P<password>{PASSWORD})(?:\s(?:{FOR})\s[^.!?\n:=]{{1,40}}?)?\s(?:to|auf|zu|en|a|in|para)\s
            {_QUOTE}?(?P<secret>{_VALUE})(?P<last>(?=["'`”»」]?\s*(?:[.,;!?)]|\n|\Z)))?""",
            _FLAGS,
        ),
        lambda found: _is_said(found),
    ),
    (  # use hunter2 as the password
        PASSWORDS,
        AHEAD,
        BEHIND,
        late(
            rf"""\b(?:use|used|using|with|enter|type|nimm|utilise|usa)\s{_QUOTE}?(?P<secret>{_VALUE})["'`”»]?
            \s(?:as|als|comme|como|come)\s(?:\w{{1,10}}\s){{0,2}}(?P<password>{PASSWORD})""",
            _FLAGS,
        ),
        lambda found: _is_said(found),
    ),
    (  # hunter2 is my password
        PASSWORDS,
        100,
        40,
        late(
            rf"""(?<![^\s"'`“„(])(?P<first>(?:(?<=^)|(?<=[.!?\n"'`“„])|(?<=[.!?:,;]\s)))?(?P<secret>{_VALUE})["'`”»]?
            \s(?:is|ist|est|es|è|é|это|—)\s(?:{_MINE})\s(?:\w{{1,12}}\s){{0,2}}?(?P<password>{PASSWORD})
            (?=["'`”»]?\s*(?:[.,;!?)]|\n|\Z|\s(?:{FOR})\s))""",
            _FLAGS,
        ),
        _is_named,
    ),
    (  # curl -u name:password
        ("-u",),
        AHEAD,
        BEHIND,
        late(r"""\s-u\s["']?[\w.@-]{1,60}:(?P<secret>[^\s"']{3,200}+)"""),
        lambda found: not stands_for_one(found["secret"]),
    ),
)
