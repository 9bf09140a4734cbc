"""What must not differ between two texts that are called the same.

A vector hardly moves when a number, a name or a `not` changes, so the similarity ladder asks here
before it believes a cosine. Words and tables: no parser, no model.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, pairwise, product
from os.path import commonprefix

from kinmem.language import lexicon
from kinmem.language.same.lexemes import Kind, Lexeme, bare, lexemes
from kinmem.text import UNSPACED

Words = tuple[str, ...]

SHORT = 4
"""In a text of so few content words each decides what is said."""
CACHED = 4000
"""Characters; a longer text is compared as a whole but seldom, and its atoms are large."""
CIRCUMSTANCES = lexicon.PLACES - lexicon.CLAUSAL
BEGINS_PHRASE = lexicon.PLACES | lexicon.PRONOUNS | lexicon.LINKS


@dataclass(frozen=True, slots=True)
class Atoms:
    """The parts of a text that decide what it says, each in one spelling."""

    numbers: frozenset[str]
    """1,000 is 1000, two is 2, 2:30 pm is 14:30, third is 3rd; a percentage keeps its sign: 5%."""
    dates: frozenset[str]
    """ISO 8601 as far as known: 2023-05-08, --05-08, 2023, -W-1 (a Monday); yesterday."""
    names: frozenset[str]
    units: frozenset[str]
    """km, kg, %, €, h: only those beside a number."""
    negations: int
    """How many."""
    question: bool
    clauses: tuple[Words, ...]
    """All words in order, cut at marks and at `and`; articles and fillers are left out."""
    words: Words
    """The clauses end to end."""


def atoms(text: str) -> Atoms:
    """The text's atoms; an empty text has none. Never raises."""
    return _atoms(text) if len(text) <= CACHED else _atoms.__wrapped__(text)


@lru_cache(maxsize=1024)
def _atoms(text: str) -> Atoms:
    found = lexemes(text)
    clauses = _clauses(found)
    return Atoms(
        numbers=_numbers(found),
        dates=_of(found, "date"),
        names=_of(found, "name"),
        units=_of(found, "unit"),
        negations=negations([lexeme.form for lexeme in found]),
        question=any(lexeme.kind == "question" for lexeme in found),
        clauses=clauses,
        words=tuple(chain.from_iterable(clauses)),
    )


def _of(found: list[Lexeme], kind: Kind) -> frozenset[str]:
    return frozenset(lexeme.form for lexeme in found if lexeme.kind == kind)


def _numbers(found: list[Lexeme]) -> frozenset[str]:
    return frozenset(
        lexeme.form + ("%" if follower.form == "%" else "")
        for lexeme, follower in pairwise([*found, Lexeme("", "break")])
        if lexeme.kind == "number"
    )


def negations(words: Collection[str]) -> int:
    """How often they deny: ne pas and non mai are one."""
    plain = sum(word in lexicon.NEGATORS for word in words)
    concord = sum(word in lexicon.CONCORD for word in words)
    return plain if {"no", "non", "não"} & set(words) else plain + concord


def _clauses(found: list[Lexeme]) -> tuple[Words, ...]:
    runs = groupby(found, key=lambda lexeme: lexeme.kind in ("break", "question"))
    return tuple(tuple(lexeme.form for lexeme in run) for is_end, run in runs if not is_end)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two texts laid side by side."""

    left: Atoms
    right: Atoms
    lost: Counter[str]
    """Words that only the left one has."""
    gained: Counter[str]
    """Words that only the right one has."""

    def either_has(self, words: frozenset[str]) -> bool:
        """Whether one text has a word of these that the other has not."""
        return not (words.isdisjoint(self.lost) and words.isdisjoint(self.gained))

    def both_have(self, words: frozenset[str]) -> bool:
        """Whether each text has a word of these that the other has not."""
        return not (words.isdisjoint(self.lost) or words.isdisjoint(self.gained))

    def differs(self, kinds: Iterable[str] | None = None) -> bool:
        """Whether they differ in any of these ways (keys of DIFFERS), or in any at all.

        If in none they need not say the same: one may say more than the other, and in texts of more
        than SHORT content words one word of no special kind may stand in place of another.
        """
        if self.left.words == self.right.words and self.left.question == self.right.question:
            return False
        return any(DIFFERS[kind](self) for kind in (DIFFERS if kinds is None else kinds))


@lru_cache(maxsize=16)  # one question after the other is asked about a pair
def contrast(a: str, b: str) -> Contrast:
    """The atoms of two texts, and the words that only one of them has."""
    left, right = atoms(a), atoms(b)
    ours, theirs = Counter(left.words), Counter(right.words)
    return Contrast(left, right, ours - theirs, theirs - ours)


def is_content(word: str) -> bool:
    """Whether the word says something by itself."""
    return word not in lexicon.FUNCTION_WORDS


def opposed(lost: Collection[str], gained: Collection[str]) -> bool:
    """Whether a word of the one turns round a word of the other: open, closed; legal, illegal."""
    theirs = _antonyms(gained)
    return any((line, not right) in theirs for line, right in _antonyms(lost)) or any(
        beginning + word in there
        for here, there in ((lost, gained), (gained, lost))
        for word in here
        for beginning in lexicon.REVERSING
    )


def _antonyms(words: Iterable[str]) -> set[tuple[int, bool]]:
    table = lexicon.OPPOSITES
    return {
        side for word in words for stem in forms(word, "ed", "d") for side in table.get(stem, ())
    }


def forms(word: str, *more: str) -> set[str]:
    """The word and what it may be a plural, a third person or a progressive of; `more` endings."""
    stems = {word}
    for ending in ("s", "es", "ing", *more):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word.removesuffix(ending)
            stems |= {stem, stem + "e"} | ({stem[:-1]} if stem[-1] == stem[-2] else set())
    return stems


def _name(pair: Contrast) -> bool:
    left, right = ({*map(bare, side.names)} for side in (pair.left, pair.right))
    return not (left <= {*map(bare, pair.right.words)} and right <= {*map(bare, pair.left.words)})


def _person(pair: Contrast) -> bool:
    """Somebody else: my sister, my brother; I, Anna."""
    persons = lexicon.PERSONS
    lost, gained = persons & pair.lost.keys(), persons & pair.gained.keys()
    names = pair.left.names & pair.lost.keys(), pair.right.names & pair.gained.keys()
    return bool(lost and gained or lost and names[1] or gained and names[0])


def _attribute(pair: Contrast) -> bool:
    classes = lexicon.ATTRIBUTES
    ours, theirs = (
        {classes[word] for word in words if word in classes} for words in (pair.lost, pair.gained)
    )
    return not ours.isdisjoint(theirs)


def _form(pair: Contrast) -> bool:
    """The same word in another form: lives and lived, vive and vivía, Freund and Freundin."""
    lost, gained = _by_start(pair.lost), _by_start(pair.gained)
    return any(
        _is_form(word, other)
        for start in lost.keys() & gained.keys()
        for word, other in product(lost[start][:8], gained[start][:8])  # so that time stays linear
    )


def _by_start(words: Iterable[str]) -> dict[str, list[str]]:
    return {
        start: list(group) for start, group in groupby(sorted(words), key=lambda word: word[:3])
    }


def _is_form(word: str, other: str) -> bool:
    alike = 5 * len(commonprefix((word, other))) >= 3 * max(len(word), len(other))
    return alike and forms(word).isdisjoint(forms(other))


def _order(pair: Contrast) -> bool:
    """Nearly the same words, but not who does what to whom: Anna manages Bob, Bob manages Anna."""
    ours, theirs = Counter(pair.left.words), Counter(pair.right.words)
    kept = {word for word, count in ours.items() if theirs[word] == count}
    if "there" in pair.lost or "there" in pair.gained:
        kept.discard("be")  # there is a man singing: a man is singing
    left, right = (_phrases(side, kept) for side in (pair.left, pair.right))
    in_line = list(chain.from_iterable(left)) == list(chain.from_iterable(right))
    alike = 4 * sum(map(len, left)) >= 3 * min(ours.total(), theirs.total())
    return alike and not in_line and not _rearranged(left, right)


def _rearranged(left: list[Words], right: list[Words]) -> bool:
    """Whether whole phrases have changed places and could not mean another: on Mondays I swim.

    Two statements with a circumstance each could have exchanged them: in Rome he cooks, in Paris
    he sings. So all but one must be circumstances, or there are only two phrases.
    """
    statements = [phrase for phrase in left if phrase[0] not in CIRCUMSTANCES]
    return Counter(left) == Counter(right) and (len(statements) <= 1 or len(left) == 2)


def _phrases(side: Atoms, kept: set[str]) -> list[Words]:
    """The kept words, cut where a preposition, a conjunction or a pronoun begins a phrase."""
    cut: list[list[str]] = []
    for clause in side.clauses:
        cut.append([])
        for word in clause:
            if word in BEGINS_PHRASE and cut[-1] and cut[-1][-1] not in BEGINS_PHRASE:
                cut.append([])
            cut[-1].append(word)
    shorter = (tuple(word for word in phrase if word in kept) for phrase in cut)
    return [phrase for phrase in shorter if phrase]


def _word(pair: Contrast) -> bool:
    """A word in place of another in a short text; any symbol; any sign written without spaces."""
    if any(UNSPACED.match(word) or not word[0].isalnum() for word in chain(pair.lost, pair.gained)):
        return True
    length = min(sum(map(is_content, side.words)) for side in (pair.left, pair.right))
    return length <= SHORT and bool(pair.lost) and bool(pair.gained)


DIFFERS: dict[str, Callable[[Contrast], bool]] = {
    "number": lambda pair: pair.left.numbers != pair.right.numbers,
    "date": lambda pair: pair.left.dates != pair.right.dates,
    "name": _name,
    "unit": lambda pair: pair.left.units != pair.right.units,
    "negation": lambda pair: pair.left.negations != pair.right.negations,
    "opposite": lambda pair: opposed(pair.lost, pair.gained),
    "question": lambda pair: pair.left.question != pair.right.question,
    "person": _person,
    "modality": lambda pair: pair.either_has(lexicon.MODALS),
    "tense": lambda pair: pair.either_has(lexicon.TENSES),
    "quantity": lambda pair: pair.either_has(lexicon.QUANTITIES),
    "place": lambda pair: pair.both_have(lexicon.PLACES),
    "attribute": _attribute,
    "form": _form,
    "order": _order,
    "word": _word,
}
"""Each kind of difference with its test; every test is symmetric."""
