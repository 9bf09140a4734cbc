"""The list of memories: filtered, sorted, 50 to a page, with what can be done to several. And
search: what recall finds for a question, and every factor of each score."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from kinmem.models import CATEGORIES, Hit, State, Tier
from kinmem.store.memory import Sort
from kinmem.web.render import address
from kinmem.web.view import KEPT, Answer, Asked, Shown, View
from kinmem.web.views.actions import changer, undo

PATH = "/memories"
PER_PAGE = 50
FILTERS = ("scope", "category", "subject", "tier", "state", "speaker", "place", "since", "until")
SORTS: tuple[Sort, ...] = get_args(Sort)
BULK = ("pin", "share", "archive", "forget")
# What is done to several that are not in use.
AWAY = {
    "archived": ("restore", "forget"),
    "superseded": ("restore", "forget"),
    "deleted": ("restore",),
}
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
            "bulk": AWAY.get(chosen.get("state", ""), BULK),
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
    actions={"/undo": undo, **{f"{PATH}/{name}": changer(name) for name in ("restore", *BULK)}},
)


FEW, MANY = 10, 50
LEFT_OUT = 5
Kind = Literal["added", "times", "informs"]
KINDS: dict[str, Kind] = {"+": "added", "x": "times"}


class Factor(NamedTuple):
    """One part of a score."""

    name: str
    """`why.<name>` of the catalogue."""
    kind: Kind
    value: float
    share: float
    """How long its bar is, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with its reasons."""

    hit: Hit
    factors: Sequence[Factor]


def search(asked: Asked) -> Answer:
    question = asked.given("q")
    if question is None:
        return Shown("search.html", {"question": "", "answer": None})
    is_long = asked.given("more") is not None
    answer = asked.service.recall(question, limit=MANY if is_long else FEW)
    found = [Found(hit, list(_factors(hit))) for hit in answer.hits]
    return Shown(
        "search.html",
        {
            "question": question,
            "answer": answer,
            "sure": [one for one in found if not (one.hit.weak or one.hit.is_turn)],
            "said": [one for one in found if one.hit.is_turn and not one.hit.weak],
            "weak": [one for one in found if one.hit.weak],
            "left_out": asked.service.left_out(question, LEFT_OUT),
            "has_more": not is_long and len(found) >= FEW,
        },
    )


def _factors(hit: Hit) -> Iterator[Factor]:
    """Yield the parts of the score in order; bars of what is added compare with each other."""
    labels = hit.why
    most = max((abs(value) for label, value in labels.items() if label[0] == "+"), default=0.0)
    for label, value in labels.items():
        kind: Kind = KINDS.get(label[0], "informs")
        name = label if kind == "informs" else label[1:]
        whole = most if kind == "added" else 1.0
        share = min(1.0, abs(value) / whole) if whole else 0.0
        yield Factor(name.replace(" ", "_"), kind, value, share)


SEARCH_VIEW = View("search", "/search", search)
