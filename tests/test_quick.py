"""Whether the quick tier still has everything important, and what only it needs."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

from kinmem.mcp.tools import tools
from kinmem.service import Service
from kinmem.upkeep.steps import NAMES
from tests.quick import PARTS, chosen
from tests.tables import each

ROOT = Path(__file__).parent.parent
WRITER = """
import sys
from kinmem.settings import load
from kinmem.wiring.open_memory import open_service
service = open_service(load({"KINMEM_KIN": "ana", "KINMEM_HOME": sys.argv[1]}), resident=False)
for number in range(100_000):
    print(service.memorize(f"Box {number} stands on shelf {number}").id, flush=True)
"""
GROUND = frozenset("clock errors text validation wiring".split())
"""What all others stand on: it has no tests of its own in the tier."""


@cache
def functions(path: Path) -> set[str]:
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign):
            names = node.targets if isinstance(node, ast.Assign) else [node]
            found |= {getattr(name, "name", getattr(name, "id", "")) for name in names}
    return found


def test_every_tool_is_called_once() -> None:
    listed = {tool.name for tool in tools({"turns", "knowledge", "upkeep"})}

    assert {f"tool {name}" for name in listed} <= PARTS.keys()


def test_every_package_and_every_way_in_is_tried_once() -> None:
    inside = {path.stem for path in (ROOT / "kinmem").iterdir() if not path.name.startswith("_")}
    doors = {"door stdio", "door http", "door hook", "door command line"}

    assert inside - {"py"} - GROUND <= PARTS.keys()
    assert doors | {"isolation", "erasure", "undo", "kill"} <= PARTS.keys()


@each("id", chosen())
def test_what_is_chosen_exists(id: str) -> None:
    path, _, name = id.partition("::")

    assert (ROOT / path).is_file()
    assert not name or name.partition("::")[0] in functions(ROOT / path)


def test_every_step_of_the_night_is_done_once(service: Service) -> None:
    service.memorize("Clara plays the cello in Lyon")
    service.record_turn("s", "I moved to Lisbon in May because of my new job.", "How nice.")

    run = service.sleep()

    assert run.problems == ()
    assert set(run.seconds) == set(NAMES)


def test_what_was_answered_outlives_a_kill(home: Path, service_of: type[Service]) -> None:
    """The loops of tests/store/test_crash.py do it a hundred times, in every place."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout
    answered = [writer.stdout.readline().strip() for _ in range(5)]
    writer.kill()
    answered += writer.stdout.read().split()
    writer.wait()
    writer.stdout.close()

    service = service_of("ana", resident=False)

    assert all(service.store.get(id).content.startswith("Box ") for id in answered[:-1])
    assert service.recall("box 3 shelf").hits
