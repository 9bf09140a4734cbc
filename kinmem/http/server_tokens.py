"""Tokens in the database, for the processes of several machines."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

from kinmem.clock import Clock, utc_now
from kinmem.errors import ConfigError, StoreError
from kinmem.http.tokens import Token, Tokens
from kinmem.settings import Settings

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
        raise ConfigError(f"tokens are in the database, which does not answer: {error}") from error
