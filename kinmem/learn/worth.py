"""What the sentences of a message are: as rules/talk/worth.py says, and where that is not sure, as
the judge of language says as well."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.llm.base import Judge
from kinmem.rules.talk.features import Setting
from kinmem.rules.talk.statements import Statement
from kinmem.rules.talk.worth import ALONE, Judgement, judgement, probabilities, worth_of
from kinmem.turns import Message

MOST = 12
"""Sentences of a message that the judge is asked about, 6 to 10 ms each; those of which the rules
are least sure. The others are what the rules take them for."""

BEFORE, AFTER = 120, 80
"""Characters that the judge is shown of what stands before a sentence, and of what comes after."""


class Sentence(NamedTuple):
    """A statement of a message, and what stands around it."""

    statement: Statement
    setting: Setting


def judgements(
    sentences: Sequence[Sentence], message: Message, last: Message | None, judge: Judge | None
) -> list[Judgement]:
    """What each sentence of the message is; `last` stands before it. Never raises."""
    found = probabilities([(one.statement.text, one.setting) for one in sentences])
    worth = [worth_of(one) for one in found]
    least_sure = sorted(range(len(found)), key=lambda at: _sureness(worth[at]))
    seen: dict[int, Mapping[str, float]] = {}
    if judge is not None:
        with suppress(ModelError):
            for at in least_sure[:MOST]:
                one = sentences[at].statement
                seen[at] = judge.kinds(one.text, _around(one, message, last))
    return [
        judgement(one.statement.text, one.setting, chances, seen.get(at))
        for at, (one, chances) in enumerate(zip(sentences, found, strict=True))
    ]


def _around(one: Statement, message: Message, last: Message | None) -> str:
    """What a sentence stands in, as the judge was trained with it."""
    asked = last.text if last and last.role == "assistant" else ""
    before, after = message.text[: one.start].strip(), message.text[one.end :].strip()
    return f"{asked[-BEFORE:]} | {before[-BEFORE:]} | {after[:AFTER]}"


def _sureness(worth: float) -> float:
    """How far it is from what would just be kept."""
    return abs(_odds(worth) - _odds(ALONE.enough))


def _odds(chance: float) -> float:
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    return math.log(chance / (1 - chance))
