"""Group messages into turns, and decide how many of the oldest are due to be summarised. Pure."""

from collections.abc import Sequence

from kinmem.conversation.tool_results import reduce
from kinmem.models.turns import Message
from kinmem.settings import CompactSettings
from kinmem.text import estimated_tokens

Turn = list[Message]


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Group messages into turns, in order: what a person says and everything until they speak
    again.

    Messages with the same turn id belong together, even if another turn came between them. Messages
    that belong to no prompt join the turn before.
    """
    turns: list[Turn] = []
    known: dict[str, Turn] = {}
    for message in messages:
        turn = known.get(message.turn)
        if turn is None:
            if message.role == "user" or not turns:
                turns.append([])
            turn = known[message.turn] = turns[-1]
        turn.append(message)
    return turns


def batch_and_keep(settings: CompactSettings) -> tuple[int, int]:
    """Return how many turns a summary replaces and how many stay.

    A Kin's threshold is split in the same proportion.
    """
    batch, keep = settings.batch_turns, settings.min_keep_turns
    if settings.turn_threshold is None:
        return batch, keep
    share = max(1, settings.turn_threshold * batch // (batch + keep))
    return share, settings.turn_threshold - share


def due(turns: Sequence[Turn], settings: CompactSettings) -> int:
    """Return how many of the oldest turns to summarise now; 0 if none are due.

    With more turns than a batch and those that stay, that is the batch. With more tokens than the
    threshold, even with reduced tool results, it is as many turns as bring the tokens down to the
    share of the threshold that the turns to keep are of all turns; at most a batch, and never the
    latest turn. If they were brought down to just the threshold, every further turn would need a
    summary.
    """
    batch, keep = batch_and_keep(settings)
    if len(turns) > batch + keep:
        return batch
    limit = threshold(settings)
    sizes = _sizes(turns, settings) if limit else []
    left = sum(sizes)
    if left <= limit:
        return 0
    count = 0
    for size in sizes[: min(batch, len(turns) - 1)]:
        if left * (batch + keep) <= limit * keep:
            break
        count += 1
        left -= size
    return count


def threshold(settings: CompactSettings) -> int:
    """Return the number of tokens above which a context is too long; 0: never."""
    return settings.context_window * settings.threshold_percent // 100


def tokens(turn: Sequence[Message]) -> int:
    """Estimate how many tokens of the turn a model reads."""
    return sum(estimated_tokens(message.text) for message in turn)


def _sizes(turns: Sequence[Turn], settings: CompactSettings) -> list[int]:
    """Return the tokens of each turn with reduced tool results."""
    messages = sorted((message for turn in turns for message in turn), key=lambda one: one.id)
    shorter = reduce(messages, settings)
    of = {id(was): estimated_tokens(now.text) for was, now in zip(messages, shorter, strict=True)}
    return [sum(of[id(message)] for message in turn) for turn in turns]
