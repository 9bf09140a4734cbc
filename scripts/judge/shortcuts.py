"""Rows made of others, against what a judge would rather learn than language.

Those who write about a change tend to tell it in passing, at length and in small letters. A judge
that saw only what they wrote took any such text for a change: 129 of 168 that were none.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from scripts.judge.examples import EITHER, RELATIONS, Row

COPIES = 3500
"""Relations that are told again, in another manner."""
STRANGE = 2200
"""Statements that are put beside a change of something else."""
SAID_ALONG = frozenset({"smalltalk", "transient", "feedback"})
"""Kinds of sentences that say nothing of what stands beside them."""


def against_shortcuts(
    rows: Sequence[Row], along: Mapping[str, Sequence[str]], seed: int
) -> list[Row]:
    """`along`: by language, sentences that change nothing of what is said."""
    chance = random.Random(seed)
    related = [row for row in rows if row.head == "relation" and row.label != EITHER]
    copied = chance.sample(related, min(COPIES, len(related)))
    return [
        *(_told_otherwise(row, along, chance) for row in copied),
        *_beside_strange(related, chance),
    ]


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
