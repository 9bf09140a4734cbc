"""How views are declared: what a view is asked, what it may answer, where it is found, and what
several in a row would work out alike; and what was filled in is read: no more than a page of ours
sends, and nothing of another session.

A view is declared as a View by a module in views/, and listed in views/__init__.py: that gives it
its route, its place in the navigation, and its forms a check of session and scope.
"""

import re
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from starlette.datastructures import FormData, QueryParams
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from kinmem.documents.document import FILE_BYTES
from kinmem.errors import KinmemError
from kinmem.http.guard import Session, is_same
from kinmem.http.tokens import Scope
from kinmem.service import Service

if TYPE_CHECKING:
    from kinmem.service import Service
    from kinmem.web.words import Language


# Digits of the longest number that a database of ours can hold for certain.
MOST_DIGITS = 18


def number_in(text: str | None) -> int | None:
    """Return the whole number that the text is; None if it is none, or none of ours."""
    return int(text) if text and text.isdecimal() and len(text) <= MOST_DIGITS else None


def meant(text: str) -> int | str:
    """Return what is to be undone, as Service.undo takes it."""
    number = number_in(text)
    return text if number is None else number


class Head:
    """What stands before the view's own on a page. This one is sent with the rest."""

    title: str | None = None
    is_sent = False

    def begin(self, title: str | None) -> None:
        self.title = self.title or title


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a view."""

    service: "Service"
    session: Session
    language: "Language"
    query: QueryParams
    """What stands behind the ? of the address."""
    form: FormData
    """What was filled in; empty for a GET."""
    path: Mapping[str, Any]
    """The variable parts of the address."""
    at: str
    """The address, with what stands behind its ?."""
    is_live: bool = False
    """Whether the page asks of itself, because something has changed."""
    stands_at: list[object] = field(default_factory=list)
    """Where the memory stood when the page first asked for something that is kept."""
    head: Head = field(default_factory=Head)

    def begin(self, title: str | None = None) -> None:
        """Say that there will be a page, whatever is found from now on: the browser gets its head,
        and an error that comes later is told within the page. The title is the view's unless
        another is given."""
        self.head.begin(title)

    def kept(self, name: str, make: Callable[[], "T"]) -> "T":
        """Do what KEPT.of does; where the memory stands is looked up once for a page."""
        if not self.stands_at:
            self.stands_at.append(standing(self.service))
        return KEPT.of(self.service, name, make, self.stands_at[0])

    @property
    def zone(self) -> tzinfo:
        return self.service.settings.general.zone

    @property
    def now(self) -> datetime:
        return self.service.clock()

    def may(self, scope: Scope) -> bool:
        return self.session.bearer.may(scope)

    def given(self, name: str) -> str | None:
        """Return what was filled in, or stands in the address, under that name; None if it is
        empty."""
        value = self.form.get(name, self.query.get(name))
        return value.strip() or None if isinstance(value, str) else None

    def chosen(self, name: str) -> list[str]:
        """Return all that was chosen under that name."""
        return [value for value in self.form.getlist(name) if isinstance(value, str)]


@dataclass(frozen=True, slots=True)
class Shown:
    """A page: a template of templates/, and what it shows."""

    template: str
    model: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class Notice:
    """A line that the next page tells, with what takes it back."""

    key: str
    """Of the catalogue."""
    count: int | None = None
    """Of how many things it tells; None: its text has one form whatever their number."""
    undo: tuple[int | str, ...] = ()
    """Writes, batches or memories, each as Service.undo takes it."""
    is_problem: bool = False
    errors: tuple[KinmemError, ...] = ()
    """Why something, or some of several, could not be done."""
    texts: tuple[tuple[str, str], ...] = ()
    """Memories that it is about, each as a key of the catalogue and the memory's text."""
    leads_to: tuple[str, str] | None = None
    """A key of the catalogue and the address where more can be done."""


@dataclass(frozen=True, slots=True)
class Done:
    """Something was done; the browser goes on to another page."""

    to: str
    notice: Notice | None = None


Answer = Shown | Done | Response
Show = Callable[[Asked], Answer]


@dataclass(frozen=True, slots=True)
class View:
    """One view of the page, with what lies below it."""

    name: str
    """`view.<name>` of the catalogue is its title."""
    path: str
    show: Show
    is_certain: bool = False
    """Whether its page, with nothing behind its ?, is there whatever the memory holds."""
    pages: Mapping[str, Show] = field(default_factory=dict)
    """Further pages by their paths, read with GET: "/memory/{id}"."""
    actions: Mapping[str, Show] = field(default_factory=dict)
    """What its forms are posted to. Takes the scope write."""
    owner: Mapping[str, Show] = field(default_factory=dict)
    """Further actions, which take the scope admin."""
    group: str = "look"
    """`group.<group>` of the catalogue is the heading under which it is listed."""
    uploads: frozenset[str] = frozenset()
    """The actions whose forms may hold a file."""
    needs: Scope = "read"
    """What a session needs to see it at all."""
    is_listed: bool = True


# Seconds after which it is worked out again all the same: links, vectors and reports of upkeep move
# no position.
LONGEST = 30.0
T = TypeVar("T")


def standing(service: Service) -> object:
    """Return what differs whenever a memory or a conversation has changed."""
    return service.store.revision, service.store.changes.position()


class Kept:
    """Values by service and name. May be called from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: WeakKeyDictionary[Service, dict[str, tuple[object, float, Any]]] = (
            WeakKeyDictionary()
        )
        self._makers: WeakKeyDictionary[Service, dict[str, threading.Lock]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, service: Service, name: str, make: Callable[[], T], at: object | None = None) -> T:
        """Return the value of that name; made anew if anything has changed since. `at` is the
        standing of a moment ago: what has changed since then is seen by the next one."""
        at, now = standing(service) if at is None else at, self._clock()
        with self._making(service, name):
            with self._lock:
                made_at, until, value = self._known.get(service, {}).get(name, (None, 0.0, None))
            if made_at != at or now > until:
                value = make()
                with self._lock:
                    self._known.setdefault(service, {})[name] = at, now + LONGEST, value
        found: T = value
        return found

    def _making(self, service: Service, name: str) -> threading.Lock:
        """Return the lock of that value: what two ask for at once is made once."""
        with self._lock:
            return self._makers.setdefault(service, {}).setdefault(name, threading.Lock())


KEPT = Kept()


# Bytes of a form without files. A text of 64 KiB takes three times as much in a form.
MOST_BYTES = 1 << 20
# Bytes of a form with a file, which waits on disk.
MOST_UPLOADED = FILE_BYTES + MOST_BYTES
MOST_FIELDS = 1000
# Fields beside the file, which together are held to MOST_BYTES.
MOST_BESIDE = 16
# Bytes within which the session's mark has to stand in a form with a file: it is its first field.
HEAD_BYTES = 4096
SIZE = re.compile(r"[0-9]{1,18}")
CSRF, CSRF_HEADER = "csrf", "x-csrf"
MARKED = re.compile(rb'name="csrf"\r\n\r\n([!-~]*)\r\n')


class Refused(Exception):
    """A form that is not read, or not further."""

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__(response.status_code)


def too_large() -> Refused:
    told = "the form is too large, or holds a file where none belongs"
    return Refused(PlainTextResponse(told, 413))


def foreign() -> Refused:
    return Refused(PlainTextResponse("this form is of another session; reload it", 403))


async def filled_in(request: Request, session: Session | None, *, files: bool = False) -> FormData:
    """Return what was filled in. Raises Refused if it is too large, is in parts though it takes no
    `files`, or lacks the mark of the session; None: nobody has logged in yet.

    A file is read only after the mark has been seen.
    """
    marked = request.headers.get(CSRF_HEADER)
    if session and marked is not None and not is_same(marked, session.csrf):
        raise foreign()
    size = request.headers.get("content-length", "")
    is_upload = request.headers.get("content-type", "").startswith("multipart/")
    if is_upload and not files:
        raise too_large()
    if not SIZE.fullmatch(size) or int(size) > (MOST_UPLOADED if is_upload else MOST_BYTES):
        raise too_large()
    if is_upload and session:
        return await _uploaded(request, session, is_marked=marked is not None)
    form = await request.form(max_fields=MOST_FIELDS, max_part_size=MOST_BYTES)
    given = form.get(CSRF, "") if marked is None else marked
    if session and not (isinstance(given, str) and is_same(given, session.csrf)):
        raise foreign()
    return form


async def _uploaded(request: Request, session: Session, *, is_marked: bool) -> FormData:
    stream = _after_mark(request, None if is_marked else session.csrf)
    parser = MultiPartParser(
        request.headers,
        stream,
        max_files=1,
        max_fields=MOST_BESIDE,
        max_part_size=MOST_BYTES // MOST_BESIDE,
    )
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise HTTPException(400, error.message) from error
    finally:
        await stream.aclose()


async def _after_mark(request: Request, expected: str | None) -> AsyncGenerator[bytes, None]:
    """Yield the body, nothing of it before its first field was seen to be the expected mark."""
    head = b""
    async for chunk in request.stream():
        if expected is None:
            yield chunk
            continue
        head += chunk
        found = MARKED.search(head[:HEAD_BYTES])
        if found is None and len(head) < HEAD_BYTES:
            continue
        if found is None or not is_same(found[1].decode(), expected):
            raise foreign()
        yield head
        expected = None
    if expected is not None:
        raise foreign()
