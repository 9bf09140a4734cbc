"""Old turns become a summary: by a model, or from their most telling sentences (see telling.py)."""

from collections.abc import Sequence

from kinmem.compact.inert import inert, who, without_delimiters
from kinmem.compact.telling import condensed, extracted
from kinmem.compact.turns import Turn
from kinmem.errors import InvalidInput, ModelError
from kinmem.llm.base import ChatModel
from kinmem.prompts import render
from kinmem.text import clean, estimated_tokens, sentences
from kinmem.turns import Message, Snapshot

LEAST_TOKENS = 1500
SHARE_OF_WINDOW = 50
"""A summary has at most a fiftieth of the model's window, or LEAST_TOKENS."""
SHARE_READ = 2
"""The turns it is made from take at most half of the window."""
RESULT = 500
"""Characters of a tool's result that the model is shown; KinBot's number."""
SHORTER = (20_000, 4_000, 1_000, 200)
"""Characters of each message, tried in this order until the turns fit."""
EXTRACTIVE = "extractive"


def summary_of(
    turns: Sequence[Turn], earlier: Snapshot | None, model: ChatModel | None, window: int
) -> str:
    """What happened in these turns; `earlier` is the summary of those before. Raises ModelError."""
    limit = most_tokens(window)
    if model is None:
        return _checked(extracted(turns, limit), limit)
    prompt = render(
        "summarize",
        tokens=limit,
        earlier=earlier.summary if earlier else "(none)",
        turns=_told(turns, window // SHARE_READ),
    )
    return _checked(_answered(prompt, model), limit)


def fold(older: Snapshot, newer: Snapshot, model: ChatModel | None, window: int) -> str:
    """One summary in place of two that follow each other. Raises ModelError."""
    limit = most_tokens(window)
    if model is None:
        return _checked(condensed(older.summary, newer.summary, limit), limit)
    prompt = render("fold", tokens=limit, older=older.summary, newer=newer.summary)
    return _checked(_answered(prompt, model), limit)


def _answered(prompt: str, model: ChatModel) -> str:
    from kinmem.compact.shape import Summary  # late: 80 ms that a hook does without

    return model.answer(prompt, Summary).summary


def most_tokens(window: int) -> int:
    """How long one summary may be."""
    return max(LEAST_TOKENS, window // SHARE_OF_WINDOW)


def _told(turns: Sequence[Turn], room: int) -> str:
    """The turns as the model reads them, each message cut so far that all fit in `room` tokens."""
    messages = [message for turn in turns for message in turn]
    said = ""
    for most in SHORTER:
        said = "\n".join(_line(message, most) for message in messages)
        if estimated_tokens(said) <= room:
            return said
    return _ends(said, room)  # thousands of messages: the first and the last tell most


def _line(message: Message, most: int) -> str:
    """Further lines are indented, so that none poses as a message."""
    text = _ends(message.text, min(most, RESULT) if message.role == "tool" else most)
    return f"[{message.said_at:%Y-%m-%d %H:%M}] {who(message)}: {inert(text)}"


def _ends(text: str, most: int) -> str:
    """The text, without its middle if it is long: what is wanted stands first or last."""
    if len(text) <= most:
        return text
    head, tail = most * 2 // 3, most // 3
    return f"{text[:head]} [… {len(text) - head - tail:,} characters …] {text[-tail:]}"


def _checked(summary: str, limit: int) -> str:
    """As it is stored: plain text within the limit, in which nothing is a delimiter of ours."""
    try:
        plain = clean(summary[: 16 * limit], "the summary", 64 * limit)
    except InvalidInput as error:
        raise ModelError("the summary is empty; the turns stay as they are") from error
    return shortened(without_delimiters(plain), limit)


def shortened(text: str, limit: int) -> str:
    """Whole sentences or lines, up to the limit in tokens; the first cut if it alone is longer."""
    if estimated_tokens(text) <= limit:
        return text
    kept, left = "", limit
    for part in sentences(text):
        left -= estimated_tokens(part)
        if left < 0:
            break
        kept += part
    return kept.strip() or _beginning(text, limit)


def _beginning(text: str, limit: int) -> str:
    head = text[: 4 * (limit - 1)]
    while estimated_tokens(head) >= limit:
        head = head[: len(head) * 3 // 4]
    return f"{head.rstrip()}…"
