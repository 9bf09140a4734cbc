"""A memory on another machine, or in another process: the service's methods over REST.

Most methods are one request, and stand in client_methods.py; what is more than that is here.
"""

import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, update_wrapper
from pathlib import Path
from types import MethodType, TracebackType
from typing import IO, Any, Self, TypeVar, cast
from uuid import uuid4

import httpx

from kinmem.backup.importing import Import
from kinmem.backup.jsonl import Exported
from kinmem.documents.document import Given
from kinmem.errors import ConfigError, InvalidInput, MemoryNotFound, StillWorking, TooLarge
from kinmem.http.connection_limits import BODY_BYTES
from kinmem.http.lanes import PATIENCE
from kinmem.models import Event, Forgotten, Memory, Note, Progress, Review, Settled, Stored
from kinmem.models.draft import is_document
from kinmem.models.turns import Observed, Run
from kinmem.service.conversations import Care, Conversations
from kinmem.service.memories import Memories
from kinmem.service.storing import Storing
from kinmem.service.views import Views
from kinmem.store.history import batch_name
from kinmem.validation import MOST_LISTED, checked_count, checked_key
from kinmem.web.rest import knowledge_and_history_endpoints, memory_endpoints
from kinmem.web.rest import upkeep_and_review_endpoints as upkeep
from kinmem.web.rest.client_methods import (
    LOCAL_ONLY,
    PAGE,
    REMOTE,
    TOLD,
    Remote,
    Unreachable,
    as_body,
    bound,
    fetch_export,
    filled,
    in_requests,
    joined,
    like,
    named,
    noted,
    outcome_or_note,
    plain,
    quoted,
    quoted_name,
    raise_for,
    send_import,
    understood,
)
from kinmem.web.rest.declaration import BODILESS, PREFIX
from kinmem.web.rest.shapes import ID_CHARACTERS, JSON

# Seconds for an answer: the server answers long work after 40.
TIMEOUT = 60.0
# Items of a batch, and ids in an address.
AT_ONCE = 100
# Of an address.
ADDRESS_BYTES = 64 * 1024
# Seconds after which unfinished work is asked for again.
AGAIN_SECONDS = 2.0
# Lines of the history, or writes, in one answer.
LINES = 1000

T = TypeVar("T")


class Client:
    """One Kin's memory, over HTTP. Methods, arguments and results are those of Service.

    Texts come as the server writes them out: a hidden character as ⟨U+202E⟩. What is only for a
    person at the machine (LOCAL_ONLY) is missing, and so are the fields of a note that only kinmem
    itself sets, such as its channel. `progress` is not reported.
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
        if remote := REMOTE.get(name):
            call = partial(self._remote, name, remote)
            return update_wrapper(call, MethodType(remote.local, self), TOLD, ())
        why = "; it is done where the files are" if name in LOCAL_ONLY else ""
        raise AttributeError(f"a memory over HTTP has no {name!r}{why}")

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *REMOTE]

    # memories

    @like(Storing.memorize)
    def memorize(self, *given: Any, **fields: Any) -> Stored:
        asked = bound(Storing.memorize, *given, **fields)
        key = asked.pop("idempotency_key", None)
        note, text = noted(asked), asked.get("content")
        if key is None and isinstance(text, str) and is_document(text):
            key = f"client-{uuid4()}"
        if key is None:  # asked again, it would be stored once more
            return self._record(Stored, "memorize", "POST", "/memories", note)
        return self._until_stored(Stored, "memorize", "/memories", note, key)

    def memorize_many(
        self,
        items: Iterable[Note | Mapping[str, Any] | str],
        *,
        batch: str | None = None,
        progress: Progress | None = None,
    ) -> list[Stored]:
        checked = [outcome_or_note(item) for item in items]
        notes = [one for one in checked if not isinstance(one, Stored)]
        body, stored = {"batch": batch or batch_name("many")}, list[Stored]()
        for some in in_requests(notes, AT_ONCE, BODY_BYTES):
            asked = {"items": some, **body}
            kind = memory_endpoints.Outcomes
            told = self._until_stored(kind, "memorize_many", "/memories/batch", asked)
            stored += told.items
        outcomes = iter(stored)
        return [one if isinstance(one, Stored) else next(outcomes) for one in checked]

    def add_document(self, data: bytes | str, **details: Any) -> Stored:
        return self.add(Given(data=data, **details))

    def add(
        self, given: Given, batch: str | None = None, progress: Progress | None = None
    ) -> Stored:
        asked = named(given) | filled({"batch": batch})
        data = asked.pop("data")
        asked |= {"text": data} if isinstance(data, str) else {"base64": b64encode(data).decode()}
        return self._until_stored(Stored, "add", "/documents", asked)

    def _until_stored(
        self, kind: type[T], name: str, path: str, asked: Mapping[str, Any], key: str | None = None
    ) -> T:
        """Store what may take long: the same request again waits for the end of the first."""
        while True:
            try:
                return self._record(kind, name, "POST", path, asked, key=key)
            except StillWorking:
                time.sleep(AGAIN_SECONDS)

    @like(Storing.update_memory)
    def update_memory(self, *given: Any, **changes: Any) -> Memory:
        asked = bound(Storing.update_memory, *given, **changes)
        path = f"/memories/{quoted(asked.pop('memory_id'))}"
        version = asked.pop("if_version", None)
        match = None if version is None else f'"{max(0, version)}"'
        return self._record(Memory, "update_memory", "PATCH", path, asked, match=match)

    @like(Memories.forget)
    def forget(self, *given: Any, **named: Any) -> Forgotten:
        asked = bound(Memories.forget, *given, **named)
        path = f"/memories/{quoted(asked['memory_id'])}"
        how = ("POST", f"{path}/erase") if asked.get("erase") else ("DELETE", path)
        return self._record(Forgotten, "forget", *how)

    def links(self, *memory_ids: str) -> Any:
        return self._of_ids("links", "/links", memory_endpoints.Linked, memory_ids)

    def newer(self, *memory_ids: str) -> Any:
        return self._of_ids("newer", "/newer", memory_endpoints.Newer, memory_ids)

    def _of_ids(self, name: str, path: str, kind: Any, ids: Sequence[str]) -> dict[str, Any]:
        """Ask for many ids, as many at once as an address holds."""
        found: dict[str, Any] = {}
        known = [id for id in ids if id and len(id) <= ID_CHARACTERS]
        for start in range(0, len(known), AT_ONCE):
            some = {"ids": known[start : start + AT_ONCE]}
            found |= getattr(understood(kind, self._ask(name, "GET", path, some)), name)
        return found

    @like(Views.history)
    def history(self, *given: Any, **named: Any) -> list[Event]:
        asked = {"limit": 100, **bound(Views.history, *given, **named)}
        id, limit = asked.pop("memory_id", None), asked.pop("limit")
        checked_count(limit, "limit", 1, MOST_LISTED)
        path = "/history" if id is None else f"/memories/{quoted(id)}/history"
        lines: list[Event] = []
        while True:
            part = {"limit": min(limit, LINES), **asked}
            told = understood(
                knowledge_and_history_endpoints.History, self._ask("history", "GET", path, part)
            ).events
            lines += told
            count = len(told) if id is not None else len({line.write for line in told})
            limit -= count
            if limit < 1 or count < part["limit"]:
                return lines
            asked["before"] = told[-1].write if id is None else told[-1].seq

    @like(Memories.review_memories)
    def review_memories(self, **named: Any) -> Review:
        asked = bound(Memories.review_memories, **named)
        asks = not (asked.get("apply") or asked.get("refuse") or asked.get("keep"))
        if asks:
            asked = {name: asked[name] for name in ("subject", "scope") if name in asked}
        method = "GET" if asks else "POST"
        return self._record(Review, "review_memories", method, "/review", asked)

    @like(Memories.decide)
    def decide(self, *given: Any, **named: Any) -> Settled:
        asked = bound(Memories.decide, *given, **named)
        path = f"/review/{quoted_name(asked.pop('issue'), 'issue')}"
        return self._record(Settled, "decide", "POST", path, asked)

    @like(Views.explore)
    def explore(self, *given: Any, **named: Any) -> Any:
        told = self._ask("explore", "GET", "/explore", bound(Views.explore, *given, **named))
        known = understood(knowledge_and_history_endpoints.Known, told)
        return known.card, known.way

    def mute(self, kin: str) -> None:
        self._ask("mute", "PUT", f"/muted/{quoted_name(kin, 'name of a Kin')}")

    def unmute(self, kin: str) -> None:
        self._ask("unmute", "DELETE", f"/muted/{quoted_name(kin, 'name of a Kin')}")

    # conversations and upkeep

    @like(Conversations.record_turn)
    def record_turn(self, *given: Any, **named: Any) -> Observed:
        asked = bound(Conversations.record_turn, *given, **named)
        key = asked.pop("idempotency_key", None)
        return self._record(Observed, "record_turn", "POST", "/turns", asked, key=key)

    def compacted(self, session: str) -> None:
        self._ask("compacted", "POST", "/compacted", {"session": session})

    @like(Care.sleep)
    def sleep(self, *given: Any, **named: Any) -> Run:
        asked = bound(Care.sleep, *given, **named)
        return cast(Run, self._done("sleep", upkeep.Slept, "run", asked))

    @like(Care.summarize)
    def summarize(self, *given: Any, **named: Any) -> int:
        asked = bound(Care.summarize, *given, **named)
        return cast(int, self._done("summarize", upkeep.Worked, "count", asked))

    def reembed(self, progress: Progress | None = None) -> int:
        return cast(int, self._done("reembed", upkeep.Worked, "count", None))

    def _done(self, name: str, kind: Any, part: str, asked: Mapping[str, Any] | None) -> Any:
        """Do long work: the same request again waits for its end."""
        while True:
            told = getattr(understood(kind, self._ask(name, "POST", f"/{name}", asked)), part)
            if told is not None:
                return told

    def settle(self, timeout: float | None = None) -> bool:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = PATIENCE if until is None else max(0.0, until - time.monotonic())
            body = {"timeout": min(left, PATIENCE)}
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
        return fetch_export(self._http, target)

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
        return send_import(self._http, path, dry_run=dry_run)

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
        asked, path = bound(remote.local, *given, **named), remote.path
        if "{id}" in path:
            try:
                path = path.replace("{id}", quoted(asked.pop("memory_id")))
            except MemoryNotFound:
                if remote.is_empty_if_unknown:
                    return None
                raise
        if remote.is_paged:
            return self._pages(name, remote, path, {**asked, "limit": PAGE})
        body = asked if asked or remote.takes_body else None
        answer = understood(remote.answer, self._ask(name, remote.method, path, body))
        return answer if remote.part is None else getattr(answer, remote.part)

    def _pages(self, name: str, remote: Remote, path: str, asked: dict[str, Any]) -> Any:
        assert remote.part is not None
        parts = []
        while True:
            page = understood(remote.answer, self._ask(name, remote.method, path, asked))
            parts.append(getattr(page, remote.part))
            if page.next_cursor is None:
                return joined(parts)
            asked["cursor"] = page.next_cursor

    def _record(self, kind: type[T], name: str, *request: Any, **headers: Any) -> T:
        return cast(T, understood(kind, self._ask(name, *request, **headers)))

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
        """Send a request of the method `name`, and return its answer."""
        headers = filled({"If-Match": match and match.encode()})
        sent: dict[str, Any] = {}
        if key is not None:
            headers["Idempotency-Key"] = checked_key(key).encode()
        if method in BODILESS:
            sent = {"params": plain(given or {})}
        elif given is not None:
            sent = {"content": as_body(given)}
            headers["Content-Type"] = JSON.encode()
        try:
            response = self._http.request(method, PREFIX + path, headers=headers, **sent)
            if response.is_error:
                raise_for(response, name)
            return response.json()
        except httpx.InvalidURL:
            size = max(len(str(one).encode()) for one in (given or {"": ""}).values())
            raise TooLarge("an argument", size, ADDRESS_BYTES) from None
        except (httpx.HTTPError, ValueError) as error:
            host = self._http.base_url
            raise Unreachable(f"{host} does not answer: {error or type(error).__name__}") from error
