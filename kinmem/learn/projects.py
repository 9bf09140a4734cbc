"""Which project a memory belongs to: what is learned, what is told, and what was there before."""

from kinmem.learn.prepare import judgement
from kinmem.places import place_of
from kinmem.rules.belonging import belongs
from kinmem.store.base import Store


def project_of(
    category: str | None, content: str, subject: str | None, place: str | None
) -> str | None:
    """`place`, where the statement is about the project and not about whoever works in it.

    Without a category it is judged by its words.
    """
    if not place or not isinstance(content, str):
        return None
    return place if belongs(category or judgement(content)[0], content, subject) else None


def settle_places(store: Store) -> None:
    """Find out where memories hold that were learned before kinmem knew of places. A folder that is
    gone tells nothing: they hold everywhere, as before."""
    waiting = store.unplaced()
    if not waiting:
        return
    folders = {one.place: place_of((one.place or "")[1:]) for one in waiting}
    store.set_places(
        {
            one.id: project_of(one.category, one.content, one.subject, folders[one.place])
            for one in waiting
        }
    )
