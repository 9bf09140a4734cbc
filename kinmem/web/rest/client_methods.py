"""What a client's methods are made of: those that are one request, or the same request page by
page; a local method's arguments, bound as Python binds them, and made JSON; a server's errors as
those of a local memory; and the files of an export or import."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date
from functools import cache, update_wrapper
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar, cast
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from kinmem.backup.importing import Import, Problem
from kinmem.backup.jsonl import Exported, whole_file
from kinmem.errors import (
    ConfigError,
    EntityNotFound,
    InvalidInput,
    KinmemError,
    LaterChange,
    MemoryNotFound,
    ModelError,
    Overloaded,
    StillWorking,
    StoreError,
    TooLarge,
    Unreadable,
    VersionConflict,
)
from kinmem.http.refusals import in_short
from kinmem.knowledge import Picture
from kinmem.models import Answer, Memory, Note, Page, Stored
from kinmem.models.turns import Observed
from kinmem.service import Stats
from kinmem.service.conversations import Care, Conversations
from kinmem.service.memories import Memories
from kinmem.service.views import Changes, ChangesView, Views
from kinmem.text import LONE_SURROGATES
from kinmem.undo.undo import Undone
from kinmem.web.rest import conversation_endpoints as talk
from kinmem.web.rest import knowledge_and_history_endpoints as knowledge
from kinmem.web.rest import memory_endpoints as memories
from kinmem.web.rest import upkeep_and_review_endpoints as upkeep
from kinmem.web.rest.memory_endpoints import New
from kinmem.web.rest.shapes import ID_CHARACTERS, read

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class Remote:
    """A method and its request."""

    local: Callable[..., Any]
    """The method of a local memory, whose arguments it takes; {id} in the path is the first."""
    method: str
    path: str
    answer: Any
    part: str | None = None
    """The field of the answer that is returned; None: all of it."""
    takes_body: bool = False
    """Whether an object is sent even if no argument is given."""
    is_empty_if_unknown: bool = False
    """Whether it is None for an id that is no memory's."""
    is_paged: bool = False
    """Whether the parts of all pages are returned together."""


REMOTE: Mapping[str, Remote] = {
    "recall": Remote(Memories.recall, "POST", "/recall", Answer, takes_body=True),
    "list_memories": Remote(Memories.list_memories, "GET", "/memories", Page),
    "get": Remote(Views.get, "GET", "/memories/{id}", Memory),
    "text": Remote(Views.text, "GET", "/memories/{id}/text", memories.Said, "text"),
    "chunk": Remote(Views.chunk, "GET", "/memories/{id}/chunk", memories.Said, "text"),
    "restore": Remote(Memories.restore, "POST", "/memories/{id}/restore", Memory),
    "confirm": Remote(Memories.confirm, "POST", "/memories/{id}/confirm", Memory),
    "vitals": Remote(
        *(Views.vitals, "GET", "/memories/{id}/vitals", memories.Life, "vitals"),
        is_empty_if_unknown=True,
    ),
    "forecast": Remote(
        *(Views.forecast, "GET", "/memories/{id}/forecast", memories.Future, "forecast"),
        is_empty_if_unknown=True,
    ),
    "similar": Remote(Memories.similar, "GET", "/memories/{id}/similar", memories.Hits, "hits"),
    "left_out": Remote(Memories.left_out, "GET", "/left-out", memories.Hits, "hits"),
    "undo": Remote(Memories.undo, "POST", "/undo", Undone, takes_body=True),
    "as_of": Remote(Views.as_of, "GET", "/as-of", knowledge.Then, "memories", is_paged=True),
    "changes": Remote(ChangesView.changes, "GET", "/changes", Changes),
    "muted": Remote(Memories.muted, "GET", "/muted", upkeep.Muted, "kins"),
    "subjects": Remote(Views.subjects, "GET", "/subjects", knowledge.Names, "names"),
    "entity_names": Remote(Views.entity_names, "GET", "/entities", knowledge.Names, "names"),
    "timeline": Remote(Views.timeline, "GET", "/timeline", Page),
    "graph": Remote(Views.graph, "GET", "/graph", Picture),
    "observe": Remote(Conversations.observe, "POST", "/observe", Observed, takes_body=True),
    "opening": Remote(Conversations.opening, "GET", "/opening", talk.Shown, "text"),
    "context": Remote(Conversations.context, "GET", "/context", talk.Shown, "text"),
    "sessions": Remote(Conversations.sessions, "GET", "/sessions", talk.Sessions, "sessions"),
    "turns": Remote(Conversations.turns, "GET", "/turns", talk.Messages, "messages", is_paged=True),
    "became": Remote(
        Conversations.became, "GET", "/turns/memories", talk.Learned, "memories", is_paged=True
    ),
    "parked": Remote(
        Conversations.parked, "GET", "/turns/parked", talk.Messages, "messages", is_paged=True
    ),
    "retry": Remote(Conversations.retry, "POST", "/turns/retry", talk.Count, "count"),
    "runs": Remote(Care.runs, "GET", "/runs", upkeep.Runs, "runs"),
    "days": Remote(Views.days, "GET", "/days", knowledge.Days, "days"),
    "growth": Remote(Views.growth, "GET", "/growth", upkeep.Growth, "days"),
    "stats": Remote(Views.stats, "GET", "/stats", Stats),
}
# What a person does where the files are: it works on folders, or on a result that is looked at
# before it is carried out. `share`, `is_shared` and `is_done` serve the server's own brake; `stop`
# ends a worker of this machine.
LOCAL_ONLY = frozenset(
    "forget_about scrub export_pages import_pages share is_shared is_done sleep_if_due stop".split()
)
# The most that one page of a listing holds.
PAGE = 200


def joined(parts: list[Any]) -> Any:
    """Return the parts of several pages as one: lists behind each other, mappings by their keys."""
    if not isinstance(parts[0], Mapping):
        return [one for part in parts for one in part]
    whole: dict[Any, Any] = {}
    for part in parts:
        for key, value in part.items():
            known = whole.get(key)
            whole[key] = [*known, *value] if isinstance(known, list) else value
    return whole


# Keyword arguments that are not sent.
UNSENT = frozenset({"progress"})
# Keyword arguments, behind two stars, of which None says the same as nothing.
RESTRICTING = frozenset({"where", "known"})
# Bytes beside a note in a body, rounded up.
BETWEEN = 16
# What an address cannot hold in the place of an id.
NO_IDS = frozenset({"", ".", ".."})


def bound(local: Callable[..., Any], *given: Any, **named: Any) -> dict[str, Any]:
    """Return the arguments of a call of a local method, by name; those that are None, and are so by
    default, are left out.

    Raises TypeError as the method itself does.
    """
    parameters = signature_of(local).parameters
    told: dict[str, Any] = {}
    for name, value in signature_of(local).bind(None, *given, **named).arguments.items():
        parameter = parameters[name]
        if parameter.kind is Parameter.VAR_KEYWORD:
            told |= filled(value) if name in RESTRICTING else value
        elif name != "self" and not (value is None and parameter.default is None):
            told[name] = value
    return {name: value for name, value in told.items() if name not in UNSENT}


# What help and an editor are told of a method, beside its arguments.
TOLD = ("__name__", "__doc__")


def like(local: Callable[..., Any]) -> Callable[[Method], Method]:
    """Let help and editors show a method with the arguments of the local one, which it takes."""

    def shown(method: Method) -> Method:
        update_wrapper(method, local, TOLD, ())
        return method

    return shown


@cache
def signature_of(local: Callable[..., Any]) -> Signature:
    return signature(local)


def filled(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def plain(value: Any) -> Any:
    """Return a value as JSON, and an address, can hold it."""
    if isinstance(value, str):
        return LONE_SURROGATES.sub("\ufffd", value)
    if isinstance(value, date):  # and times
        return value.isoformat()
    if isinstance(value, Mapping):
        return {plain(name): plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, Iterable) else value


def as_body(given: Mapping[str, Any]) -> bytes:
    """Return the arguments as JSON. Raises InvalidInput for what JSON cannot hold."""
    try:
        return json.dumps(plain(given), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"an argument cannot be sent: {error}") from None


def noted(item: Note | Mapping[str, Any] | str) -> dict[str, Any]:
    """Return a note as the server takes it: what says no more than a default is left out."""
    if isinstance(item, str):
        return {"content": item}
    if isinstance(item, Note):
        return named(item)
    if not isinstance(item, Mapping):
        raise InvalidInput(f"an item of memorize_many: a note, not {type(item).__name__}")
    defaults = {field.name: field.default for field in fields(Note)}
    return {
        name: value
        for name, value in item.items()
        if not (value is None and defaults.get(name, MISSING) is None)
    }


def outcome_or_note(item: Note | Mapping[str, Any] | str) -> Stored | dict[str, Any]:
    """Return an item of many as the server takes it, or its refusal: one that is wrong must not
    keep the others from being stored."""
    note = plain(noted(item))
    try:
        New.model_validate(note)
    except ValidationError as error:
        return Stored("refused", reason=in_short(error, list(New.model_fields), New))
    return cast(dict[str, Any], note)


def in_requests(
    notes: Sequence[dict[str, Any]], most: int, most_bytes: int
) -> Iterator[list[dict[str, Any]]]:
    """Yield the notes in parts of so many, and of about so many bytes; a larger one alone."""
    part, size = list[dict[str, Any]](), 0
    for note in notes:
        length = len(as_body(note))
        if part and (len(part) == most or size + length > most_bytes):
            yield part
            part, size = [], 0
        part.append(note)
        size += length + BETWEEN
    if part:
        yield part


def named(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults."""
    given = {field.name: getattr(record, field.name) for field in fields(record)}
    defaults = {field.name: field.default for field in fields(record)}
    return {
        name: value
        for name, value in given.items()
        if defaults[name] is MISSING or value != defaults[name]
    }


def quoted(id: Any) -> str:
    """Return what stands for a memory's id in an address. Raises MemoryNotFound for what can be
    none."""
    if not isinstance(id, str):
        raise InvalidInput(f"an id must be text, not {type(id).__name__}")
    if id in NO_IDS or "/" in id or len(id) > ID_CHARACTERS:
        raise MemoryNotFound(id)
    return quote(LONE_SURROGATES.sub("\ufffd", id), safe="")


def quoted_name(name: Any, what: str) -> str:
    """Do the same for another name. Raises InvalidInput."""
    try:
        return quoted(name)
    except MemoryNotFound:
        raise InvalidInput(f"{name[:ID_CHARACTERS]!r} is no {what}") from None


KINDS: dict[str, type[KinmemError]] = {
    "invalid": InvalidInput,
    "too_large": TooLarge,
    "unreadable": Unreadable,
    "not_found": MemoryNotFound,
    "conflict": VersionConflict,
    "overloaded": Overloaded,
    "deadline": StillWorking,
    "model": ModelError,
    "config": ConfigError,
}


class Unreachable(KinmemError):
    """The server cannot be reached, or what answers is no kinmem. Whether a write was done is open:
    repeat it with the same idempotency_key."""

    code = "unreachable"
    retry = True


def understood(kind: Any, value: Any) -> Any:
    """Return what an answer says. Raises Unreachable for one of another shape."""
    try:
        return read(kind, value)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreachable(f"the answer is not that of this kinmem: {error!r}") from error


def raise_for(response: httpx.Response, name: str) -> NoReturn:
    """Raise what the method of that name would have raised locally."""
    try:
        told = response.json()["error"]
        code, message, retry = str(told["code"]), str(told["message"]), bool(told["retry"])
    except (ValueError, KeyError, TypeError):
        raise Unreachable(f"{response.url.host} answers {response.status_code}") from None
    raise_told({"code": code, "message": message, "retry": retry}, name)


def raise_told(told: Mapping[str, Any], name: str) -> NoReturn:
    """Raise the error that an answer describes."""
    code, message, retry = told["code"], told["message"], told["retry"]
    kind = StoreError if code.startswith("storage_") else KINDS.get(code, KinmemError)
    if name == "explore" and kind is MemoryNotFound:
        kind = EntityNotFound
    if name == "undo" and kind is VersionConflict:
        kind = LaterChange
    error = kind.__new__(kind, message)  # the message is there already; __init__ would write it
    error.args = (message,)
    error.code, error.retry = code, retry
    raise error


def fetch_export(http: httpx.Client, target: str | Path | IO[bytes]) -> Exported:
    """Write what the server exports to a file or a binary stream."""
    if isinstance(target, str | Path):
        with whole_file(Path(target)) as file:
            return fetch_export(http, file)
    header: dict[str, Any] = {}
    with http.stream("GET", "/export", timeout=None) as response:
        if response.is_error:
            response.read()
            raise_for(response, "export")
        for line in response.iter_lines():
            target.write(line.encode() + b"\n")
            known = json.loads(line)
            header = known if known["type"] == "header" else header  # the last one is right
    return Exported(header["counts"])


def send_import(http: httpx.Client, path: str | Path, *, dry_run: bool) -> Import:
    """Let the server import a file."""
    asked = {"dry_run": "1"} if dry_run else {}
    headers = {"Content-Type": "application/jsonl"}
    try:
        with Path(path).open("rb") as file:
            response = http.post(
                "/import", params=asked, headers=headers, content=file, timeout=None
            )
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from None
    if response.is_error:
        raise_for(response, "import_")
    last = json.loads(response.text.strip().rpartition("\n")[2])
    if "result" not in last:
        raise_told(last["error"], "import_")
    return _imported(last["result"])


def _imported(told: dict[str, Any]) -> Import:
    problems = [Problem(**one) for one in told.pop("problems", [])]
    named = {"inBin": "in_bin", "othersShared": "others"}
    return Import(**{named.get(name, name): one for name, one in told.items()}, problems=problems)
