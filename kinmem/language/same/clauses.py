"""What a text states, clause by clause: the words of each that matter, in order.

And what only leads in to a statement, or out of it: "just to confirm,", "Kurz gesagt:". No list of
phrases: a short clause that carries no number, date, name, person or denial, and whose words are
about talking itself, in any order. Before a colon other words do as well: a label.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile

from kinmem.language import lexicon
from kinmem.language.lexicon import word_class, word_forms
from kinmem.language.same.lexemes import Lexeme, bare, lexemes, normalised, stem
from kinmem.language.same.similarity import Atoms, Words, atoms, is_content, negations
from kinmem.language.sentence_borders import sentences
from kinmem.text import folded, late, words

NEGATING = lexicon.NEGATORS | lexicon.CONCORD
SHORT = 4
"""So many words may be put beside a statement: on 8 May 2023, at home."""
NEITHER = late(r"(?i)\b(?:neither|weder)\b(.{1,80}?)\b(?:nor|noch)\b")
"""Two denials, the second of the same."""
RECURRING = late(r"(?i)\b(?:every|each) ((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b")
"""Every Sunday is on Sundays."""
CONTRASTS = word_class("contrasts")
"""Behind them another statement begins; `everyone but Ana` is one."""
RELATIVES = word_class("relatives")
EVERYBODY = word_class("everybody")
TURNING = word_class("turning") - {"nach"}  # it says where to as well
BOUNDING = word_class("bounding")
"""Before a number they matter."""
SPANS = {
    "an": frozenset("par l un d".split()),
    "mes": frozenset("al por cada el del este un próximo".split()),
}
"""A year and a month, behind one of these; else little words of another language."""
NEVER = word_forms("never")
"""Of what negates these say more than `not`."""
COPULA, GENITIVE = "be", "of"
FRONTED = 1
"""The phrase that a clause begins with; it ends at the subject."""
FREE = word_class("free")
MATTERING = (
    (lexicon.MODALS | lexicon.TENSES | lexicon.QUANTITIES | TURNING | NEVER.keys())
    - FREE
    - frozenset("was were had did".split())
)
VERBS = frozenset(map(stem, lexicon.PLAIN_VERBS | lexicon.STATE_VERBS))
LEADING = 2
"""Words at the beginning of a sentence that a part of it without a verb is said of."""
SAME_BEGINNING, MORE_LETTERS = 4, 3
"""Night and nightly, adopt and adoption: so many letters are the same, so many more follow."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word that matters, in the form in which it is compared."""

    form: str
    phrase: int
    """Of its clause; a preposition begins one, and a time is one. 0: what no preposition leads."""
    place: str
    """The preposition before a name."""
    is_name: bool


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence."""

    words: Words
    content: frozenset[str]
    """Content words without their endings, and without what negates."""
    negations: int
    tokens: tuple[Token, ...]
    subjects: frozenset[str]
    """Names that it begins with, or that it takes over."""
    lead: frozenset[str]
    """What the part of a sentence is said of, if it does not say so itself."""
    of_pronoun: bool
    """Whether it begins with one, who may be anybody before it."""

    @property
    def matter(self) -> frozenset[str]:
        return frozenset(token.form for token in self.tokens)


Sentence = tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is compared: each of its sentences once."""

    sentences: tuple[Sentence, ...]

    @property
    def clauses(self) -> Iterator[Clause]:
        return chain.from_iterable(self.sentences)


def reading(text: str) -> Reading:
    """The text's sentences, each read by itself, so that it means the same beside any other."""
    once = {normalised(part): part for part in sentences(text)}
    found = (tuple(_sentence(part)) for part in once.values())
    return Reading(tuple(clauses for clauses in found if clauses))


def in_one_form(readings: Iterable[Reading]) -> list[Reading]:
    """With one form for words of one family: night, nightly. Names have none: Paul, Paula."""
    given = list(readings)
    tokens = [token for one in given for clause in one.clauses for token in clause.tokens]
    names = {token.form for token in tokens if token.is_name}
    forms = {token.form for token in tokens} - names
    shortest: dict[str, str] = {}
    root = ""
    for form in sorted(forms):
        grown = form.startswith(root) and len(form) - len(root) <= MORE_LETTERS
        is_family = grown and len(root) >= SAME_BEGINNING and form.isalpha()
        root = root if is_family else form
        shortest[form] = root
    return [_renamed(one, shortest) for one in given]


def _renamed(reading: Reading, forms: dict[str, str]) -> Reading:
    def all_of(names: frozenset[str]) -> frozenset[str]:
        return frozenset(forms.get(name, name) for name in names)

    def clause(one: Clause) -> Clause:
        tokens = tuple(
            replace(token, form=forms.get(token.form, token.form)) for token in one.tokens
        )
        return replace(one, tokens=tokens, subjects=all_of(one.subjects), lead=all_of(one.lead))

    return Reading(tuple(tuple(map(clause, one)) for one in reading.sentences))


def _sentence(text: str) -> Iterator[Clause]:
    found = atoms(RECURRING.sub(r"\1s", NEITHER.sub(r"not\1, not", text)))
    parts = [part for words in found.clauses for part in _parted(words) if part]
    subjects: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    for part in _with_asides(parts, found):
        clause = _clause(part, found)
        subjects = clause.subjects or subjects
        is_whole = not VERBS.isdisjoint(clause.matter) or not first
        lead = (subjects if first else frozenset()) if is_whole else first
        yield replace(clause, subjects=subjects, lead=lead)
        first = first or frozenset([token.form for token in clause.tokens][:LEADING])


def _parted(clause: Words) -> Iterator[Words]:
    """The clause, cut at contrasts and relatives."""
    start = 0
    for at, word in enumerate(clause):
        if word in CONTRASTS and (not at or clause[at - 1] not in EVERYBODY):
            yield clause[start:at]
            start = at
        elif word in RELATIVES:
            yield clause[start:at]
            start = at + 1
    yield clause[start:]


def _with_asides(parts: Sequence[Words], found: Atoms) -> Iterator[Words]:
    """Each statement together with the circumstances that commas cut off from it."""
    exact = found.names | found.dates | found.numbers | found.units
    kept: list[Words] = []
    waiting: Words = ()
    for part in parts:
        adds = part[0] in lexicon.PLACES or all(word in exact for word in part)
        is_aside = adds and len(part) <= SHORT and NEGATING.isdisjoint(part)
        if is_aside and not kept:
            waiting += part
        elif is_aside:
            kept[-1] += part
        else:
            kept.append(waiting + part)
            waiting = ()
    yield from kept or ([waiting] if waiting else [])


def _clause(said: Words, found: Atoms) -> Clause:
    content = [word for word in said if is_content(word) and word not in NEGATING]
    subjects = takewhile(found.names.__contains__, _without_time(said, found))
    return Clause(
        words=said,
        content=frozenset(map(stem, content)),
        negations=negations(said),
        tokens=tuple(_tokens(said, found)),
        subjects=frozenset(map(bare, subjects)),
        lead=frozenset(),
        of_pronoun=not lexicon.PRONOUNS.isdisjoint(said[: 1 + (said[0] in CONTRASTS)]),
    )


def _without_time(said: Words, found: Atoms) -> Iterator[str]:
    """Without what a clause may begin with before its subject: on Monday, twice a year."""
    timing = lexicon.QUANTITIES | found.dates | found.numbers | {"on", "in", "at"}
    rest = list(said)
    while rest and rest[0] in timing:
        is_spanning = rest.pop(0) in lexicon.QUANTITIES
        if is_spanning and rest and rest[0] not in found.names:
            rest.pop(0)
    return iter(rest)


def _tokens(said: Words, found: Atoms) -> Iterator[Token]:
    exact = found.names | found.dates | found.numbers | found.units
    phrase, before = 0, ""
    for at, word in enumerate(said):
        form = _form(word, before, said[at + 1] if at + 1 < len(said) else "", exact)
        is_subject = (
            word in lexicon.SUBJECTS or word in found.names and before not in lexicon.PLACES
        )
        if word == COPULA or phrase == FRONTED and is_subject:
            phrase = 0
        if word in lexicon.PLACES and not form:
            phrase = at + FRONTED
        elif form:
            stands_alone = word in found.dates or word.endswith("'s")
            is_name = word in found.names
            place = before if is_name and before in lexicon.PLACES - {GENITIVE} else ""
            yield Token(form, -at - 1 if stands_alone else phrase, place, is_name)
        before = word


def _form(word: str, before: str, behind: str, exact: frozenset[str]) -> str:
    """How the word is compared; empty if it need not be."""
    if word in exact:
        return bare(word)
    if word in NEVER:
        return NEVER[word]
    if word in NEGATING or word in FREE or word in CONTRASTS and before not in EVERYBODY:
        return ""
    if word in SPANS:
        return word if before in SPANS[word] else ""
    is_bound = word in BOUNDING and behind in exact and behind[:1].isdigit()
    return (
        stem(bare(word))
        if is_bound or word in CONTRASTS or word in MATTERING or is_content(word)
        else ""
    )


LONGEST = 8
"""Words of a lead-in; what is longer says something."""
READ = 100
"""Characters from either end within which one is looked for."""
_MANY = 4
"""That many in a row: "Well, as I said, to be clear: ..."."""

# About talking, reminding, knowing and repeating: how such words begin, without accents.
_TALK = word_class("talk_stems")
_TALKS = late(rf"(?:{'|'.join(sorted(_TALK))})\w{{0,8}}")
_SHORT = word_class("talk_words")
"""What is not bent, or is too short for a beginning: klar, but not Klara."""
_SLIGHT = word_class("talk_slight")
"""What may stand in a lead-in and makes none: only I, you and I."""
_FORGETS = late(r"(?:forget|vergess|vergiss|oubli|olvid|dimentic|esquec)\w*")
_CARRYING = lexicon.FUNCTION_WORDS | lexicon.NEGATORS
_UNTRUE = word_class("untrue")
_FACTS = _UNTRUE | {
    word
    for word in (lexicon.PERSONS - lexicon.PRONOUNS).union(lexicon.ATTRIBUTES)
    if word not in _SHORT | _SLIGHT and not _TALKS.fullmatch(word)
}

_MARKUP = late(r"(?:[>*•·●★◎○▸|#_~`\"“”„«»'‘’\s]|[-–—+](?=\s)|\d{1,2}[.)]\s|\[[^\W\d_]{3,20}\])*")
_BEHIND = " \t\n*_~`\"“”„«»'‘’"
_ENDS = late(
    r"\s?(?P<label>:)\s+|\s?[,;]\s+|\s[-–—]{1,2}\s+|—|\s(?:that|dass|daß|que|che)\s+", re.IGNORECASE
)
_LEADS_OUT = late(r"\s?[,;:]\s+|\s?[-–—]{1,2}\s+")
_SPACE = late(r"\s+")


def stated(text: str) -> str:
    """What the text states, without its markup and the lead-ins before and behind it."""
    left = _without_markup(text)
    for _ in range(_MANY):
        shorter = _without_markup(_behind_lead_in(_before_lead_out(left)))
        if shorter == left:
            break
        left = shorter
    return left


def says_nothing(text: str) -> bool:
    """Whether it is a lead-in and no more: As I already said."""
    return any(_TALKS.fullmatch(folded(word)) for word in words(text)) and _leads_in(text)


def ends_of(text: str) -> Iterator[str]:
    """What follows the first words, for as long as these lead in without a comma: Btw I live."""
    for space in _SPACE.finditer(text, 0, READ):
        if not _leads_in(text[: space.start()]):
            return
        yield text[space.end() :]


def _without_markup(text: str) -> str:
    begun = _MARKUP.match(text)
    return text[begun.end() if begun else 0 :].rstrip(_BEHIND)


def _behind_lead_in(text: str) -> str:
    for end in _ENDS.finditer(text, 0, READ):
        if _leads_in(text[: end.start()], label=end["label"] is not None):
            return text[end.end() :]
    return text


def _before_lead_out(text: str) -> str:
    for end in _LEADS_OUT.finditer(text, max(1, len(text) - READ)):
        if _leads_in(text[end.end() :]):
            return text[: end.start()]
    return text


def _leads_in(clause: str, *, label: bool = False) -> bool:
    """Whether it is about talking only; a label may also have other words, but no facts."""
    if len(clause) > 2 * READ:
        return False
    said = [lexeme for lexeme in lexemes(clause) if lexeme.form and lexeme.form != "?"]
    if not 0 < len(said) <= LONGEST or not (label or any(map(_is_about_talking, said))):
        return False
    denied = any(lexeme.form in lexicon.NEGATORS for lexeme in said)
    if denied and not any(_FORGETS.fullmatch(folded(lexeme.form)) for lexeme in said):
        return False
    return all(_is_talk(lexeme) or label and _is_plain(lexeme) for lexeme in said)


def _is_talk(lexeme: Lexeme) -> bool:
    if lexeme.form in _FACTS or lexeme.kind in ("date", "unit"):
        return False
    carrying = lexeme.kind == "word" and lexeme.form in _CARRYING
    return carrying or folded(lexeme.form) in _SLIGHT or _is_about_talking(lexeme)


def _is_about_talking(lexeme: Lexeme) -> bool:
    form = folded(lexeme.form)
    return form in _SHORT or bool(_TALKS.fullmatch(form)) or bool(_FORGETS.fullmatch(form))


def _is_plain(lexeme: Lexeme) -> bool:
    return lexeme.kind == "word" and lexeme.form not in _FACTS | lexicon.TENSES
