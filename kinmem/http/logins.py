"""The door of the page: sessions, the cookie that names one, and who gets one.

A session begins with a one-time link or a token, lives in this process alone, and ends when it is
unused for 12 hours, its token is revoked or the process ends. Its cookie opens pages only, never
/mcp or /api.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import Scope

from kinmem.http.connection_limits import first_of_most
from kinmem.http.open_page import leave_link, take_link
from kinmem.http.tokens import KIN_KEY, SCOPE_KEY, Bearer

# Returns whom a token, or its absence, speaks for; None refuses. May raise ConfigError.
BearerOf = Callable[[str | None], Bearer | None]

LOGIN, STATIC, LIVE = "/login", "/static/", "/events"
# What a browser is shown instead of an address that is no page.
MISSING = "/missing"
# A header of what a page asks of itself, because something has changed.
LIVE_HEADER = b"x-live"
# Where the ASGI scope of a request to the page holds its session; None before the login.
SESSION_KEY = "kinmem.session"
IDLE_SECONDS = 12 * 3600
MOST_SESSIONS = 200
MOST_NOTICES = 20
SAFE = frozenset({"GET", "HEAD"})


@dataclass(slots=True)
class Session:
    """One browser that has logged in."""

    key: str
    """What its cookie holds."""
    csrf: str
    """What each of its forms must hold."""
    bearer: Bearer
    token: str | None
    """The token it began with; it ends with it."""
    used_at: float
    notices: deque[Any] = field(default_factory=lambda: deque(maxlen=MOST_NOTICES))
    """What the next page tells."""


class Sessions:
    """The sessions of one process. Every method may be called from any thread."""

    def __init__(
        self,
        home: Path,
        port: int,
        bearer_of: BearerOf,
        segments: Collection[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`segments` are the first parts of the paths that are pages, "" for `/`."""
        # Cookies do not know ports: each home and port has a name of its own.
        self._home = home
        place = hashlib.sha256(f"{home.resolve()}\0{port}".encode()).hexdigest()
        self.cookie = f"kinmem_{place[:12]}"
        self._bearer_of = bearer_of
        self._segments = frozenset(segments)
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def invite(self, bearer: Bearer) -> str:
        """Return the key of a link that opens one session, once, within two minutes."""
        return leave_link(self._home, bearer)

    def accept(self, key: str) -> Session | None:
        """Begin the session that the link is for, whichever process has left it; None if it was
        used or is too old."""
        bearer = take_link(self._home, key)
        return self._begin(bearer, None) if bearer else None

    def log_in(self, token: str | None) -> Session | None:
        """Begin a session of whoever the token speaks for; None if it is not valid.

        Without a token only a server that asks nobody for one begins a session.
        """
        bearer = self._bearer_of(token)
        return self._begin(bearer, token) if bearer else None

    def log_out(self, session: Session) -> None:
        with self._lock:
            self._sessions.pop(session.key, None)

    def _begin(self, bearer: Bearer, token: str | None) -> Session:
        key, csrf, now = secrets.token_urlsafe(32), secrets.token_urlsafe(24), self._clock()
        session = Session(key, csrf, bearer, token, now)
        with self._lock:
            self._sessions[key] = session
            while len(self._sessions) > MOST_SESSIONS:
                by_age = sorted(self._sessions.values(), key=lambda one: one.used_at)
                oldest = first_of_most((one, one.bearer.kin) for one in by_age)
                del self._sessions[oldest.key]
        return session

    def owns(self, path: str) -> bool:
        """Return whether the path is a page."""
        return path.startswith("/") and path.split("/", 2)[1] in self._segments

    def admit(self, scope: Scope) -> Response | None:
        """Return the refusal of a request to a page; None if it may pass, with its session noted
        in the scope. May raise ConfigError."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if scope["method"] not in SAFE and not _is_from_here(headers):
            return PlainTextResponse("this form comes from another page", 403)
        # What a page asks by itself is no use of it.
        is_by_itself = scope["path"] == LIVE or LIVE_HEADER in headers
        session = self._known(headers.get(b"cookie", ""), is_use=not is_by_itself)
        scope[SESSION_KEY] = session
        if session is not None:
            scope[KIN_KEY], scope[SCOPE_KEY] = session.bearer.kin, session.bearer.scope
            return None
        if scope["path"] in (LOGIN, MISSING) or scope["path"].startswith(STATIC):
            return None
        if b"hx-request" in headers:
            return PlainTextResponse("", 401, {"HX-Redirect": LOGIN})
        asked = quote(scope["path"]) + ("?" + scope["query_string"].decode("latin-1")).rstrip("?")
        to = f"{LOGIN}?next={quote(asked, safe='')}" if scope["method"] in SAFE else LOGIN
        return RedirectResponse(to, 303, {"Cache-Control": "no-store"})

    def _known(self, cookies: str, *, is_use: bool = True) -> Session | None:
        """Return the live session that the cookies name."""
        session = self._sessions.get(cookie_parser(cookies).get(self.cookie, ""))
        if session is None or not self.is_live(session):
            return None
        if is_use:
            session.used_at = self._clock()
        return session

    def is_live(self, session: Session) -> bool:
        """Return whether the session has not ended, and end it if it has to. May raise
        ConfigError."""
        bearer = session.bearer if session.token is None else self._bearer_of(session.token)
        if bearer is None or self._clock() - session.used_at > IDLE_SECONDS:
            self.log_out(session)
        elif session.key in self._sessions:
            session.bearer = bearer
            return True
        return False


def set_cookie(response: Response, sessions: Sessions, session: Session, *, secure: bool) -> None:
    """Give the browser its session. `secure`: it came over TLS, and sends it so only."""
    response.set_cookie(
        sessions.cookie,
        session.key,
        httponly=True,
        samesite="strict",
        secure=secure,
    )


def _is_from_here(headers: dict[bytes, str]) -> bool:
    """Return whether a form was sent by one of our own pages, as far as the browser tells.

    A page of another port of this machine is of the same site, and would send the cookie.
    """
    if headers.get(b"sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get(b"origin")
    return origin is None or origin.partition("://")[2].lower() == headers[b"host"].lower()


def is_same(given: str, expected: str) -> bool:
    """Compare two secrets in the same time, however much of them is equal."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
