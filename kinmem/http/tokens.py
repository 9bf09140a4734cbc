"""Bearer tokens: who may use HTTP, as which Kin, and for what.

$KINMEM_HOME/tokens.json holds a digest of each token, never the token. A scope includes those
before it: read, write, admin. For the processes of several machines they are in the database.
"""

import hashlib
import hmac
import ipaddress
import json
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from kinmem.clock import Clock, utc_now
from kinmem.errors import ConfigError, InvalidInput, StoreError
from kinmem.settings import Settings, kin_name

try:
    import fcntl
except ImportError:  # Windows: two `kinmem token` commands at the same moment may collide
    fcntl = None  # type: ignore[assignment]

FILE = "tokens.json"
# 2 gave tokens scopes. A token of version 1 could do everything, and still can.
VERSION = 2
Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
# Where the ASGI scope of a request holds whose memory it asks for, and what its token may do.
KIN_KEY = "kinmem.kin"
SCOPE_KEY = "kinmem.scope"
# Returns the request's Bearer as it is now; None once the token is revoked or expired.
STILL_KEY = "kinmem.still"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whom a valid token speaks for, and what it may do."""

    kin: str
    scope: Scope

    def may(self, scope: Scope) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


@dataclass(frozen=True, slots=True)
class Token:
    """What is stored of a token. Times are ISO 8601 in UTC."""

    id: str
    kin: str
    digest: str
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None
    note: str | None = None
    scope: Scope = "admin"

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise ValueError(f"a token has no scope {self.scope!r}")

    def valid(self, now: datetime) -> bool:
        """Return whether the token is valid at that moment."""
        return self.revoked_at is None and (
            self.expires_at is None or now < datetime.fromisoformat(self.expires_at)
        )


class Tokens:
    """The tokens of one home folder, read again whenever the file has changed.

    Every method raises ConfigError if the file cannot be trusted or read.
    """

    def __init__(self, home: Path, clock: Clock = utc_now) -> None:
        self._file = home / FILE
        self._clock = clock
        self._stamp: tuple[int, ...] | None = None
        self._tokens: dict[str, Token] = {}

    def follow(self) -> None:
        """Be ready to verify for a server: nothing is to be asked of a file that is read again
        only if it has changed."""

    def add(
        self,
        kin: str,
        note: str | None = None,
        days: int | None = None,
        scope: Scope = "write",
    ) -> str:
        """Make a token for the Kin, valid for `days` or until revoked.

        Its text is returned only here.
        """
        with self._locked():
            return self._add(kin, note, days, scope)

    def first(self, kin: str, note: str) -> str | None:
        """Make a token for the Kin if there has never been any; None if there has."""
        with self._locked():
            return None if self._read() else self._add(kin, note, None, "write")

    def _add(self, kin: str, note: str | None, days: int | None, scope: Scope) -> str:
        if days is not None and not 1 <= days <= 36500:
            raise InvalidInput(f"a token cannot last {days} days; use 1 to 36,500", "no_days")
        id, now = secrets.token_hex(4), self._clock()
        text = f"kmk_{id}_{secrets.token_urlsafe(32)}"
        token = Token(
            id=id,
            kin=kin_name(kin),
            digest=_digest(text),
            created_at=now.isoformat(timespec="seconds"),
            expires_at=days and (now + timedelta(days=days)).isoformat(timespec="seconds") or None,
            note=note,
            scope=scope,
        )
        self._write({**self._read(), id: token})
        return text

    def revoke(self, id: str) -> Token:
        """Revoke the token with this id for good, with immediate effect on running servers."""
        with self._locked():
            tokens = self._read()
            if id not in tokens:
                raise InvalidInput(f"no token has the id {id!r}; `kinmem token list` shows them")
            now = self._clock().isoformat(timespec="seconds")
            revoked = replace(tokens[id], revoked_at=tokens[id].revoked_at or now)
            self._write({**tokens, id: revoked})
        return revoked

    def adopt(self, tokens: Iterable[Token]) -> int:
        """Take over tokens of another place, and that they are revoked; returns how many."""
        with self._locked():
            known = self._read()
            new = {
                token.id: token
                for token in tokens
                if token.id not in known or (token.revoked_at and not known[token.id].revoked_at)
            }
            if new:
                self._write({**known, **new})
        return len(new)

    def tokens(self) -> list[Token]:
        """Return all tokens that were ever added, oldest first."""
        return list(self._read().values())

    def usable(self) -> bool:
        """Return whether any token is valid now."""
        now = self._clock()
        return any(token.valid(now) for token in self._read().values())

    def verify(self, text: str) -> Bearer | None:
        """Return whom the token speaks for; None if it is unknown, expired or revoked."""
        parts = text.split("_", 2)
        token = self._read().get(parts[1]) if len(parts) == 3 else None
        expected = token.digest if token else ""
        if not hmac.compare_digest(_digest(text), expected) or token is None:
            return None
        return Bearer(token.kin, token.scope) if token.valid(self._clock()) else None

    def _read(self) -> dict[str, Token]:
        try:
            status = self._file.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._stamp:
                if os.name == "posix" and status.st_mode & 0o022:
                    raise ConfigError(f"others may write {self._file}; run chmod 600 on it")
                document = json.loads(self._file.read_text(encoding="utf-8"))
                self._tokens = {entry["id"]: Token(**entry) for entry in document["tokens"]}
                self._stamp = stamp
        except FileNotFoundError:
            self._tokens, self._stamp = {}, None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                f"{self._file} cannot be read: {error}; correct it, or delete it and add new tokens"
            ) from error
        return self._tokens

    def _write(self, tokens: dict[str, Token]) -> None:
        """Replace the file atomically, so that a server never reads half of it."""
        document = {"version": VERSION, "tokens": [asdict(token) for token in tokens.values()]}
        draft = self._file.with_name(f"{FILE}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(
                os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
            ) as file:
                json.dump(document, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._file)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise ConfigError(f"{self._file} cannot be written: {error}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Allow one writer at a time, across processes."""
        lock = self._file.with_suffix(".lock")
        try:
            lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConfigError(f"{lock} cannot be opened: {error}") from error
        try:
            if fcntl:
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _digest(text: str) -> str:
    """Return a plain digest, which is enough: nobody can guess 256 random bits, however fast they
    try."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# Within so many seconds a running server knows of a token that was added or revoked.
FOLLOW_SECONDS = 1.0
logger = logging.getLogger(__name__)


class TokenRows(Protocol):
    """Where tokens are kept."""

    def tokens_since(self, change: int) -> tuple[int, list[dict[str, Any]]]: ...

    def changing_tokens(
        self,
    ) -> AbstractContextManager[Callable[[Mapping[str, Any]], None]]: ...


class ServerTokens(Tokens):
    """See Tokens. Every method raises ConfigError if the database cannot be reached, but for those
    of a server that follows it: those know what was last known."""

    def __init__(
        self, home: Path, connect: Callable[[], TokenRows], clock: Clock = utc_now
    ) -> None:
        super().__init__(home, clock)
        self._connect = connect
        self._change = 0
        self._is_followed = False
        self._refreshing = threading.Lock()
        self._put: Callable[[Mapping[str, Any]], None] | None = None

    def follow(self) -> None:
        """Ask the database once a second from now on, and not for each request."""
        self._refresh()
        if not self._is_followed:
            self._is_followed = True
            threading.Thread(target=self._follow, name="kinmem-tokens", daemon=True).start()

    def _follow(self) -> None:
        waits, failed = threading.Event(), False
        while not waits.wait(FOLLOW_SECONDS):
            try:
                self._refresh()
                failed = False
            except ConfigError as error:
                if not failed:
                    logger.warning("what is known of tokens may be old: %s", error)
                failed = True

    @cached_property
    def _rows(self) -> TokenRows:
        return self._connect()

    def _refresh(self) -> None:
        with self._refreshing, _as_config_error():
            self._change, records = self._rows.tokens_since(self._change)
            changed = {record["id"]: Token(**record) for record in records}
            if changed:
                self._tokens = {**self._tokens, **changed}

    def _read(self) -> dict[str, Token]:
        if not self._is_followed or self._put is not None:
            self._refresh()
        return self._tokens

    def _write(self, tokens: dict[str, Token]) -> None:
        assert self._put is not None
        known = self._tokens
        for id, token in tokens.items():
            if known.get(id) != token:
                self._put(asdict(token))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with _as_config_error(), self._rows.changing_tokens() as self._put:
            try:
                yield
            finally:
                self._put = None


def tokens_of(settings: Settings, clock: Clock = utc_now) -> Tokens:
    """Return the tokens that these settings mean: in the database of KINMEM_STORE, else in a file
    of the home. Raises ConfigError."""
    if not settings.general.store:
        return Tokens(settings.home, clock)
    from kinmem.wiring.open_home import open_server  # late: a file needs no driver

    return ServerTokens(settings.home, partial(open_server, settings), clock)


@contextmanager
def _as_config_error() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise ConfigError(f"tokens are in the database, which cannot be used: {error}") from error
