"""What of a text is denied, word by word: a negation belongs to its statement.

`Not allergic to nuts` and `allergic to shellfish` are not `not allergic to nuts or shellfish`,
though as much is denied. So each content word is read as affirmed, as denied, or as either where
words do not tell how far a negation reaches (proof.py).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from kinmem.rules.grammar import PLACES, SUBJECTS, words
from kinmem.rules.pattern import late
from kinmem.rules.same.atoms import Words, is_content
from kinmem.rules.same.lexemes import stem
from kinmem.rules.same.statements import NEGATING, Reading, Sentence
from kinmem.rules.vocabulary import MODALS, PLAIN_VERBS, QUANTITIES, STATE_VERBS, TENSES

AFFIRMED, DENIED, EITHER = "affirmed", "denied", "either"
Said = dict[str, set[str]]
Statement = list[tuple[str, str]]
"""Stems of its content words, and how each is said."""

CONTRASTS = words(
    "but however although though yet because if when while so unless instead rather",
    "except aber sondern weil wenn obwohl außer mais parce lorsque quand puisque pero sino porque",
    "cuando aunque ma però perché quando mas porém embora",
)
"""Behind them a negation ends."""
OPEN = words(
    "than after before since until during als nach seit bis während après avant depuis pendant que",
    "después desde hasta durante dopo prima depois desde até durante",
)
"""Behind them it may end: he stopped smoking after his illness."""
AROUND = words("nicht niet")
"""These deny what stands before them as well."""
COMPANIONS = (
    words("any anymore longer more ever either too also at all mehr auch mais más más plus più")
    | QUANTITIES
    | TENSES
    | MODALS
)
"""They come and go with a negation."""
FRAGMENT = 3
"""So few words behind a comma or an `and` go on with what was denied, if none is a verb."""
VERBS = PLAIN_VERBS | STATE_VERBS


def turned(whole: Reading, parts: Sequence[Reading], given_up: Reading) -> Iterator[str]:
    """What the merged text denies and no source does, or the other way round, in words.

    What the sources say both ways may be said either way, but each of their statements has to be
    told in one way at least as it was told: tea, not coffee.
    """
    ours, told = _said(whole), [one for part in parts for one in _statements(part)]
    theirs: Said = {}
    for statement in told:
        _add(statement, theirs)
    for word in sorted(ours.keys() & theirs.keys()):
        if _against(ours[word], theirs[word]):
            yield f'"{word}" is denied in one text and not in the other'
    kept = _said(whole)
    for statement in _statements(given_up):
        _add(statement, kept)
    for statement in told:
        left = [(word, how) for word, how in statement if word in kept]
        if left and all(how != EITHER and _against({how}, kept[word]) for word, how in left):
            yield f'"{" ".join(word for word, _ in statement)}" is not denied as in the sources'


def _said(reading: Reading) -> Said:
    """How each content word of a text is said, by its stem."""
    table: Said = {}
    for statement in _statements(reading):
        _add(statement, table)
    return table


def _add(statement: Statement, table: Said) -> None:
    for word, how in statement:
        table.setdefault(word, set()).add(how)


def _statements(reading: Reading) -> Iterator[Statement]:
    for sentence in reading.sentences:
        yield from _of(sentence)


def _of(sentence: Sentence) -> Iterator[Statement]:
    was_denied = False
    for clause in sentence:
        for is_contrast, part in groupby(clause.words, key=CONTRASTS.__contains__):
            if is_contrast:
                was_denied = False
                continue
            told = tuple(part)
            hows = _hows(told, was_denied)
            was_denied = DENIED in hows
            yield [
                (stem(word), how)
                for word, how in zip(told, hows, strict=True)
                if is_content(word) and word not in NEGATING and word not in COMPANIONS
            ]


def _hows(told: Words, was_denied: bool) -> list[str]:
    """How each word is said. `was_denied`: what stands before."""
    at = next((at for at, word in enumerate(told) if word in NEGATING), None)
    last = next((at for at, word in enumerate(told) if word in OPEN), len(told))
    if at is not None:
        first = at if AROUND.isdisjoint(told) else 0
        last = max(last, at)
        return [EITHER] * first + [DENIED] * (last - first) + [EITHER] * (len(told) - last)
    if not was_denied or len(told) > FRAGMENT or _is_statement(told):
        return [AFFIRMED] * last + [EITHER] * (len(told) - last)
    return [EITHER if told[0] in PLACES else DENIED] * len(told)


def _is_statement(told: Words) -> bool:
    has_verb = any(word in VERBS or stem(word) in _VERB_STEMS for word in told)
    return has_verb or told[0] in SUBJECTS


_VERB_STEMS = frozenset(map(stem, VERBS))


def _against(here: set[str], there: set[str]) -> bool:
    """Whether something is said here in a way in which it is not said there."""
    return EITHER not in there and not here - {EITHER} <= there


_HALF = late(r"\b(?:pas|jamais|(?<!\d )(?<!en )(?<!de )(?<!du )(?<!au )mai)\b")
_WHOLE = late(r"\b(?:ne\b|n['’]|non\b|né\b|senza\b)", re.IGNORECASE)


def is_half(sentence: str) -> bool:
    """Whether a French or Italian negation of two words has lost the first."""
    return _HALF.search(sentence) is not None and _WHOLE.search(sentence) is None
