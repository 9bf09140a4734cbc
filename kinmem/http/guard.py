"""Who may ask over HTTP: every request passes the guard, with the right Host, from no foreign page,
and with a token or the cookie of a session, which say whose Kin is served.

A web page that somebody has open can send requests to their machine, and by DNS rebinding under a
name of its own, so only names known to be ours are served. There are no CORS headers. A session
begins with a one-time link or a token, lives in this process alone, and ends when it is unused for
12 hours, its token is revoked or the process ends. Its cookie opens pages only, never /mcp or /api.
"""

import hashlib
import hmac
import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kinmem.errors import ConfigError
from kinmem.http.connection_limits import first_of_most
from kinmem.http.open_page import leave_link, take_link
from kinmem.http.refusals import refusal
from kinmem.http.tokens import KIN_KEY, SCOPE_KEY, STILL_KEY, Bearer, is_loopback

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


logger = logging.getLogger(__name__)

HEALTH, HEALTHZ, READYZ, METRICS = "/health", "/healthz", "/readyz", "/metrics"
# Their answers reveal only that the server runs, and whether its store does.
OPEN = frozenset({HEALTH, HEALTHZ, READYZ})
FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via")
CODES = {
    401: "unauthorized",
    403: "forbidden",
    421: "misdirected",
    431: "too_large",
    503: "config",
}
# Bytes of all header fields of a request; the address is not among them.
HEADER_BYTES = 32 * 1024
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Guard:
    """Passes a request on to the app, or answers it with 431, 421, 403, 401 or 503."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str],
        bearer_of: BearerOf,
        pages: Sessions | None = None,
    ) -> None:
        """`hosts` are host names that requests may carry besides the loopback ones, with or without
        a port. `pages` lets in who has a session, to pages only."""
        self._app = app
        self._pages = pages
        self._hosts = LOOPBACK_NAMES | {host.lower() for host in hosts}
        self._bearer_of = bearer_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif refused := self._refused(scope):
            await refused(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the refusal of the request; None if it may pass, with its Kin noted in the
        scope."""
        headers = _Headers(scope)
        if (size := headers.size) > HEADER_BYTES:
            told = f"the header fields are {size} bytes; at most {HEADER_BYTES} are taken"
            return _error(431, told)
        hosts = headers.all("host")
        if len(hosts) != 1 or not self._ours(hosts[0]):
            return _error(421, "this server does not serve that host; see KINMEM_ALLOWED_HOSTS")
        if not all(self._ours(origin, origin=True) for origin in headers.all("origin")):
            return _error(403, "requests from that origin are refused")
        if "cross-site" in headers.all("sec-fetch-site") and not self._leads_in(scope, headers):
            return _error(403, "requests from other sites are refused")
        if self._pages is not None and self._pages.owns(scope["path"]):
            return self._admitted(self._pages, scope)
        given = headers.all("authorization")
        if not given and scope["method"] in ("GET", "HEAD") and _is_open(scope):
            return None
        refused = self._unauthorized(scope, given)
        is_unknown = refused is not None and refused.status_code == 401 and not given
        if is_unknown and self._pages is not None and _is_visit(scope, headers):
            # A person has mistyped an address: they have no token to send.
            scope["path"] = MISSING
            return self._admitted(self._pages, scope)
        return refused

    def _leads_in(self, scope: Scope, headers: "_Headers") -> bool:
        """Return whether the request opens the login in a tab: `kinmem web` leads to it by a file,
        which is another site to a browser."""
        is_login = self._pages is not None and scope["path"] == LOGIN
        return is_login and _is_visit(scope, headers)

    def _admitted(self, pages: Sessions, scope: Scope) -> Response | None:
        try:
            return pages.admit(scope)
        except ConfigError as error:
            return _unreadable(error)

    def _ours(self, text: str, *, origin: bool = False) -> bool:
        """Compare the exact name, not a prefix: http://localhost:1@evil.example belongs to
        evil.example."""
        parts = _split(text if origin else f"//{text}")
        if parts is None or (origin and parts[0] not in ("http", "https")):
            return False
        _, name, port = parts
        return name in self._hosts or f"{_bracketed(name)}:{port}" in self._hosts

    def _unauthorized(self, scope: Scope, given: list[str]) -> JSONResponse | None:
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        bearer = token.strip() if scheme.lower() == "bearer" else None
        try:
            known = self._bearer_of(bearer) if given == [] or bearer else None
        except ConfigError as error:
            return _unreadable(error)
        if known is None:
            challenge = 'Bearer realm="kinmem"' + (', error="invalid_token"' if given else "")
            refused = _error(401, "a valid bearer token is needed; `kinmem token add` makes one")
            refused.headers["WWW-Authenticate"] = challenge
            return refused
        scope[KIN_KEY], scope[SCOPE_KEY] = known.kin, known.scope
        scope[STILL_KEY] = partial(self._bearer_of, bearer)
        if bearer:  # the SDK binds each session to the user who opened it
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=known.kin, scopes=[]))
        return None


def _is_open(scope: Scope) -> bool:
    """Return whether the path needs no token: a probe, or the metrics for this machine itself,
    unless a proxy of this machine asks for somebody else."""
    if scope["path"] != METRICS:
        return scope["path"] in OPEN
    peer = (scope.get("client") or ("",))[0]
    return is_loopback(peer) and not any(name.lower() in FORWARDED for name, _ in scope["headers"])


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._pairs: list[tuple[bytes, bytes]] = scope["headers"]

    @property
    def size(self) -> int:
        return sum(len(key) + len(value) for key, value in self._pairs)

    def all(self, name: str) -> list[str]:
        wanted = name.encode()
        return [value.decode("latin-1") for key, value in self._pairs if key.lower() == wanted]


def _is_visit(scope: Scope, headers: _Headers) -> bool:
    """Return whether a browser opens the address in a tab."""
    kind = headers.all("sec-fetch-mode"), headers.all("sec-fetch-dest")
    return scope["method"] == "GET" and kind == (["navigate"], ["document"])


def _split(url: str) -> tuple[str, str, int | None] | None:
    """Return scheme, name and port of a URL that has no other parts; None for anything else."""
    if not url.isascii() or any(c in "@\\?#% \t\r\n" or not c.isprintable() for c in url):
        return None
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    return None if not name or parts.path else (parts.scheme, name, port)


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _unreadable(error: ConfigError) -> JSONResponse:
    logger.error("%s", error)
    return _error(503, "the tokens of this server cannot be read")


def _error(status: int, text: str) -> JSONResponse:
    return refusal(status, CODES[status], text, retry=status == 503)
