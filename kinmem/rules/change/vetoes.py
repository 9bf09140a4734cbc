"""What forbids that one statement ends another, whatever else speaks for it.

A veto stands above every rule and every model that ends something. It is read from how the two
texts are built: numbers that tell which thing is meant, the form of the verb, quotation marks, who
owns what. Word lists are only closed classes: conjunctions, articles, the words for this and until.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from kinmem.rules import grammar, vocabulary
from kinmem.rules.change import events
from kinmem.rules.change import words as signs
from kinmem.rules.change.restating import restated
from kinmem.rules.change.restating_words import ANNOUNCING
from kinmem.rules.change.sides import (
    ARTICLES,
    SELF,
    STOPS,
    VERBS,
    Side,
    among,
    is_cued,
    lacking,
    numbers_in,
    side_of,
)
from kinmem.rules.pattern import Pattern
from kinmem.rules.same.discourse import is_talking, stated
from kinmem.rules.talk.done import FICTION, HAPPENED, JOKING, UNREAL
from kinmem.rules.talk.talk_words import IMPERATIVES
from kinmem.text import folded

Veto = Callable[[str, str], bool]
HEARSAY = "somebody else is said to say so"
"""It ends nothing, but may be so."""


@lru_cache(maxsize=4096)
def veto(known: str, new: str) -> str | None:
    """Why the new statement must not end the known one; None: nothing forbids it. Never raises."""
    return next((reason for reason, forbids in VETOES if forbids(known, new)), None)


def is_of_others(text: str) -> bool:
    """Whether it is quoted, reported, imagined or joked."""
    unreal = UNREAL.match(text) or FICTION.search(text) or JOKING.search(text)
    return bool(unreal or _QUOTATION.search(text)) or _is_reported(text)


def _is_of_others(known: str, new: str) -> bool:
    return is_of_others(new) or _is_headed(known, new)


def _is_headed(known: str, new: str) -> bool:
    """Whether it stands below a heading that names nothing known: Forum post: sold my bike."""
    head, colon, rest = new.partition(": ")
    if not colon or ANNOUNCING.match(new) or min(len(head.split()), len(rest.split()) // 2) < 2:
        return False
    named = side_of(head).content
    return bool(named) and lacking(named, side_of(known)) == named


_QUOTATION = re.compile(
    r"[\"“”„«»「『]\s?(?:[^\s\"“”„«»」』]+\s+){2,}[^\"“”„«»」』]+"
    r"|(?<!\w)['‘](?:[^\s'’]+(?:'\w+)?\s+){2,}[^'’]+['’](?!\w)"
)
"""At least three words in quotation marks; a name or a title is shorter."""


def _is_reported(text: str) -> bool:
    """Whether somebody else speaks behind a colon: my colleague said: I have two cats."""
    head, colon, rest = text.partition(": ")
    first = side_of(rest).words[:1]
    return bool(
        colon and not ANNOUNCING.match(text) and len(head.split()) > 2 and set(first) & SELF
    )


def _is_hearsay(known: str, new: str) -> bool:
    """Whether it stands in or before a clause by which somebody else says so: Tom says the port is
    8081 now; the port is 8081 now, or so they say."""
    begins, now = side_of(known).words[:2], side_of(stated(new))
    start = next((at for at in range(2, len(now.words)) if now.words[at : at + 2] == begins), 0)
    frame = now.words[: start - (now.words[start - 1] in _THAT)] if start else ()
    if len(frame) == 2 and frame[0] in now.names | _OTHERS and not now.found.dates:
        return frame[1] not in _LINKS
    *_, aside = new.split(",")
    said = side_of(aside).words if aside != new else ()
    is_aside = len(said) <= LONGEST_ASIDE and side_of(known).content.isdisjoint(said)
    return _is_saying(frame) or is_aside and _is_saying(said)


def _is_saying(clause: Sequence[str]) -> bool:
    """Whether it is about saying, and who says it is neither speaker nor hearer."""
    if not any(map(is_talking, clause)) or clause[-1] in _LINKS or not _I.isdisjoint(clause):
        return False
    return any(word in _OTHERS or word not in STOPS and not is_talking(word) for word in clause)


LONGEST_ASIDE = 4
"""Words; what is longer may be a reason."""
_THAT = frozenset("that dass que che".split())
_I = frozenset("i we ich wir je j nous yo nosotros io noi eu you du ihr tu vous".split())
_OTHERS = frozenset(map(folded, grammar.PRONOUNS)) - SELF - _I
_LINKS = STOPS - frozenset(map(folded, grammar.PRONOUNS))


def _is_asked(known: str, new: str) -> bool:
    return bool(_QUESTION.search(new) or _QUESTION.search(known))


_QUESTION = re.compile(r"[?？¿]")


def _is_conditional(known: str, new: str) -> bool:
    """Whether it begins with a condition."""
    return bool(_IF.match(new.lstrip("¡ ")))


_IF = re.compile(
    r"(?:if|unless|should|suppose|supposing|provided|imagine|wenn|falls|sofern|si|s['’]il|se|caso)\s",
    re.I,
)


def is_order(text: str) -> bool:
    """Whether it begins with a verb that tells somebody to do something.

    A statement has a subject before its verb, or tells by the verb's ending whose it is.
    """
    words = side_of(_POLITE.sub("", text)).words
    if len(words) < 2 or words[0] in STOPS | SELF | ARTICLES:
        return bool(_NEGATED_ORDER.match(text))
    first, second = words[:2]
    if first in IMPERATIVES and second not in _IS:
        return True
    found = _FIRST.match(_POLITE.sub("", text))
    if found is None or first in _PAST or signs.CUE.fullmatch(first):
        return False
    return not found[1].lower().endswith(_INFLECTED) and second in _ARTICLES | _OBJECTS


_POLITE = re.compile(
    r"^(?:please|pls|bitte|por favor|per favore|s'il (?:te|vous) pla[iî]t)[, ]+", re.IGNORECASE
)
_NEGATED_ORDER = re.compile(r"(?:please )?(?:do not|don['’]t)\s", re.IGNORECASE)
_IS = frozenset("is are was were has have had ist sind war est sont es son e sono".split())
_OBJECTS = frozenset("me us him them this that these those mir uns mal bitte".split())
_FIRST = re.compile(r"([^\W\d_]+)\s")
_ARTICLES = ARTICLES - {"a", "o"}
_PAST = frozenset(map(folded, vocabulary.PAST | {"quit", "let", "have", "has"}))
_INFLECTED = ("ed", "ing", "s", "o", "mos", "é", "í", "ou", "eu", "iu", "i", "aron", "ly")


def _is_task(known: str, new: str) -> bool:
    """Whether the new one only asks for something to be done, and known is no order itself."""
    if not is_order(new) or is_order(known) or signs.STANDING.search(side_of(new).text):
        return False
    return not restated(new).instead_of


def is_rule(text: str) -> bool:
    """Whether it forbids or orders something for good."""
    side = side_of(text)
    return bool(_FOR_GOOD & set(side.words)) or is_order(text)


_FOR_GOOD = frozenset(
    "never always only must nie niemals immer nur stets muss darf durfen jamais toujours"
    " uniquement seulement nunca siempre solo solamente mai sempre soltanto so sempre"
    " somente apenas everytime".split()
) - {"so"}


def _is_rule_untouched(known: str, new: str) -> bool:
    """Whether a rule is known, and the new one does not say of that rule that it has changed."""
    if not is_rule(known):
        return False
    rule, now = side_of(known), side_of(new)
    said = restated(new)
    if not (is_cued(now) or said.corrects or said.ends or said.instead_of):
        return not _is_same_frame(rule, now)
    missing = lacking(rule.content - VERBS - _FOR_GOOD, now)
    return len(missing) > 0.5 * len(rule.content - VERBS - _FOR_GOOD)


def _is_same_frame(rule: Side, now: Side) -> bool:
    return rule.words[:2] == now.words[:2] and len(lacking(rule.content, now)) <= 1


def happened(text: str) -> bool:
    """Whether it tells what was done at some time, and not how something is.

    Who moved to Oslo lives there: undated, that tells of a state.
    """
    said = restated(text)
    if said.corrects and not side_of(text).found.dates:
        text = said.text
    side = side_of(text)
    before = ("", *side.words)
    return bool(HAPPENED.search(text) or _DONE.search(text)) or any(
        (word in _DID or word.endswith("ed") and len(word) > 4 and word.isalpha())
        and last not in _NO_SUBJECT
        for last, word in zip(before, side.words, strict=False)
    )


_DID = frozenset(map(folded, vocabulary.PAST)) - frozenset(
    "habe had used left found felt kept led hier fu read".split()
)
_NO_SUBJECT = (
    ARTICLES
    | frozenset(
        "is are be am being been was were isn't aren't not get gets newly to so very".split()
    )
    | frozenset(map(folded, grammar.PLACES))
)
"""Before a participle these make it a quality: the shared drive, is based in."""
_DONE = Pattern(
    r"\b(?:hat|haben|wurden?|hatten?)\b[^.?!,]{1,80}?\b(?:\w{0,10}ge\w{2,20}(?:t|en)|\w{3,20}iert"
    r"|(?:ver|be|er|ent|zer|über)\w{2,16}(?:t|en))(?=\W*$|[.,;!])"
    r"|\b(?:a|ont) (?!lieu)\w{2,18}(?:é|u|it|is)e?s?\b"
    r"|\b(?:ha|han|hanno) \w{2,18}(?:[aiu][dt]o|cho|sto|tto)\b"
    r"|\b\w{2,18}(?:ó|aron|ieron|aram|eram|iram|ámos)\b|\b\w{3,16}ou\b(?<!you)"
)
"""The perfect and the preterite where they are told by their endings."""


def _both_happened(known: str, new: str) -> bool:
    return happened(known) and happened(new)


def _is_passing(known: str, new: str) -> bool:
    """Whether the new one is said of one time only, and the known one is not."""
    now = side_of(new)
    if _BRIEFLY.search(new) and not _BRIEFLY.search(known):
        return True
    if _WHILE.search(known) or happened(new) or signs.STANDING.search(now.text):
        return False
    if _WHILE.search(new):
        return True
    since = (side_of(found[0]).found.dates for found in signs.CUE.finditer(now.text))
    gained = now.found.dates.difference(*since) - _habits(now)
    dated = gained and not side_of(known).found.dates
    return bool(dated and not _SINCE.search(new) and len(now.amounts - gained) > 0)


def _habits(side: Side) -> frozenset[str]:
    return frozenset(day for day in side.found.dates if day.endswith("s"))


_SINCE = re.compile(
    r"\b(?:since|from|as of|starting|effective|ab|seit|depuis|dès|à partir|desde|a partir|dal?"
    r"|das?)\b",
    re.IGNORECASE,
)
_WHILE = re.compile(
    r"(?<!from )(?<!starting )(?<!since )(?<!of )(?<!seit )(?<!ab )(?<!depuis )(?<!desde )(?<!da )"
    r"\b(?:today|tonight|tomorrow|heute(?! an)|morgen(?!s)|hoy|oggi|hoje|ce soir|stasera|esta noche"
    r"|(?:this|diese[nrsm]?|cette|ce|est[ae]|questa?|nesta?) (?:one|once|time|single|mal|\w+day"
    r"|\w+tag|\w*woch\w*|week|weekend|month|morning|afternoon|evening|wochenende|monat|semaine|mois"
    r"|fois|semana|mes|vez|settimana|mese|volta|mês))\b(?!['’]s)"
    r"|\b(?:until|till|jusqu['’]\w+|hasta|fino (?:a|al|alla|alle)|até)\b|\bbis (?:zum|morgen|\d)",
    re.IGNORECASE,
)
"""A time that ends by itself, unless it says since when or from when on."""
_BRIEFLY = re.compile(
    r"\b(?:briefly|temporarily|for now|just for|for the moment"
    r"|for (?:an?|\w+) (?:hours?|days?|minutes?|weeks?)|vorübergehend|ausnahmsweise"
    r"|pour l['’]instant|por ahora|per ora|por agora)\b",
    re.IGNORECASE,
)


def _tells_of_past(known: str, new: str) -> bool:
    now = side_of(new)
    told = (*events.TURNED.values(), events.ENDING)
    return bool(signs.PAST.search(now.text)) and not (
        restated(new).corrects or is_cued(now) or any(event.search(now.text) for event in told)
    )


def _are_two_things(known: str, new: str) -> bool:
    """Whether a number, a code or a letter tells that they speak of two: server 3, server 4."""
    ours, theirs = _labels(known), _labels(new)
    for label in ours.keys() & theirs.keys():
        if ours[label].isdisjoint(theirs[label]):
            if any(one in side_of(new).words for one in ours[label]):
                continue  # from 18 to 22
            if not _is_value(known, new, ours[label]):
                return True
    return False


@lru_cache(maxsize=2048)
def _labels(text: str) -> dict[str, frozenset[str]]:
    """Which ones are meant, by what they are: server: 3, web-: web-1."""
    found: dict[str, set[str]] = {}
    for label, token in _labelled(text):
        found.setdefault(label, set()).add(token)
    return {label: frozenset(tokens) for label, tokens in found.items()}


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    said = [word for word in _TOKEN.findall(text) if folded(word) not in _NUMBER]
    for last, word, following in zip(["", *said], said, [*said[1:], ""], strict=False):
        if word == ":":
            continue
        token, before = folded(word), folded(last)
        if not (any(map(str.isdigit, token)) or len(word) == 1 and word.isupper() and last):
            continue
        if token[0].isalpha() and len(token) > 1:
            yield _DIGITS.sub("#", token), token
        side = side_of(f"{word} {following}")
        if side.found.units or side.found.dates or ":" in token:
            continue
        if before.isalpha() and before not in STOPS | VERBS | _NOT_LABELS:
            yield before, token


_TOKEN = re.compile(r"[^\W_]+(?:[-.:,/][^\W_]+)*|:")
_DIGITS = re.compile(r"\d+")
_NUMBER = frozenset("no nr num number numero nummer numéro número".split())
_NOT_LABELS = ARTICLES | frozenset(map(folded, grammar.PLACES | vocabulary.MODALS))


def _is_value(known: str, new: str, tokens: frozenset[str]) -> bool:
    """Whether the number is what the known one says, and not of what: we meet in room 3.

    Something is said before it and nothing behind it, and the new one says all the rest.
    """
    before = side_of(known)
    at = max((before.words.index(one) for one in tokens if one in before.words), default=0)
    behind = [word for word in before.words[at + 1 :] if word not in STOPS]
    if at < 2 or behind or numbers_in(before) - tokens - numbers_in(side_of(new)):
        return False
    return len(lacking(before.content - VERBS - tokens, side_of(new))) <= (at < 4)


def _is_of_another_owner(known: str, new: str) -> bool:
    """Whether what is the speaker's in one is somebody else's in the other: my mum, her mum."""
    ours, theirs = side_of(known).words, side_of(new).words
    owned = {thing for owner, thing in zip(ours, ours[1:], strict=False) if owner in _MINE}
    others = {thing for owner, thing in zip(theirs, theirs[1:], strict=False) if owner in _THEIRS}
    mine = {thing for owner, thing in zip(theirs, theirs[1:], strict=False) if owner in _MINE}
    return any(among(thing, others) for thing in owned - mine)


_MINE = SELF - frozenset("i we ich wir je j nous yo nosotros nosotras io noi eu me us".split())
_THEIRS = frozenset(
    "his her their sein seine seinen seinem ihr ihre ihren ihrem son sa leur leurs su sus suo sua"
    " loro".split()
) - {"sa"}


def _is_added(known: str, new: str) -> bool:
    """Whether the new one says itself that it comes on top."""
    if restated(new).ends or events.ENDING.search(side_of(new).text):
        return False
    return bool(signs.ALSO.search(side_of(new).text)) and not signs.ALSO.search(side_of(known).text)


VETOES: tuple[tuple[str, Veto], ...] = (
    ("it is asked", _is_asked),
    ("somebody else says it, or nobody", _is_of_others),
    (HEARSAY, _is_hearsay),
    ("it is a condition", _is_conditional),
    ("it is a task", _is_task),
    ("what holds for good is ended by its author alone, by name", _is_rule_untouched),
    ("another number, letter or code tells of another thing", _are_two_things),
    ("it is somebody else's", _is_of_another_owner),
    ("both happened", _both_happened),
    ("it is so for a time only", _is_passing),
    ("it tells of what was", _tells_of_past),
    ("it is said to come on top", _is_added),
)
"""Each with its reason, the surest first."""
