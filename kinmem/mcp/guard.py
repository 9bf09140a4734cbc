"""What every HTTP request must pass, whatever its route: the right Host, no foreign page, a token.

A page that a person has open can send requests to their machine, and by DNS rebinding under a name
of its own; so we serve only names that are known to be ours. There are no CORS headers.
"""

import ipaddress
import logging
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kinmem.errors import ConfigError
from kinmem.mcp.calls import KIN_KEY

logger = logging.getLogger(__name__)

HEALTH = "/health"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

KinOf = Callable[[str | None], str | None]
"""The Kin that a bearer token, or its absence, speaks for; None refuses. May raise ConfigError."""


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine reaches the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """Lets a request through to the app, or answers it with 421, 403, 401 or 503."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], kin_of: KinOf) -> None:
        """`hosts`: names that requests may carry besides the loopback ones, with a port or not."""
        self._app = app
        self._hosts = LOOPBACK_NAMES | {host.lower() for host in hosts}
        self._kin_of = kin_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif refusal := self._refusal(scope):
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        """Why the request goes no further; None if it may, with its Kin noted in the scope."""
        headers = _Headers(scope)
        hosts = headers.all("host")
        if len(hosts) != 1 or not self._ours(hosts[0]):
            return _answer(421, "this server does not serve that host; see KINMEM_ALLOWED_HOSTS")
        if not all(self._ours(origin, origin=True) for origin in headers.all("origin")):
            return _answer(403, "requests from that origin are refused")
        if "cross-site" in headers.all("sec-fetch-site"):
            return _answer(403, "requests from other sites are refused")
        given = headers.all("authorization")
        if not given and scope["path"] == HEALTH and scope["method"] in ("GET", "HEAD"):
            return None  # which tells nothing but that we live
        return self._unauthorized(scope, given)

    def _ours(self, text: str, *, origin: bool = False) -> bool:
        """By the exact name, not by a prefix; http://localhost:1@evil.example is evil.example's."""
        parts = _split(text if origin else f"//{text}")
        if parts is None or (origin and parts[0] not in ("http", "https")):
            return False
        _, name, port = parts
        return name in self._hosts or f"{_bracketed(name)}:{port}" in self._hosts

    def _unauthorized(self, scope: Scope, given: list[str]) -> JSONResponse | None:
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        bearer = token.strip() if scheme.lower() == "bearer" else None
        try:
            kin = self._kin_of(bearer) if given == [] or bearer else None
        except ConfigError as error:
            logger.error("%s", error)
            return _answer(503, "the tokens of this server cannot be read")
        if kin is None:
            challenge = 'Bearer realm="kinmem"' + (', error="invalid_token"' if given else "")
            refusal = _answer(401, "a valid bearer token is needed; `kinmem token add` makes one")
            refusal.headers["WWW-Authenticate"] = challenge
            return refusal
        scope[KIN_KEY] = kin
        if bearer:  # the SDK binds each session to the user that opened it
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=kin, scopes=[]))
        return None


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._pairs: list[tuple[bytes, bytes]] = scope["headers"]

    def all(self, name: str) -> list[str]:
        wanted = name.encode()
        return [value.decode("latin-1") for key, value in self._pairs if key.lower() == wanted]


def _split(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, name and port of a URL that has nothing else; None if it has, or is none."""
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


def _answer(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status)
