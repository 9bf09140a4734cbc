"""Relative times get their date beside them, so that a sentence stays true: yesterday (2023-05-07).

What `when_phrases` finds is used as far as it can mean only one stretch of time, and the times to
come, which questions never ask for. A date is ISO 8601; a stretch has a slash: 2023-05-01/07.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache

from kinmem.rules.pattern import Pattern
from kinmem.rules.when_calendar import MEANINGS, Slots, Stretch, day_of
from kinmem.rules.when_phrases import WINDOW, Anchor, Grammar, Plain, grammar, likely_languages
from kinmem.rules.when_words import Language

RELATIVE = frozenset(
    {"today", "yesterday", "day before yesterday", "last night", "part of today", "this unit"}
    | {"last unit", "ago", "this weekend", "last weekend", "last weekday", "last month name"}
    | {"last season"}
)
# Templates as in when_words: lower case, no accents.
AHEAD: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "tomorrow": ("tomorrow{part}",),
        "overmorrow": ("(?:the )?day after tomorrow",),
        "next unit": ("next {period}",),
        "next weekend": ("next weekend",),
        "in units": ("in {n} {unit}",),
    },
    "de": {
        "tomorrow": (
            "(?<!heute )(?<!gestern )(?<!am )(?<!guten )(?<!jeden )(?<!diesen )morgen{part}",
        ),
        "overmorrow": ("ubermorgen",),
        "next unit": ("(?:in der |im )?nachste[nrs]? {period}", "kommende[nrs]? {period}"),
        "in units": ("in {n} {unit}",),
    },
    "fr": {
        "tomorrow": ("(?<!apres-)demain",),
        "overmorrow": ("apres-demain",),
        "next unit": ("(?:la |le |l')?{period} prochaine?",),
        "in units": ("dans {n} {unit}",),
    },
    "es": {
        "tomorrow": ("(?<!la )(?<!esta )(?<!pasado )manana",),
        "overmorrow": ("pasado manana",),
        "next unit": ("(?:la |el )?proxim[oa] {period}", "(?:la |el )?{period} que viene"),
        "in units": ("(?:dentro de|en) {n} {unit}",),
    },
    "it": {
        "tomorrow": ("domani",),
        "overmorrow": ("dopodomani",),
        "next unit": ("(?:la |il |l')?prossim[oa] {period}", "(?:la |il |l')?{period} prossim[oa]"),
        "in units": ("(?:tra|fra) {n} {unit}",),
    },
    "pt": {
        "tomorrow": ("(?<!depois de )amanha",),
        "overmorrow": ("depois de amanha",),
        "next unit": ("(?:n?[ao] )?proxim[oa] {period}", "(?:n?[ao] )?{period} que vem"),
        "in units": ("(?:daqui a|em) {n} {unit}",),
    },
}
HINT = Pattern(
    r"\b(?:today|tonight|\w+day|\w+tag|mittwoch|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo|\w+d[iì]|sabato|domenica|\w+-feira"
    r"|tonight|yesterday|tomorrow|ago|last|next|this|past|previous|in (?:a|an"
    r"|\w{1,6}) \w+"
    r"|heute|gestern|vorgestern|morgen|[uü]bermorgen|vor|letzt\w*|vorig\w*|n[aä]chst\w*|kommend\w*"
    r"|dies\w*|aujourd|hier|avant-hier|demain|apr[eè]s-demain|derni\w*|prochain\w*|il y a|dans"
    r"|ce|cette|hoy|ayer|anteayer|anoche|ma[nñ]ana|pasad[oa]|pr[oó]xim[oa]|hace|dentro|viene"
    r"|est[ae]"
    r"|oggi|ieri|domani|dopodomani|scors[oa]|passat[oa]|prossim[oa]|fa|tra|fra|quest\w*"
    r"|hoje|ontem|anteontem|amanh[aã]|passad[oa]|h[aá]|atr[aá]s|vem|daqui|n?ess?[ae])\b"
)


def dated(text: str, said: datetime) -> str:
    """The text with dates behind its relative times; the same text where there are none.

    `said` is a moment in the speaker's zone. Never raises.
    """
    if not HINT.search(text):
        return text
    plain = Plain.of(text)
    for language in likely_languages(plain):
        marks = dict(_marks(plain, language, said.date()))
        if marks:
            return _marked(text, plain, marks)
    return text


def _marks(plain: Plain, language: Language, today: date) -> Iterator[tuple[int, str]]:
    """Places in the plain text and what is to stand there."""
    speech = grammar(language)
    past = speech.speaks_of_past(plain)
    found = [one for one in speech.anchors(plain.text) if _is_sure(one, plain, speech, past)]
    ahead = _ahead(language).anchors(plain.text)
    found += [one for one in ahead if not (past and one.meaning == "in units")]  # it took so long
    for anchor in found:
        if speech.not_before.match(plain.text, anchor.end) or plain.text[anchor.end :][:2] == " (":
            continue
        try:
            yield anchor.end, _spelled(_stretch(anchor, today))
        except (ValueError, OverflowError):  # beyond the calendar
            continue


def _is_sure(anchor: Anchor, plain: Plain, speech: Grammar, past: bool) -> bool:
    """Whether it means one stretch only. A weekday does in a sentence that only looks back."""
    if anchor.meaning != "weekday":
        return anchor.meaning in RELATIVE
    link = speech.link.search(plain.text, max(0, anchor.start - WINDOW), anchor.start)
    on = link is None or link.lastgroup == "in"
    return past and on and not speech.refuses(plain.text, [anchor])


@cache
def _ahead(language: Language) -> Grammar:
    return Grammar(replace(language, phrases=AHEAD[language.name]))


def _stretch(anchor: Anchor, today: date) -> Stretch:
    slots = anchor.slots
    match anchor.meaning:
        case "tomorrow":
            return day_of(today + timedelta(days=1))
        case "overmorrow":
            return day_of(today + timedelta(days=2))
        case "next unit":
            return _on(slots.unit, 1, today)
        case "in units":
            return _on(slots.unit, slots.n, today)
        case "next weekend":
            return MEANINGS["this weekend"](slots, today + timedelta(weeks=1))
        case _:
            return anchor.stretch(today)


def _on(unit: int, count: int, today: date) -> Stretch:
    """The whole day, week, month or year so many of them on."""
    return MEANINGS["ago"](Slots(n=-count, unit=unit), today)


def _spelled(stretch: Stretch) -> str:
    """2023-05-07, 2023-05-01/07, 2023-05-29/06-04, 2023-04, 2022, or 2022-06/08."""
    first = stretch[0].date()
    last = (stretch[1] - timedelta(microseconds=1)).date()
    if (stretch[1] - stretch[0]) <= timedelta(hours=24):
        return first.isoformat()
    whole_months = first.day == 1 and stretch[1].day == 1
    if whole_months and (first.month, last.month) == (1, 12):
        return f"{first.year}"
    start, end = (day.isoformat()[: 7 if whole_months else 10] for day in (first, last))
    if start == end:
        return start
    same = 8 if start[:7] == end[:7] else 5 if start[:4] == end[:4] else 0
    return f"{start}/{end[same:]}"


def _marked(text: str, plain: Plain, marks: dict[int, str]) -> str:
    parts: list[str] = []
    done = 0
    for end in sorted(marks):
        place = plain.places[end - 1] + 1
        parts += [text[done:place], f" ({marks[end]})"]
        done = place
    return "".join([*parts, text[done:]])
