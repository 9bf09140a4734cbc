"""Rows made of others, against what a judge would rather learn than language.

Those who write about a change tend to tell it in passing, at length and in small letters. A judge
that saw only what they wrote took any such text for a change: 129 of 168 that were none.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from kinmem.language import sentences
from kinmem.language.talk.worth import KEPT
from kinmem.learn.worth_keeping import around
from scripts.judge.examples import KINDS, RELATIONS, Row

COPIES = 3500
"""Relations that are told again, in another manner."""
STRANGE = 2200
"""Statements that are put beside a change of something else."""
LONGEST = 160
"""Characters of a statement that is taken as one sentence."""
SAID_ALONG = frozenset({"smalltalk", "transient", "feedback"})
"""Kinds of sentences that say nothing of what stands beside them."""


def against_shortcuts(
    rows: Sequence[Row], along: Mapping[str, Sequence[str]], seed: int
) -> list[Row]:
    """`along`: by language, sentences that change nothing of what is said."""
    chance = random.Random(seed)
    related = [row for row in rows if row.head == "relation" and row.second is not None]
    copied = chance.sample(related, min(COPIES, len(related)))
    return [
        *(_told_otherwise(row, along, chance) for row in copied),
        *_beside_strange(related, chance),
    ]


def as_worth(rows: Sequence[Row]) -> list[Row]:
    """Return what changes a memory as worth keeping, of whatever kind, and what is asked as not:
    "from today" tells of a change more often than of a state that passes."""
    found = {}
    for row in rows:
        if row.head == "relation" and RELATIONS[row.label] == "replaces" and not row.others:
            found[row.second or ""] = (KEPT, row)
        elif row.head == "answers":
            found[row.first] = (("question", "task"), row)
    return [
        _of_kinds(text, kinds, row)
        for text, (kinds, row) in found.items()
        if len(text) <= LONGEST and len(sentences(text)) == 1
    ]


def _of_kinds(text: str, kinds: Sequence[str], row: Row) -> Row:
    label, *others = (KINDS.index(kind) for kind in kinds)
    context = around("", text, 0, len(text))
    return Row("worth", text, context, label, 0.5, row.language, row.batch, tuple(others))


def _told_otherwise(row: Row, along: Mapping[str, Sequence[str]], chance: random.Random) -> Row:
    """The same, roughly typed; among other talk unless that would make it say more."""
    second = _rough(row.second or "", chance)
    label = RELATIONS[row.label]
    if label != "same" and (label != "replaces" or chance.random() < 0.3):
        more = chance.choice(along.get(row.language) or along["en"])
        second = f"{more} {second}" if chance.random() < 0.5 else f"{second}, {more}"
    return Row(row.head, row.first, second, row.label, 0.8, row.language, row.batch)


def _rough(text: str, chance: random.Random) -> str:
    """In small letters, or without its last mark, or as it is."""
    if chance.random() < 0.6:
        text = text.lower()
    return text.rstrip(".。!") if chance.random() < 0.5 else text


def _beside_strange(related: Sequence[Row], chance: random.Random) -> list[Row]:
    """Statements with changes of something else, in one language."""
    changes: dict[str, list[Row]] = defaultdict(list)
    for row in related:
        if RELATIONS[row.label] == "replaces":
            changes[row.language].append(row)
    found = []
    for row in chance.sample(related, min(STRANGE, len(related))):
        other = chance.choice(changes[row.language] or changes["en"])
        if other.first != row.first:
            label = RELATIONS.index("unrelated")
            found.append(
                Row(row.head, row.first, other.second, label, 0.5, row.language, row.batch)
            )
    return found
