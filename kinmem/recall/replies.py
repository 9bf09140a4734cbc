"""Replies to questions among the turns: "Oak, please" says nothing without what was asked.

Somebody who asks again is answered by what was said the first time. So a short reply stands where
its question is found, and is judged together with it. A logistic regression over both vectors
decides whether it answers at all ("Let me check" does not), if one was learned for the embedder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kinmem.language import only_asks
from kinmem.llm.base import Calibration, Embedder
from kinmem.models import Candidate, Filters, Found, Hit, Scored, Vector, id_of_message
from kinmem.models.turns import Message
from kinmem.recall.confidence import QUESTION_MARKS
from kinmem.store.sessions import Transcript

# Characters up to which a reply is found by its question. A longer one has words of its own: to put
# those there as well costs 1.4 points of recall@10 on BEAM.
LONGEST = 160
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
        if len(message.text) <= LONGEST
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
    turns: Sequence[tuple[Message, Hit]], replies: Replies
) -> list[tuple[Message, Hit]]:
    """Leave out each question whose reply is told: it is the context of the reply."""
    told = {hit.memory.id for _, hit in turns if not hit.weak}
    answered = {reply.asked for id, reply in replies.items() if id in told}
    return [pair for pair in turns if pair[1].memory.id not in answered]
