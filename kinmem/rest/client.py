"""A memory on another machine, or in another process: the service's methods over REST.

Most methods are one request, and stand in REMOTE; what is more than that is written out.
"""

import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar, cast
from urllib.parse import quote

import httpx

from kinmem.errors import ConfigError, InvalidInput
from kinmem.knowledge.connections import Picture
from kinmem.models import Answer, Forgotten, Memory, Note, Page, Progress, Review, Settled, Stored
from kinmem.models.turns import Observed, Run
from kinmem.rest import conversation_endpoints as talk
from kinmem.rest import knowledge_endpoints as knowledge
from kinmem.rest import memory_endpoints as memories
from kinmem.rest import past_endpoints as past
from kinmem.rest import review_endpoints as review
from kinmem.rest import upkeep_endpoints as upkeep
from kinmem.rest.client_errors import Unreachable, raise_for
from kinmem.rest.declaration import BODILESS, PREFIX
from kinmem.rest.shapes import read
from kinmem.service import Stats
from kinmem.service.changes import Changes
from kinmem.transfer.exporting import Exported
from kinmem.transfer.importing import Import, Problem
from kinmem.undo.undo import Undone

# Seconds for an answer: the server answers long work after 40.
TIMEOUT = 60.0
LOOK_SECONDS = 1.0
AT_ONCE = 100

T = TypeVar("T")


@dataclass(frozen=True)
class Remote:
    """A method that is one request."""

    method: str
    path: str
    answer: Any
    names: tuple[str, ...] = ()
    """Of the arguments that may be given by position; {id} in the path takes the first."""
    part: str | None = None
    """The field of the answer that is returned; None: all of it."""


REMOTE: Mapping[str, Remote] = {
    "recall": Remote("POST", "/recall", Answer, ("query",)),
    "list_memories": Remote("GET", "/memories", Page),
    "get": Remote("GET", "/memories/{id}", Memory, ("memory_id",)),
    "text": Remote("GET", "/memories/{id}/text", memories.Said, ("memory_id",), "text"),
    "chunk": Remote("GET", "/memories/{id}/chunk", memories.Said, ("memory_id", "number"), "text"),
    "restore": Remote("POST", "/memories/{id}/restore", Memory, ("memory_id",)),
    "confirm": Remote("POST", "/memories/{id}/confirm", Memory, ("memory_id",)),
    "vitals": Remote("GET", "/memories/{id}/vitals", memories.Life, ("memory_id",), "vitals"),
    "forecast": Remote(
        "GET", "/memories/{id}/forecast", memories.Future, ("memory_id",), "forecast"
    ),
    "similar": Remote(
        "GET", "/memories/{id}/similar", memories.Hits, ("memory_id", "limit"), "hits"
    ),
    "left_out": Remote("GET", "/left-out", memories.Hits, ("query", "limit"), "hits"),
    "undo": Remote("POST", "/undo", Undone, ("what",)),
    "as_of": Remote("GET", "/as-of", past.Then, ("write",), "memories"),
    "changes": Remote("GET", "/changes", Changes, ("since",)),
    "muted": Remote("GET", "/muted", review.Muted, (), "kins"),
    "subjects": Remote("GET", "/subjects", knowledge.Names, ("prefix", "limit"), "names"),
    "entity_names": Remote("GET", "/entities", knowledge.Names, ("prefix", "limit"), "names"),
    "timeline": Remote("GET", "/timeline", Page, ("subject", "day")),
    "graph": Remote("GET", "/graph", Picture, ("limit",)),
    "observe": Remote("POST", "/observe", Observed, ("event", "session", "turn", "text")),
    "opening": Remote("GET", "/opening", talk.Shown, ("session",), "text"),
    "context": Remote("GET", "/context", talk.Shown, ("session",), "text"),
    "sessions": Remote("GET", "/sessions", talk.Sessions, ("limit",), "sessions"),
    "turns": Remote("GET", "/turns", talk.Messages, ("session",), "messages"),
    "became": Remote("GET", "/turns/memories", talk.Learned, ("session",), "memories"),
    "parked": Remote("GET", "/turns/parked", talk.Messages, (), "messages"),
    "retry": Remote("POST", "/turns/retry", talk.Count, (), "count"),
    "runs": Remote("GET", "/runs", upkeep.Runs, ("limit",), "runs"),
    "days": Remote("GET", "/days", knowledge.Days, (), "days"),
    "growth": Remote("GET", "/growth", upkeep.Growth, (), "days"),
    "stats": Remote("GET", "/stats", Stats),
}
# What a person does where the files are: it works on folders, or on a result that is looked at
# before it is carried out. `share` is the server's own brake; it does not count what `is_done`.
LOCAL_ONLY = frozenset(
    "forget_about scrub export_pages import_pages share is_done sleep_if_due summarize"
    " reembed".split()
)


class Client:
    """One Kin's memory, over HTTP. Methods, arguments and results are those of Service.

    Texts come as the server writes them out: a hidden character as ⟨U+202E⟩. What is only for a
    person at the machine (LOCAL_ONLY) is missing. `progress` is not reported.
    """

    def __init__(self, kin: str, url: str, token: str | None) -> None:
        """Raises ConfigError if the token is another Kin's, Unreachable without a server."""
        headers = {"User-Agent": "kinmem"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=TIMEOUT)
        try:
            self.kin: str = self._ask("health", "GET", "/health")["kin"]
            if self.kin != kin:
                raise ConfigError(f"the token speaks for {self.kin}, not for {kin}")
        except BaseException:
            self.close()
            raise

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in REMOTE:
            return partial(self._remote, name, REMOTE[name])
        why = "; it is done where the files are" if name in LOCAL_ONLY else ""
        raise AttributeError(f"a memory over HTTP has no {name!r}{why}")

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *REMOTE]

    # memories

    def memorize(
        self,
        content: str,
        *,
        idempotency_key: str | None = None,
        progress: Progress | None = None,
        **given: Any,
    ) -> Stored:
        body = {"content": content, **given}
        told = self._ask("memorize", "POST", "/memories", body, key=idempotency_key)
        return _record(Stored, told)

    def memorize_many(
        self,
        items: Iterable[Note | Mapping[str, Any] | str],
        *,
        batch: str | None = None,
        progress: Progress | None = None,
    ) -> list[Stored]:
        if batch is not None:
            raise InvalidInput("a batch gets its name from the server")
        left, stored = iter(items), list[Stored]()
        while some := [_noted(item) for item in islice(left, AT_ONCE)]:
            told = self._ask("memorize_many", "POST", "/memories/batch", {"items": some})
            stored += read(memories.Outcomes, told).items
        return stored

    def add_document(self, data: bytes | str, **details: Any) -> Stored:
        text = {"text": data} if isinstance(data, str) else {"base64": b64encode(data).decode()}
        return _record(Stored, self._ask("add_document", "POST", "/documents", text | details))

    def add(self, given: Any, batch: str | None = None, progress: Progress | None = None) -> Stored:
        if batch is not None:
            raise InvalidInput("a batch gets its name from the server")
        details = _named(given)
        return self.add_document(details.pop("data"), **details)

    def update_memory(
        self, memory_id: str, *, if_version: int | None = None, **changes: Any
    ) -> Memory:
        path = f"/memories/{_quoted(memory_id)}"
        match = None if if_version is None else f'"{if_version}"'
        return _record(Memory, self._ask("update_memory", "PATCH", path, changes, match=match))

    def forget(self, memory_id: str, *, erase: bool = False) -> Forgotten:
        path = f"/memories/{_quoted(memory_id)}"
        how = ("POST", f"{path}/erase") if erase else ("DELETE", path)
        return _record(Forgotten, self._ask("forget", *how))

    def is_shared(self, memory_id: str) -> bool:
        memory = self.get(memory_id)
        return bool(memory.kin == self.kin and memory.scope == "shared")

    def links(self, *memory_ids: str) -> Any:
        asked = {"ids": list(memory_ids)}
        return read(memories.Linked, self._ask("links", "GET", "/links", asked)).links

    def newer(self, *memory_ids: str) -> Any:
        asked = {"ids": list(memory_ids)}
        return read(memories.Newer, self._ask("newer", "GET", "/newer", asked)).newer

    def history(
        self, memory_id: str | None = None, limit: int = 100, *, before: int | None = None
    ) -> Any:
        path = "/history" if memory_id is None else f"/memories/{_quoted(memory_id)}/history"
        asked = _filled({"limit": limit, "before": before if memory_id is None else None})
        return read(past.History, self._ask("history", "GET", path, asked)).events

    def review_memories(self, *, progress: Progress | None = None, **asked: Any) -> Review:
        asked = {**_filled(asked)}
        asked.pop("releases", None)
        method = "POST" if asked.get("apply") or asked.get("refuse") else "GET"
        if method == "GET":
            asked = {name: asked[name] for name in ("subject", "scope") if name in asked}
        return _record(Review, self._ask("review_memories", method, "/review", asked))

    def decide(self, issue: str, *, refuse: bool = False, keep: str | None = None) -> Settled:
        body = _filled({"refuse": refuse, "keep": keep})
        told = self._ask("decide", "POST", f"/review/{_quoted(issue)}", body)
        return _record(Settled, told)

    def explore(self, name: str, *, depth: int = 1, to: str | None = None) -> Any:
        asked = _filled({"name": name, "depth": depth, "to": to})
        known = read(knowledge.Known, self._ask("explore", "GET", "/explore", asked))
        return known.card, known.way

    def mute(self, kin: str) -> None:
        self._ask("mute", "PUT", f"/muted/{_quoted(kin)}")

    def unmute(self, kin: str) -> None:
        self._ask("unmute", "DELETE", f"/muted/{_quoted(kin)}")

    # conversations and upkeep

    def record_turn(
        self,
        session: str,
        prompt: str,
        answer: str = "",
        *,
        idempotency_key: str | None = None,
        tools: Iterable[Mapping[str, str]] = (),
        **given: Any,
    ) -> Observed:
        said = {"session": session, "prompt": prompt, "answer": answer, "tools": list(tools)}
        body = said | _filled(given)
        told = self._ask("record_turn", "POST", "/turns", body, key=idempotency_key)
        return _record(Observed, told)

    def compacted(self, session: str) -> None:
        self._ask("compacted", "POST", "/compacted", {"session": session})

    def sleep(
        self, steps: Iterable[str] = (), *, progress: Progress | None = None, **asked: Any
    ) -> Run:
        latest = self.runs(1)
        body = {"steps": list(steps)} | _filled(asked)
        told = read(upkeep.Slept, self._ask("sleep", "POST", "/sleep", body))
        while told.run is None and self.runs(1) == latest:
            time.sleep(LOOK_SECONDS)
        return told.run or self.runs(1)[0]  # type: ignore[no-any-return]

    def settle(self, timeout: float | None = None) -> bool:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = upkeep.PATIENCE if until is None else max(0.0, until - time.monotonic())
            body = {"timeout": min(left, upkeep.PATIENCE)}
            if self._ask("settle", "POST", "/settle", body)["is_settled"]:
                return True
            if until is not None and time.monotonic() >= until:
                return False

    # export and import

    def export(
        self,
        target: str | Path | IO[bytes],
        *,
        keep_secrets: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        if keep_secrets:
            raise InvalidInput("secrets do not leave the machine over HTTP")
        if isinstance(target, str | Path):
            with Path(target).open("xb") as file:
                return self.export(file)
        counts: dict[str, int] = {}
        with self._http.stream("GET", "/export", timeout=None) as response:
            if response.is_error:
                response.read()
                raise_for(response, "export")
            for line in response.iter_lines():
                target.write(line.encode() + b"\n")
                kind = str(json.loads(line).get("type"))
                counts[kind] = counts.get(kind, 0) + 1
        return Exported(counts)

    def import_(
        self,
        path: str | Path,
        *,
        dry_run: bool = False,
        keep_secrets: bool = False,
        progress: Progress | None = None,
    ) -> Import:
        if keep_secrets:
            raise InvalidInput("the server decides what becomes of secrets (KINMEM_SECRETS)")
        asked = {"dry_run": "1"} if dry_run else {}
        headers = {"Content-Type": "application/jsonl"}
        with Path(path).open("rb") as file:
            response = self._http.post(
                "/import", params=asked, headers=headers, content=file, timeout=None
            )
        if response.is_error:
            raise_for(response, "import_")
        last = json.loads(response.text.strip().rpartition("\n")[2])
        if "result" not in last:
            raise InvalidInput(str(last.get("error")).removeprefix("invalid: "))
        told = last["result"]
        problems = [Problem(**one) for one in told.pop("problems", [])]
        named = {"inBin": "in_bin", "othersShared": "others"}
        known = {named.get(name, name): value for name, value in told.items()}
        return Import(**known, problems=problems)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _remote(self, name: str, remote: Remote, *given: Any, **named: Any) -> Any:
        if len(given) > len(remote.names):
            raise TypeError(f"{name} takes at most {len(remote.names)} arguments by position")
        asked = dict(zip(remote.names, given, strict=False)) | named
        path = remote.path
        if "{id}" in path:
            path = path.replace("{id}", _quoted(asked.pop(remote.names[0])))
        body = _filled(asked) if asked or remote.method == "POST" else None
        if path.endswith(("/restore", "/confirm", "/retry")):
            body = None
        answer = read(remote.answer, self._ask(name, remote.method, path, body))
        return answer if remote.part is None else getattr(answer, remote.part)

    def _ask(
        self,
        name: str,
        method: str,
        path: str,
        given: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        match: str | None = None,
    ) -> Any:
        headers = _filled({"Idempotency-Key": key, "If-Match": match})
        sent: dict[str, Any] = {}
        if given is not None:
            plain = {one: _plain(value) for one, value in given.items()}
            sent = {"params": plain} if method in BODILESS else {"json": plain}
        try:
            response = self._http.request(method, PREFIX + path, headers=headers, **sent)
            if response.is_error:
                raise_for(response, name)
            return response.json()
        except (httpx.HTTPError, ValueError) as error:
            host = self._http.base_url
            raise Unreachable(f"{host} does not answer: {error or type(error).__name__}") from error


def _record(kind: type[T], told: Any) -> T:
    return cast(T, read(kind, told))


def _filled(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _plain(value: Any) -> Any:
    """Return a value as JSON, and an address, can hold it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return value
    return list(value)


def _noted(item: Note | Mapping[str, Any] | str) -> dict[str, Any]:
    if isinstance(item, str):
        return {"content": item}
    named = _named(item) if isinstance(item, Note) else item
    return {name: _plain(value) for name, value in named.items()}


def _named(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults."""
    given = {field.name: getattr(record, field.name) for field in fields(record)}
    defaults = {field.name: field.default for field in fields(record)}
    return {
        name: value
        for name, value in given.items()
        if defaults[name] is MISSING or value != defaults[name]
    }


def _quoted(id: Any) -> str:
    return quote(str(id), safe="")
