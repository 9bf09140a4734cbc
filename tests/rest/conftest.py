"""A server that all tests of the folder share, with a token of each scope."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from kinmem.http.tokens import SCOPES, Tokens
from kinmem.web.rest.declaration import PREFIX
from tests.test_http import Running, running


@dataclass
class Api:
    """What a test asks: as ana with a token of scope admin, unless it says otherwise."""

    server: Running
    clients: dict[str, httpx.Client]

    def __call__(
        self, method: str, path: str, body: Any = None, *, who: str = "admin", **headers: str
    ) -> httpx.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {} if body is None else {"json": body}
        return self.clients[who].request(method, PREFIX + path, headers=sent, **given)

    def memory(self, content: str, **fields: Any) -> str:
        """Store a memory, and return its id."""
        stored = self("POST", "/memories", {"content": content, **fields})
        assert stored.status_code == 200, stored.text
        return str(stored.json()["id"])

    def settle(self) -> bool:
        """Wait for the background work, as often as it takes longer than one request may wait."""
        latest = time.monotonic() + 200
        while not self("POST", "/settle", {"timeout": 40}).json()["is_settled"]:
            if time.monotonic() > latest:
                return False
        return True


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[Api]:
    """A server on this home, with tokens of ana by scope, and one of bob."""
    tokens = {str(scope): Tokens(home).add("ana", scope=scope) for scope in SCOPES}
    tokens["bob"] = Tokens(home).add("bob", scope="admin")
    with running(home, KINMEM_KIN="ana", **settings) as server, ExitStack() as opened:
        server.tokens = tokens
        clients = {
            who: opened.enter_context(
                httpx.Client(
                    base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=60
                )
            )
            for who, token in tokens.items()
        }
        yield Api(server, clients)


@pytest.fixture(scope="package")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(tmp_path_factory.mktemp("rest")) as it:
        yield it
