"""A step of upkeep: what was learned alike in several projects holds everywhere.

The oldest loses its place. The others stay as they are: should the statement end in one project,
it still stands in those that have it of their own.
"""

from collections import Counter
from collections.abc import Sequence

from kinmem.models import LIVE, Memory
from kinmem.places import name_of, same_place
from kinmem.store.base import Store
from kinmem.upkeep.budget import Budget
from kinmem.upkeep.schedule import change_all

LEAST = 3
"""Projects. Two may share a habit; in a third the statement was true wherever it was met."""
ACTION = "everywhere"


def everywhere(store: Store, budget: Budget, counts: Counter[str]) -> None:
    """Let what is said in the same words in three projects hold in all. Added to `counts`:
    everywhere. It leaves a line in the history, can be undone, and is not done again then."""
    if len(store.places()) < LEAST:
        return
    changes = []
    for group in store.said_in_places(LEAST):
        live = [one for one in group if one.state in LIVE]
        projects = _projects(live)
        is_bound = all(one.place for one in live)
        if is_bound and len(projects) >= LEAST and not _was_done(store, group):
            changes.append((live[0], {"place": None}, f"learned alike in {_listed(projects)}"))
    counts["everywhere"] += change_all(store, changes, ACTION, budget)


def _projects(memories: Sequence[Memory]) -> list[str]:
    """Each once, though a repository was moved."""
    found: list[str] = []
    for memory in memories:
        place = memory.place
        if place and not any(same_place(one, place) or same_place(place, one) for one in found):
            found.append(place)
    return found


def _was_done(store: Store, memories: Sequence[Memory]) -> bool:
    """Whether one of them held everywhere before: then somebody has given it its place again, or
    has forgotten it."""
    return any(event.action == ACTION for one in memories for event in store.history(one.id))


def _listed(places: Sequence[str]) -> str:
    *names, last = map(name_of, places)
    return f"{', '.join(names)} and {last}"
