"""Whether a text may stand for others: nothing in it that they do not say, nothing of theirs lost.

A model that merges memories may drop a number, change a name or lose a `not`, and nobody would
notice before the original is gone. So each clause of the text must be made of whole clauses of its
sources, word by word and in their order (statements.py), and each of theirs must be in it. What is
said once may be left out behind it: Anna lives in Lyon and works there. In doubt it is not proved:
what is refused loses nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from kinmem.language.same.clauses import CONTRASTS, Clause, Reading, Token, in_one_form, reading
from kinmem.language.same.similarity import normalised
from kinmem.language.sentence_borders import sentences
from kinmem.text import late

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
