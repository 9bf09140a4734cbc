"""What serving costs: a real server asks for litellm only where a model is configured."""

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kinmem.service import Service
from tests.llm import provider_shapes as shapes
from tests.llm.conftest import KEY
from tests.llm.fault_provider import vector_of
from tests.llm.provider_shapes import ShapedProvider
from tests.sweeps import WHOLE
from tests.test_stdio import Process

SECRET = "The chest in the cellar opens with 4711 and a kick"


@pytest.fixture
def imports(tmp_path: Path) -> Path:
    """Where a server writes what it imports, and everything else that it has to say."""
    return tmp_path / "imports.txt"


@pytest.fixture
def serve(home: Path, imports: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []
    command = f"exec {shlex.quote(sys.executable)} -X importtime server.py 2> {imports}"

    def run(**environment: str) -> Process:
        started.append(Process(home, "sh", "-c", command, **environment))
        return started[-1]

    yield run
    for process in started:
        process.close()


@pytest.fixture
def double() -> Iterator[ShapedProvider]:
    with ShapedProvider(
        lambda body: shapes.openai([vector_of(text) for text in body["input"]])
    ) as double:
        yield double


def imported(imports: Path) -> set[str]:
    """Packages, of which one that importlib imports shows by its parts alone."""
    lines = imports.read_text(encoding="utf-8").splitlines()
    times = [line.rsplit("|", 1)[-1] for line in lines if line.startswith("import time:")]
    return {name.strip().split(".")[0] for name in times}


def said(imports: Path) -> str:
    lines = imports.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("import time:"))


def used(server: Process) -> None:
    """A session with everything that could want a model."""
    server.shake_hands()
    server.ask("list", "tools/list")
    server.call(1, "memorize", content=SECRET, subject="chest")
    server.call(2, "memorize", content="The chest in the cellar opens with 1147")
    server.call(3, "recall", query="How is the chest opened?")
    server.call(4, "review_memories")


def end(server: Process) -> None:
    assert server.process.stdin
    server.process.stdin.close()
    assert server.process.wait(15) == 0


def test_serving_with_the_built_in_model_never_imports_litellm(
    serve: Callable[..., Process], imports: Path
) -> None:
    server = serve()
    used(server)
    end(server)

    names = imported(imports)
    assert "onnxruntime" in names
    assert names.isdisjoint({"litellm", "openai", "httpcore"})


def test_what_was_left_undone_goes_on_though_the_client_asks_nothing(
    serve: Callable[..., Process],
    home: Path,
    service_of: Callable[..., Service],
    double: ShapedProvider,
) -> None:
    with service_of("ana") as service:
        service.memorize(SECRET)
    table = f'[providers.double]\ntype = "openai"\nbase_url = "{double.address}/v1"\n'
    (home / "config.toml").write_text(table, encoding="utf-8")

    server = serve(MEMORY_EMBEDDING_MODEL="double:m")
    server.shake_hands()

    until = time.monotonic() + 60
    while not any(SECRET in body["input"] for body in double.bodies):
        assert time.monotonic() < until
        time.sleep(0.1)
    end(server)


@pytest.mark.parametrize("mode", ["401", *(["redirect", "ok", "500", "html"] if WHOLE else [])])
def test_litellm_writes_nothing_on_the_wire_and_logs_no_contents(
    mode: str, serve: Callable[..., Process], imports: Path, double: ShapedProvider
) -> None:
    double.mode = mode
    server = serve(
        MEMORY_EMBEDDING_MODEL="mistral:mistral-small-embed",
        MISTRAL_API_BASE=f"{double.address}/v1",
        MISTRAL_API_KEY=KEY,
        OPENAI_API_KEY="sk-for-openai-and-nobody-else",
        KINMEM_LOG_LEVEL="INFO",
    )
    used(server)  # any line on stdout that is not of the protocol fails it
    while not double.bodies:
        server.call(5, "recall", query="How is the chest in the cellar opened?")
    end(server)

    assert "litellm" in imported(imports)
    assert SECRET not in said(imports) and KEY not in said(imports)
    assert {head["authorization"] for head in double.headers} == {f"Bearer {KEY}"}
