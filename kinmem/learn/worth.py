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

MOST = 24
"""Sentences of a message that the judge is asked about, about 4 ms each; those of which the
regression is least sure. The others are what it takes them for."""

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
    seen: dict[int, Mapping[str, float]] = {}
    if judge is not None:
        asked = last.text if last and last.role == "assistant" else ""
        least_sure = sorted(range(len(found)), key=lambda at: _sureness(worth_of(found[at])))
        with suppress(ModelError):
            for at in least_sure[:MOST]:
                one = sentences[at].statement
                seen[at] = judge.kinds(one.text, around(asked, message.text, one.start, one.end))
    return [
        judgement(one.statement.text, one.setting, chances, seen.get(at))
        for at, (one, chances) in enumerate(zip(sentences, found, strict=True))
    ]


def around(asked: str, message: str, start: int, end: int) -> str:
    """What the sentence from `start` to `end` stands in, as the judge reads it and is trained with
    it (scripts/judge/examples.py): what was asked, what is before it in the message, and after."""
    before, after = message[:start].strip(), message[end:].strip()
    return f"{asked[-BEFORE:]} | {before[-BEFORE:]} | {after[:AFTER]}"


def _sureness(worth: float) -> float:
    """How far it is from what would just be kept."""
    return abs(_odds(worth) - _odds(ALONE.enough))


def _odds(chance: float) -> float:
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    return math.log(chance / (1 - chance))
