"""Of whom or what a statement is, and whether it tells something of them that lasts.

By its first words, in six languages: a name, a relative, a thing of one's work. Precision before
recall: where the words say nothing for certain, it is of nobody.
"""

import re
from typing import NamedTuple

from kinmem.rules.grammar import FUNCTION_WORDS
from kinmem.rules.pattern import Pattern
from kinmem.rules.same.amounts import CAPITAL_MONTHS, DAY_NAMES
from kinmem.rules.talk import about_words as told
from kinmem.rules.talk.cues import KIN, KIN_ABROAD
from kinmem.text import STOP_WORDS

WORD = r"(?-i:[A-ZÀ-Þ][\w’-]*[^\W_])"
NAME = rf"{WORD}(?: (?:(?:van|von|de|da|del|di|der) )?{WORD}){{0,2}}"
MINE = (
    r"my|our|meine?|unsere?|ma|mon|notre|mi|nuestr[oa]|(?:il |la )?(?:mi[oa]|nostr[oa])"
    r"|(?:o |a )?(?:meu|minha|noss[oa])"
)
THE = r"the|our|my|der|die|das|le|la|l['’]|el|il|lo|o|a|los|las|les"
RELATIVE = rf"(?:{KIN}|{KIN_ABROAD}|cão|cadela|gato|landlord|vermieter(?:in)?|housemate|flatmate)"
NEGATED = rf"(?:(?:{told.BEFORE_VERB}) ?\b){{0,3}}"
ONE = rf"(?P<who>{NAME})"
TELLS = (
    rf"(?:{NEGATED}(?:{told.DOES})\b|{NEGATED}(?:{told.IS}) (?:{told.STATE})"
    rf"|{NEGATED}(?:{told.HAS})\b"
    rf"|(?:ist|sind|hat|haben) [^.?!]{{1,60}}\b\w{{0,10}}ge\w{{2,16}}(?:t|en)\b"
    rf"|(?:si |se |s['’])?(?:a|ont|est|sont|ha|hanno|è|sono) \w{{2,16}}(?:é|i|u|at|it"
    rf"|ut)(?:e?s?|[oaie])\b"
    rf"|(?:se )?\w{{2,16}}(?:ó|aron|ieron|eram|aram|iram)\b|\w{{3,16}}ou\b(?<!you))"
)
AND = r"(?:and|und|et|y|e|ed)"
OF_TWO = Pattern(rf"(?P<who>{WORD} {AND} {WORD}) {TELLS}")
OF_ONE = Pattern(
    rf"(?:A )?{ONE} (?!(?:ich|wir|er|man|du)\b){TELLS}(?! (?:ich|wir|er|man|du|mir)\b)"
)
OF_HIM = Pattern(rf"(?:she|he|they|er|sie|il|elle|ils|elles|él|ella|lui|lei|ele|ela) {TELLS}")
OF_WHOLE_NAME = Pattern(rf"(?P<who>{WORD} {WORD}) (?:is|was|has|ist|hat|est|es|è|é)\b")
OWNS = Pattern(rf"(?P<who>{NAME})['’]s? {told.POSSESSED}\b")
OF_RELATIVE = Pattern(
    rf"(?:a |à |al )?(?:{MINE}) (?:\w+ )?(?P<what>{RELATIVE})(?:,? (?:is |named |called )?"
    rf"(?P<who>{WORD}),?)? (?=[a-zà-ÿ])"
)
OF_THING = Pattern(
    rf"(?:(?:{THE}|{MINE}) ?\b(?P<what>(?:(?!of\b|and\b|in\b)[\w-]+ ){{0,2}}?(?:{told.THING}))"
    rf"|(?:project|projekt|projet|proyecto|progetto|projeto) (?P<who>{WORD}(?: {WORD})?))"
    rf"(?: (?!{told.TROUBLE})(?P<how>{told.SET_UP})|(?= (?:{told.GOES})\b|['’]s ))"
)
PLURAL = Pattern(r"\b(deploy|deployment|release|build|pipeline|server|backup|service|sprint)s$")
UNREAL = Pattern(rf"\W*(?:{told.UNREAL})")
FICTION = Pattern(rf"\b(?:{told.FICTION})\b")
JOKING = Pattern(rf"(?<!\w)(?:{told.JOKING})(?!\w)|[😂🤣😜]")
ANYBODY = Pattern(rf"(?:{told.ANYBODY})\b")
ANY_OF_KIND = Pattern(told.ANY_OF_KIND)
KIND_OF = Pattern(rf"[^,;]{{2,40}}? (?:{told.KIND_OF})")
TASK = Pattern(told.TASK)
I_DO = Pattern(r"\b(?:i|we|ich|wir|je|j['’]|nous|yo|eu|io)\b")
WOULD = Pattern(r"\b(?:would|might|could)\b")
QUOTES = r"[\"“”„«»]"
QUOTED = re.compile(
    rf"\W{{0,2}}{QUOTES}[^\"“”„«»]+{QUOTES}|.*\b(?:said|says|sagte?|dit|dijo|disse|wrote|schrieb)"
    rf"[,:]? {QUOTES}"
)
HE = Pattern(
    r"(?:(?:she|they|it|that|this|er|es|das|il|elle|ils|elles|él|ella|ellos|lui|ele|ela|eles)\b"
    r"|he(?! \w+(?:ado|ido|cho|sto|rto)\b)\b|(?:his|her|its|their|sein\w*|ihr\w*|su|leur) \w)"
)
"""Whoever was named before."""
NEVER = (FUNCTION_WORDS | frozenset().union(*STOP_WORDS.values()) | DAY_NAMES.keys()) - {"mia"}
MONTHS = frozenset(month.casefold() for month in CAPITAL_MONTHS)


class About(NamedTuple):
    """What the first words of a statement tell."""

    subject: str | None
    """A name, or what somebody is to the speaker; None where it is of two, or nobody knows."""
    lasts: bool
    """It is a fact about them that may be asked for later."""


NOBODY = About(None, False)
HEAD = 200
"""Characters that are looked at."""


def about(text: str) -> About:
    """Of whom or what the statement is, as far as its wording leaves no doubt."""
    text = text[:HEAD]
    if ANYBODY.match(text) or ANY_OF_KIND.match(text):
        return NOBODY
    if WOULD.search(text):
        return NOBODY
    if (found := OF_TWO.match(text)) and _is_name(found["who"]):
        return About(None, True)
    if OF_HIM.match(text):
        return About(None, True)
    for pattern in (OF_ONE, OWNS):
        found = pattern.match(text)
        if found and _is_name(found["who"]):
            return About(found["who"], True)
    if found := OF_RELATIVE.match(text):
        return About(found["who"] or found["what"], False)
    if found := OF_THING.match(text):
        what = found["who"] or PLURAL.sub(r"\1", found["what"])
        return About(what, found["how"] is not None)
    if (found := OF_WHOLE_NAME.match(text)) and _is_name(found["who"]):
        return About(found["who"], False)
    return NOBODY


def _is_name(text: str) -> bool:
    first = text.split()[0].casefold()
    return first not in NEVER and first not in MONTHS


def is_unreal(text: str, whole: str, *, own: bool = False) -> bool:
    """Whether it is said of nobody there is, or of everybody: a thought, a joke, a quotation, what
    everyone knows, what an assistant is to make. `whole`: the sentence it is from; `own`: it speaks
    of the speaker, who may well say what he would do."""
    if (
        ANYBODY.match(text)
        or ANY_OF_KIND.match(text)
        or FICTION.match(text)
        and not I_DO.search(text)
    ):
        return True
    if own and not refers_back(text):
        return False
    return bool(
        UNREAL.match(text)
        or QUOTED.match(whole)
        or JOKING.search(whole)
        or FICTION.search(text)
        or KIND_OF.match(text)
        or TASK.match(text)
    )


def refers_back(text: str) -> bool:
    """Whether only what was said before it tells of whom it is: She likes dogs."""
    return HE.match(text) is not None
