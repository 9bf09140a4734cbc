"""What only repeats what the memory had told before must not be learned as if it were new."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from os.path import commonprefix
from typing import NamedTuple

from kinmem.language.lexicon import (
    CLAUSAL,
    FUNCTION_WORDS,
    MODALS,
    NEGATORS,
    PERSONS,
    PLACES,
    PRONOUNS,
    QUANTITIES,
    TENSES,
    lexicon,
    pattern,
    word_class,
    word_forms,
)
from kinmem.language.same import amounts, clauses
from kinmem.language.same.lexemes import Lexeme, content_hash, lexemes, stem
from kinmem.language.sentence_borders import sentences
from kinmem.text import folded, late, words

# Ways to say within a sentence that something is repeated; what leads in is for clauses.py.


def _frames() -> str:
    found = pattern("repeats", "frames")
    for sign, meaning in lexicon("repeats")["signs"].items():
        found = found.replace(f"<{sign}>", meaning)
    return found


_FRAMES = late(_frames(), re.IGNORECASE)
# A cut where a statement may end although the sentence goes on.
_CUT = re.compile(
    r"[,;:()\n—–]\s*|\s-\s|\s+(?:and|but|so|because|und|aber|also|et|mais|donc|y|pero|e|mas|ma)\s+",
    re.IGNORECASE,
)
_ASKS = late(rf"\W*(?:(?:so|then|and)\s)?(?:{pattern('repeats', 'asks')})\b", re.IGNORECASE)
_STATES = re.compile(r"\b(?:i|we|ich|wir|je|yo|my \w+ (?:is|are|was))\b|\bj['’]", re.IGNORECASE)

_LIGHT = word_class("light")
"""Content words that add nothing to what was told."""
_FRAME = word_class("frame")
"""Words about saying, thinking and knowing: around what was told they add nothing to it."""
_BOUNDS = word_class("bounds")
_EVERY = word_class("every")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_SELF = word_class("self")
_OTHERS = word_class("others")
# The French possessive is an English relation: taken for one, it only keeps texts apart.
_KIN = PERSONS - PRONOUNS | {"son"}
_UNCHANGING = _LIGHT | word_class("unchanging")
_MODES = (MODALS | TENSES) - _UNCHANGING
_SYNONYMS = word_forms("synonyms")


class Statement(NamedTuple):
    """What one sentence or clause says, ready for comparing."""

    matter: tuple[str, ...]
    """Content words, stemmed, in order."""
    fixed: frozenset[str]
    """Names, numbers, dates and units: these must be the same."""
    proper: frozenset[str]
    """What is written with a capital within a sentence, also where it is a common word: Nice."""
    words: frozenset[str]
    about: frozenset[str]
    """Who it is about, if somebody else than the user: names and relations it begins with."""
    modes: frozenset[str]
    amounts: frozenset[str]
    places: frozenset[str]
    denied: bool
    of_others: bool


class Echoes:
    """What a session has been shown, to tell its repetition from news."""

    def __init__(self, texts: Iterable[str], names: Collection[str] = ()) -> None:
        """`names` are the user's own: Ana lives in Lyon is then the same as I live in Lyon."""
        shown = list(dict.fromkeys(texts))
        self._hashes: dict[str, set[str]] = {}
        """The shown texts by themselves and by their sentences."""
        for text in shown:
            for part in (text, *sentences(text)):
                self._hashes.setdefault(content_hash(part), set()).add(text)
        self._names = frozenset(folded(name) for name in names)
        self._shown = [
            (text, text.casefold().replace(",", ""), _beginnings(words(text))) for text in shown
        ]

    def repeats(self, text: str) -> bool:
        """Whether the text states nothing but what was shown: see `sources`."""
        return self.sources(text) is not None

    def sources(self, text: str) -> set[str] | None:
        """The shown texts that say all that the text states, in whatever person and wording.

        None if a number, a name, a date, a unit, a negation, a wish or a time differs, and as soon
        as any word is new that says something. Questions and requests state nothing.
        """
        if not self._shown or not text.strip():
            return None
        if known := self._hashes.get(content_hash(text)):
            return known
        parts = [part for part in sentences(text) if not _asks(part)]
        saying = [part for part in parts if not self._says_nothing(part)]
        found: set[str] = set()
        for part in saying:
            known = self._known(part)
            if known is not None and not known:
                return None
            found |= known or set()
        return found if found or len(saying) < len(parts) else None

    def _says_nothing(self, sentence: str) -> bool:
        return content_hash(sentence) not in self._hashes and clauses.says_nothing(sentence)

    def _known(self, sentence: str) -> set[str] | None:
        """What says it, as a whole or clause by clause; None if there is nothing to be said."""
        said = clauses.stated(sentence)
        for form in (sentence, said, *clauses.ends_of(said)):
            if known := self._hashes.get(content_hash(form)):
                return known
        bare = _FRAMES.sub(" ", said)
        whole = _statement(bare)
        if _is_empty(whole):
            return None
        return self._holding(whole) or self._holding_parts(bare) or self._holding_framed(said)

    def _holding_framed(self, sentence: str) -> set[str]:
        """Texts that stand in it as a whole, beside nothing but words about saying so."""
        inner = _statement(sentence, framed=True)
        return self._holding(inner, whole=True) if inner.matter else set()

    def _holding_parts(self, sentence: str) -> set[str]:
        """Texts that say it clause by clause; none if any clause is new."""
        clauses = [clause for clause in _CUT.split(sentence) if clause.strip()]
        told = [_statement(clause) for clause in clauses if not _asks(clause)]
        found = [self._holding(said) for said in told if not _is_empty(said)]
        return set().union(*found) if len(clauses) > 1 and all(found) else set()

    def _holding(self, said: Statement, *, whole: bool = False) -> set[str]:
        """Shown texts that say it, and no more if it must be the `whole` of that. Only those that
        could are read, which takes 0.2 ms each."""
        wanted = _beginnings(said.matter)
        literal = [form for form in said.fixed - self._names if _is_literal(form)]
        return {
            text
            for text, plain, beginnings in self._shown
            if wanted <= beginnings and all(form in plain for form in literal)
            if any(
                _says(known, said, self._names)
                for known in _statements(text)
                if not whole or _says_all(known, said, self._names)
            )
        }


_NUMBER_WORDS = frozenset(amounts.COUNTING.values())


def _is_literal(form: str) -> bool:
    """Whether it is spelt in one way only: a name, or a number that nobody writes out."""
    return form.isalpha() and form.isascii() or form.isdigit() and form not in _NUMBER_WORDS


def _beginnings(said: Iterable[str]) -> frozenset[str]:
    return frozenset(_SYNONYMS.get(word, word)[:3] for word in said)


def _asks(part: str) -> bool:
    """Whether it is a question, or a request in which nothing is said about oneself."""
    if part.rstrip().endswith("?"):
        return True
    asked = _ASKS.match(part)
    return asked is not None and not _STATES.search(part, asked.end())


def _is_empty(said: Statement) -> bool:
    return not said.matter and not said.fixed


def _statements(text: str) -> Iterator[Statement]:
    """Of the text, its sentences and their clauses, each once."""
    for part in dict.fromkeys([text, *sentences(text), *_CUT.split(text)]):
        if part.strip() and not _is_empty(said := _statement(part)):
            yield said


@lru_cache(maxsize=2048)
def _statement(text: str, *, framed: bool = False) -> Statement:
    """What it says; without the words about saying so if it may be `framed` by them."""
    found = _uncapped([lexeme for lexeme in lexemes(text) if lexeme.form])
    if framed:
        found = [lexeme for lexeme in found if lexeme.form not in _FRAME]
    forms = frozenset(lexeme.form for lexeme in found)
    matter = tuple(dict.fromkeys(_matter(found)))
    fixed = frozenset(
        lexeme.form.removesuffix("'s")
        for lexeme in found
        if lexeme.kind in ("name", "number", "date", "unit") and lexeme.form not in _LIGHT
    )
    negations = sum(form in NEGATORS for form in forms)
    return Statement(
        matter=matter,
        fixed=fixed,
        proper=frozenset(map(str.casefold, _PROPER.findall(text))),
        words=frozenset(words(text)),
        about=_about(found),
        modes=forms & _MODES,
        amounts=forms & QUANTITIES,
        places=forms & (PLACES - CLAUSAL),
        denied=negations % 2 == 1,
        of_others=not forms.isdisjoint(_OTHERS) and forms.isdisjoint(_SELF),
    )


_PROPER = re.compile(r"(?<=[\w,;] )[A-Z]\w+")


def _uncapped(found: list[Lexeme]) -> list[Lexeme]:
    """A capital before a preposition is a verb's where pronouns are left out: Vives en Lyon."""
    if len(found) > 1 and found[0].kind == "name" and found[1].form in PLACES:
        return [found[0]._replace(kind="word"), *found[1:]]
    return found


def _matter(found: list[Lexeme]) -> Iterator[str]:
    for lexeme in found:
        form = lexeme.form.removesuffix("'s")
        if lexeme.kind != "word" or form in FUNCTION_WORDS or form in _LIGHT:
            continue
        if form not in NEGATORS and form not in _MODES and form[0].isalnum():
            yield _SYNONYMS.get(form) or stem(form, past=False)


def _about(found: list[Lexeme]) -> frozenset[str]:
    """Names and relations before the first word that says something: my sister Ana lives. Where
    somebody lives is not who: ich in Bremen wohne."""
    about = set()
    behind = ""
    for lexeme in found:
        form, before, behind = lexeme.form, behind, lexeme.form
        if lexeme.kind == "name" and before in PLACES:
            continue
        if form in _KIN or form.removesuffix("'s") in _KIN or lexeme.kind == "name":
            about.add(form)
        elif lexeme.kind == "word" and form not in FUNCTION_WORDS and form not in _LIGHT:
            break
    return frozenset(about)


def _says(known: Statement, said: Statement, names: frozenset[str]) -> bool:
    """Whether what is said stands in what is known."""
    if known.denied != said.denied or known.modes != said.modes:
        return False
    if not said.amounts <= known.amounts or not _same_one(known, said, names):
        return False
    if said.fixed - names - known.fixed or said.proper - names - known.words:
        return False
    if said.amounts & _EVERY and any(map(_ORDINAL.fullmatch, known.fixed - said.fixed)):
        return False
    if said.places - known.places and known.places - said.places:
        return False
    return all(_among(word, known.matter) for word in said.matter)


def _says_all(known: Statement, said: Statement, names: frozenset[str]) -> bool:
    """Whether nothing of what is known is left out, and no bound is set to it: before, except."""
    if not known.fixed - names <= said.fixed or said.words & _BOUNDS - known.words:
        return False
    return all(_among(word, said.matter) for word in known.matter)


def _same_one(known: Statement, said: Statement, names: frozenset[str]) -> bool:
    ours, theirs = said.about - names, known.about - names
    if ours:
        return ours <= theirs
    return said.of_others if theirs else not said.of_others or known.of_others


def _among(word: str, others: tuple[str, ...]) -> bool:
    return word in others or any(_is_form(word, other) for other in others)


@lru_cache(maxsize=8192)
def _is_form(word: str, other: str) -> bool:
    """wohne and wohnst, habite and habitez; liked is not like."""
    if word[:3] != other[:3] or word.endswith("ed") != other.endswith("ed"):
        return False
    return len(commonprefix((word, other))) >= max(3, 0.6 * max(len(word), len(other)))
