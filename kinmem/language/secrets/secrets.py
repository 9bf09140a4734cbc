"""Keys, tokens and passwords in what people and tools say: found, and taken out."""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain

from kinmem.language.lexicon import lexicon
from kinmem.language.secrets.kinds import (
    ANCHORS,
    ANNOUNCED,
    BEGINNINGS,
    CALLED,
    CLAUSE,
    IS_NAME,
    KEYS,
    LONGEST_CLAUSE,
    MAY_END,
    NAMED,
    OTHER_ANCHORS,
    SHOWN,
    TYPED,
    WAYS_IN,
    WITHIN_WORDS,
    Kind,
)
from kinmem.language.secrets.values import (
    FIRST_UNSPACED,
    bare,
    form_of_typed,
    is_account,
    is_random,
    is_token,
    numbers,
    stands_for_one,
)
from kinmem.text import late

REMOVED = "[secret removed]"
_BLANK = "[" + " " * (len(REMOVED) - 2) + "]"
"""As long, and nothing to find in it."""
_RUN = late(r"[\w.:/+=~$-]{16,}+")
"""No format is shorter, and none but the spaced ones has another character."""
_DIGIT = late("[0-9]")
"""No format is without one."""
EXAMPLE = "example"
"""Stands in the keys of documentation: AKIAIOSFODNN7EXAMPLE."""
LONGEST_NAME = 30
ANNOUNCING = tuple(dict.fromkeys([*ANCHORS, *OTHER_ANCHORS, *BEGINNINGS]))
KIND_CALLED: Mapping[str, str] = lexicon("secrets")["kinds_called"]
"""What a secret is that is known by its name, by the rule that judges it."""


def redact(text: str) -> tuple[str, int]:
    """The text with each secret replaced by [secret removed], and how many there were.

    Secret: a key by its format, what is assigned or said to be a password, token, PIN or seed
    phrase in any of eleven languages, numbers of cards, accounts and persons. What is only said
    about them stays: "the password is weak". Idempotent; time grows with the length alone.
    """
    seen = text if text.isascii() else _UNSEEN.sub("", text)
    spans = _merged(sorted(span for _, span in _secrets(seen.replace(REMOVED, _BLANK))))
    if len(seen) < len(text):
        places = [at for at, sign in enumerate(text) if not _UNSEEN.match(sign)]
        spans = [(places[start], places[end - 1] + 1) for start, end in spans]
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], REMOVED]
        at = end
    return "".join([*parts, text[at:]]), len(spans)


def secret_kinds(text: str) -> list[str]:
    """The kinds of secrets that redact would take out of the text, each once."""
    seen = text if text.isascii() else _UNSEEN.sub("", text)
    return list(dict.fromkeys(kind for kind, _ in _secrets(seen.replace(REMOVED, _BLANK))))


_GAP = "[\\s\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]{0,10}"
_WORD = _GAP.join("private")
_OPENS = late(rf"[<＜]{_GAP}{_WORD}(?![\w-])[^<>＜＞]{{0,100}}[>＞]", re.IGNORECASE)
_CLOSES = late(rf"[<＜]{_GAP}/{_GAP}{_WORD}{_GAP}[>＞]", re.IGNORECASE)
_IN_BRACKETS = late(r"\[private\].*?\[/private\]", re.IGNORECASE | re.DOTALL)


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
    last = max(0, _small(left).rfind("[/private]") + 10)  # behind it nothing has a pair
    return _IN_BRACKETS.sub("", left[:last]) + left[last:]


Span = tuple[int, int]
_UNSEEN = late("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
"""Between the letters of a key they break its format, and nobody sees them."""


def _secrets(text: str) -> Iterator[tuple[str, Span]]:
    """Each with what kind it is of."""
    plain = _small(text)
    places = _announcing(plain)
    for kind, span in _keys(text, plain):
        yield kind.name, span
    yield from _named(text, places)
    yield from _announced(text, places)
    yield from _let_in(text)
    yield from _called(text, places)
    yield from _shown(text, plain)
    yield from numbers(text)


def _small(text: str) -> str:
    """In small letters, each in its place: a dotted I would become two."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").replace("ı", "i").replace("ſ", "s").lower()


def _places(plain: str, words: Sequence[str]) -> Iterator[int]:
    """Where one of the words begins.

    Most texts have few, and looking for words costs a hundredth of looking for sentences.
    """
    for word in words:
        at = plain.find(word)
        while at >= 0:
            yield at
            at = plain.find(word, at + 1)


def _announcing(plain: str) -> dict[str, list[int]]:
    """Where each announcing word stands, unless as the end of another: spin."""
    words = [one for one in ANNOUNCING if one.isascii() or all(sign in plain for sign in one)]
    return {
        word: [
            at
            for at in _places(plain, [word])
            if word in WITHIN_WORDS or word >= FIRST_UNSPACED or not plain[at - 1 : at].isalpha()
        ]
        for word in words
    }


def _around(
    places: Mapping[str, list[int]], words: Sequence[str], ahead: int, behind: int
) -> list[Span]:
    return _merged(
        sorted((max(0, at - ahead), at + behind) for word in words for at in places.get(word, ()))
    )


def _named(text: str, places: Mapping[str, list[int]]) -> Iterator[tuple[str, Span]]:
    """What stands behind the name of a secret."""
    done = [0] * len(NAMED)
    for at in _names(text, places):
        for which, (pattern, is_secret) in enumerate(NAMED):
            if at >= done[which] and (found := pattern.match(text, at)):
                done[which] = found.end()
                if is_secret(found):
                    yield _kind_named(found), _span(found)


def _kind_named(found: re.Match[str]) -> str:
    group = found.groupdict()
    return "password" if group.get("password") else "PIN" if group.get("number") else "token"


def _names(text: str, places: Mapping[str, list[int]]) -> Iterator[int]:
    """Where a name may begin that has one of its anchors in it."""
    for start, end in _around(places, ANCHORS, LONGEST_NAME, 1):
        for at in range(start, end):
            begins = at == 0 or not text[at - 1].isalnum() or text[at] >= FIRST_UNSPACED
            if begins and IS_NAME.match(text, at):
                yield at


def _announced(text: str, places: Mapping[str, list[int]]) -> Iterator[tuple[str, Span]]:
    """What a sentence says to be one, before its name or far behind."""
    for anchors, ahead, behind, pattern, is_secret in ANNOUNCED:
        for start, end in _around(places, anchors, ahead, behind):
            for found in pattern.finditer(text, start, end):
                if is_secret(found):
                    yield "password", _span(found)


def _let_in(text: str) -> Iterator[tuple[str, Span]]:
    """You get in with troll-42-kaffe, the safe opens with 18-33-07: without a name, by its form, by
    whom or what it lets in, and as the end of its clause. Tickets, scores and years let people in
    as well, but not everybody: he got in with 1523. Forms are looked at first: few texts have one.
    """
    for found in TYPED.finditer(text):
        value = bare(found["secret"])
        if not (form := form_of_typed(value)) or stands_for_one(value):
            continue
        start = found.start("secret")
        end = start + len(value)
        behind = found.end() if value == found["secret"] else end
        if not MAY_END.match(text, behind):
            continue
        before = CLAUSE.split(text[max(0, start - LONGEST_CLAUSE) : found.start()])[-1]
        for way in WAYS_IN:
            if form in way.forms and way.behind.match(text, behind) and way.before.search(before):
                yield "password", (start, end)
                break


def _span(found: re.Match[str]) -> Span:
    start = found.start("secret")
    return start, start + len(bare(found["secret"]))


def _keys(text: str, plain: str) -> Iterator[tuple[Kind, Span]]:
    """Formats are looked for in what stands together without a space, all else everywhere."""
    runs = [run.span() for run in _RUN.finditer(text) if _DIGIT.search(text, *run.span())]
    joined = "\n".join(text[start:end] for start, end in runs)
    begins = list(accumulate((end - start + 1 for start, end in runs), initial=0))
    for kind in KEYS:
        for found in _found(kind, text, plain) if kind.spaced else _within(kind, joined, begins):
            shift = 0
            if not kind.spaced:
                which = bisect(begins, found.start()) - 1
                shift = runs[which][0] - begins[which]
            start, end = found.span(_group(kind))
            if _is_key(kind, found[_group(kind)]):
                yield kind, (start + shift, end + shift)


def _group(kind: Kind) -> str | int:
    return "secret" if "secret" in kind.pattern.groupindex else 0


def _found(kind: Kind, text: str, plain: str) -> Iterator[re.Match[str]]:
    if kind.hint not in text:
        return
    if kind.begins:
        matches = (kind.pattern.match(text, at) for at in _places(plain, kind.begins))
        yield from filter(None, matches)
    else:
        yield from kind.pattern.finditer(text)


def _within(kind: Kind, joined: str, begins: Sequence[int]) -> Iterator[re.Match[str]]:
    """In those of the runs, one on a line, that have the hint in them."""
    at = joined.find(kind.hint)
    while at >= 0:
        which = bisect(begins, at)
        yield from kind.pattern.finditer(joined, begins[which - 1], begins[which])
        at = joined.find(kind.hint, begins[which])


def _called(text: str, places: Mapping[str, list[int]]) -> Iterator[tuple[str, Span]]:
    for kind in CALLED:
        done = 0
        for at in sorted(chain.from_iterable(places.get(word, ()) for word in kind.begins)):
            if at >= done and (found := kind.pattern.match(text, at)):
                done = found.end()
                yield from ((KIND_CALLED[kind.rule], span) for span in kind.secrets(found))


def _shown(text: str, plain: str) -> Iterator[tuple[str, Span]]:
    for kind in SHOWN:
        for found in _found(kind, text, plain):
            group = _group(kind)
            if not stands_for_one(found[group]) and (
                kind.name != "bank account" or is_account(found[0])
            ):
                start = found.start(group)
                yield kind.name, (start, start + len(bare(found[group])))


def _is_key(kind: Kind, value: str) -> bool:
    if kind.name == "private key":
        return True
    if EXAMPLE in value.casefold():
        return False
    if kind.name == "credentials in a URL":
        return not stands_for_one(value)
    if kind.name == "token in the path of a URL":
        return is_token(value)
    return is_random(value)


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
