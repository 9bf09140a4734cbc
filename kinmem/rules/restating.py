"""How people say that something has changed, and what they then say it is.

"Tom now works at Bosch" corrects "Tom works at Siemens": without the cue both have one form, and
what differs is the value alone. Patterns for en, de, fr, es, it and pt; what no pattern knows stays
as it is.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from kinmem.text import words


class Restated(NamedTuple):
    """What a text says is so now."""

    text: str
    """Without its cues: Tom works at Bosch. Of what has ended, what was so: I drink coffee."""
    corrects: bool
    """Whether it says that it was otherwise."""
    ends: bool
    """Whether it says that this is so no longer, and not what is instead."""
    instead_of: str
    """What was so before, if it is named; else empty."""


@lru_cache(maxsize=2048)
def restated(text: str) -> Restated:
    """The statement behind the cues. A text without any is given back as it is. Never raises."""
    if _BEGINNINGS.isdisjoint(word[:5] for word in words(text)):
        return Restated(text, False, False, "")
    now, former = _without_former(text, NO_LONGER)
    now, ends = _ended(now)
    if not former:
        now, former = _without_former(now, FORMER)
    now, moved = _replaced(now, MOVED)
    now, cued = _replaced(now, CUES)
    now = _NEW.sub(r"\1 ", now)
    now = _tidy(now) if now != text else text
    return Restated(now, moved or cued or ends or bool(former), ends, former)


Rule = tuple[re.Pattern[str], str]


def _rules(*rules: tuple[str, str]) -> tuple[Rule, ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), put) for pattern, put in rules)


# Each gap in a pattern is bounded, so that time grows with the length alone.
_GAP = r"[^.!?;\n]{0,60}?"

ENDED = _rules(
    (rf"\b(?:do|did)(?:n['’]t| not)\b ({_GAP})\s?\b(?:any ?more|any longer)\b", r"\1"),
    (rf"\bdoes(?:n['’]t| not)\b ({_GAP})\s?\b(?:any ?more|any longer)\b", r"\1"),
    (rf"(?:n['’]t| not)\b ({_GAP})\s?\b(?:any ?more|any longer)\b", r" \1"),
    (r"\bno longer (?!than\b)(?=\w)", ""),
    (r"\b(?:have |has |'ve |'s )?(?:stopped|quit|given up|gave up) (?=\w+ing\b)", ""),
    (rf"\bnicht ({_GAP})\s?\bmehr\b(?! als)", r"\1"),
    (rf"\bkein(en|e|er|em|es)? ({_GAP})\s?\bmehr\b(?! als)", r"\2"),
    (r"\bn(?:e |['’])(\w+) (?:plus)\b", r"\1"),
    (r"\bya no (?=\w)", ""),
    (r"\bnon (\w+) più\b(?! d[ie])", r"\1"),
    (r"\bnão (\w+) mais\b(?! d[eo]| que)", r"\1"),
    (r"\bjá não (?=\w)", ""),
)
"""It was so, and is so no longer: what was."""

LEFT = _rules(
    (
        r"^(I|we)(?: have|['’]ve)? (?:just |recently )?(?:quit|left|resigned from|lost) "
        r"(?:my|our) (?:job|position|post) (?:at|with) ",
        r"\1 work at ",
    ),
    (
        r"^(\w+)(?: has|['’]s)? (?:just |recently )?(?:quit|left|resigned from|lost) "
        r"(?:his|her|their) (?:job|position|post) (?:at|with) ",
        r"\1 works at ",
    ),
    (r"^(I|we)(?: have|['’]ve)? (?:sold|given away|gave away) (?:my|our) ", r"\1 have a "),
    (r"^(\w+)(?: has|['’]s)? (?:sold|given away|gave away) (?:his|her|their) ", r"\1 has a "),
)
"""An end told as an event, as what was so before it."""

_END = r"(?=[.,;!?\n]|$)"
_IT = rf"(?P<former>{_GAP})"
_FEW = r"(?P<former>(?:\w+ ?){1,4})"
NO_LONGER = _rules(
    (rf"(?:,| and| but) not {_FEW}(?:any ?more|any longer){_END}", ""),
    (rf"(?:,| und| aber) nicht mehr {_FEW}{_END}", ""),
    (rf"(?:,| et| mais) (?:et )?plus (?:à|en|chez) {_FEW}{_END}", ""),
    (rf"(?:,| y| pero) ya no (?:en )?{_FEW}{_END}", ""),
)
"""Beside what is so now, what is so no longer."""
FORMER = _rules(
    (rf"\s?,?\b(?:instead of|rather than|in place of) {_IT}{_END}", ""),
    (rf"\s?,?\b(?:statt|anstatt|anstelle von) {_IT}{_END}", ""),
    (rf"\s?,?\b(?:au lieu d[eu’']|plutôt que) ?{_IT}{_END}", ""),
    (rf"\s?,?\b(?:en vez de|en lugar de|em vez de|invece d[ie]l?l?a?) {_IT}{_END}", ""),
    (rf"\bnot (?!only\b|just\b){_IT},? but ", ""),
    (rf"\bnicht (?!nur\b){_IT},? sondern ", ""),
    (rf"\b(?:no|não|non) (?!s[oó]l?o?\b){_IT},? (?:sino|mas sim|bensì) ", ""),
    (rf"(?:,| and) not {_FEW}{_END}", ""),
    (rf"(?:,| und) nicht {_FEW}{_END}", ""),
    (
        r"\b(?P<changed>switched|changed|moved|renamed) (?P<what>(?:[^.!?;,\n]{1,40}? )?)"
        r"from (?P<former>[^.!?;,\n]{1,40}?) (?=to \w)",
        r"\g<changed> \g<what>",
    ),
)
"""What it was before, named."""

_CHANGED = r"(?:moved|changed|switched|postponed|brought forward|rescheduled|raised|lowered|set)"
_THINGS = (
    r"(?:office|company|firm|team|headquarters|shop|store|studio|school|church|gym|clinic|practice"
    r"|server|warehouse|factory|club|class|course|lab|meeting|standup|call|lesson|appointment|party)"
)
_DAYS = r"(?=(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
MOVED = _rules(
    (rf"\b(?:has |have |was |been )*(?:moved|postponed|rescheduled) to {_DAYS}", "is on "),
    (
        rf"^((?:my|our|the|their|his|her) (?:\w+ )?{_THINGS}) (?:has |have )?(?:just |recently )?"
        r"(?:moved|relocated) to ",
        r"\1 is in ",
    ),
    (
        r"^(I|we|they|you)(?: have|['’]ve)? (?:just |recently )?(?:moved|relocated) to\b",
        r"\1 live in",
    ),
    (
        r"^((?:my |our )?(?!the |this |that |has )\w+(?: (?!has\b|just\b|recently\b|moved\b)\w+)?)"
        r"(?: has|['’]s)? (?:just |recently )?(?:moved|relocated) to (?=[^\W\d])",
        r"\1 lives in ",
    ),
    (rf"\b(?:has|have) been {_CHANGED} to\b", "is"),
    (rf"\bwas {_CHANGED} to\b", "is"),
    (r"^(I|we|they)(?: have|['’]ve)? (?:switched|changed) to\b", r"\1 use"),
    (r"^(\w+)(?: has)? (?:switched|changed) to\b", r"\1 uses"),
    (r"\bich bin (?:gerade |jetzt )?nach (\w+) (?:um)?gezogen\b", r"ich wohne in \1"),
    (r"^(\w+) ist (?:gerade |jetzt )?nach (\w+) (?:um)?gezogen\b", r"\1 wohnt in \2"),
    (r"\bj['’]ai déménagé (?:à|en) ", "j'habite à "),
    (r"\bme (?:he mudado|mudé) a ", "vivo en "),
    (r"\bmi sono trasferit[oa] a ", "abito a "),
    (r"\bmudei-me para ", "moro em "),
)
"""A change told as an event, as the state that it led to."""

_WHEN = (
    r"(?:from now on|as of (?:now|today)|from (?:today|tomorrow|next week) on|these days|nowadays"
    r"|since (?:last |this )?(?:week|month|year|yesterday|monday|tuesday|wednesday|thursday|friday)"
    r"|last (?:week|month|year)|ab (?:jetzt|sofort|heute)|von nun an|seit kurzem"
    r"|à partir de maintenant|désormais|dorénavant|a partir de ahora|de ahora en adelante"
    r"|d['’]ora in poi|da ora in poi|a partir de agora|de agora em diante)"
)
CUES = _rules(
    (
        r"^(?:(?:no|sorry|oh|wait|well)[,.] )?(?:actually|correction|update|in fact|i was wrong"
        r"|eigentlich|korrektur|tatsächlich|en fait|en realidad|corrección|in realtà|na verdade"
        r"|correção)\b[,:]? ?",
        "",
    ),
    (r"\bactually ", ""),
    (rf",? ?\b{_WHEN}\b,?", ""),
    (r",? ?\b(?:now|jetzt|inzwischen|mittlerweile|neuerdings|maintenant|ahora|adesso|agora)\b", ""),
    (r"^ora,? |,? ora(?=[.!]?$)", ""),
    (r",? ?\binstead(?=[.,;!]|$)", ""),
)
"""Signs that it was otherwise before; they go."""

_BEGINNINGS = frozenset(
    word[:5]
    for word in (
        "more longer anymore any stopped quit given gave mehr plus ya più mais já instead rather"
        " place statt anstatt anstelle lieu plutôt vez lugar invece not nicht no não non from moved"
        " relocated switched changed been was gezogen umgezogen déménagé mudado mudé trasferito"
        " trasferita mudei on as these nowadays since last ab von seit partir désormais dorénavant"
        " adelante ora actually correction update fact wrong eigentlich korrektur tatsächlich fait"
        " realidad corrección realtà verdade correção now jetzt inzwischen mittlerweile neuerdings"
        " maintenant ahora adesso agora new up postponed rescheduled left resigned lost sold gave"
    ).split()
)
"""Every cue has a word that begins so; most texts have none, and need not be searched."""
_NEW = re.compile(r"\b(my|our|his|her|their|the) new (?=\w)", re.IGNORECASE)


def _ended(text: str) -> tuple[str, bool]:
    for pattern, put in (*ENDED, *LEFT):
        if pattern.search(text):
            return pattern.sub(put, text, count=1), True
    return text, False


def _without_former(text: str, rules: tuple[Rule, ...]) -> tuple[str, str]:
    for pattern, put in rules:
        if found := pattern.search(text):
            now = text[: found.start()] + found.expand(put) + text[found.end() :]
            return now, found["former"].strip()
    return text, ""


def _replaced(text: str, rules: tuple[Rule, ...]) -> tuple[str, bool]:
    before = text
    for pattern, put in rules:
        text = pattern.sub(put, text)
    return text, text != before


def _tidy(text: str) -> str:
    """Single spaces, none before a mark, a capital first."""
    text = re.sub(r"\s+(?=[.,;:!?])", "", " ".join(text.split())).strip(" ,;")
    return text[:1].upper() + text[1:]
