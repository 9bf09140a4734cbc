"""What a statement looks like to the judge: hashed pieces of its words, and its shape.

No list of words decides anything here; which pieces mean what is learned (scripts/train_worth.py).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

BUCKETS = 1 << 17
READ = 400
"""Characters of a statement that are looked at."""
HAN = "\u3400-\u9fff"
"""Written without spaces: each character is a piece, and pairs and triples of them are."""
LETTERS = rf"[^\W{HAN}]+"
TOKEN = re.compile(rf"https?://\S+|`[^`\n]*`|[{HAN}]|{LETTERS}(?:['’]{LETTERS})*|[^\w\s]")
WORD = re.compile(r"\w")
QUOTES = '"“”„«»'
SYMBOLS = frozenset("{}[]<>=|\\/_*&^%$#@~+;")
STAMP = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\b\d{1,3}(?:\.\d{1,3}){3}\b")
CALL = re.compile(r"\w\(\S*\)|\w+\.\w+:\d+|\b\w+(?:Error|Exception)\b|0x[0-9a-f]+|::|->|=>")
FIELD = re.compile(r"[A-Z][\w-]{1,16}: \S")
WEIGHTS = {"w": 4.0, "c": 2.1, "s": 2.5, "b": 0.75, "a": 0.75, "m": 0.75}
"""By the first letter of a piece: words, parts of words, shape, before, after, message."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What stands around a statement."""

    before: str = ""
    """The sentence in front of it in the message."""
    after: str = ""
    asked: str = ""
    """The question of somebody else that the message answers."""
    first: bool = True
    last: bool = True
    lines: int = 1
    """Of the message."""


def pieces(text: str, setting: Setting) -> dict[int, float]:
    """Bucket -> weight, the weights of each group brought to one length."""
    groups: dict[str, dict[int, float]] = {}
    for piece in _pieces(text[:READ], setting):
        group = groups.setdefault(piece[0], {})
        bucket = crc32(piece.encode("utf-8", "replace")) % BUCKETS
        group[bucket] = 1.0
    found: dict[int, float] = {}
    for letter, group in groups.items():
        scale = WEIGHTS[letter] / len(group) ** 0.5
        for bucket, value in group.items():
            found[bucket] = found.get(bucket, 0.0) + scale * value
    return found


def _pieces(text: str, setting: Setting) -> Iterator[str]:
    tokens = TOKEN.findall(text)
    plain = [_plain(token) for token in tokens]
    yield from _words(plain)
    for word in plain:
        if WORD.match(word) and len(word) > 2:
            yield from _parts(word)
    yield from (f"s{piece}" for piece in _shape(text, tokens, setting))
    yield from (f"b{piece}" for piece in _beside(setting.before))
    yield from (f"a{piece}" for piece in _beside(setting.after))
    if setting.asked:
        asked = [_plain(token) for token in TOKEN.findall(setting.asked)][-24:]
        yield "manswers"
        yield from (f"m{word}" for word in asked)


def _plain(token: str) -> str:
    if token.startswith("http"):
        return "0url"
    if token[0] == "`":
        return "0code"
    if token[0].isdigit():
        return "0" * min(len(token), 4)
    return token.casefold().replace("’", "'")


def _words(plain: list[str]) -> Iterator[str]:
    yield from (f"w{word}" for word in plain)
    for size in (2, 3):
        for at in range(len(plain) - size + 1):
            yield f"w{' '.join(plain[at : at + size])}"
    start = [word for word in plain[:6] if WORD.match(word)]
    for count in (1, 2, 3):
        if len(start) >= count:
            yield f"w^{' '.join(start[:count])}"
    yield from (f"w$ {word}" for word in plain[-2:])


def _parts(word: str) -> Iterator[str]:
    marked = f"<{word}>"
    for size in (3, 4, 5):
        yield from (f"c{marked[at : at + size]}" for at in range(len(marked) - size + 1))


def _shape(text: str, tokens: list[str], setting: Setting) -> Iterator[str]:
    """Marks, digits, capitals, and where it stands."""
    words = [token for token in tokens if WORD.match(token)]
    yield f"len{min(len(words), 5)}" if len(words) < 6 else f"len{min(len(words) // 5, 8) * 5}"
    yield f"end{text[-1:] if not text[-1:].isalnum() else 'x'}"
    yield f"case{_case(text)}"
    marks = sum(text.count(mark) for mark in QUOTES)
    yield f"quotes{min(marks, 2)}"
    if marks >= 2:
        yield "quoting" + str(int(4 * _quoted_share(text)))
    yield f"symbols{min(int(20 * sum(c in SYMBOLS for c in text) / len(text)), 4)}"
    yield f"numbers{min(sum(token[0].isdigit() for token in words), 3)}"
    inner = [word for word in words[1:] if word[0].isupper()]
    yield f"names{min(len(inner), 3)}"
    for name, pattern in (("stamp", STAMP), ("call", CALL)):
        if pattern.search(text):
            yield name
    if FIELD.match(text):
        yield "field"
    for mark in "?!:;,(`|>—–…":
        if mark in text:
            yield f"has{mark}"
    yield f"first{setting.first}{setting.last}"
    yield f"lines{min(setting.lines, 4)}"
    yield f"shape{''.join(_kind(token) for token in tokens[:4])}"


def _case(text: str) -> str:
    letter = next((c for c in text if c.isalpha()), "")
    return "none" if not letter else "upper" if letter.isupper() else "lower"


def _kind(token: str) -> str:
    if token[0].isdigit():
        return "0"
    if not WORD.match(token):
        return token[0]
    return "X" if token.isupper() and len(token) > 1 else "A" if token[0].isupper() else "a"


def _quoted_share(text: str) -> float:
    places = [at for at, c in enumerate(text) if c in QUOTES]
    return (places[-1] - places[0]) / len(text)


def _beside(text: str) -> Iterator[str]:
    """The beginning and the end of a neighbour."""
    tokens = [_plain(token) for token in TOKEN.findall(text[:READ])]
    if tokens:
        yield f"^{tokens[0]}"
        yield f"^{' '.join(tokens[:2])}"
        yield f"end{tokens[-1]}"
        yield from (f"w{token}" for token in tokens[:8])
    else:
        yield "none"
