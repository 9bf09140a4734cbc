"""The list of memories: filtered, sorted, 50 to a page, with what can be done to several."""

from collections.abc import Mapping
from typing import Any, get_args

from kinmem.models import CATEGORIES, State, Tier
from kinmem.store.memory import Sort
from kinmem.web.render import address
from kinmem.web.view import KEPT, Answer, Asked, Shown, View
from kinmem.web.views.actions import changer, undo

PATH = "/memories"
PER_PAGE = 50
FILTERS = ("scope", "category", "subject", "tier", "state", "speaker", "place", "since", "until")
SORTS: tuple[Sort, ...] = get_args(Sort)
BULK = ("pin", "share", "archive", "forget")
MOST_SUGGESTED = 200


def show(asked: Asked) -> Answer:
    chosen = {name: value for name in FILTERS if (value := asked.given(name))}
    tag, sort, cursor = asked.given("tag"), asked.given("sort") or SORTS[0], asked.given("cursor")
    where: dict[str, Any] = {**chosen, **({"tags": [tag]} if tag else {})}
    listed = asked.service.list_memories(
        sort=sort if sort in SORTS else SORTS[0],
        limit=PER_PAGE,
        cursor=cursor,
        **where,
    )
    filters = {**chosen, **({"tag": tag} if tag else {})}
    return Shown(
        "memories.html",
        {
            "memories": listed.memories,
            "next_cursor": listed.next_cursor,
            "is_first": cursor is None,
            "filters": filters,
            "without": lambda name: address(PATH, sort=sort, **_without(filters, name)),
            "sort": sort,
            "choices": KEPT.of(asked.service, "choices", lambda: _choices(asked)),
            "sorts": SORTS,
            "bulk": BULK,
        },
    )


def _without(filters: Mapping[str, str], name: str) -> dict[str, str]:
    return {field: value for field, value in filters.items() if field != name}


def _choices(asked: Asked) -> Mapping[str, list[str]]:
    """Return the values that filters offer."""
    return {
        "scope": ["private", "shared"],
        "category": list(CATEGORIES),
        "state": [state.value for state in State],
        "tier": list(get_args(Tier)),
        "place": asked.service.store.places(),
        "subject": asked.service.subjects(limit=MOST_SUGGESTED),
    }


VIEW = View(
    "memories",
    PATH,
    show,
    actions={"/undo": undo, **{f"{PATH}/{name}": changer(name) for name in BULK}},
)
