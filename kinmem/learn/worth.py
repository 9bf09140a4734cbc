"""What the sentences of a message are: as language/talk/worth.py says, and where that is not sure,
as the judge of language says as well."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.language import Judgement, Setting, Statement, Wording, importance, kinds
from kinmem.llm.base import Judge
from kinmem.models.turns import Message
from kinmem.text import UNSPACED, words

MOST = 24
"""Sentences of a message that the judge is asked about, about 4 ms each; those of which the
regression is least sure. The others are what it takes them for."""

CLAUSE = re.compile(r"[,:;，：；]\s*|\s[–—-]\s")
REMAINING = 12
"""Letters of what is left behind such a mark, at least; a Chinese sign counts as three."""
SURELY = 0.5
"""Of "fix the footer, our legal name is Havn now" the second half, from which on it is kept."""
TITLE = re.compile(r"[\"“”„«「『‹]([^\"“”„«»「」『』‹›.!?\n]{1,30})[\"“”»」』›](?![\"“”»」』›])")
"""In quotation marks and so short, it may be a name: our boat is called "Nordlicht". The regression
reads it without the marks; the judge, who tells names from somebody's words, with them."""
LOOKED_AT = 3
"""Marks of a sentence behind which it may go on with something else; and sentences of a message."""

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
    found = kinds([(one.statement.text, one.setting) for one in sentences])
    texts = [one.statement.text for one in sentences]
    for at, one in enumerate(sentences):
        bare = unhedged(one.statement.text)
        plain = TITLE.sub(r"\1", bare)
        if plain != texts[at]:
            [as_told] = kinds([(plain, one.setting)])
            if as_told.worth > found[at].worth:
                found[at], texts[at] = as_told, bare
    seen: dict[int, Mapping[str, float]] = {}
    if judge is not None:
        asked = last.text if last and last.role == "assistant" else ""
        least_sure = sorted(range(len(found)), key=lambda at: found[at].sureness)
        with suppress(ModelError):
            for at in least_sure[:MOST]:
                statement = sentences[at].statement
                beside = around(asked, message.text, statement.start, statement.end)
                seen[at] = judge.kinds(texts[at], beside)
    told = [
        chances.judgement(one.statement.text, one.setting, seen.get(at))
        for at, (one, chances) in enumerate(zip(sentences, found, strict=True))
    ]
    tasks = [at for at, one in enumerate(told) if one.kind == "task" and not one.is_worth]
    for at in tasks[:LOOKED_AT]:
        told[at] = _by_its_end(sentences[at], told[at], judge if at in seen else None)
    return told


def _by_its_end(sentence: Sentence, told: Judgement, judge: Judge | None) -> Judgement:
    """What a task is that goes on with a fact: "write my niece a card, she turns seven"."""
    text = sentence.statement.text
    ends = [text[mark.end() :] for mark in CLAUSE.finditer(text)][:LOOKED_AT]
    for end in ends:
        if len(UNSPACED.sub("###", end)) < REMAINING:
            continue
        [chances] = kinds([(end, sentence.setting)])
        seen = None
        if judge is not None:
            with suppress(ModelError):
                seen = judge.kinds(end, around("", end, 0, len(end)))
        found = chances.judgement(end, sentence.setting, seen)
        if found.is_worth and found.worth >= SURELY:
            return replace(found, importance=importance(text, found.category))
    return told


def unhedged(text: str) -> str:
    """The sentence without how sure its writer is: "Apparently the port is 8081 now"."""
    bare = text[Wording(text).hedge :]
    return bare if words(bare) else text


def around(asked: str, message: str, start: int, end: int) -> str:
    """What the sentence from `start` to `end` stands in, as the judge reads it and is trained with
    it (scripts/judge/examples.py): what was asked, what is before it in the message, and after."""
    before, after = message[:start].strip(), message[end:].strip()
    return f"{asked[-BEFORE:]} | {before[-BEFORE:]} | {after[:AFTER]}"
