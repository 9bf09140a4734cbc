"""Keys, tokens and passwords in what people and tools say: found, and taken out."""

import re
from collections.abc import Callable, Iterator

from kinmem.rules.secret_kinds import (
    ANCHORS,
    EXPRESSIONS,
    FOR,
    IS,
    KEY,
    KEYS,
    NO_PASSWORDS,
    NUMBER,
    PASSWORD,
    SEED,
    SHOWN,
    WITHIN_WORDS,
    Kind,
)
from kinmem.text import STOP_WORDS

REMOVED = "[secret removed]"
_BLANK = "[" + " " * (len(REMOVED) - 2) + "]"
"""As long, and nothing to find in it."""
# A body of fewer different characters is somebody's XXXX or 0000, not a key.
DIFFERENT = 6
_RUN = re.compile(r"[\w.:/+=~$-]{16,}+")
"""No format is shorter, and none but the spaced ones has another character."""
AHEAD, BEHIND = 270, 330
"""Characters around an announcing word in which all that belongs to it stands."""
SHORTEST = 3
SHORTEST_KEY = 8
SHORTEST_PHRASE = 4
"""Words."""


def redacted(text: str) -> tuple[str, int]:
    """The text with each secret replaced by [secret removed], and how many there were.

    Secret: what keys_in knows, what is assigned or said to be a password, token, PIN or seed
    phrase in any of eleven languages, card numbers. What is only said about them stays: "the
    password is weak". Idempotent; time grows with the length alone.
    """
    seen = _UNSEEN.sub("", text)
    spans = _merged(sorted(_secrets(seen.replace(REMOVED, _BLANK))))
    if len(seen) < len(text):
        places = [at for at, sign in enumerate(text) if not _UNSEEN.match(sign)]
        spans = [(places[start], places[end - 1] + 1) for start, end in spans]
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], REMOVED]
        at = end
    return "".join([*parts, text[at:]]), len(spans)


def keys_in(text: str) -> list[str]:
    """The kinds of keys in the text, each once: only formats that cannot be anything else."""
    return list(dict.fromkeys(kind.name for kind, _ in _keys(text)))


_GAP = "[\\s\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]{0,10}"
_WORD = _GAP.join("private")
_OPENS = re.compile(rf"[<＜]{_GAP}{_WORD}(?![\w-])[^<>＜＞]{{0,100}}[>＞]", re.IGNORECASE)
_CLOSES = re.compile(rf"[<＜]{_GAP}/{_GAP}{_WORD}{_GAP}[>＞]", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\[private\].*?\[/private\]", re.IGNORECASE | re.DOTALL)


def without_private(text: str) -> str:
    """The text without what stands between <private> and </private>, or the end if it is missing.

    Nested ones go with the outermost; a stray closing tag goes alone. Spaces, unseen and full-width
    characters in a tag change nothing. [private] counts only where [/private] follows.
    """
    kept, depth, at = [], 0, 0
    tags = [(tag.start(), tag.end(), 1) for tag in _OPENS.finditer(text)]
    tags += [(tag.start(), tag.end(), -1) for tag in _CLOSES.finditer(text)]
    for start, end, step in sorted(tags):
        if not depth:
            kept.append(text[at:start])
        depth, at = max(0, depth + step), end
    left = "".join(kept) + ("" if depth else text[at:])
    last = max(0, left.lower().rfind("[/private]") + 10)  # behind it nothing has a pair
    return _IN_BRACKETS.sub("", left[:last]) + left[last:]


Span = tuple[int, int]
_UNSEEN = re.compile("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
"""Between the letters of a key they break its format, and nobody sees them."""


def _secrets(text: str) -> Iterator[Span]:
    for _, span in _keys(text):
        yield span
    for start, end in _announcing(text):
        for pattern, is_secret in ANNOUNCED:
            for found in pattern.finditer(text, start, end):
                if found["secret"] and is_secret(found):
                    yield found.start("secret"), found.start("secret") + len(_bare(found["secret"]))
    yield from _shown(text)
    yield from _cards(text)


def _announcing(text: str) -> list[Span]:
    """Where a secret may be announced: around each word that can do so.

    Most texts have none, and looking for words costs a hundredth of looking for sentences.
    """
    plain = text.lower()
    if len(plain) != len(text):  # a letter that has two as a small one
        return [(0, len(text))]
    spans = []
    for anchor in ANCHORS:
        at = plain.find(anchor)
        while at >= 0:
            if anchor in WITHIN_WORDS or not plain[at - 1 : at].isalpha():
                spans.append((max(0, at - AHEAD), min(len(text), at + BEHIND)))
            at = plain.find(anchor, at + 1)
    return _merged(sorted(spans))


def _keys(text: str) -> Iterator[tuple[Kind, Span]]:
    """Formats are looked for in what stands together without a space, all else everywhere."""
    runs = [run.span() for run in _RUN.finditer(text)]
    for kind in KEYS:
        if kind.hint not in text:
            continue
        group = "secret" if "secret" in kind.pattern.groupindex else 0
        for start, end in [(0, len(text))] if kind.spaced else runs:
            for found in kind.pattern.finditer(text, start, end):
                if _is_key(kind, found[group]):
                    yield kind, found.span(group)


def _shown(text: str) -> Iterator[Span]:
    for kind in SHOWN:
        if kind.hint in text:
            for found in kind.pattern.finditer(text):
                group = "secret" if "secret" in kind.pattern.groupindex else 0
                if not _stands_for_one(found[group]) and (
                    kind.name != "bank account" or _is_account(found[0])
                ):
                    yield found.start(group), found.start(group) + len(_bare(found[group]))


def _is_account(number: str) -> bool:
    """ISO 13616: the country and the check digits last, letters as 10 to 35, 1 modulo 97."""
    plain = "".join(number.split())
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _is_key(kind: Kind, value: str) -> bool:
    if kind.name == "private key":
        return True
    if kind.name == "credentials in a URL":
        return not _stands_for_one(value)
    return _is_random(value)


def _is_random(value: str) -> bool:
    """Whether nobody would write this but a machine: letters and digits, many different ones."""
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and len(set(value)) >= DIFFERENT
    )


_OF_CODE = ("(", "[", "password", "passwd", "_hash", "credential")


def _stands_for_one(value: str) -> bool:
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
    if _stands_for_one(value):
        return False
    if found["number"]:
        return value[-1:].isdigit()
    if found["password"]:
        if found["quote"] or found["sign"] == "=":
            return len(value) >= SHORTEST
        return _is_said(found)
    return len(value) >= SHORTEST_KEY and _is_random(value)


def _bare(value: str) -> str:
    """Without the sentence's marks behind it; ! ends many passwords and few sentences with one."""
    return value.rstrip(".,;:?)。、")


def _is_said(found: re.Match[str]) -> bool:
    """The password is hunter2: a value rather than a word about passwords."""
    value = _bare(found["secret"])
    if len(value) < SHORTEST or _stands_for_one(value):
        return False
    group = found.groupdict()
    if group.get("number"):
        return sum(map(str.isdigit, value)) >= SHORTEST
    if group.get("key"):
        return len(value) >= SHORTEST_KEY and _is_random(value)
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

ANNOUNCED: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
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
    (  # changed my password to hunter2; setze das Passwort auf ...
        re.compile(
            rf"""(?:chang|set|reset|updat|änder|setz|cambi|mud)\w{{0,5}}\s(?:\w{{1,12}}\s){{0,4}}?
            (?P<password>{PASSWORD})(?:\s(?:{FOR})\s[^.!?\n:=]{{1,40}}?)?\s(?:to|auf|zu|en|a|in|para)\s
            {_QUOTE}?(?P<secret>{_VALUE})(?P<last>(?=["'`”»」]?\s*(?:[.,;!?)]|\n|\Z)))?""",
            _FLAGS,
        ),
        lambda found: _is_said(found),
    ),
    (  # use hunter2 as the password
        re.compile(
            rf"""\b(?:use|used|using|with|enter|type|nimm|utilise|usa)\s{_QUOTE}?(?P<secret>{_VALUE})["'`”»]?
            \s(?:as|als|comme|como|come)\s(?:\w{{1,10}}\s){{0,2}}(?P<password>{PASSWORD})""",
            _FLAGS,
        ),
        lambda found: _is_said(found),
    ),
    (
        re.compile(
            rf"""(?:{SEED})(?:\s(?:{FOR})\s[^.!?\n:=]{{1,40}}?)?\s{{0,3}}(?:is|:|ist|lautet|=)\s{{0,3}}:?\s{{0,3}}
            ["'`“„]?(?P<secret>\w{{2,20}}+(?:[\s-]\w{{2,20}}+){{3,24}}+)""",
            _FLAGS,
        ),
        _is_phrase,
    ),
    (  # curl -u name:password
        re.compile(r"""\s-u\s["']?[\w.@-]{1,60}:(?P<secret>[^\s"']{3,200}+)"""),
        lambda found: not _stands_for_one(found["secret"]),
    ),
)

_DIGITS = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|[.]\d)", re.ASCII)
_ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|35\d{14}|6(?:011|5\d\d|4[4-9]\d)\d{12}|62\d{14,17}"
)


def _cards(text: str) -> Iterator[Span]:
    """Numbers that a card issuer gives out and whose check digit is right."""
    for found in _DIGITS.finditer(text):
        digits = found[0].replace(" ", "").replace("-", "")
        if _ISSUED.fullmatch(digits) and _luhn(digits) and len(set(digits)) > 1:
            yield found.span()


def _luhn(digits: str) -> bool:
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 * (n > 9) for n in doubled)) % 10 == 0


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
