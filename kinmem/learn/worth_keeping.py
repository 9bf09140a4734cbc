"""Stage 1 of learning, without a model: which sentences of a message are worth keeping.

The regression of language/talk/worth.py decides, and where it is not sure, the judge of language as
well. Among people with names, who say much just to talk, a sentence has to be telling.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.language import (
    STATED_BESIDE,
    Judgement,
    Setting,
    Statement,
    Wording,
    appraise,
    kinds,
)
from kinmem.llm.base import Judge
from kinmem.models import ROLES, Category
from kinmem.models.turns import Message
from kinmem.text import UNSPACED, asks, words

# Sentences of a user's message that are read, half of them at either end: what people paste stands
# between their own words. The others are found in the conversation only.
MOST = 80
# Sentences of a message that the judge reads, about 4 ms each: those of which the regression is
# least sure.
MOST_JUDGED = 24

# In quotation marks and so short, it may be a name: our boat is called "Nordlicht". The regression
# reads it without the marks; the judge, who tells names from somebody's words, with them.
TITLE = re.compile(r"[\"“”„«「『‹]([^\"“”„«»「」『』‹›.!?\n]{1,30})[\"“”»」』›](?![\"“”»」』›])")
# Marks behind which a sentence may go on with something else. At most so many of a sentence are
# tried, in so many questions and tasks of a message.
CLAUSE = re.compile(r"[,:;，：；]\s*|\s[–—-]\s")
COLON = re.compile("[:：]")
MOST_CLAUSES = 3
MOST_HOLDING = 3
# Letters of a part before or behind such a mark, at least; a Chinese character counts as three.
SHORTEST_PART = 12
# Worth of a part from which the sentence is kept: "fix the footer, our legal name is Havn now" for
# its second half, "long day, we moved the standup to nine" too, if that is worth more. So 53 of 196
# facts are kept whose sentence is not worth it as a whole, with 7 of 275 other sentences; 40 and
# 5 if only tasks are looked into. Reported speech is left alone: "a customer wrote: I live in
# Hamburg".
WORTH_OF_PART = {"task": 0.5, "question": 0.6, "transient": 0.6, "smalltalk": 0.6}
# Chance of being a question up to which what leads to one is told. So 45 of 48 facts are kept that
# lead to a question, two of 202 other parts, and three of twelve questions like "is it Rex, or Max,
# do you know?"; at .01 44, one and one, without this bar 47, two and eleven. A lost allergy costs
# more than a question that is kept.
ASKS_ITSELF = 0.02

# Most words of a sentence that is kept with the one before it.
SEQUEL = 12

# Characters that the judge is shown of what is before a sentence, and after it.
BEFORE, AFTER = 120, 80

# How telling a sentence must be among people. On LoCoMo 1.2 finds 0.9 points more recall@10 and
# keeps 48 % of the text instead of 44; 1.7 finds 1.1 less and keeps 41.
LEAST = 1.4
# The same for what answers a question, which shows what it is about.
LEAST_ANSWER = 0.9
LEAST_FRAGMENT = 0.01
# Words up to which an answer without a verb is understood only beside its question.
FRAGMENT = 8
# What is said of somebody or something else is usually short: "Ana likes dogs".
OF_OTHERS = 0.7
# Among people only these kinds count more, and only if the wording leaves no doubt: "I prefer
# trains to planes" is short and still worth keeping.
LIKED = frozenset({"identity", "preference", "decision"})
CUED = 0.4
SURELY = 0.8
# An English "he" is no Spanish "he".
HE = re.compile(r"\b[Hh]e\b")


@dataclass(frozen=True, slots=True)
class Question:
    """A text that shows what a statement is about, and the turn it is from."""

    text: str
    turn: str


@dataclass(frozen=True, slots=True)
class KeptSentence:
    """A sentence that is worth keeping."""

    statement: Statement
    at: int
    """Its number in the message."""
    category: Category
    confidence: float
    begins_unnamed: bool
    """Whether it asks or says what is to be done, and so does not begin with a name."""
    is_sequel: bool = False
    """Whether it is kept only with the sentence before it."""

    @property
    def subject(self) -> str | None:
        """Whom or what it is about."""
        text = self.statement.text
        return Wording(text).subject(named=not (self.begins_unnamed or is_about_speaker(text)))

    @property
    def certain_subject(self) -> str | None:
        """The same as far as the words say so: "my sister", "the deploy"."""
        return Wording(self.statement.text).subject(named=False)


@dataclass(frozen=True, slots=True)
class Talk:
    """A message cut into sentences, and what it answers."""

    message: Message
    parts: list[Statement]
    last: Message | None
    """The message before it."""
    question: Question | None
    names: frozenset[str]
    unkept: frozenset[int] = frozenset()
    """The numbers of the sentences that are not to be kept."""
    is_introduced: bool = False
    """Whether the speaker has named himself: that is told an assistant, who cannot see him."""

    @property
    def person(self) -> str | None:
        """The name of the speaker; a role is no name."""
        return None if self.message.speaker in ROLES else self.message.speaker

    @property
    def among_people(self) -> bool:
        """Whether people talk to each other, who say much just to talk."""
        return self.person is not None and not self.is_introduced


class Sentence(NamedTuple):
    """A statement of a message, and what stands around it."""

    statement: Statement
    setting: Setting


def worth_keeping(talk: Talk, judge: Judge | None) -> Iterator[KeptSentence]:
    """Yield the sentences that are worth keeping, in order."""
    stated = [
        (at, part)
        for at, part in enumerate(talk.parts)
        if at not in talk.unkept and _may_state(part.text)
    ]
    if talk.among_people:
        told = ((at, part) for at, part in stated if not _is_question(part.text))
        yield from filter(None, (_of_person(part, at, talk) for at, part in told))
        return
    stated = stated if len(stated) <= MOST else stated[: MOST // 2] + stated[-MOST // 2 :]
    sentences = [Sentence(part, _setting(at, talk)) for at, part in stated]
    judged = judgements(sentences, talk.message, talk.last, judge)
    last: KeptSentence | None = None
    for (at, part), judgement in zip(stated, judged, strict=True):
        if judgement.is_worth or _is_asked_for(at, talk):
            last = kept(part, at, judgement)
            yield last
        elif last and last.at == at - 1 and _goes_on(last, part.text, judgement):
            last = replace(last, statement=part, at=at, is_sequel=True)
            yield last


def _is_asked_for(at: int, talk: Talk) -> bool:
    """Return whether the next sentence asks to keep it: "The gate sticks. Remember that!"."""
    following = talk.parts[at + 1 : at + 2]
    return not asks(talk.parts[at].text) and any(
        Wording(part.text).is_bare_request for part in following
    )


def _goes_on(last: KeptSentence, text: str, judgement: Judgement) -> bool:
    is_short = len(words(text)) <= SEQUEL and not asks(text)
    return last.category == "preference" and judgement.may_go_on and is_short


def kept(
    part: Statement, at: int, judgement: Judgement, category: Category | None = None
) -> KeptSentence:
    """Return the sentence as one to keep, by default with the category that was judged."""
    category = category or judgement.category
    return KeptSentence(part, at, category, judgement.confidence, judgement.kind == "rule")


def is_about_speaker(text: str) -> bool:
    """Return whether people say this about themselves."""
    return Wording(HE.sub("", text)).is_own


def _may_state(text: str) -> bool:
    """Return whether it may be worth keeping, or its writer asks to keep it."""
    wording = Wording(text)
    if wording.asks_to_keep:
        return not wording.is_bare_request
    is_only_asked = asks(text) and not any(_leading(text))
    return not (is_only_asked or wording.is_quotation) and bool(words(text))


def _is_question(text: str) -> bool:
    """Return whether it asks, and not that something is kept."""
    return asks(text) and not Wording(text).asks_to_keep


def _setting(at: int, talk: Talk) -> Setting:
    parts = talk.parts
    return Setting(
        before=parts[at - 1].text if at else "",
        after=parts[at + 1].text if at + 1 < len(parts) else "",
        asked=talk.question.text if talk.question and at == 0 else "",
        first=at == 0,
        last=at + 1 == len(parts),
        lines=talk.message.text.count("\n") + 1,
    )


def _of_person(part: Statement, at: int, talk: Talk) -> KeptSentence | None:
    """Return the sentence if it is telling enough for one said among people."""
    text, wording = part.text, Wording(part.text)
    value, appraisal = wording.telling, appraise(text)
    if not wording.is_instruction and appraisal.is_unreal and not wording.is_own:
        return None
    if appraisal.worth >= SURELY:
        value += OF_OTHERS * (wording.subject() is not None and not wording.is_own)
        value += CUED * (appraisal.category in LIKED)
    least = LEAST_ANSWER if talk.question else LEAST
    if at == 0 and _is_fragment_of_answer(text, talk.question):
        least = LEAST_FRAGMENT
    return kept(part, at, appraisal) if value >= least else None


def _is_fragment_of_answer(text: str, question: Question | None) -> bool:
    """Return whether it answers a question to the speaker, but is no whole sentence."""
    wording = Wording(text)
    if question is None or not Wording(question.text).addresses_somebody or wording.is_own:
        return False
    return len(words(text)) <= FRAGMENT and not wording.has_verb


def judgements(
    sentences: Sequence[Sentence], message: Message, last: Message | None, judge: Judge | None
) -> list[Judgement]:
    """Return what each sentence of the message is. `last` is the message before. Never raises."""
    chances = kinds([(sentence.statement.text, sentence.setting) for sentence in sentences])
    texts = [sentence.statement.text for sentence in sentences]
    for at, sentence in enumerate(sentences):
        bare = unhedged(sentence.statement.text)
        plain = TITLE.sub(r"\1", bare)
        if plain != texts[at]:
            [of_plain] = kinds([(plain, sentence.setting)])
            if of_plain.worth > chances[at].worth:
                chances[at], texts[at] = of_plain, bare
    judged: dict[int, Mapping[str, float]] = {}
    if judge is not None:
        asked = last.text if last and last.role == "assistant" else ""
        least_sure = sorted(range(len(chances)), key=lambda at: chances[at].sureness)
        with suppress(ModelError):
            for at in least_sure[:MOST_JUDGED]:
                statement = sentences[at].statement
                beside = around(asked, message.text, statement.start, statement.end)
                judged[at] = judge.kinds(texts[at], beside)
    results = [
        by_form.judgement(sentence.statement.text, sentence.setting, judged.get(at))
        for at, (sentence, by_form) in enumerate(zip(sentences, chances, strict=True))
    ]
    questions = [at for at, text in enumerate(texts) if _is_question(text)]
    others = [
        at for at, one in enumerate(results) if not one.is_worth and one.kind in WORTH_OF_PART
    ]
    for at in questions:
        results[at] = replace(results[at], is_worth=False)
    for at in dict.fromkeys([*questions[:MOST_HOLDING], *others[:MOST_HOLDING]]):
        reader = judge if at in judged else None
        results[at] = _judge_parts(sentences[at], results[at], reader, is_asked=at in questions)
    return results


def _judge_parts(
    sentence: Sentence, whole: Judgement, judge: Judge | None, *, is_asked: bool
) -> Judgement:
    """Judge a task, or what is of the moment, by what follows, and a question by what leads to it,
    if that is a fact: "write my niece a card, she turns seven"; "my niece turns seven, what do I
    give her?"."""
    text = sentence.statement.text
    enough = WORTH_OF_PART["task" if is_asked else whole.kind]
    parts = _leading(text) if is_asked else ((part, True) for part in _following(text))
    for part, is_plain in parts:
        # The marks of an empty context tell the judge that the part is a whole message. Without
        # them, and with the best bar for each way, 45 of 48 facts are kept instead of 39.
        beside = "" if is_asked else around("", part, 0, len(part))
        result, seen = _judged(part, sentence, beside, judge)
        # Where the form leaves open whether it asks itself, the judge decides.
        is_told = is_plain or (seen is not None and seen["question"] <= ASKS_ITSELF)
        if is_told and result.is_worth and result.worth >= enough:
            return result
    return whole


def _judged(
    part: str, sentence: Sentence, beside: str, judge: Judge | None
) -> tuple[Judgement, Mapping[str, float] | None]:
    """Judge a part of a sentence by itself; with the chances that the judge gives, if there are
    any."""
    [chances] = kinds([(part, sentence.setting)])
    judged = None
    if judge is not None:
        with suppress(ModelError):
            judged = judge.kinds(part, beside)
    return chances.judgement(part, sentence.setting, judged), judged


def _leading(text: str) -> Iterator[tuple[str, bool]]:
    """Yield what stands before each of the last marks of a question and states something although
    it is asked, the longest first; and whether it plainly does not ask itself, as "is my dog called
    Rex, or Max, do you know?" does."""
    for mark in [*CLAUSE.finditer(text)][: -MOST_CLAUSES - 1 : -1]:
        part = text[: mark.start()]
        if not _says_something(part):
            continue
        if _is_asked_behind(part, text):
            yield part, True
        elif (asked := appraise(f"{part}?")).worth >= STATED_BESIDE:
            yield part, asked.kind != "question"


def _is_asked_behind(part: str, question: str) -> bool:
    """Return whether a mark shows that the question only begins behind its part."""
    mark = CLAUSE.match(question, len(part))
    return mark is not None and question.startswith("¿", mark.end())


def _following(text: str) -> Iterator[str]:
    """Yield what stands behind each of the first marks of a task. Behind a colon stands what the
    task is done with, unless it is said of the speaker's own."""
    for mark in [*CLAUSE.finditer(text)][:MOST_CLAUSES]:
        part = text[mark.end() :]
        is_material = COLON.search(text[: mark.end()]) and not is_about_speaker(part)
        if not is_material and _says_something(part):
            yield part


def _says_something(part: str) -> bool:
    return len(UNSPACED.sub("###", part)) >= SHORTEST_PART


def unhedged(text: str) -> str:
    """Return the sentence without how sure its writer is: "Apparently the port is 8081 now"."""
    bare = text[Wording(text).hedge :]
    return bare if words(bare) else text


def around(asked: str, message: str, start: int, end: int) -> str:
    """Return the context of the sentence from `start` to `end`, as the judge reads it and is
    trained with it (scripts/judge/examples.py): what was asked, what is before it, what is after.
    """
    before, after = message[:start].strip(), message[end:].strip()
    return f"{asked[-BEFORE:]} | {before[-BEFORE:]} | {after[:AFTER]}"
