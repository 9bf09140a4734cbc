"""Stage 1: understand the question.

A question that depends on the conversation is rewritten into one that stands alone. Then what it is
about is separated from how it asks.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kinmem.errors import Unusable
from kinmem.language import Dates, FollowUp, Interval
from kinmem.llm.base import ChatModel, ChatModels
from kinmem.llm.deadline import Attempts
from kinmem.llm.prompts import render, today
from kinmem.models import ROLES, Filters
from kinmem.models.turns import Message
from kinmem.recall.profiles import Formula
from kinmem.settings import RecallSettings
from kinmem.store.base import Store
from kinmem.text import STOP_WORDS, UNSPACED, content_words, folded, in_first_person, late, words

# Words about the asking and the conversation, never about the thing asked for. In BEAM people ask
# about "our conversations".
ABOUT_ASKING = frozenset(
    """aspect aspects bring brought comprehensive complete conversation conversations different
    discussed discussion discussions give including item items list mention mentioned order overall
    provide said say session sessions summarise summarize summary tell throughout told talked across
    various""".split()
)
# The same for the text that is embedded.
PHRASES = [
    late(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:throughout|across|in|during|over|based on|from) (?:all )?(?:of )?"
        r"(?:our|my|these|the) (?:conversations?|sessions?|chats?|discussions?|requests?)"
        r"(?: so far)?\b",
        r"[\s,.]*\bmention (?:only|just|exactly)(?: and only)? \w+ \w+\b[.?!]?",
        r",? ?\bin (?:chronological |the right )?order(?=[?.,!]|$)",
        r"\b(?:can|could|would|will) you (?:please )?(?:help me )?",
        r"\b(?:list|walk me through|tell me|give me|provide|show me|describe|summarize|explain)"
        r"(?: me)?(?: the order in which| how to| how| about)?\b",
        r"\b(?:the )?order in which\b",
        r"\ba? ?(?:\w+ )?summary of(?: how)?\b",
        r"\b(?:did|have|had) (?:i|we|you) (?:say|said|mention(?:ed)?|tell|told|recommend(?:ed)?"
        r"|suggest(?:ed)?|brought up|discuss(?:ed)?)\b",
        r"\bi (?:brought up|mentioned|said|told you|asked about)\b",
        r"\bwe(?:['’]ve| have)? (?:discussed|talked about|covered)(?: so far)?\b",
        r"\b(?:different|various) (?:aspects|topics|parts|things)(?: of)?\b",
    )
]
SUMMARY = late(r"\b(?:summar\w+|overview|recap)\b", re.IGNORECASE)
REQUEST = late(r"\b(?:can|could|would|will) you\b", re.IGNORECASE)
FROM_YOU = late(
    r"\b(?:did|have|had|do|were) you\b|\byou (?:recommend|suggest|advis|said|told|gave|give|help"
    r"|propos|describ|explain|provid|outlin|mention)\w*\b",
    re.IGNORECASE,
)
# The speaker asks about his own words: then the time is a condition. If it is about a third person,
# the time is only a hint, since it may have been told later (in LoCoMo a fifth of such answers lie
# outside it).
OWN_WORDS = late(
    r"\b(?:i|we) (?:\w+ )?(?:say|said|tell|told|mention(?:ed)?|ask(?:ed)?|decide[d]?|note[d]?)\b",
    re.IGNORECASE,
)
HAPPENING = frozenset(
    "happen happened happening new news do did done going on remember know".split()
)
# What precedes a question in transcripts: [2023/05/30 (Tue) 23:40], 2023-05-30T23:40:00Z, and the
# name of the speaker. Recognised by shape: brackets with a date or a time of day in them, or both
# without brackets.
DATE, TIME = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}", r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?"
HOLDS_STAMP = rf"(?=.{{0,40}}?(?:{DATE}|{TIME}))"
STAMP = late(
    rf"\s*(?:\[{HOLDS_STAMP}[^\]\n]{{4,60}}\]|\({HOLDS_STAMP}[^)\n]{{4,60}}\)|<{HOLDS_STAMP}[^>\n]{{4,60}}>"
    rf"|{DATE}(?:T|,?\s+(?:at )?){TIME}\s*(?:Z|UTC|[AaPp][Mm]|[+-]\d\d:?\d\d)?(?=[\s:;,-]))"
    r"\s*[:;,-]*\s*"
)
LABEL = late(r"\s*[*_]*(\w[\w .-]{0,30})[*_]*:[*_]*\s+")
STOPS = frozenset().union(*STOP_WORDS.values())
WORD = late(r"[^\W_]+(?:-[^\W_]+)*")
LONGEST_NAME = 3
DEFAULT = Formula()


@dataclass(frozen=True)
class Request:
    """A request to recall."""

    text: str
    limit: int
    filters: Filters
    mode: str | None = None
    """The name of a ranking profile; None: the profile of the setting."""
    seconds: float | None = None
    """Time in which models may help, if less than the setting allows."""
    turns: bool = False
    """Whether to include what was said, in `session` or, if that is None, in all sessions."""
    session: str | None = None


@dataclass(frozen=True)
class Question:
    """A question, analysed."""

    text: str
    asked: str
    """The text without the words that place it in the past: where did I live in March?"""
    bare: str
    """What is embedded: the text without names and without words about the asking."""
    words: list[str]
    """What the word search looks for."""
    named: frozenset[str]
    """Known names in it, normalised by text.folded."""
    of_user: bool
    """Whether the user's own statements are likelier answers than an assistant's."""
    when: Interval | None
    """The interval that it names."""
    only_then: bool
    """Whether the question is about that interval: "what did I say last week?"."""
    until: frozenset[str] = frozenset()
    """Words of what superseded the answer: where did I work before Ericsson?"""
    was: Interval | None = None
    """The past interval whose state of affairs it asks about: "where did I live in March?"."""
    mentioned: frozenset[str] = frozenset()
    """Words for what the speaker wants to know to have said: did I ever mention Verona?"""


def unstamped(text: str) -> str:
    """Remove time stamps and the speaker's label before the question, unless nothing would be left.

    After a stamp, any short name with a colon is a label. Otherwise only a role is, since a name
    may be what the question is about: "Biscuit: how old is he?".
    """
    rest = text
    while (stamp := STAMP.match(rest)) is not None:
        rest = rest[stamp.end() :]
    label = LABEL.match(rest)
    if label is not None and (rest != text or label[1].casefold() in ROLES):
        rest = rest[label.end() :]
    return rest if content_words(rest) else text


# Returns the conversation before a question, in order. Called only if the question needs it.
Recent = Callable[[], Sequence[Message]]
# Messages before a question that may explain it, each cut to QUOTED characters (KinBot).
RECENT = 4
QUOTED = 200
LONGEST = 500
KNOWN_SUBJECTS = 10_000
# Least share of a rewritten question's words that must have been said. An excuse has none of them,
# nor does what some text has told the model to say.
SPOKEN_OF = 0.4


def rewrite(
    text: str,
    recent: Recent,
    store: Store,
    models: ChatModels,
    attempts: Attempts,
    now: datetime,
    settings: RecallSettings,
) -> str:
    """Return the question, or what it means in the conversation before it, reworded by a model or,
    failing that, by rules. `now` is in the Kin's zone."""
    if not FollowUp(text).is_likely(settings.rewrite_threshold) or not (said := recent()):
        return text
    model = models.rewrite
    if model is not None:
        most = attempts.share(later=models.expands + models.reranks)
        done = attempts.tried("rewrite", lambda: rewritten(text, said, model, today(now), most))
        if done is not None:
            return done
    subjects = store.subjects("", KNOWN_SUBJECTS)
    return completed(text, said, {folded(subject) for subject in subjects})


def rewritten(
    text: str,
    recent: Sequence[Message],
    model: ChatModel,
    day: str,
    deadline: float | None = None,
) -> str:
    """Return the question worded for somebody who has not heard the conversation. For `day`, see
    prompts.today. Raises ModelError."""
    from kinmem.llm.reply import Standalone  # imported late: 80 ms that a hook need not spend

    told = "\n".join(f"{one.who}: {one.text[:QUOTED]}" for one in recent[-RECENT:])
    prompt = render("rewrite", today=day, conversation=told, question=text)
    reply = model.answer(prompt, Standalone, deadline=deadline)
    question = " ".join(reply.question.split())
    asked, said = content_words(question), f"{told} {text}"
    spoken_of = sum(_was_said(word, said) for word in asked)
    if not 0 < len(question) < LONGEST or spoken_of < SPOKEN_OF * max(1, len(asked)):
        raise Unusable(f"{model.name} gave no question that the conversation is about")
    return question


def completed(text: str, recent: Sequence[Message], names: Collection[str]) -> str:
    """Append to the question what it leaves out and the last statement names. Uses no model."""
    spoken = [one.text for one in recent if one.role == "assistant"]
    spoken += [
        one.text for one in recent if one.role == "user"
    ]  # the user's words come last, so they take precedence
    carried = FollowUp(text).words_left_out(spoken, names)
    return f"{text} ({', '.join(carried)})" if carried else text


def _was_said(word: str, said: str) -> bool:
    """Return whether the word was said; in scripts without spaces, whether half of its characters
    were."""
    if UNSPACED.search(word):
        return 2 * sum(sign in said for sign in word) >= len(word)
    return word in words(said)


def understand(
    text: str, names: frozenset[str], now: datetime, formula: Formula = DEFAULT
) -> Question:
    """Analyse a question. `names` are the known names, normalised by text.folded.

    `now` is aware; words such as "yesterday" refer to its zone.
    """
    text = in_first_person(text)
    was, then = Dates(text, now).asked_of_past or (None, "")
    asked = _tidy(text.replace(then, " ")) if then else text
    asked = asked if content_words(asked) else text
    spans = _named(asked, names)
    # The time stays among the words, since texts contain it: LoCoMo .847 with it, .827 without.
    sought = content_words(text) if formula.without_stop_words else words(text)
    left_out = ABOUT_ASKING if formula.without_asking_words else frozenset()
    when, phrase = Dates(text, now).asked or (None, "")
    return Question(
        text=text,
        asked=asked,
        bare=_bare(asked, [asked[a:b] for a, b in spans], formula),
        words=[word for word in sought if word not in left_out] or sought,
        named=frozenset(folded(asked[a:b]) for a, b in spans),
        of_user=not (SUMMARY.search(text) or FROM_YOU.search(REQUEST.sub("", text))),
        when=when,
        only_then=when is not None and _asks_for_time(text, phrase),
        until=frozenset(content_words(Dates(text, now).asked_before)) if was else frozenset(),
        was=was,
        mentioned=_mentioned(text),
    )


def _mentioned(text: str) -> frozenset[str]:
    """Return the content words of what the speaker is asked to have said, without the asking."""
    said = OWN_WORDS.search(text)
    return frozenset(content_words(text[said.end() :])) - ABOUT_ASKING if said else frozenset()


def within(question: Question, filters: Filters) -> Filters:
    """Narrow the filters to the time that the question asks for, unless the caller has set one."""
    when = question.when
    if when is None or not question.only_then or filters.since or filters.until or filters.as_of:
        return filters
    return replace(filters, since=when.start, until=when.end)


def looking_back(question: Question, filters: Filters) -> Filters:
    """Widen the filters to what held at the past time that the question asks about, unless the
    caller has set one."""
    was = question.was
    if was is None or filters.as_of or filters.since or filters.until or filters.states:
        return filters
    return replace(filters, was=(was.start, was.end))


def _asks_for_time(text: str, phrase: str) -> bool:
    """Return whether nothing but the time is left, or the speaker asks what was said then."""
    rest = text.replace(phrase, " ")
    left = [word for word in content_words(rest) if word not in ABOUT_ASKING | HAPPENING]
    return not left or set(left) <= STOPS or bool(OWN_WORDS.search(text))


def _named(text: str, names: frozenset[str]) -> list[tuple[int, int]]:
    """Return the positions of known names: whole words that begin with a capital ("Will" is not
    "will")."""
    if not names:
        return []
    places = [match.span() for match in WORD.finditer(text)]
    spans = []
    for first, (start, _) in enumerate(places):
        if text[start] == text[start].lower() != text[start].upper():
            continue
        for _, end in reversed(places[first : first + LONGEST_NAME]):
            if folded(text[start:end]) in names:
                spans.append((start, end))
                break
    return spans


def _bare(text: str, named: list[str], formula: Formula) -> str:
    nameless = text
    for name in named if formula.without_names else ():
        nameless = re.sub(rf"\b{re.escape(name)}(?:['’]s)?(?!\w)", "", nameless)
    plain = nameless
    for phrase in PHRASES if formula.without_phrases else ():
        plain = phrase.sub("", plain)
    return next((t for t in (_tidy(plain), _tidy(nameless)) if content_words(t)), text)


def _tidy(text: str) -> str:
    return re.sub(r"\s+([?.,!])", r"\1", re.sub(r"\s+", " ", text)).strip(" ,.")
