"""Export and import by the other ways in: MCP over stdio and HTTP, and the routes of a server."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult

import kinmem
from kinmem.http.tokens import SCOPES, Tokens
from kinmem.settings import load
from kinmem.wiring.open_memory import open_service
from tests.test_http import Running, running, text_of

pytestmark = pytest.mark.usefixtures("judge_off")

JSONL = {"Content_Type": "application/jsonl"}
MANY = 350


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("doors")
    without_judge = load({"KINMEM_HOME": home, "KINMEM_KIN": "ana", "KINMEM_JUDGE": "off"})
    with open_service(without_judge) as service:
        service.memorize_many([f"Shelf {number} holds {number * 7} jars" for number in range(MANY)])
        service.settle()  # so that two exports are alike
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Running]:
    made = {scope: Tokens(home).add("ana", scope=scope) for scope in SCOPES}
    made["bob"] = Tokens(home).add("bob", scope="admin")
    with running(home, KINMEM_KIN="ana", KINMEM_JUDGE="off") as it:
        it.tokens = made
        yield it


def exported(home: Path, tmp_path: Path) -> bytes:
    with kinmem.open(home=home, kin="ana") as service:
        service.export(tmp_path / "all.jsonl")
    return (tmp_path / "all.jsonl").read_bytes()


def test_a_server_exports_what_the_command_does(
    server: Running, home: Path, tmp_path: Path
) -> None:
    status, headers, text = server.ask("GET", "/export", Authorization=server.bearer("admin"))

    assert (status, headers["Content-Type"]) == (200, "application/jsonl")
    assert text.encode() == exported(home, tmp_path)


def test_an_import_tells_how_far_it_is_and_what_came_of_it(
    server: Running, home: Path, tmp_path: Path
) -> None:
    whole = exported(home, tmp_path)
    given = {"Authorization": server.bearer("bob"), **JSONL}

    def lines(path: str) -> list[dict[str, object]]:
        status, _, text = server.ask("POST", path, whole, **given)
        assert status == 200
        return [json.loads(line) for line in text.splitlines()]

    *_, plan = lines("/import?dry_run=1")
    *told, done = lines("/import")
    *_, again = lines("/import")

    assert plan["result"]["memories"] == MANY and plan["result"]["stored"] == 0
    assert done["result"]["memories"] == MANY and done["result"]["stored"] >= MANY
    assert told and all(line["total"] >= line["progress"] for line in told)
    assert again["result"]["memories"] == 0
    assert done["result"]["batch"] == plan["result"]["batch"]
    with kinmem.open(home=home, kin="bob") as service:
        assert service.store.counts()["kin"]["bob"] == MANY


@pytest.mark.parametrize("scope", ["read", "write"])
@pytest.mark.parametrize("route", [("GET", "/export"), ("POST", "/import")])
def test_only_an_admin_token_exports_and_imports(
    server: Running, scope: str, route: tuple[str, str]
) -> None:
    given = {"Authorization": server.bearer(scope), **JSONL}
    status, headers, text = server.ask(*route, b"{}" if route[0] == "POST" else None, **given)

    assert status == 403
    assert "insufficient_scope" in headers["WWW-Authenticate"]
    assert "--scope admin" in text
    assert server.status(*route, **JSONL) == 401


@pytest.mark.parametrize(
    ("body", "type", "status"),
    [(b"{}", "text/plain", 415), (b"no export\n", "application/jsonl; charset=utf-8", 200)],
)
def test_what_is_no_export_is_not_imported(
    server: Running, body: bytes, type: str, status: int
) -> None:
    given = {"Authorization": server.bearer("admin"), "Content_Type": type}
    found, _, text = server.ask("POST", "/import", body, **given)

    assert found == status
    assert "error" in json.loads(text)


@pytest.mark.anyio
@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_an_export_over_mcp_reports_its_progress(
    server: Running, home: Path, tmp_path: Path, way: str
) -> None:
    told: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def whole(client: Client) -> str:
        request = ReadResourceRequest(params=ReadResourceRequestParams(uri="kinmem://export"))
        result = await client.session.send_request(
            request, ReadResourceResult, progress_callback=on_progress
        )
        return text_of(result.contents[0])

    if way == "stdio":
        env = {"KINMEM_HOME": str(home), "KINMEM_KIN": "ana"}
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "kinmem", "serve"], env=env
        )
        async with Client(stdio_client(parameters)) as client:
            text = await whole(client)
    else:
        headers = {"Authorization": server.bearer("admin")}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http_client)) as client,
        ):
            text = await whole(client)

    assert text.encode() == exported(home, tmp_path)
    assert told == sorted(told) and told


@pytest.mark.anyio
async def test_a_model_has_no_way_to_import(server: Running) -> None:
    headers = {"Authorization": server.bearer("write")}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http_client)) as client,
    ):
        assert not [tool for tool in (await client.list_tools()).tools if "import" in tool.name]
        with pytest.raises(MCPError, match="forbidden"):
            await client.read_resource("kinmem://export")
