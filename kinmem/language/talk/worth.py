"""What a sentence of talk is, and whether it is worth being remembered.

A logistic regression over pieces of words, and shape, trained by
scripts/train_worth.py from training/talk/. Above it stand vetoes that need no judgement.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast
from zlib import crc32

from kinmem.language.sentence_borders import sentences
from kinmem.language.talk.statements import ASKED_TO_KEEP
from kinmem.models import Category
from kinmem.text import asks, late, words

if TYPE_CHECKING:
    import numpy as np

BUCKETS = 1 << 17
READ = 400
"""Characters of a statement that are looked at."""
HAN = "\u3400-\u9fff"
"""Written without spaces: each character is a piece, and pairs and triples of them are."""
LETTERS = rf"[^\W{HAN}]+"
TOKEN = late(rf"https?://\S+|`[^`\n]*`|[{HAN}]|{LETTERS}(?:['’]{LETTERS})*|[^\w\s]")
WORD = late(r"\w")
QUOTES = '"“”„«»'
SYMBOLS = frozenset("{}[]<>=|\\/_*&^%$#@~+;")
STAMP = late(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\b\d{1,3}(?:\.\d{1,3}){3}\b")
CALL = late(r"\w\(\S*\)|\w+\.\w+:\d+|\b\w+(?:Error|Exception)\b|0x[0-9a-f]+|::|->|=>")
FIELD = late(r"[A-Z][\w-]{1,16}: \S")
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


FILE = Path(__file__).with_name("worth.npz")
KEPT = (
    *("fact", "rule", "decision", "event", "plan"),
    *("relationship", "preference", "knowledge", "identity"),
)
"""Kinds of what is worth it."""
LEFT = (
    *("task", "hypothetical", "question", "others_words", "error", "transient", "feedback"),
    *("table", "log", "paste", "wish", "joke", "smalltalk"),
)
KINDS = (*KEPT, *LEFT)
UNREAL = ("hypothetical", "others_words")
HARDLY = 0.1
"""Chance of a hypothetical up to which what is reported may be a fact. Of 851 sentences that are
not worth it (two batches that the judge did not learn from) none more is kept for it."""
ALONE_STANDING = Setting()


class Bar(NamedTuple):
    """From which probability on a sentence is remembered; below that the turn alone is kept."""

    enough: float
    of_answer: float
    """The same for what answers a question: it is short, and the question tells the rest."""
    unreal: float
    """Most that UNREAL may have together: what nobody claims costs more than what is missed."""
    reported: float
    """From which worth on somebody else's words tell a fact: "the doctor says I must avoid
    ibuprofen"."""


ALONE = Bar(enough=0.33, of_answer=0.1, unreal=0.3, reported=1.0)
WITH_JUDGE = Bar(enough=0.35, of_answer=0.25, unreal=0.25, reported=0.45)
"""Of twelve conversations by another writer that nobody had looked at, with open-talk learned,
93.8 % of what is worth it is learned with 7 % junk, 88.9 and 13.7 % without the judge at .4; ALONE
is lower because short plain facts ("Sofia is a dentist.") are missed from .4 on. What is not
learned is still found as a turn."""
OF_SEQUEL = 0.15
"""Probability from which a short statement is remembered with the rule or preference before it: an
exception tells nothing by itself. Of 303 such statements of training/talk that are not worth it, 18
reach it. Of 60 exceptions in training/exceptions.jsonl 18 are learned with their rule (12 without
this), and one of 60 other sequels."""
SHARE = 0.5
"""Of the regression in the mean of the log odds; the judge has the rest. A regression over the
judge's 22 chances and the shape of the sentence did worse than the judge alone."""
CLAUSE = late(r"[,:;，：；]\s*|\s[–—-]\s")
MOST_BESIDE = 5
"""Parts of a sentence that asks that are looked at, if it has several."""
STATED_BESIDE = 0.1
"""Worth from which such a part states something although it is asked: "I live in Graz, right?",
"What can I cook, as my son has diabetes?". Of 20 that do so in front of what they ask, in seven
languages, 17 reach it and of 20 that only ask none; of 184 questions of training/talk that have
several parts all 3 that are worth it and 39 others, 6 of them by the last part."""
TOLD_TO_KEEP = 0.9
"""Confidence in the category of what is asked to be kept."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one statement is."""

    kind: str
    """The likeliest of KINDS."""
    worth: float
    """Probability that it is of a kind that is worth remembering."""
    category: Category
    confidence: float
    """In the category; 0.4 to 0.9."""
    is_worth: bool
    """Whether that is enough to remember it."""

    @property
    def is_unreal(self) -> bool:
        """Whether it is hypothetical, or somebody else's words."""
        return self.kind in UNREAL

    @property
    def asks_help(self) -> bool:
        """Whether something is to be done or answered."""
        return self.kind in ("task", "question")

    @property
    def may_go_on(self) -> bool:
        """Whether it may say more of the rule or preference before it."""
        return self.worth >= OF_SEQUEL and self.kind != "question"


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely it is that a statement is of each of KINDS."""

    of: Mapping[str, float]

    @property
    def worth(self) -> float:
        """That it is of a kind that is worth remembering."""
        return sum(self.of[kind] for kind in KEPT)

    @property
    def sureness(self) -> float:
        """How far that is, in log odds, from what would just be kept."""
        return abs(_log_odds(self.worth) - _log_odds(ALONE.enough))

    def judgement(
        self, text: str, setting: Setting, seen: Mapping[str, float] | None = None
    ) -> Judgement:
        """The kind of the statement and its category. `seen`: the chances that the judge of
        language gives, which sees more of the message."""
        found, bar = (self, ALONE) if seen is None else (self._with(seen), WITH_JUDGE)
        of, worth = found.of, found.worth
        is_asked = ASKED_TO_KEEP.match(text) is not None
        is_reported = worth >= bar.reported and of["hypothetical"] <= HARDLY
        is_real = is_reported or sum(of[kind] for kind in UNREAL) <= bar.unreal
        kind = max(of, key=lambda kind: of[kind])
        category = _category(max(KEPT, key=lambda kind: of[kind]), kind)
        enough = bar.of_answer if setting.asked else bar.enough
        return Judgement(
            kind=kind,
            worth=1.0 if is_asked else worth,
            category=category,
            confidence=TOLD_TO_KEEP if is_asked else min(TOLD_TO_KEEP, max(0.4, worth)),
            is_worth=is_asked or is_real and worth >= enough,
        )

    def _with(self, seen: Mapping[str, float]) -> "Chances":
        """The mean of the log odds of both."""
        odds = {kind: self.of[kind] ** SHARE * seen[kind] ** (1 - SHARE) for kind in KINDS}
        total = sum(odds.values())
        return Chances({kind: value / total for kind, value in odds.items()})


def appraise(text: str, seen: Mapping[str, float] | None = None) -> Judgement:
    """A statement that stands alone; for `seen`, see Chances.judgement. Never raises."""
    return kinds([(text, ALONE_STANDING)])[0].judgement(text, ALONE_STANDING, seen)


def only_asks(text: str) -> bool:
    """Whether every sentence of it is a question, and none asks to keep something."""
    parts = [one.strip() for one in sentences(text) if words(one)]
    return bool(parts) and not any(map(_states, parts))


def _states(text: str) -> bool:
    if ASKED_TO_KEEP.match(text):
        return True
    if not asks(text):
        return appraise(text).kind != "question"
    parts = [part for part in CLAUSE.split(text.rstrip("?？! ")) if words(part)][:MOST_BESIDE]
    return len(parts) > 1 and any(map(states_if_asked, parts))


def states_if_asked(part: str) -> bool:
    """Whether a part of a question states something although it is asked."""
    return appraise(f"{part}?").worth >= STATED_BESIDE


def _log_odds(chance: float) -> float:
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    return math.log(chance / (1 - chance))


def _category(kept: str, kind: str) -> Category:
    """The category of the likeliest of KEPT. What somebody else wants done is known, and no wish of
    whoever tells it."""
    if kept == "rule":
        return "knowledge" if kind == "others_words" else "preference"
    return cast(Category, kept)


def kinds(texts: Sequence[tuple[str, Setting]]) -> list[Chances]:
    """For each text, with what stands around it, how likely it is of each of KINDS."""
    import numpy as np

    weights, scale, bias = _model()
    found = []
    for text, setting in texts:
        held = pieces(text, setting)
        values = np.fromiter(held.values(), np.float32, len(held))
        scores = values @ weights[list(held)] * scale + bias
        odds = np.exp(scores - scores.max())
        found.append(Chances(dict(zip(KINDS, (odds / odds.sum()).tolist(), strict=True))))
    return found


@cache
def _model() -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    import numpy as np

    with np.load(FILE) as file:
        return file["weights"], file["scale"], file["bias"]
