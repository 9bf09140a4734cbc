"""`kinmem scrub`: secrets that are stored already are taken out, everywhere and for good."""

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kinmem.cli import main
from kinmem.service import Service
from kinmem.undo.scrub import AnySecret
from tests.conftest import MovableClock
from tests.store.poison import open_on
from tests.test_border import CANARY, SAID, gone_through, written

pytestmark = pytest.mark.usefixtures("judge_off")

ServiceOf = Callable[..., Service]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with secrets in every field, from when they were kept; made once, and copied."""
    home = tmp_path_factory.mktemp("whole") / "home"
    with closing(open_on(home, MovableClock(), KINMEM_SECRETS="keep")) as ana:
        gone_through(ana, tmp_path_factory.mktemp("files"))
        id = ana.memorize(f"A shared one: {CANARY}", scope="shared").id or ""
        ana.update_memory(id, content=f"A shared one, changed: {CANARY}")
        ana.forget(ana.memorize(f"Forgotten: {CANARY}").id or "")
        ana.add_document(f"# Two versions\n\n{SAID}\n", source_ref="plan.md")
        ana.add_document("# Two versions\n\nNothing to see.\n", source_ref="plan.md")
        ana.opening("s9")
        ana.settle(60)
    assert CANARY.encode() in written(home)
    return home


@pytest.fixture
def full(whole: Path, home: Path) -> None:
    shutil.copytree(whole, home, dirs_exist_ok=True)


def told(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["scrub", "--home", str(home), "--kin", "ana", "--json", *words]) == 0
    found = capsys.readouterr().out
    assert CANARY not in found
    return dict(json.loads(found))


def test_scrubbing_leaves_no_byte(
    full: None, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = written(home)

    dry = told(home, capsys, "--dry-run")
    assert dry["memories"] and dry["done"] is False and "github token" in str(dry["kinds"])
    assert CANARY.encode() in before

    done = told(home, capsys, "--yes")
    assert done["done"] is True
    for path in map(Path, list(done["backups"])):  # told of, for they are not touched
        path.unlink()
    assert CANARY.lower().encode() not in written(home).lower()
    again = told(home, capsys, "--dry-run")
    assert (again["memories"], again["elsewhere"], again["files"]) == ([], {}, [])


def test_what_stands_beside_a_secret_is_still_found(
    full: None, home: Path, service_of: ServiceOf, capsys: pytest.CaptureFixture[str]
) -> None:
    told(home, capsys, "--yes")

    ana = service_of("ana")
    found = [hit.memory for hit in ana.recall("the shared one that changed").hits]
    assert any("A shared one, changed: [secret removed]" in one.content for one in found)
    assert ana.history(found[0].id)


def test_nobody_is_asked_in_vain(full: None, home: Path) -> None:
    assert main(["scrub", "--home", str(home), "--kin", "ana"]) == 3
    assert CANARY.encode() in written(home)


def test_the_name_of_a_member_tells_that_its_value_is_a_secret() -> None:
    said = json.dumps({"db": {"password": "Xk92!aaQ", "host": "db7"}, "tokens": [CANARY]})

    left = AnySecret().blanked(said)

    assert json.loads(left)["db"]["host"] == "db7"
    assert "Xk92" not in left and CANARY not in left
    assert not AnySecret().is_in(left)
