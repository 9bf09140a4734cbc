"""A statement as it is read for being compared: of whom or what it is said, and what it says.

By words and tables (words.py), in six languages; where these say nothing, nothing is known.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import takewhile
from os.path import commonprefix
from typing import NamedTuple

from kinmem.rules import grammar, vocabulary
from kinmem.rules.change import words as signs
from kinmem.rules.change.events import BEING_ONE, ENDING, HOLDING, TURNED
from kinmem.rules.change.kinds import EMPLOYERS
from kinmem.rules.change.restating_words import ANNOUNCING, CORRECTING
from kinmem.rules.change.states import STATES
from kinmem.rules.same.amounts import CAPITAL_MONTHS, DAY_NAMES, UNITS
from kinmem.rules.same.atoms import Atoms, atoms, forms
from kinmem.text import STOP_WORDS, folded

LONGEST = 160
"""Characters; a longer text tells more than one thing."""
ALIKE = 5
"""Letters that two forms of a word have in common: Physik, Physikstudium."""
HEAD = 4
"""Words, from the first, in which it is said of whom something is so."""
WORD = re.compile(r"[^\W_]+(?:[-.:,/][^\W_]+)*")
_CLAUSE = re.compile(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bSra)[,;:.!?](?=\s|$)"
    r"|\s(?:and|but|so|und|aber|et|mais|y|pero|e|ma|mas)\s"
    r"|\s(?=since (?:they|we|he|she|it)\b|because\b|weil\b|parce qu|porque\b|perché\b)",
    re.I,
)
_SPOKEN = {"dos": "2", "due": "2", "sei": "6", "elf": "11", "once": "11"}
"""Numbers that mean something else in another language, unless a unit or an hour is named."""
_COUNTED = re.compile(
    r"\b(?:(?<=alle )|(?<=las )|(?<=um ))(?:due|sei|elf|once)\b"
    r"|(?:(?<=\btengo )|(?<=\btenemos )|(?<=\btiene )|(?<=\btienen )|(?<=\bhay ))dos\b"
    r"|\b(?:due|sei|elf|once)(?= (?:anni|anos|jahre|euros?|ore|uhr|mesi|meses|giorni|dias|kg)\b)"
)


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(folded, words))


STOPS = _folded(frozenset().union(*STOP_WORDS.values(), grammar.FUNCTION_WORDS)) | _folded(
    "is are am be got get been went want please bitte zu geworden worden wurde wurden habe haben"
    " hat dr mr mrs ms herr frau go going ir andare aller gehen sul sulla sullo nel nello negli"
    " dello num numa ao stato stata stati comme como come bin sind suis sommes avons ai ont hemos"
    " he ha han somos siamo sono ho abbiamo hanno ad ed dal finally officially endlich"
    " endgultig enfin finalement finalmente still noch encore ancora todavia ainda sigue"
    " siguen continua reste restent bleibt aun".split()
)
ARTICLES = frozenset(
    "a an the my our his her their ein eine einen einem einer der die das den dem mein meine unser"
    " unsere un une le la l les mon ma notre el los una mi il lo uno mio mia o os um uma meu minha"
    " au al del della do da".split()
)
SELF = _folded(
    "i we my our me us ich wir mein meine meinen meinem unser unsere mir uns je j nous mon ma mes"
    " notre nos yo mi mis nuestro nuestra nosotros io mio mia noi eu meu minha".split()
)
_UNITS = _folded(UNITS)
_DAYS = _folded(DAY_NAMES) | _folded(CAPITAL_MONTHS)
THIRD = frozenset("he she er elle lui lei ela ella".split())
_THEIRS = frozenset("their his her its leur leurs ihr ihre sein seine".split())
_ROLES = frozenset(
    "boss manager teacher chef chefin girlfriend boyfriend freund freundin fiance fiancee".split()
)
KIN = (_folded(vocabulary.PERSONS - grammar.PRONOUNS) - _ROLES) | signs.PEOPLE | {"son", "sons"}
ADDING = _folded(vocabulary.ADDING_VERBS) | {"want"}
_ENDINGS = {"stopped", "quit", "ceased", "lacks", "lack", "refused", "failed", "fails"}
DENYING = _folded(vocabulary.NEGATORS | vocabulary.CONCORD) - _ENDINGS


class Side(NamedTuple):
    """A statement, or a clause of one, as it is compared."""

    said: str
    """As it was written."""
    text: str
    """Folded."""
    words: tuple[str, ...]
    content: frozenset[str]
    """Words that say something by themselves, amounts and dates aside."""
    amounts: frozenset[str]
    """Numbers, times, dates and codes, each in one spelling."""
    found: Atoms
    names: frozenset[str]
    """Folded."""

    @property
    def denies(self) -> bool:
        """Whether it says that something is not so."""
        return not DENYING.isdisjoint(map(folded, self.found.words))

    @property
    def head(self) -> tuple[str, ...]:
        """The words in which it is said of whom."""
        return self.words[:HEAD]


def _told_plainly(text: str) -> str:
    """Without words by which news is announced; who moved to an employer joined it."""
    plain = ANNOUNCING.sub("", text)
    return _HIRED.sub(r"\1joined ", plain) if "moved" in plain else plain


_HIRED = re.compile(rf"\b((?:has|have|'ve|'s)? ?)moved (?:over |on )?to (?={EMPLOYERS})", re.I)


@lru_cache(maxsize=2048)
def side_of(text: str) -> Side:
    """The text, read for being compared. Never raises."""
    said, text = text, _told_plainly(text)
    plain = folded(text).replace("’", "'")
    found = atoms(text)
    coded = {folded(name) for name in found.names if any(map(str.isdigit, name))}
    written = tuple(WORD.findall(plain))
    counted = {word for word in written if word[0].isdigit() or any(map(str.isdigit, word))}
    spoken = {_SPOKEN[word] for word in _COUNTED.findall(plain)}
    amounts = found.numbers | found.dates | coded | spoken
    spelt = {word for word in written if _is_amount(word)}
    names = frozenset(folded(name.removesuffix("'s")) for name in found.names) - coded
    lately = {word for match in signs.LATELY.finditer(plain) for word in WORD.findall(match[0])}
    days = _DAYS if found.dates else frozenset[str]()
    content = frozenset(written) - STOPS - counted - spelt - lately - days
    content -= _UNITS if amounts else frozenset()
    return Side(said, plain, written, content, frozenset(amounts), found, names)


@lru_cache(maxsize=4096)
def _is_amount(word: str) -> bool:
    found = atoms(word)
    return bool(found.numbers or found.dates)


@lru_cache(maxsize=1024)
def clauses_of(text: str) -> tuple[Side, ...]:
    """The whole, and its clauses if there are some."""
    parts = [part.strip() for part in _CLAUSE.split(text) if part and part.strip()]
    sides = map(side_of, dict.fromkeys([text, *parts]))
    return tuple(side for side in sides if side.words)


_I_WANT = re.compile(r"\bi (?:want|would like) (?:my|you|your|all|the)\b")


def both_may_be(before: Side, now: Side) -> bool:
    """Whether both are said to be so, of something certain and not of many."""
    if any(signs.UNSURE.search(_I_WANT.sub("", side.text)) for side in (before, now)):
        return False
    if signs.PAST.search(before.text) or _OTHER.search(now.text) and not _OTHER.search(before.text):
        return False
    if _SITUATION.search(before.text) and _SITUATION.search(now.text):
        return _SITUATION.findall(before.text) == _SITUATION.findall(now.text)
    if _is_of_any(before) or _is_of_any(now):
        return False
    ours, theirs = set(before.words), set(now.words)
    return not any(
        (ours & group) and (theirs & group) and not (ours & theirs & group)
        for group in signs.QUALIFIERS
    )


_MONEY = frozenset("€ $ £ ¥ chf".split())
_ENGLISH = frozenset("is are the was of in with and on to has from at".split())
_OTHER = re.compile(r"\b(?:(?:an)?other|anderen?s?|autres?|otr[oa]s?|altr[oaie]|outr[oa]s?)\b")
_SITUATION = re.compile(r"\bat (?:work|home|school|night|weekends)\b")


def _is_of_any(side: Side) -> bool:
    """Whether it is said of what may be another one each time: a man, two dogs."""
    if not _MONEY.isdisjoint(side.found.units):
        return False  # a ticket costs what it costs
    if side.words[:1] == ("a",):
        return not _ENGLISH.isdisjoint(side.words)
    return bool(_OF_ANY.match(side.text))


_OF_ANY = re.compile(
    r"(?:an|some|somebody|someone|people|two|three|several|many|ein|eine|une?|una?"
    r"|um(?! (?:das|die|den|unser\w*|mein\w*)\b)|uma|uno) "
)


def of_same_one(before: Side, clause: Side, now: Side) -> bool:
    """Whether they are said of the same one: both of the speaker, or of the one that is named."""
    theirs, ours = set(now.words), set(before.words)
    if not _names_somebody(clause):
        clause = now  # a clause without a subject has that of the whole
    if SELF & set(before.head) and _THEIRS & set(clause.words[:2]) - ours:
        return False
    heir = TURNED["role"].search(clause.text) or (
        HOLDING.search(before.text)
        and (HOLDING.search(clause.text) or BEING_ONE.search(clause.text))
    )
    if not heir and (named_first(before) - theirs or named_first(clause) - ours):
        return False
    if not heir and _are_two(full_name(before), full_name(clause)):
        return False
    if _owners(clause) - ours or _owners(before) - theirs:
        return False
    if _TEAMS & set(clause.head) - ours and not SELF & set(clause.words[:1]):
        return False
    if clause is not now and KIN & set(now.head) - ours and not SELF & set(clause.head):
        return False  # my friend changed jobs, now he's at Bosch
    born = STATES["child"]["born"].search(clause.text) and SELF & set(clause.head)
    if KIN & set(before.head) - theirs or not born and KIN & set(clause.head) - ours:
        return False
    if THIRD.isdisjoint(clause.words[:1]) or _HE_SPANISH.match(clause.text):
        return True
    return bool(THIRD & ours or before.names & theirs or named_first(before))


def _are_two(name: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Anna Schmidt and Anna Weber, not Anna and Anna Schmidt."""
    return name[: len(other)] != other[: len(name)]


_TEAMS = frozenset(
    "team teams department company colleagues equipe equipa equipo abteilung".split()
)
_OWNED = re.compile(
    r"\b(?!(?:it|that|let|what|here|there|he|she|who|how|where|today|tonight)'s)(\w+)'s"
    r"(?= (?!\w+ing\b|got\b|been\b|now\b|just\b|a\b|an\b|the\b|not\b|in\b|on\b|at\b|\w+ed\b)\w)"
)


def _owners(side: Side) -> set[str]:
    """Whose it is that is told of: Tim's number, the hotline's number."""
    return set(_OWNED.findall(side.text))


_HE_SPANISH = re.compile(r"he (?:\w+(?:ado|ido)|hecho|dicho|visto|puesto|vuelto|escrito|roto)\b")


def _names_somebody(side: Side) -> bool:
    return bool((SELF | THIRD | _THEIRS | KIN) & set(side.head) or named_first(side))


def named_first(side: Side) -> frozenset[str]:
    """The name that a statement begins with: a capital, and what somebody does or is behind it.

    Of Anna Schmidt it is Anna. A verb begins one as well, where nobody needs to say who does it.
    """
    return frozenset(full_name(side)[:1])


LONGEST_NAME = 3


@lru_cache(maxsize=2048)
def full_name(side: Side) -> tuple[str, ...]:
    """The same with the names that follow it: Anna, Schmidt."""
    at = 1 if side.words[:1] in (("a",), ("o",)) else 0
    name = tuple(takewhile(side.names.__contains__, side.words[at : at + LONGEST_NAME]))
    then = side.words[at + len(name) : at + len(name) + 1]
    if not then or not name or name[0] in STOPS | VERBS:
        return ()
    if any(pattern.fullmatch(name[0]) for pattern in (*_TELLING, signs.CUE)):
        return ()
    acts = then[0] in DOING or any(pattern.match(then[0]) for pattern in (*TURNED.values(), ENDING))
    return name if acts else ()


_TELLING = (
    *signs.ASPECTS.values(),
    *(pattern for values in STATES.values() for pattern in values.values()),
    *TURNED.values(),
    ENDING,
)
VERBS = _folded(vocabulary.STATE_VERBS | vocabulary.PLAIN_VERBS)
DOING = (
    VERBS
    | {word + "s" for word in VERBS}
    | _folded(
        "is was has and und et y e ya non no nao ja se si got doesn isn didn took studies teaches"
        " says conduce conduit dropped called started bought became relocated quit lebt macht fahrt"
        " studiert etudie sort sale sta namora estudia studia estuda conduz guida fuma fume suona"
        " toca joue spielt".split()
    )
)


def numbers_in(side: Side) -> frozenset[str]:
    """As they are written."""
    return frozenset(word for word in side.words if word[0].isdigit())


def is_of_self(side: Side) -> bool:
    """Said of the speaker, who need not be named in some languages."""
    return bool(SELF & set(side.head)) or not named_first(side)


def amounts_of(side: Side) -> frozenset[str]:
    """Those of the thing, not of the time since when it is so."""
    since = (side_of(match[0]).amounts for match in signs.CUE.finditer(side.text))
    return side.amounts.difference(*since)


def is_cued(now: Side) -> bool:
    """Whether it has a sign that it was otherwise before."""
    return bool(signs.CUE.search(now.text) or signs.NEW.search(now.text) or _corrects(now))


def _corrects(now: Side) -> bool:
    """Whether it is announced as what has changed."""
    announced = ANNOUNCING.match(now.said)
    return announced is not None and bool(CORRECTING.search(announced[0]))


def without(content: Collection[str], matches: Iterable[re.Match[str]]) -> frozenset[str]:
    """The words that stand in none of the matches."""
    gone = {word for match in matches for word in WORD.findall(match[0])}
    return frozenset(content) - gone


def lacking(words: Collection[str], side: Side) -> set[str]:
    """Those that the side does not have in any form."""
    return {word for word in words if not among(word, side.words)}


def among(word: str, others: Iterable[str]) -> bool:
    """Whether one of them is the word in any form: work, working; Physik, Physikstudium."""
    return any(_is_form(word, other) for other in others)


@lru_cache(maxsize=8192)
def _is_form(word: str, other: str) -> bool:
    if word == other:
        return True
    if word[0].isdigit() or other[0].isdigit():
        return False
    if not forms(word).isdisjoint(forms(other)):
        return True
    same = len(commonprefix((word, other)))
    shorter, longer = sorted((len(word), len(other)))
    return same >= ALIKE and same == shorter or 5 * same >= 3 * longer and same >= 3
