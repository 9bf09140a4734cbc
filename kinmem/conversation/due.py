"""Messages as turns, and how many of the oldest are due to be summarised. Pure."""

from collections.abc import Sequence

from kinmem.conversation.tool_results import reduce
from kinmem.settings import CompactSettings
from kinmem.text import estimated_tokens
from kinmem.turns import Message

Turn = list[Message]


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """What a person says and everything until they speak again, in order.

    Messages that share a turn id belong together, also where another turn came between them; what
    belongs to no prompt stands with the turn before.
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
    """How many turns a summary stands for, and how many stay; a Kin's threshold splits alike."""
    batch, keep = settings.batch_turns, settings.min_keep_turns
    if settings.turn_threshold is None:
        return batch, keep
    share = max(1, settings.turn_threshold * batch // (batch + keep))
    return share, settings.turn_threshold - share


def due(turns: Sequence[Turn], settings: CompactSettings) -> int:
    """How many of the oldest turns one summary shall stand for now; 0 if it is not time.

    More turns than a batch and those that stay: the batch. More tokens than the threshold, also
    when tool results are reduced: as many turns as bring them down to the same share of it, a batch
    at most, and never the latest. Brought down to just the threshold, each further turn would need
    a summary.
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
    """Tokens above which a context is too long; 0: never."""
    return settings.context_window * settings.threshold_percent // 100


def tokens(turn: Sequence[Message]) -> int:
    """About how many a model reads of it."""
    return sum(estimated_tokens(message.text) for message in turn)


def _sizes(turns: Sequence[Turn], settings: CompactSettings) -> list[int]:
    """Tokens of each turn once its tool results are reduced."""
    messages = sorted((one for turn in turns for one in turn), key=lambda one: one.id)
    shorter = reduce(messages, settings)
    of = {id(was): estimated_tokens(now.text) for was, now in zip(messages, shorter, strict=True)}
    return [sum(of[id(one)] for one in turn) for turn in turns]
