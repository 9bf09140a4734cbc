"""What the page does to memories, each as writes that can be taken back one by one."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from kinmem.errors import InvalidInput, KinmemError, LaterChange
from kinmem.service import Service
from kinmem.web.view import Answer, Asked, Done, Notice, meant

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
