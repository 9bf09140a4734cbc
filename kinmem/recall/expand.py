"""Beside the plain search: other wordings of the question, and an answer that is made up."""

from collections.abc import Sequence

from kinmem.errors import Unusable
from kinmem.llm.base import ChatModel
from kinmem.prompts import render

VARIATIONS = 3
SUBJECTS = 20
"""Known subjects that a model is told of, of those that resemble the question most."""
LONGEST = 500


def variations(
    text: str,
    subjects: Sequence[str],
    model: ChatModel,
    today: str,
    deadline: float | None = None,
) -> list[str]:
    """Three at most, none of them the question itself. Raises ModelError."""
    from rapidfuzz import fuzz, process  # late: 90 ms in all that a hook does without

    from kinmem.recall.shapes import Variations

    known = process.extract(text, subjects, scorer=fuzz.token_set_ratio, limit=SUBJECTS)
    told = "\n".join(subject for subject, _, _ in known)
    prompt = render("vary", today=today, subjects=told, question=text)
    reply = model.answer(prompt, Variations, deadline=deadline)
    plain = (" ".join(one.split()) for one in reply.questions)
    fit = dict.fromkeys(one for one in plain if 0 < len(one) < LONGEST)
    return [one for one in fit if one.casefold() != text.casefold()][:VARIATIONS]


def imagined(text: str, model: ChatModel, today: str, deadline: float | None = None) -> str:
    """A statement such as would answer the question (HyDE). Raises ModelError."""
    from kinmem.recall.shapes import Imagined  # late: 80 ms that a hook does without

    prompt = render("imagine", today=today, question=text)
    reply = model.answer(prompt, Imagined, deadline=deadline)
    answer = " ".join(reply.answer.split())
    if not 0 < len(answer) < LONGEST:
        raise Unusable(f"{model.name} gave no statement that can be searched for")
    return answer
