"""Two statements beside each other, all that can be told of them by their form; and whether a text
may stand for others: nothing in it that they do not say, nothing of theirs lost.

A model that merges memories may drop a number, change a name or lose a `not`, and nobody would
notice before the original is gone. So each clause of the text must be made of whole clauses of its
sources, word by word and in their order (same/clauses.py), and each of theirs must be in it. What
is said once may be left out behind it: Anna lives in Lyon and works there. In doubt it is not
proved: what is refused loses nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product, starmap

from kinmem.language import lexicon
from kinmem.language.change import clash as form
from kinmem.language.change.clash import Clash
from kinmem.language.change.vetoes import FOR_A_TIME, OF_THINGS, claim, is_event, veto
from kinmem.language.same import similarity
from kinmem.language.same.clauses import CONTRASTS, Clause, Reading, Token, in_one_form, reading
from kinmem.language.same.exact import by_capitals, holds_all
from kinmem.language.same.lexemes import normalised, stem
from kinmem.language.same.similarity import Kinship, Ladder, Words, atoms, contrast
from kinmem.language.sentence_borders import sentences
from kinmem.text import UNSPACED, content_words, late

ALIKE = 0.6
"""Share of the shorter clause's words from which two clauses are about the same."""

LIMITING = lexicon.NEGATORS | lexicon.CONCORD | lexicon.MODALS | lexicon.QUANTITIES


@dataclass(frozen=True, slots=True)
class Pair:
    """A statement that is known, and a newer one."""

    known: str
    new: str

    def kinship(self, cosine: float, ladder: Ladder) -> Kinship:
        """How they relate; symmetric. No cosine outweighs an atom that differs: a number, a name, a
        `not`; see similarity.compare."""
        return similarity.compare(self.known, self.new, cosine, ladder)

    def clash(self, cosine: float, ladder: Ladder) -> Clash | None:
        """How the new one excludes the known one; None: both may be so, as far as form can tell, or
        a veto forbids it."""
        return form.clash(self.known, self.new, cosine, ladder)

    @property
    def excludes(self) -> bool:
        """Whether a sentence of the new one denies, inverts or replaces one of the known one, by
        form and before any veto: such texts are never merged."""
        return any(starmap(_excludes, product(sentences(self.known), sentences(self.new))))

    @property
    def shares_words(self) -> bool:
        """Whether they share a word that says something."""
        return not _content(self.known).isdisjoint(_content(self.new))

    @property
    def known_says_more(self) -> bool:
        """Whether the known one has a clause besides what the new one is about: one that shares no
        word with it. If none shares any, one of them is what the new one is about."""
        about = {word for clause in reading(self.new).clauses for word in clause.content}
        clauses = [clause for clause in reading(self.known).clauses if clause.content]
        apart = sum(clause.content.isdisjoint(about) for clause in clauses)
        return apart > (apart == len(clauses))

    @property
    def veto(self) -> str | None:
        """Why the new one must not end the known one; None: nothing forbids it."""
        return veto(self.known, self.new)

    @property
    def may_be_apart(self) -> bool:
        """Whether the veto is that another number or name tells of two things, or that it is so for
        a time only: a model may know better."""
        return self.veto in (OF_THINGS, FOR_A_TIME)

    @property
    def known_says_all(self) -> bool:
        """Whether the known one says all that the new one says, clause by clause."""
        return similarity.contains(self.known, self.new)

    def known_holds_all(
        self, names: Callable[[str], Iterable[str] | None] = lambda text: None
    ) -> bool:
        """Whether every exact part of the new one stands in the known one: numbers by their value,
        days, addresses, and the names that `names` knows; where it knows nothing (None), words with
        a capital. Without it they are not the same, however sure a model is."""

        def named(text: str) -> Iterable[str]:
            found = names(text)
            return by_capitals(text) if found is None else found

        return holds_all(self.known, self.new, named)

    @property
    def holds_alike(self) -> bool:
        """Whether each has every exact part of the other: "at 16:30", "at 4:30 pm"."""
        return self.known_holds_all() and Pair(self.new, self.known).known_holds_all()

    @property
    def goes_on(self) -> bool:
        """Whether the new one is the known one with something behind it, and denies no more."""
        longer, shorter = atoms(self.new), atoms(self.known)
        added = longer.words[len(shorter.words) :]
        return (
            bool(added)
            and longer.words[: len(shorter.words)] == shorter.words
            and longer.question == shorter.question
            and LIMITING.isdisjoint(added)
        )

    @property
    def are_counterparts(self) -> bool:
        """Whether only numbers, dates, units and names differ: ticket 7, ticket 8; symmetric."""
        pair = contrast(self.known, self.new)
        exact = {*pair.left.names, *pair.right.names}
        for side in (pair.left, pair.right):
            exact |= side.numbers | side.dates | side.units
        return bool(pair.lost and pair.gained) and exact.issuperset([*pair.lost, *pair.gained])

    @property
    def differ_in_one_place(self) -> bool:
        """Whether they are built alike but for one place, of which not several values may hold: of
        those the judge need be less sure."""
        return self._slot is not None and not self.stand_side_by_side

    @property
    def stand_side_by_side(self) -> bool:
        """Whether they tell two of which both may be so, and not that one has changed: I speak
        Spanish, I speak Italian. Minimal pairs look like contradictions to the judge."""
        if (slot := self._slot) is None:
            return False
        return slot.adds or slot.many and not (claim(self.new).corrects or slot.changed)

    @property
    def names_exchanged(self) -> tuple[Words, Words] | None:
        """The names that stand in place of each other, in lower case, where they differ in that."""
        slot = self._slot
        return slot.names if slot is not None and slot.sort == "name" else None

    @property
    def _slot(self) -> form.Slot | None:
        return form.slot_of(claim(self.known), claim(self.new))

    @property
    def both_happened(self) -> bool:
        """Whether both tell what was done at some time: in May, and in June."""
        return is_event(self.known) and is_event(self.new)


def _excludes(one: str, other: str) -> bool:
    pair = Pair(one, other)
    return (
        pair.kinship(1.0, Ladder()) is Kinship.CONTRADICTS
        or form.excluding(one, other, 1.0, Ladder()) is not None
        or _denies(one, other)
    )


def _denies(one: str, other: str) -> bool:
    """Whether one denies nearly what the other states: likes, does not like."""
    return any(
        a.negations != b.negations
        and len(a.content & b.content) >= ALIKE * min(len(a.content), len(b.content)) > 0
        for a, b in product(reading(one).clauses, reading(other).clauses)
    )


def _content(text: str) -> set[str]:
    return {*map(stem, content_words(text)), *UNSPACED.findall(text)}


MOST_READ = 8_000
"""Characters of all texts together: time grows with their square."""
Phrases = list[tuple[str, ...]]


def unproved(merged: str, sources: Sequence[str], superseded: Sequence[str]) -> list[str]:
    """Why `merged` may not stand for its sources, in words; empty if it may.

    Every clause of the sources is in it, with all that matters of it, or is in one of the
    statements that are superseded; it brings no word that matters and no source has, and joins no
    two that stood apart. A text of all their sentences is always proved. A superseded statement
    counts only where it stands in a source. Texts of over 8,000 characters together are not proved.
    """
    if len(merged) + sum(map(len, sources)) > MOST_READ:
        return ["the texts are too long to be compared"]
    whole, given, *parts = in_one_form(
        [reading(merged), reading("\n".join(superseded)), *map(reading, sources)]
    )
    told = [clause for part in parts for clause in part.clauses]
    known = frozenset().union(*(clause.matter for clause in told))
    found = [*_brought(whole, known), *_halved(merged, sources)]
    if not whole.sentences and told:
        found.append("the text says nothing")
    placed = list(_placed(whole))
    excused = [one for one in given.clauses if one.matter <= known]
    found += [*_lost(told, placed, excused), *_joined(told, placed)]
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Placed:
    """A clause of the merged text, and what was said before it in its sentence."""

    clause: Clause
    before: frozenset[str]
    subjects: frozenset[str]
    """Whom of those it may be about without a pronoun."""
    denied: frozenset[str]
    """What was said before it only to be denied."""

    def says(self, source: Clause) -> bool:
        """Whether all of the source's clause is in it, in the source's order."""
        clause = self.clause
        if source.words == clause.words and source.lead <= clause.matter | self.before:
            return True
        if source.negations != clause.negations:
            return False
        taken = (source.matter | source.lead) - clause.matter
        if not taken <= self.before or source.matter.isdisjoint(clause.matter):
            return False
        if not source.negations and not self.denied.isdisjoint(taken):
            return False
        is_about = clause.of_pronoun or source.subjects & taken <= self.subjects
        return is_about and _in_order(source.tokens, clause.tokens)


def _placed(whole: Reading) -> Iterator[Placed]:
    last: frozenset[str] = frozenset()
    for sentence in whole.sentences:
        before = last if sentence[0].of_pronoun else frozenset()
        subjects, denied = before, frozenset[str]()
        for clause in sentence:
            is_contrast = clause.words[0] in CONTRASTS
            yield Placed(clause, before, subjects, frozenset() if is_contrast else denied)
            before |= clause.matter
            if clause.negations:
                denied |= clause.matter - clause.subjects
            subjects |= clause.subjects
        last = subjects


def _in_order(source: Sequence[Token], merged: Sequence[Token]) -> bool:
    """Whether what both have stands in the same order; phrases may change places."""
    common = {token.form for token in source} & {token.form for token in merged}
    ours, theirs = (
        [token for token in tokens if token.form in common] for tokens in (source, merged)
    )
    if not _are_placed_alike(ours, theirs):
        return False
    left, right = ([token.form for token in tokens] for tokens in (ours, theirs))
    return (
        _stands_in(right, left)
        or sorted(_phrases(ours)) == sorted(_phrases(theirs))
        or any(
            left[at:] + left[:at] == right and not any(token.is_name for token in ours[at:])
            for at in range(1, len(left))
        )
    )


def _stands_in(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether the whole has all of the part, in its order."""
    rest = iter(whole)
    return all(form in rest for form in part)


def _are_placed_alike(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether no name stands behind one preposition here and behind another there."""
    left, right = ({one.form: one.place for one in side if one.place} for side in (ours, theirs))
    return all(left[name] == right[name] for name in left.keys() & right.keys())


def _phrases(tokens: Sequence[Token]) -> Phrases:
    found: dict[int, list[str]] = {}
    for token in tokens:
        found.setdefault(token.phrase, []).append(token.form)
    return [tuple(forms) for forms in found.values()]


def _brought(whole: Reading, known: frozenset[str]) -> Iterator[str]:
    """What the merged text has and none of the sources."""
    for clause in whole.clauses:
        for token in clause.tokens:
            if token.form not in known:
                yield f'"{token.form}" stands in none of the sources'


def _lost(
    told: Sequence[Clause], placed: Sequence[Placed], excused: Sequence[Clause]
) -> Iterator[str]:
    """What a source says and neither the merged text nor the superseded statements."""
    there = frozenset().union(*(one.clause.matter for one in placed))
    for clause in told:
        if not clause.matter and not clause.negations:
            continue
        if any(clause.matter <= one.matter and clause.content for one in excused):
            continue
        if not any(one.says(clause) for one in placed):
            gone = ", ".join(sorted(clause.matter - there))
            what = f" ({gone} is missing)" if gone else ""
            yield f'"{" ".join(clause.words)}" of the sources is not said{what}'


def _joined(told: Sequence[Clause], placed: Sequence[Placed]) -> Iterator[str]:
    """Clauses of the merged text that are not made of whole clauses of the sources."""
    for one in placed:
        said = [clause for clause in told if one.says(clause)]
        made_of = frozenset(chain.from_iterable(clause.matter | clause.lead for clause in said))
        if not one.clause.matter <= made_of or not said and one.clause.negations:
            yield f'"{" ".join(one.clause.words)}" is said so in none of the sources'


_HALF = late(r"\b(?:pas|jamais|(?<!\d )(?<!en )(?<!de )(?<!du )(?<!au )mai)\b")
_WHOLE = late(r"\b(?:ne\b|n['’]|non\b|né\b|senza\b)", re.IGNORECASE)


def _halved(merged: str, sources: Sequence[str]) -> Iterator[str]:
    """French and Italian negations of two words that have lost the first."""
    known = {normalised(one) for source in sources for one in sentences(source) if _is_half(one)}
    for one in sentences(merged):
        if _is_half(one) and normalised(one) not in known:
            yield f'a negation in "{one.strip()}" has lost a word'


def _is_half(sentence: str) -> bool:
    return _HALF.search(sentence) is not None and _WHOLE.search(sentence) is None
