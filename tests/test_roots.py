"""Clients that tell their roots: a real one, and the server as a process over stdio and HTTP."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import ErrorData, ListRootsResult, Root
from pydantic import FileUrl

from kinmem.service import Service
from tests.test_http import OPEN, Running, running

SERVER = Path(__file__).parent.parent / "server.py"
DECIDED = "We decided to tag releases by hand."

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("judge_off")]


@pytest.fixture
def repository(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        root = tmp_path / "code" / name
        (root / ".git").mkdir(parents=True)
        return root

    return make


class Editor:
    """A client with folders that are open in it."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders
        self.asked = 0

    async def roots(self, context: ClientRequestContext) -> ListRootsResult | ErrorData:
        self.asked += 1
        return ListRootsResult(roots=[Root(uri=FileUrl(one.as_uri())) for one in self.folders])

    def connected(self, home: Path, started_in: Path) -> Client:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=[str(SERVER)],
            cwd=started_in,
            env={**os.environ, "KINMEM_HOME": str(home), "KINMEM_KIN": "ana"},
        )
        return Client(stdio_client(parameters), mode="legacy", list_roots_callback=self.roots)

    def calling(self, server: Running) -> Client:
        """The same over streamable HTTP."""
        transport = streamable_http_client(f"{server.url}/mcp")
        return Client(transport, mode="legacy", list_roots_callback=self.roots)


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content or {}


async def test_the_first_root_in_a_repository_is_the_place(
    home: Path,
    tmp_path: Path,
    repository: Callable[[str], Path],
    service_of: Callable[..., Service],
) -> None:
    notes, parcels, shop = tmp_path / "notes", repository("my parcels"), repository("shop")
    notes.mkdir()
    editor = Editor(notes, parcels / "src", shop)
    async with editor.connected(home, started_in=shop) as client:
        stored = await called(client, "memorize", content=DECIDED, category="decision")
        found = await called(client, "recall", query="how are releases tagged?")
        turn = {"session": "s", "prompt_id": "1"}
        await called(client, "observe", event="prompt", text="We use pnpm here.", **turn)

    with service_of("ana") as service:
        place, said_in = service.get(stored["id"]).place, service.turns("s")[0].place

    assert place == said_in == str(parcels.resolve())
    assert [one["place"] for one in found["memories"]] == ["my parcels"]
    assert "elsewhere" not in found["memories"][0]
    assert editor.asked == 1


async def test_roots_in_no_repository_leave_the_folder_it_was_started_in(
    home: Path,
    tmp_path: Path,
    repository: Callable[[str], Path],
    service_of: Callable[..., Service],
) -> None:
    shop = repository("shop")
    async with Editor(tmp_path).connected(home, started_in=shop) as client:
        stored = await called(client, "memorize", content=DECIDED, category="decision")
        turn = {"session": "s", "prompt_id": "1"}
        await called(client, "observe", event="prompt", text="We use pnpm here.", **turn)

    with service_of("ana") as service:
        assert service.get(stored["id"]).place == str(shop.resolve())
        assert service.turns("s")[0].place is None


async def test_roots_that_change_are_asked_for_again(
    home: Path, repository: Callable[[str], Path], service_of: Callable[..., Service]
) -> None:
    parcels, shop = repository("parcels"), repository("shop")
    editor = Editor(parcels)
    async with editor.connected(home, started_in=parcels.parent) as client:
        await called(client, "list_memories")
        editor.folders = (shop,)
        with pytest.warns(MCPDeprecationWarning):
            await client.send_roots_list_changed()
        stored = await called(client, "memorize", content=DECIDED, category="decision")

    with service_of("ana") as service:
        assert service.get(stored["id"]).place == str(shop.resolve())


async def test_over_http_each_client_works_in_its_own_place(
    home: Path, repository: Callable[[str], Path], service_of: Callable[..., Service]
) -> None:
    parcels, shop = repository("parcels"), repository("shop")
    editors = [Editor(parcels), Editor(shop), Editor()]
    with running(home, KINMEM_KIN="ana", **OPEN) as server:
        async with (
            editors[0].calling(server) as one,
            editors[1].calling(server) as other,
            editors[2].calling(server) as nowhere,
        ):
            stored = await called(one, "memorize", content=DECIDED, category="decision")
            query = {"query": "how are releases tagged?"}
            (elsewhere,) = (await called(other, "recall", **query))["memories"]
            (here,) = (await called(one, "recall", **query))["memories"]
            (anywhere,) = (await called(nowhere, "recall", **query))["memories"]
            turn = {"session": "s", "prompt_id": "1"}
            await called(other, "observe", event="prompt", text="We use pnpm here.", **turn)

    with service_of("ana") as service:
        assert service.get(stored["id"]).place == str(parcels.resolve())
        assert service.turns("s")[0].place == str(shop.resolve())
    assert elsewhere["elsewhere"] is True
    assert "elsewhere" not in here and "elsewhere" not in anywhere
    assert [editor.asked for editor in editors] == [1, 1, 1]
