"""Two statements beside each other: all that can be told of them by their form."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product, starmap

from kinmem.language import vocabulary
from kinmem.language.change import clash as form
from kinmem.language.change.clash import Clash
from kinmem.language.change.vetoes import FOR_A_TIME, OF_THINGS, claim, is_event, veto
from kinmem.language.same import similarity
from kinmem.language.same.atoms import Words, atoms, contrast
from kinmem.language.same.clauses import reading
from kinmem.language.same.exact import by_capitals, holds_all
from kinmem.language.same.lexemes import stem
from kinmem.language.same.similarity import Kinship, Ladder
from kinmem.language.sentence_borders import sentences
from kinmem.text import UNSPACED, content_words

ALIKE = 0.6
"""Share of the shorter clause's words from which two clauses are about the same."""

LIMITING = vocabulary.NEGATORS | vocabulary.CONCORD | vocabulary.MODALS | vocabulary.QUANTITIES


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
