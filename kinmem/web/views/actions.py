"""What the page does to memories, each as writes that can be taken back one by one;
and the form in which one is edited."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from kinmem.conversation.sanitize import restored
from kinmem.errors import InvalidInput, KinmemError, LaterChange, VersionConflict
from kinmem.models import CATEGORIES, Memory
from kinmem.service import Service
from kinmem.web.render import visible
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, meant, number_in

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
    key = f"did.{name}.{'one' if len(writes) == 1 else 'other'}"
    return Notice(key, {"n": len(writes)}, tuple(reversed(writes)), errors=tuple(problems))


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


FIELDS = ("content", "subject", "category", "importance", "tags", "expires", "place")
# Before the name of a field: what it held when the form was opened.
OPENED = "opened-"


def edit(asked: Asked) -> Answer:
    memory = asked.service.store.get(asked.path["id"])
    known = _shown(asked, memory)
    return _form(asked, memory, known, known, None)


def save(asked: Asked) -> Answer:
    """Store what was changed; what cannot be stored is shown again, with the reason."""
    memory = asked.service.store.get(asked.path["id"])
    given = {name: _typed(asked, name) for name in FIELDS if name in asked.form}
    known = _shown(asked, memory)
    opened = {
        name: _typed(asked, f"{OPENED}{name}") for name in given if OPENED + name in asked.form
    }
    typed = {name: value for name, value in given.items() if value != {**known, **opened}.get(name)}
    try:
        version = number_in(asked.given("version")) or 0
        changes = {name: _stored(name, value) for name, value in typed.items()}
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
        return _form(asked, memory, {**known, **typed}, known, problem, 409)
    except InvalidInput as error:
        told = asked.language.error(error)
        return _form(asked, memory, {**known, **typed}, known, told, 400)
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
    expires = memory.expires_at
    shown = {
        "subject": memory.subject or "",
        "category": memory.category,
        "importance": "" if memory.importance is None else f"{memory.importance:g}",
        "tags": ", ".join(memory.manual_tags),
        "expires": f"{expires.astimezone(asked.zone):%Y-%m-%dT%H:%M}" if expires else "",
        "place": memory.place or "",
    }
    text = {} if memory.is_document else {"content": memory.content}
    return {name: _one_ending(visible(value)) for name, value in {**text, **shown}.items()}


def _typed(asked: Asked, name: str) -> str:
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
