"""Every request over HTTP passes the guard: the right Host, no foreign page, a token, whose Kin is
served.

A web page that somebody has open can send requests to their machine, and by DNS rebinding under a
name of its own, so only names known to be ours are served. There are no CORS headers.
"""

import logging
from collections.abc import Collection
from functools import partial
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kinmem.errors import ConfigError
from kinmem.http.logins import LOGIN, MISSING, BearerOf, Sessions
from kinmem.http.refusals import refusal
from kinmem.http.tokens import KIN_KEY, SCOPE_KEY, STILL_KEY, is_loopback

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
