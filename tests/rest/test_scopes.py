"""What a token may do: the same at both servers, for each endpoint, until it ends."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from kinmem.clock import utc_now
from kinmem.http.tokens import SCOPES, Tokens
from kinmem.web.rest.api_routes import ENDPOINTS
from kinmem.web.rest.declaration import PREFIX
from tests.rest.conftest import Api


@contextmanager
def page_server(home: Path) -> Iterator[str]:
    """`kinmem web`, which serves REST beside the page."""
    command = [sys.executable, "-m", "kinmem", "web", "--no-browser", "--json"]
    known = {**os.environ, "KINMEM_HOME": str(home), "KINMEM_KIN": "ana"}
    with subprocess.Popen(command, env=known, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            told = next(line for line in process.stdout if b"/login" in line).decode()
            yield re.findall(r"http://[^/]+", told)[0]
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def page(api: Api) -> Iterator[httpx.Client]:
    with page_server(api.server.home) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def asked(client: httpx.Client, method: str, path: str, token: str | None) -> tuple[int, str]:
    headers = {"Authorization": ""} if token is None else bearer(token)
    answer = client.request(method, PREFIX + path, headers=headers)
    told = answer.json() if answer.is_error else {}
    return answer.status_code, told.get("error", {}).get("code", "")


@pytest.mark.parametrize("server", ["kinmem serve", "kinmem web"])
def test_each_endpoint_takes_its_scope(api: Api, page: httpx.Client, server: str) -> None:
    """Refused before anything is read of the request; what is asked of {id} x harms nothing."""
    client = page if server == "kinmem web" else api.clients["admin"]
    stream = [("GET", "/changes/stream", "read")]
    served = [*((str(one.method), one.path, one.scope) for one in ENDPOINTS), *stream]
    for method, path, scope in served:
        path = path.replace("{id}", "x")
        assert asked(client, method, path, None) == (401, "unauthorized")
        if scope != "read":
            lower = api.server.tokens[SCOPES[SCOPES.index(scope) - 1]]
            assert asked(client, method, path, lower) == (403, "forbidden"), (method, path)
    assert asked(client, "GET", "/stats", "kmk_0_0") == (401, "unauthorized")
    assert asked(client, "POST", "/sleep", api.server.tokens["read"]) == (403, "forbidden")
    for path, method in (("/export", "GET"), ("/import", "POST")):
        assert client.request(method, path, headers={"Authorization": ""}).status_code == 401
        told = client.request(method, path, headers=bearer(api.server.tokens["write"]))
        assert told.status_code == 403


def test_the_page_server_answers_a_token_of_each_scope(api: Api, page: httpx.Client) -> None:
    tokens = api.server.tokens
    told = page.get(f"{PREFIX}/health", headers=bearer(tokens["read"])).json()
    assert (told["kin"], told["scope"]) == ("ana", "read")
    new = {"content": "the bench in the yard is green"}
    stored = page.post(f"{PREFIX}/memories", headers=bearer(tokens["write"]), json=new).json()
    erase = f"{PREFIX}/memories/{stored['id']}/erase"
    assert page.post(erase, headers=bearer(tokens["write"])).status_code == 403
    assert page.post(erase, headers=bearer(tokens["bob"])).status_code == 404
    assert page.post(erase, headers=bearer(tokens["admin"])).json()["status"] == "erased"
    assert page.get("/", headers=bearer(tokens["admin"])).status_code == 303  # to the login
    assert page.get("/mcp", headers=bearer(tokens["admin"])).status_code == 404


@pytest.mark.parametrize("server", ["kinmem serve", "kinmem web"])
def test_a_token_ends(api: Api, page: httpx.Client, server: str) -> None:
    """When it is revoked at the next request, when it has expired at once, and streams with it."""
    url = page.base_url if server == "kinmem web" else api.server.url
    tokens, early = Tokens(api.server.home), utc_now() - timedelta(days=2)
    old = Tokens(api.server.home, clock=lambda: early).add("ana", days=1)
    live = tokens.add("ana", scope="read")
    with httpx.Client(base_url=url, timeout=60) as client:
        assert asked(client, "GET", "/stats", old) == (401, "unauthorized")
        path = f"{PREFIX}/changes/stream?seconds=30"
        with client.stream("GET", path, headers=bearer(live)) as response:
            lines = response.iter_lines()
            next(lines)
            tokens.revoke(live.split("_")[1])
            told = [json.loads(line) for line in lines if line]
        assert told[-1]["error"]["code"] == "unauthorized"
        assert asked(client, "GET", "/stats", live) == (401, "unauthorized")


def test_a_stream_ends_when_its_token_expires(api: Api) -> None:
    """One that lasts for a day is a second from its end."""
    almost = utc_now() - timedelta(days=1) + timedelta(seconds=2)
    text = Tokens(api.server.home, clock=lambda: almost).add("ana", days=1, scope="read")
    path = f"{PREFIX}/changes/stream?seconds=30"
    with api.clients["read"].stream("GET", path, headers=bearer(text)) as response:
        told = [json.loads(line) for line in response.iter_lines() if line]

    assert told[-1]["error"]["code"] == "unauthorized"
