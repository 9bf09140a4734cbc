"""Stage 1: rewrite a question that depends on the conversation into one that stands alone."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from kinmem.errors import Unusable
from kinmem.language import FollowUp
from kinmem.llm.base import ChatModel, ChatModels
from kinmem.llm.deadline import Attempts
from kinmem.llm.prompts import render, today
from kinmem.models.turns import Message
from kinmem.settings import RecallSettings
from kinmem.store.base import Store
from kinmem.text import UNSPACED, content_words, folded, words

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

    told = "\n".join(f"{_who(one)}: {one.text[:QUOTED]}" for one in recent[-RECENT:])
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


def _who(message: Message) -> str:
    return message.speaker or message.role
