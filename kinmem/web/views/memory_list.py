"""The list of memories, filtered, sorted, 50 to a page; search: what recall finds for a question,
and every factor of each score; and what both let a person do to memories, each as writes that can
be taken back one by one, with the form in which one is edited."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

from kinmem.conversation.sanitize import restored
from kinmem.errors import InvalidInput, KinmemError, LaterChange, VersionConflict
from kinmem.models import CATEGORIES, Hit, Memory, State, Tier
from kinmem.service import Service
from kinmem.store.memory import Sort
from kinmem.web.render import address, visible
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, View, meant, number_in

Change = Callable[[Service, str], Any]


def _set(service: Service, id: str, **fields: Any) -> Any:
    return service.update_memory(id, reason=REASON, **fields)


# What the history tells of a change made here.
REASON = "on the page"
CHANGES: Mapping[str, Change] = {
    "forget": lambda service, id: service.forget(id),
    "restore": lambda service, id: service.restore(id),
    "archive": partial(_set, archived=True),
    "pin": partial(_set, pinned=True),
    "unpin": partial(_set, pinned=False),
    "share": partial(_set, scope="shared"),
    "unshare": partial(_set, scope="private"),
}


def change(service: Service, name: str, ids: Sequence[str]) -> Notice:
    """Do it to each of the memories; return what to tell, with what takes it back."""
    writes: list[int] = []
    problems: list[KinmemError] = []
    for id in ids:
        try:
            known = _latest(service, id)
            CHANGES[name](service, id)
        except KinmemError as error:
            problems.append(error)
            continue
        if (write := _latest(service, id)) > known:
            writes.append(write)
    if problems and not writes:
        return Notice("problem.told", is_problem=True, errors=tuple(problems))
    undo = tuple(reversed(writes))
    return Notice(f"did.{name}", len(writes), undo=undo, errors=tuple(problems))


def changer(name: str) -> Callable[[Asked], Answer]:
    """Return the action of a form that chooses memories, or is about one."""

    def act(asked: Asked) -> Answer:
        back = asked.given("back") or "/memories"
        ids = asked.chosen("id")
        if not ids:
            return Done(back, Notice("did.nothing", is_problem=True))
        return Done(back, change(asked.service, name, ids))

    return act


def undo(asked: Asked) -> Answer:
    """Take back what a notice or the list of activities names: writes, batches or memories."""
    back, batches = asked.given("back") or "/", []
    refused: list[KinmemError] = []
    for what in asked.chosen("what"):
        try:
            undone = asked.service.undo(meant(what), releases=asked.may("admin"))
        except (LaterChange, InvalidInput) as error:
            refused.append(error)
        else:
            batches += [undone.batch] if undone.batch else []
    if refused and not batches:
        return Done(back, Notice("problem.told", is_problem=True, errors=tuple(refused)))
    if not batches:
        return Done(back, Notice("did.nothing_undone", is_problem=True))
    taken_back = tuple(reversed(batches))
    return Done(back, Notice("did.undone", undo=taken_back, errors=tuple(refused)))


def _latest(service: Service, id: str) -> int:
    """Return the number of the latest write to a memory; 0 if there is none that can be seen."""
    events = service.history(id, 1)
    return events[0].write if events else 0


FIELDS = (
    *("content", "subject", "category", "importance", "tags", "occurred_at", "expires", "place"),
)
# Before the name of a field: what it held when the form was opened.
OPENED = "opened-"


def edit(asked: Asked) -> Answer:
    memory = asked.service.store.get(asked.path["id"])
    known = _shown(asked, memory)
    return _form(asked, memory, known, known, None)


def save(asked: Asked) -> Answer:
    """Store what was changed; what cannot be stored is shown again, with the reason."""
    memory = asked.service.store.get(asked.path["id"])
    given = {name: typed(asked, name) for name in FIELDS if name in asked.form}
    known = _shown(asked, memory)
    opened = {
        name: typed(asked, f"{OPENED}{name}") for name in given if OPENED + name in asked.form
    }
    changed = {
        name: value for name, value in given.items() if value != {**known, **opened}.get(name)
    }
    try:
        version = number_in(asked.given("version")) or 0
        changes = {name: _stored(name, value) for name, value in changed.items()}
        if not changes:
            return Done(f"/memory/{memory.id}", Notice("edit.unchanged"))
        changes = dict(restored(changes, memory))
        asked.service.update_memory(
            memory.id,
            if_version=version,
            reason=REASON,
            trusted=asked.may("admin"),
            **changes,
        )
    except VersionConflict:
        problem = asked.language.text("edit.conflict")
        # What somebody else has changed since is kept, unless it was typed over here.
        return _form(asked, memory, {**known, **changed}, known, problem, 409)
    except InvalidInput as error:
        told = asked.language.error(error)
        return _form(asked, memory, {**known, **changed}, known, told, 400)
    write = asked.service.history(memory.id, 1)[0].write
    return Done(f"/memory/{memory.id}", Notice("did.edited", undo=(write,)))


def _form(
    asked: Asked,
    memory: Memory,
    values: Mapping[str, str],
    opened: Mapping[str, str],
    problem: str | None,
    status: int = 200,
) -> Shown:
    """Return the form with these values; `opened` are those of the memory as it is now."""
    asked.begin(asked.language.text("edit.title"))
    return Shown(
        "edit.html",
        {
            "memory": memory,
            "values": values,
            "opened": {OPENED + name: value for name, value in opened.items()},
            "problem": problem,
            "categories": CATEGORIES,
            "places": asked.service.store.places(),
            "path": f"/memory/{memory.id}",
        },
        status,
    )


def _shown(asked: Asked, memory: Memory) -> dict[str, str]:
    """Return what the form holds at first."""
    shown = {
        "subject": memory.subject or "",
        "category": memory.category,
        "importance": "" if memory.importance is None else f"{memory.importance:g}",
        "tags": ", ".join(memory.manual_tags),
        "occurred_at": _moment(memory.occurred_at, asked.zone).removesuffix("T00:00"),
        "expires": _moment(memory.expires_at, asked.zone),
        "place": memory.place or "",
    }
    text = {} if memory.is_document else {"content": memory.content}
    return {name: _one_ending(visible(value)) for name, value in {**text, **shown}.items()}


def _moment(at: datetime | None, zone: tzinfo) -> str:
    return "" if at is None else f"{at.astimezone(zone):%Y-%m-%dT%H:%M}"


def typed(asked: Asked, name: str) -> str:
    """Return what was typed into a field; empty if nothing was."""
    value = asked.form.get(name)
    return _one_ending(value) if isinstance(value, str) else ""


def _one_ending(text: str) -> str:
    """Browsers end lines in a form with two characters."""
    return text.replace("\r\n", "\n").strip()


def _stored(name: str, value: str) -> Any:
    if name == "importance":
        return _number(value) if value else None
    if name == "tags":
        return tuple(filter(None, map(str.strip, value.split(","))))
    if name in ("place", "content"):
        return value  # an empty name is everywhere; an empty text is refused
    return value or None


def _number(value: str) -> float:
    try:
        return float(value.replace(",", "."))
    except ValueError:
        raise InvalidInput(f"importance {value[:40]!r} is no number", "no_importance") from None


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
            "newer": asked.service.newer(*(one.id for one in listed.memories)),
            "next_cursor": listed.next_cursor,
            "is_first": cursor is None,
            "filters": filters,
            "without": lambda name: address(PATH, sort=sort, **_without(filters, name)),
            "sort": sort,
            "choices": choices(asked),
            "sorts": SORTS,
            "bulk": AWAY.get(chosen.get("state", ""), BULK),
        },
    )


def _without(filters: Mapping[str, str], name: str) -> dict[str, str]:
    return {field: value for field, value in filters.items() if field != name}


def choices(asked: Asked) -> Mapping[str, list[str]]:
    """Return the values that filters and forms offer."""

    def made() -> Mapping[str, list[str]]:
        return {
            "scope": ["private", "shared"],
            "category": list(CATEGORIES),
            "state": [state.value for state in State],
            "tier": list(get_args(Tier)),
            "place": asked.service.store.places(),
            "subject": asked.service.subjects(limit=MOST_SUGGESTED),
        }

    return asked.kept("choices", made)


VIEW = View(
    "memories",
    PATH,
    show,
    is_certain=True,
    actions={"/undo": undo, **{f"{PATH}/{name}": changer(name) for name in ("restore", *BULK)}},
)


FEW, MANY = 10, 50
LEFT_OUT = 5
# A hit a tenth as likely to answer as the likeliest is shown apart, although recall returns it: to
# an assistant it may be of use, to a person it is in the way of the answer.
FAINT = 0.1
Kind = Literal["added", "times", "informs"]
KINDS: dict[str, Kind] = {"+": "added", "x": "times"}
# Names of what is told for information, where something is added by the same name.
NAMES = {"judge": "judged"}


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
    least = FAINT * max((hit.confidence for hit in answer.hits if not hit.weak), default=0.0)
    faint = [one for one in found if _is_faint(one.hit, least)]
    clear = [one for one in found if one not in faint]
    return Shown(
        "search.html",
        {
            "question": question,
            "answer": answer,
            "sure": [one for one in clear if not one.hit.is_turn],
            "said": [one for one in clear if one.hit.is_turn],
            "weak": faint,
            "left_out": asked.service.left_out(question, LEFT_OUT),
            "has_more": not is_long and len(found) >= FEW,
        },
    )


def _is_faint(hit: Hit, least: float) -> bool:
    """Return whether it stands below the heading of what is probably no answer."""
    return hit.weak or (hit.confidence < least and not hit.is_fetched)


def _factors(hit: Hit) -> Iterator[Factor]:
    """Yield the parts of the score in order; bars of what is added compare with each other."""
    labels = hit.why
    most = max((abs(value) for label, value in labels.items() if label[0] == "+"), default=0.0)
    for label, value in labels.items():
        kind: Kind = KINDS.get(label[0], "informs")
        name = NAMES.get(label, label) if kind == "informs" else label[1:]
        whole = most if kind == "added" else 1.0
        share = min(1.0, abs(value) / whole) if whole else 0.0
        yield Factor(name.replace(" ", "_"), kind, value, share)


SEARCH_VIEW = View("search", "/search", search, is_certain=True)
