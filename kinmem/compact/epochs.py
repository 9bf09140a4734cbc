"""When a context that only grows is written anew. Pure, and told by the messages alone.

Tool results that are cut as they age would change what stands before the latest message, and a
provider's cache with it. So they are cut at certain messages only, the epochs; what comes after is
whole until the next. Every process finds the same epochs, since nothing is remembered of them.
"""

from collections.abc import Sequence

from kinmem.compact.reduce import begins_group, reduce
from kinmem.compact.turns import batch_and_keep, threshold, tokens
from kinmem.settings import CompactSettings
from kinmem.turns import CLIENT, Message, Snapshot

GROWTH = 1.25
"""What is too long even when cut grows by a quarter before the next epoch."""
ROOM = 0.75
"""Share of a budget that is left of an overfull context, so that not each message drops another."""


def held_back(snapshots: Sequence[Snapshot], settings: CompactSettings) -> Snapshot | None:
    """The summary that is not told yet: every other one, as each costs all that is cached behind
    it. Two are told at once, and until then their turns stay as they were said. None where there
    is a budget for the whole."""
    ours = [snapshot for snapshot in snapshots if snapshot.model != CLIENT]
    batches = sum(snapshot.turns for snapshot in ours) // batch_and_keep(settings)[0]
    if not batches % 2 or ours[-1].depth or settings.history_tokens:
        return None
    return ours[-1]


def is_long(messages: Sequence[Message], settings: CompactSettings) -> bool:
    """Whether they are more than a context takes."""
    limit = threshold(settings)
    return bool(limit) and tokens(reduce(messages, settings)) > limit


def settled(messages: Sequence[Message], seen: int, settings: CompactSettings) -> int:
    """How many of the messages, from the first on, are reduced as of the latest epoch.

    An epoch is the latest summary, when `seen` was the latest message; then each message that
    begins one group of tool calls more than the zones hold, or brings the tokens above the
    threshold.
    """
    at = sum(message.id <= seen for message in messages)
    if not settings.window:
        return at
    most, limit = settings.keep_last + settings.window, threshold(settings)
    size = tokens(reduce(messages[:at], settings))
    allowed = max(limit, GROWTH * size)
    groups = 0
    for place in range(at, len(messages)):
        groups += begins_group(messages, place)
        size += tokens(messages[place : place + 1])
        if groups > most or (limit and size > allowed):
            at, groups = place + 1, 0
            size = tokens(reduce(messages[:at], settings))
            allowed = max(limit, GROWTH * size)
    return at


def first_kept(sizes: Sequence[int], settled: int, budget: int) -> int:
    """Place of the first message that fits with all after it; the last always does.

    As of the epoch as many are kept as the budget takes. Whenever those after it overfill it, the
    oldest go until a part of it is free again.
    """
    first = _fitting(sizes, 0, settled, budget)
    used = sum(sizes[first:settled])
    for end in range(settled, len(sizes)):
        used += sizes[end]
        if used > budget:
            first = _fitting(sizes, first, end + 1, int(ROOM * budget))
            used = sum(sizes[first : end + 1])
    return first


def _fitting(sizes: Sequence[int], first: int, end: int, room: int) -> int:
    used = sum(sizes[first:end])
    while used > room and end - first > 1:
        used -= sizes[first]
        first += 1
    return first
