"""Stage 12: add what was said in the conversations and is in none of the memories.

Memories are few and precise; the transcript is complete. Turns are found, scored and judged like
memories. If a memory repeats a turn, the turn is left out and the memory gets the better of the two
scores. The best of both are returned, memories that answer first.

"Oak, please" says nothing without what was asked, and somebody who asks again is answered by what
was said the first time. So a short reply stands where its question is found, and is judged together
with it. A logistic regression over both vectors decides whether it answers at all ("Let me check"
does not), if one was learned for the embedder.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kinmem.clock import Clock
from kinmem.language import appraise, only_asks, order_in
from kinmem.llm.base import Calibration, Embedder
from kinmem.models import (
    CONVERSATION,
    Answer,
    Candidate,
    Filters,
    Found,
    Hit,
    Memory,
    Scored,
    State,
    Vector,
    id_of_message,
)
from kinmem.models.turns import Message
from kinmem.recall.confidence import QUESTION_MARKS, SHARE_IF_WEAK, judge
from kinmem.recall.excerpt import excerpted, passage
from kinmem.recall.fuse import fuse, lift
from kinmem.recall.profiles import Profile
from kinmem.recall.question import Question, within
from kinmem.recall.search import Meaning, asked_of, scaled
from kinmem.recall.trim import trim
from kinmem.recall.weigh import weigh
from kinmem.settings import RecallSettings
from kinmem.store.base import Store
from kinmem.store.sessions import Learned, Transcript
from kinmem.text import UNSPACED, content_words

# Characters up to which a reply is found by its question. A longer one has words of its own: to put
# those there as well costs 1.4 points of recall@10 on BEAM.
LONGEST_REPLY = 160
# Least chance that a reply tells what its question asks for.
INFORMS = 0.2
# Least chance that a turn asks for something.
ASKS = 0.4


class Reply(NamedTuple):
    """What was said to a turn that only asks."""

    asked: str
    """The id of that turn."""
    question: str
    message: Message


# By the id of the reply.
Replies = Mapping[str, Reply]


def replies_to(
    ranked: Sequence[Scored],
    transcript: Transcript,
    embedder: Embedder,
    filters: Filters,
    session: str | None,
) -> Replies:
    """Return the short replies to those turns that ask for what the reply tells."""
    said = {one.candidate.id: one.candidate.content for one in ranked}
    replies = {
        id_of_message(message.id): Reply(asked, said[asked], message)
        for asked, message in transcript.replies(said, filters, session).items()
        if len(message.text) <= LONGEST_REPLY
    }
    if not replies:
        return replies
    ids = [*replies, *(reply.asked for reply in replies.values())]
    parts = transcript.vectors_of(embedder.name, ids)
    vectors = {id: next(iter(of_text.values())) for id, of_text in parts.items()}
    return {
        id: reply
        for id, reply in replies.items()
        if _answers(reply, vectors.get(id), vectors.get(reply.asked), embedder.calibration)
    }


def _answers(
    reply: Reply, told: Vector | None, asked: Vector | None, calibration: Calibration
) -> bool:
    """Without vectors that were learned from, a question has to be nothing but a question, and any
    reply may answer it that is none itself."""
    asks, informs = calibration.asks, calibration.replies
    is_marked = reply.question.endswith(QUESTION_MARKS)
    if told is None or asked is None or asks is None or informs is None:
        is_answer = is_marked and only_asks(reply.question)
    else:
        is_question = is_marked or asks.chance(asked) >= ASKS
        is_answer = is_question and informs.chance(told, asked) >= INFORMS
    return is_answer and not only_asks(reply.message.text)


def with_replies(
    ranked: Sequence[Scored], found: Found, replies: Replies
) -> tuple[list[Scored], Found]:
    """Put each reply behind its question, as near to what is asked now as the nearer of the two. A
    reply that was found itself stands at the better of both places."""
    of_question = {reply.asked: id for id, reply in replies.items()}
    cosines = dict(found.cosines)
    placed: dict[str, Scored] = {}
    for one in ranked:
        asked = one.candidate.id
        placed.setdefault(asked, one)
        if (id := of_question.get(asked)) is None:
            continue
        together = _read_together(one.candidate, id, replies[id])
        placed.setdefault(id, replace(one, candidate=together))
        if near := [*cosines.get(asked, ()), *cosines.get(id, ())]:
            cosines[id] = near
    return list(placed.values()), replace(found, cosines=cosines)


def _read_together(question: Candidate, id: str, reply: Reply) -> Candidate:
    """Return the reply as a candidate, as old as the question. Whether it gives orders has not been
    looked at, so it counts as doubtful."""
    content = f"{reply.question}\n{reply.message.text}"
    return question._replace(id=id, content=content, speaker=reply.message.who, trust=0.0)


def without_answered(
    turns: Sequence[tuple[Message, Hit]], replies: Replies, limit: int
) -> list[tuple[Message, Hit]]:
    """Leave out each question whose reply is told, since it is the context of the reply; return the
    first `limit` of the others."""
    told = {hit.memory.id for _, hit in turns if not hit.weak}
    answered = {reply.asked for id, reply in replies.items() if id in told}
    return [pair for pair in turns if pair[1].memory.id not in answered][:limit]


# Fraction of the best turn's score from which a memory counts as an answer and is placed before all
# turns: with .9, .95 and .98, recall@10 was 83.7, 85.1 and 86.1 % on one conversation of LoCoMo,
# and 65.8 each on one of BEAM. With .98, a turn that repeats a memory in other words hides it.
FIRST = 0.95
# Tokens shown of one turn, about as much as one vector covers; its address shows the whole.
SHOWN_TOKENS = 200
# The same of the question that a turn answers, which is shown as its context.
ASKED_TOKENS = 50
# Least chance of a reply that is a hit because of its question, and of a word or two: of 14
# questions in three languages 9 had been asked before in other words (.41 to .99); the nearest of
# the others came to .34.
ASKS_THE_SAME = 0.25
# Multiple of the limit: how many turns are checked for whether they may be shown.
LOOKED_AT = 3
# Most content words of a turn that may say nothing by itself, and most characters of one.
SHORT, SHORT_CHARACTERS = 2, 40


@dataclass(frozen=True)
class Sought:
    """What to look for among the turns."""

    question: Question
    filters: Filters
    """Limits on time apply to turns. Any other restriction excludes turns altogether."""
    session: str | None
    """Only what was said in this session; None: in any."""
    profile: Profile
    meaning: Meaning


class Conversation:
    """Searches what one Kin has heard and said."""

    def __init__(self, store: Store, settings: RecallSettings, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock

    def __call__(self, answer: Answer, sought: Sought, limit: int) -> Answer:
        """Return the answer with turns merged in, unless none is likely to answer. It abstains if
        no hit of either kind does."""
        if not applies(sought.filters):
            return answer
        meaning = sought.meaning.among(self._store.transcript)
        found = self._found(sought, meaning)
        if not found.candidates:
            return answer
        ranked = self._ranked(found, sought)[: LOOKED_AT * limit]
        replies = replies_to(
            ranked, self._store.transcript, meaning.embedder, sought.filters, sought.session
        )
        ranked, found = with_replies(ranked, found, replies)
        tellable, messages = self._tellable(ranked, sought, replies)
        # A question whose reply is told makes room for another turn.
        kept = trim(tellable, limit + len(replies), self._settings)
        confidences, abstained, least = judge(kept, sought.question, found, self._settings)
        is_answered = any(not hit.weak for hit in answer.hits)
        faintest = self._settings.abstain_below * SHARE_IF_WEAK
        if abstained and (is_answered or max(confidences) < faintest):
            return replace(answer, abstained=not is_answered)
        turns = []
        for one, chance in zip(kept, confidences, strict=True):
            message = messages[one.candidate.id]
            hit = self._hit(one, chance, message, replies.get(one.candidate.id), answer.words)
            hit = replace(hit, weak=hit.weak or abstained)
            if chance >= least and not _gives_order(one.candidate, message, hit):
                turns.append((message, hit))
        turns = without_answered(turns, replies, limit)
        if not turns:
            return replace(answer, abstained=not is_answered)
        hits = merged(answer.hits, turns, limit)
        hits = excerpted(hits, answer.words, self._settings.tokens)
        return replace(answer, hits=hits, abstained=all(hit.weak for hit in hits))

    def _hit(
        self,
        one: Scored,
        chance: float,
        message: Message,
        reply: Reply | None,
        words: Sequence[str],
    ) -> Hit:
        """Return a turn as a hit, with its question if it is a reply. It is weak if it only asks,
        says nothing by itself, or was found by its question, which hardly asks the same."""
        is_weak = only_asks(message.text) or _asks_the_same(message.text, words)
        question = None
        if reply is not None:
            was_found_by_it = one.candidate.content != message.text
            is_weak |= was_found_by_it and chance < ASKS_THE_SAME
            question = passage(reply.question, words, ASKED_TOKENS) or reply.question
        elif chance < ASKS_THE_SAME:
            is_weak |= _is_short_and_apart(one.candidate, words)
        memory = as_memory(message, self._store.kin, question)
        told = passage(message.text, words, SHOWN_TOKENS)
        return Hit(memory, one.score, one.reasons, told, confidence=chance, weak=is_weak)

    def _found(self, sought: Sought, meaning: Meaning) -> Found:
        """Search within the time that the question asks for; if nothing was said then, at any
        time."""
        transcript, threshold = self._store.transcript, self._settings.similarity_threshold
        vectors = meaning.of([sought.question.bare])
        vector = vectors[0] if vectors else None
        asked = asked_of(sought.question.words, vector, meaning.embedder, sought.profile)
        narrowed = within(sought.question, sought.filters)
        found = transcript.search(asked, narrowed, sought.session)
        is_narrowed = narrowed != sought.filters and bool(found.candidates)
        if narrowed != sought.filters and not is_narrowed:
            found = transcript.search(asked, sought.filters, sought.session)
        found = scaled(found, meaning.embedder, threshold)
        if is_narrowed:
            found = replace(found, noise=0.0, by_time=True)
        return found if vector is not None else replace(found, scale=None)

    def _ranked(self, found: Found, sought: Sought) -> list[Scored]:
        """Score turns as memories are scored."""
        settings, profile = self._settings, sought.profile
        scored = fuse(found, profile, settings)
        if profile.weighing == "bounded":
            scored = lift(scored, profile.formula)
        return weigh(scored, sought.question, profile, settings, self._clock())

    def _tellable(
        self, scored: Sequence[Scored], sought: Sought, replies: Replies
    ) -> tuple[list[Scored], Mapping[str, Message]]:
        """Drop turns that add no word to the question, turns behind a memory that was forgotten,
        and, unless the question is about a past time, turns whose memories are all superseded; with
        a question goes its reply, which would show it."""
        asked = set(content_words(sought.question.text))
        more = [one for one in scored if _says_more(one.candidate, asked)]
        questions = [reply.asked for reply in replies.values()]
        messages = self._store.transcript.messages(
            [*(one.candidate.id for one in more), *questions]
        )
        learned = self._store.transcript.learned(messages.values())
        filters = sought.filters
        looks_back = bool(filters.as_of or filters.was or filters.include_archived)
        kept = {
            id: message
            for id, message in messages.items()
            if _may_be_told(message, learned[message.id], looks_back)
        }
        told = {id for id in kept if id not in replies or replies[id].asked in kept}
        return [one for one in more if one.candidate.id in told], kept


def applies(filters: Filters) -> bool:
    """Return whether the filters allow turns at all. The current project only affects ranking."""
    times = Filters(
        since=filters.since,
        until=filters.until,
        as_of=filters.as_of,
        was=filters.was,
        include_archived=filters.include_archived,
        scope="private" if filters.scope == "private" else None,
    )
    return replace(filters, here=filters.here if filters.only_here else None) == times


def merged(memories: Sequence[Hit], turns: Sequence[tuple[Message, Hit]], limit: int) -> list[Hit]:
    """Return the best of both, at most `limit`: first the memories that answer, in their order,
    then the rest by score, and last the turns that only ask and so answer nothing.

    A memory that was learned from a reply is as sure as the reply: "Oak" says little alone.
    """
    scores = {hit.memory.id: _score(hit) for hit in memories}
    told = {
        (hit.memory.session, turn, _role(hit.memory)): hit.memory.id
        for hit in reversed(memories)
        for turn in hit.memory.turns
    }
    others: list[Hit] = []
    sure: dict[str, float] = {}
    for message, hit in turns:
        repeated = told.get((message.session, message.turn, message.role))
        if repeated is None:
            scores[hit.memory.id] = hit.score
            others.append(hit)
            continue
        scores[repeated] = max(scores[repeated], hit.score)
        if hit.memory.source_context and not hit.weak:
            sure[repeated] = max(hit.confidence, sure.get(repeated, 0.0))
    memories = [_as_sure(hit, sure.get(hit.memory.id)) for hit in memories]
    enough = FIRST * max((hit.score for hit in others if not hit.weak), default=0.0)
    first = [hit for hit in memories if scores[hit.memory.id] >= enough and not hit.weak][:limit]
    ids = {hit.memory.id for hit in first}
    rest = [hit for hit in (*memories, *others) if hit.memory.id not in ids]
    rest.sort(key=lambda hit: (hit.weak, hit.weak and hit.is_turn, -scores[hit.memory.id]))
    return (first + rest)[:limit]


def _as_sure(hit: Hit, chance: float | None) -> Hit:
    if chance is None or chance < hit.confidence:
        return hit
    return replace(hit, confidence=chance, weak=False)


def _gives_order(candidate: Candidate, message: Message, hit: Hit) -> bool:
    """Return whether what would be shown reads as an order to a model: a doubtful turn, or what any
    turn replies to."""
    is_own, asked = message.role == "user", hit.memory.source_context
    if asked is not None and order_in(asked, own=not is_own) is not None:
        return True
    if candidate.trust == 1:
        return False
    return order_in(hit.excerpt or message.text, own=is_own) is not None


def _is_short_and_apart(candidate: Candidate, asked: Collection[str]) -> bool:
    """Return whether it is a word or two, and neither they nor what was said around them has a word
    of the question ("OK", "Great!"). Unspaced scripts tell nothing about the number of words."""
    if len(candidate.content) > SHORT_CHARACTERS or UNSPACED.search(candidate.content):
        return False
    said = content_words(candidate.content)
    around = content_words(candidate.source_context or "")
    return len(said) <= SHORT and not set(asked) & {*said, *around}


def _asks_the_same(text: str, asked: Collection[str]) -> bool:
    """Return whether it is a task that adds hardly a word to the question, and no number: "can you
    check what the upload limit is"."""
    added = [word for word in content_words(text[:600]) if word not in asked]
    is_told = len(added) > 1 or any(map(str.isdigit, "".join(added)))
    return not is_told and appraise(text).asks_help


def _says_more(candidate: Candidate, asked: Collection[str]) -> bool:
    return any(word not in asked for word in content_words(candidate.content[:600]))


def _may_be_told(message: Message, learned: Sequence[Learned], looks_back: bool) -> bool:
    """Return False if something learned from the turn was forgotten or is quarantined, or if
    everything learned from it was superseded and the question does not look back."""
    states = [one.state for one in learned if one.speaker != "tool"]
    if State.DELETED in states:
        return False
    if any(one.state == State.QUARANTINED and _role(one) == message.role for one in learned):
        return False
    return looks_back or not states or any(state != State.SUPERSEDED for state in states)


def _role(one: Memory | Learned) -> str:
    """Return the role of whoever said it."""
    return one.speaker if one.speaker in ("assistant", "tool") else "user"


def _score(hit: Hit) -> float:
    """Return the score without the models' share, since models do not read turns."""
    return hit.reasons._replace(
        judged=None, times_likely=None, plus_rerank=None, times_rerank=None
    ).total


def as_memory(message: Message, kin: str, asked: str | None = None) -> Memory:
    """Wrap a message in the form of a memory, so that it can be shown as one; `asked` is the
    question that it answers."""
    return Memory(
        id=id_of_message(message.id),
        kin=kin,
        scope="private",
        content=message.text,
        category="context",
        content_hash="",
        source_context=asked,
        speaker=message.who,
        channel="user" if message.role == "user" else "extraction",
        client=message.client,
        session=message.session,
        turn_id=message.turn,
        occurred_at=message.said_at,
        created_at=message.said_at,
        content_updated_at=message.said_at,
        source=CONVERSATION,
    )
