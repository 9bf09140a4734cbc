"""What a statement says exactly: numbers, days, names, addresses, and whether it denies.

Before two statements are called the same, these are compared. If one is missing, they are not the
same, however sure the judge is.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from kinmem.language import lexicon
from kinmem.language.lexicon import FUNCTION_WORDS, table, word_class
from kinmem.language.same import amounts
from kinmem.language.same.amounts import DAY, Figure, figure
from kinmem.language.same.lexemes import Lexeme, lexemes, stem
from kinmem.language.same.similarity import Atoms, contrast, is_content
from kinmem.text import UNSPACED, folded, late, words

Names = Callable[[str], Iterable[str]]
"""The names in a text."""

REWORDED = 0.3
"""Share of the shorter text's words: where fewer are other words, a `not` more turns it round."""
SHORTEST_NAME, SHORTEST_IN_SIGNS = 3, 2
"""Letters; shorter ones are mostly abbreviations: UK, Fr, St. In Chinese one sign is a surname."""
TURNED_ROUND = ("opposite", "question")
WORD_FOR_WORD = (*TURNED_ROUND, "tense", "modality", "quantity", "word")
"""In what close texts must agree (atoms.DIFFERS): of 1,118 that are the same and pass all else it
keeps 18 apart, of 15 that are not 6; form, order and place would keep apart a hundred more."""
DENYING = lexicon.NEGATORS | lexicon.CONCORD | {"do", "does", "did"}
FIRST_PERSON = word_class("first_person")
AGENT = word_class("agent")
"""What names in a passive who does it."""
BINDING = (
    lexicon.QUANTITIES | (lexicon.LINKS - {"who", "which", "that"}) | word_class("turning")
) - word_class("each_time")
"""Words of which it matters what they stand with: only, before, because."""
STRETCHES = frozenset({"h", "day", "week", "month", "year"})
PERHAPS = table("amounts", "perhaps")
"""Words that may be numbers: of what is known they are, of what is new they need not be."""
_ONE = late(r"(?<![\d.,:/-])1(?![\d.,:/-]*\d)")
"""In digits; as a word it is an article as well."""
_DATE = late(r"(?P<year>\d{4}|-)(?:-(?P<month>\d\d))?(?:-(?P<day>\d\d))?")
_PLAIN = late(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_ROW = late(rf"(?:{UNSPACED.pattern})+")
_EQUALS = late(r"\s?=+\s?")
_PER = late(rf"(?<=[\w€$£¥])/(?=(?:{'|'.join(map(re.escape, amounts.UNITS))})\b)", re.IGNORECASE)
_HALF = late(rf"[\d\s][ap]\.?m\b|{amounts.HALVES['a']}|{amounts.HALVES['p']}", re.IGNORECASE)
_NUMBERED = late(r"\bno\.\s?(?=\d)", re.IGNORECASE)
_CAPITAL = late(r"(?<=[\w,;:'’)] )[\"'“(]?([A-ZÀ-ÞА-Я][\w-]+)")


def by_capitals(text: str) -> Iterator[str]:
    """Words with a capital within a sentence: what may be a name, where nobody knows names."""
    found = map(str, _CAPITAL.findall(text))
    return (word for word in found if folded(word) not in FUNCTION_WORDS)


def holds_all(known: str, new: str, names: Names = by_capitals) -> bool:
    """Whether every exact part of the new statement stands in the known one, by its value.

    Two is 2, 45 minutes are three quarters of an hour and 11.10. is the 11th of October; 5 % are
    not 5 €, and 5 alone may be either. A name stands there in the same letters, but for the
    genitive's. Texts in nearly the same words must also agree in all other words that say
    something, those in just the same words in who does it to whom, and the new one is not the known
    one with something added. The known one may hold more.
    """
    ours, theirs = _read(known), _read(new)
    return (
        _has_figures(ours, theirs)
        and all(_has_date(ours, date) for date in theirs.dates)
        and all(_stands_in(known, code) for code in theirs.codes)
        and not _lacks_name(known, names(new))
        and _per_the_same(known, new)
        and not _counts_otherwise(known, new)
        and _agrees_if_close(known, new)
        and not _exchanges(known, new)
        and not _goes_on(known, new)
    )


class Parts(NamedTuple):
    """What is exact in a text, but for its names."""

    figures: Collection[Figure]
    perhaps: Collection[Figure]
    """One, half, second: words that need not be numbers."""
    dates: Collection[str]
    codes: Collection[str]
    """Addresses, paths, versions, identifiers; in the case in which they are compared."""
    beginnings: Collection[str]
    """Three letters of each word: of Wed, and of Mittwochabend."""


def _read(text: str) -> Parts:
    figures, perhaps, dates, codes = set[Figure](), set[Figure](), set[str](), set[str]()
    spelled = amounts.spelled_in_digits(_PER.sub(" / ", _EQUALS.sub(" ", text)))
    tells_half, has_one = bool(_HALF.search(text)), bool(_ONE.search(text))
    for one, follower in pairwise([*lexemes(spelled), Lexeme("", "break")]):
        if one.kind == "number":
            unit = follower.form if follower.kind == "unit" else ""
            found = {figure(part, unit, tells_half) for part in _ranged(one.form)}
            words_only = {one for one in found if one.value == "1" and not has_one}
            figures |= found - words_only
            perhaps |= words_only
        elif one.kind == "date" and not one.form.isalpha():  # today is whatever day it was said
            dates.add(one.form.removesuffix("s"))
        elif one.form.endswith("x") and one.form[:-1].isdecimal():
            figures.add(Figure(one.form[:-1], ""))
        elif one.kind == "name" and not _PLAIN.fullmatch(one.form):
            codes |= {one.form} if re.search(r"\w", one.form) else set()
        elif value := PERHAPS.get(one.form) or PERHAPS.get(one.form[:-1] + "o"):
            perhaps.add(Figure(value, ""))
    return Parts(figures, perhaps, dates, codes, {word[:3] for word in words(text)})


def _ranged(form: str) -> list[str]:
    """From 9:00-17:00 both."""
    parts = form.split("-")
    return [part.zfill(5) if ":" in part else part for part in parts] if all(parts) else [form]


def _has_figures(known: Parts, new: Parts) -> bool:
    """Whether each number of the new one is one of the known one's, or a part of its dates.

    That may be in words: the fourth go, four goes. One is a number where another was said instead.
    """
    ours = {*known.figures, *known.perhaps}
    days = {str(int(part)) for date in known.dates for part in _parts_of(date).values()}

    def stands(one: Figure) -> bool:
        if one in ours or one.unit in ("", "th", "year") and one.value in days:
            return True
        day = DAY.fullmatch(one.value)
        is_date = day is not None and any(_day_of(date) == _pair(day) for date in known.dates)
        return is_date or any(map(one.is_one_with, ours))

    if not all(map(stands, new.figures)):
        return False
    theirs = {*new.figures, *new.perhaps}
    given_up = any(not any(map(one.is_one_with, theirs)) for one in known.figures)
    return not given_up or all(stands(one) for one in new.perhaps if one.value == "1")


def _has_date(known: Parts, date: str) -> bool:
    """Whether the known one has this day, at least as exactly."""
    if date in known.dates:
        return True
    parts = _parts_of(date)
    if not parts:
        names = (name for name, day in amounts.DAY_NAMES.items() if day == date)
        return any(name[:3] in known.beginnings for name in names)
    wanted = None if "year" in parts else _day_of(date)
    written = (DAY.fullmatch(one.value) for one in known.figures)
    if wanted and any(day is not None and _pair(day) == wanted for day in written):
        return True
    told = list(map(_parts_of, known.dates))
    numbers = {one.value for one in known.figures}
    return all(
        any(other.get(name) == part for other in told)
        or (name != "month" and part.lstrip("0") in numbers)
        for name, part in parts.items()
    )


def _parts_of(date: str) -> dict[str, str]:
    """Year, month and day, as far as it has them; a weekday has none."""
    found = _DATE.fullmatch(date)
    parts = found.groupdict() if found else {}
    return {name: part for name, part in parts.items() if part and part != "-"}


def _day_of(date: str) -> set[int] | None:
    """Month and day in any order, as DAY has them."""
    parts = _parts_of(date)
    return {int(parts["month"]), int(parts["day"])} if {"month", "day"} <= parts.keys() else None


def _pair(day: re.Match[str]) -> set[int]:
    return {int(day[1]), int(day[2])}


def _stands_in(text: str, code: str) -> bool:
    whole = rf"(?<![A-Za-z0-9_]){re.escape(code)}(?![A-Za-z0-9_])"
    return re.search(whole, text, re.IGNORECASE) is not None


def _lacks_name(text: str, names: Iterable[str]) -> bool:
    """Whether one has a word that the text has not; of signs without spaces between, a row."""
    told = folded(text)
    said = set(map(_bare, words(_ROW.sub(" ", told))))
    days = [word for word in said if word in amounts.DAY_NAMES]
    named = {word for name in names for word in _in_parts(name)}
    return any(
        word not in (told if UNSPACED.match(word) else said)
        and not any(day.startswith(word) for day in days)
        for word in named
    )


def _in_parts(name: str) -> Iterator[str]:
    """Its words; the small ones beside capitals are none of it: aunt Ida. A name of one word
    is a name even if that is a small word somewhere: Mia, in Italian my."""
    yield from (row for row in _ROW.findall(folded(name)) if len(row) >= SHORTEST_IN_SIGNS)
    capitals = [word for word in _ROW.sub(" ", name).split() if not word.islower()]
    parts = list(map(_bare, words(folded(" ".join(capitals) or name))))
    for word in parts:
        is_small = word in amounts.DAY_NAMES or len(parts) > 1 and word in FUNCTION_WORDS
        if len(word) >= SHORTEST_NAME and not is_small:
            yield from () if UNSPACED.match(word) else (word,)


def _bare(word: str) -> str:
    return re.sub(r"['’]?s$", "", word)


def _agrees_if_close(known: str, new: str) -> bool:
    """Whether texts in nearly the same words deny the same, turn nothing round and have no other
    word in place of one. Other texts may say it the other way: only Ana may, nobody but Ana may."""
    pair = contrast(*(amounts.spelled_in_digits(_NUMBERED.sub("", one)) for one in (known, new)))
    shorter = min(len(pair.left.words), len(pair.right.words))
    is_close = max(_others(pair.lost), _others(pair.gained)) <= max(1, REWORDED * shorter)
    denied = [bool(side.negations) for side in (pair.left, pair.right)]
    kinds = TURNED_ROUND if UNSPACED.search(known + new) else WORD_FOR_WORD
    return not is_close or denied[0] == denied[1] and not pair.differs(kinds)


def _exchanges(known: str, new: str) -> bool:
    """Whether, in just the same words that say something, the parties have changed places: Anna
    manages Ben, Anna is managed by Ben; I manage Ben, Ben manages me."""
    pair = contrast(known, new)
    if _said(pair.left) != _said(pair.right):
        return False
    if BINDING & {*pair.left.words, *pair.right.words} and pair.differs(("order", "form")):
        return True
    ours, theirs = _parties(pair.left), _parties(pair.right)
    is_passive = AGENT.isdisjoint(pair.left.words) != AGENT.isdisjoint(pair.right.words)
    return len(ours) > 1 and (ours == theirs) is is_passive


def _said(side: Atoms) -> Counter[str]:
    return Counter(stem(word) for word in side.words if is_content(word))


def _parties(side: Atoms) -> list[str]:
    return [
        "i" if word in FIRST_PERSON else word.removesuffix("'s")
        for word in side.words
        if word in FIRST_PERSON or word in side.names
    ]


def _per_the_same(known: str, new: str) -> bool:
    """Whether they do not each name another stretch of time, with no number before it: 900 euros a
    month, 900 euros of rent a week."""
    ours, theirs = map(_stretches, (known, new))
    return not ours or not theirs or not ours.isdisjoint(theirs)


def _stretches(text: str) -> set[str]:
    found = {amounts.UNITS.get(one.form) for one in lexemes(text) if one.kind == "word"}
    return {unit for unit in found if unit in STRETCHES}


def _counts_otherwise(known: str, new: str) -> bool:
    """Whether two numbers have changed places: 2 designers and 5 developers, 5 designers and 2."""
    return any(
        _are_exchanged(ours, theirs)
        for ours, theirs in zip(_counted(known), _counted(new), strict=True)
    )


def _are_exchanged(ours: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    shared = [number for number in ours if number in theirs]
    return any(
        ours[one] == theirs[other] != ours[other] == theirs[one]
        for at, one in enumerate(shared)
        for other in shared[at + 1 :]
    )


def _counted(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """By number what stands next behind it, and what is said first since the number before."""
    behind, before = dict[str, str](), dict[str, str]()
    number = said = ""
    for one in lexemes(amounts.spelled_in_digits(_PER.sub(" / ", text))):
        if one.kind == "number":
            number = one.form
            if said:
                before.setdefault(number, said)
            said = ""
        elif one.kind == "unit" or one.kind in ("word", "name") and is_content(one.form):
            said = "" if one.kind == "unit" else said or stem(one.form)
            if number:
                behind.setdefault(number, stem(one.form))
            number = ""
    return behind, before


def _others(found: Counter[str]) -> int:
    """How many words there are besides those that deny: do not."""
    return sum(count for word, count in found.items() if word not in DENYING)


def _goes_on(known: str, new: str) -> bool:
    """Whether the new one has all words of the known one in their order, and says more besides."""
    pair = contrast(known, new)
    rest = iter(pair.right.words)
    return any(map(is_content, pair.gained)) and all(word in rest for word in pair.left.words)
