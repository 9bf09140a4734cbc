"""A home of the version that kept shared memories in shared.db alone: its originals come home."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from kinmem.errors import StoreError
from kinmem.models.record import LinkChange
from kinmem.store.sqlite import driver, migrating
from kinmem.store.sqlite.store import SqliteStore
from tests.backups import backups_of, before_upgrade, version_6
from tests.conftest import MovableClock
from tests.keys import raw
from tests.processes import REPOSITORY
from tests.random_writes import opened
from tests.store.contract import found_by_words, listed
from tests.store.released.make import KINS, told_of
from tests.store.soundness import everything, problems
from tests.store.workers import in_processes, open_and_close
from tests.sweeps import rounds

pytestmark = pytest.mark.usefixtures("judge_off")


@pytest.fixture
def released(home: Path) -> Mapping[str, Any]:
    """Puts the home there; what the Kins were told by the version that made it."""
    return version_6(home)


@pytest.fixture
def ids(released: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = released["ids"]
    return found


def told(home: Path, kin: str, clock: MovableClock) -> dict[str, Any]:
    with closing(opened(home, clock, kin)) as service:
        return told_of(service)


def before(released: Mapping[str, Any], kin: str) -> dict[str, Any]:
    """What a Kin was told. What others have done to their memories is theirs to know now."""
    return {
        id: {**one, "history": one["history"] if one["kin"] == kin else []}
        for id, one in released["kins"][kin].items()
    }


def told_at_last(released: Mapping[str, Any], kin: str) -> dict[str, Any]:
    """The same once Ana has been opened: what she had taken back when she was killed is gone."""
    seen = before(released, kin)
    if kin != "ana":
        del seen[released["ids"]["half private"]]
    return seen


@pytest.mark.parametrize("order", [("ana", "ben", "cleo"), ("cleo", "ben", "ana")])
def test_everybody_is_told_what_they_were_told_before(
    home: Path, released: Mapping[str, Any], clock: MovableClock, order: tuple[str, ...]
) -> None:
    """Whoever is opened first, and again when all have been."""
    opened_already: set[str] = set()
    for kin in (*order, *order):
        opened_already.add(kin)
        expected = told_at_last if "ana" in opened_already else before
        assert told(home, kin, clock) == expected(released, kin)
    for kin in KINS:
        with closing(SqliteStore(home, kin, clock)) as store:
            assert problems(store) == []
            own = [one for one in everything(store) if one.kin == kin]
            assert len(store.files.own.by_ids([one.id for one in own])) == len(own)
            assert (
                store.files.shared.database.rows("SELECT 1 FROM history WHERE kin = ?", (kin,))
                == []
            )


def test_who_never_comes_back_goes_on_being_read(
    home: Path, released: Mapping[str, Any], ids: Mapping[str, str], clock: MovableClock
) -> None:
    (home / "kins" / "cleo.db").unlink()
    uses = released["kins"]["ben"][ids["gateway"]]["uses"] + 1

    with closing(SqliteStore(home, "ben", clock)) as ben:
        assert found_by_words(ben, "canteen") == [ids["cleos"]]
        assert found_by_words(ben, "gateway")  # nor has Ana been opened
        ben.count_use([ids["cleos"], ids["gateway"]], clock())
        ben.flush_use()
        counted = {name: ben.get(ids[name]).recalled_count for name in ("cleos", "gateway")}
        assert counted == {"cleos": 1, "gateway": uses}
    with closing(SqliteStore(home, "ana", clock)) as ana:
        assert ana.get(ids["gateway"]).recalled_count == uses
        assert problems(ana) == []
    with closing(SqliteStore(home, "cleo", clock)) as cleo:  # after all, with a new file
        assert cleo.get(ids["cleos"]).recalled_count == 1
        assert problems(cleo) == []


def test_both_files_are_backed_up_before(home: Path, released: Mapping[str, Any]) -> None:
    with closing(SqliteStore(home, "ana", before_upgrade=backups_of(home).upgrading)):
        pass

    assert [one.reason for one in backups_of(home).listed()] == ["upgrade"]  # one for both files
    restored = before_upgrade(home)
    assert told(restored, "ana", MovableClock()) == told(home, "ana", MovableClock())


def test_what_came_home_can_be_changed_undone_and_erased(
    home: Path, released: Mapping[str, Any], ids: Mapping[str, str], clock: MovableClock
) -> None:
    clock.advance(minutes=30)
    with closing(opened(home, clock, "ana")) as ana, closing(opened(home, clock, "ben")) as ben:
        ana.restore(ids["forgotten"])
        assert ben.get(ids["forgotten"]).content == "The office closes at six"
        ana.undo(ids["gateway"])  # the link, then what it said at first
        ana.undo(ids["gateway"])
        ana.undo(ids["gateway"], cascade=True)
        assert ana.get(ids["gateway"]).content == "The gateway listens on port 8080"
        assert ben.get(ids["gateway"]).content == "The gateway listens on port 8080"
        versions = [
            line.after["content_hash"]
            for line in ana.history(ids["plan"])
            if "content_hash" in line.after
        ]
        assert len({ana.store.documents.text(ids["plan"], one) for one in versions}) == 2

        proof = ana.forget_about("Dora").erase()
        assert proof.places == ()
        ana.forget(ids["learned"], erase=True)
        assert "amber" not in str(ana.store.turns.messages("talk"))
        for service in (ana, ben):
            assert problems(service.store) == []  # type: ignore[arg-type]
    for name in ("kins/ana.db", "shared.db"):
        assert b"marzipanschwein" not in (home / name).read_bytes()


def test_links_with_others_memories_are_whose_history_tells_of_them(
    home: Path, released: Mapping[str, Any], ids: Mapping[str, str]
) -> None:
    with closing(SqliteStore(home, "ana")) as ana, closing(SqliteStore(home, "ben")) as ben:
        rows = {
            store.kin: {
                frozenset(row)
                for row in store.files.own.database.rows("SELECT source, target FROM links")
            }
            for store in (ana, ben)
        }
        by_ana = frozenset((ids["gateway"], ids["bens"]))
        by_ben = frozenset((ids["bens"], ids["runbook"]))
        assert by_ana in rows["ana"] and by_ben not in rows["ana"]
        assert rows["ben"] == {by_ben}
        ben.links.change(ids["bens"], [LinkChange(ids["gateway"], None)])
        assert {link.other(ids["bens"]) for link in ana.links.of([ids["bens"]])[ids["bens"]]} == {
            ids["runbook"]
        }


def test_originals_are_not_taken_from_others_who_have_the_file_open(
    home: Path, released: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """shared.db cannot be written to for a while: what is to go from it goes at a later opening."""
    with closing(SqliteStore(home, "ben")) as ben:
        monkeypatch.setattr(driver, "BUSY_SECONDS", 0.05)
        with ben.files.shared.database.writing(), closing(SqliteStore(home, "ana")) as ana:
            assert listed(ana)
        left = "SELECT count(*) FROM history WHERE kin = 'ana'"
        assert ben.files.shared.database.rows(left) != [(0,)]
        with closing(SqliteStore(home, "ana")) as ana:
            assert problems(ana) == []
        assert ben.files.shared.database.rows(left) == [(0,)]


def test_four_processes_that_open_a_kin_at_once_bring_each_original_home_once(
    home: Path, released: Mapping[str, Any], clock: MovableClock
) -> None:
    in_processes(open_and_close, [(home, "ana")] * 4)

    assert told(home, "ana", clock) == told_at_last(released, "ana")
    with closing(SqliteStore(home, "ana", clock)) as store:
        assert problems(store) == []


class Killed(BaseException):
    pass


@pytest.mark.parametrize("step", ["_tidy", "SET_MARK", "bring"])
def test_adoption_that_is_cut_short_is_done_once(
    home: Path,
    released: Mapping[str, Any],
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    """Before the original's commit, between the two, and in the middle of the first."""

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched, suppress(Killed):
        patched.setattr(migrating, step, "no such statement" if step == "SET_MARK" else die)
        with suppress(StoreError):
            SqliteStore(home, "ana", clock).close()
    for kin in KINS:
        assert told(home, kin, clock) == told_at_last(released, kin)
    with closing(SqliteStore(home, "ana", clock)) as store:
        assert problems(store) == []


OPEN = """
import sys
from pathlib import Path
from kinmem.store.sqlite.store import SqliteStore
sys.stdout.write("ready\\n"); sys.stdout.flush()
SqliteStore(Path(sys.argv[1]), "ana").close()
"""


def killed_while_opening(home: Path, seconds: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OPEN, str(home)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)


@pytest.mark.slow
def test_kill_9_in_an_adoption_loses_nothing(
    home: Path, released: Mapping[str, Any], clock: MovableClock
) -> None:
    """Killed up to three times, at any moment; whoever reads meanwhile is told what he was."""
    template = home.parent / "template"
    shutil.copytree(home, template)
    chance, seen = random.Random(1), {"before": 0, "between": 0, "after": 0}
    longest = 0.2
    least = rounds(60, 6)
    for number in range(10 * least):
        if number >= least and seen["before"] and seen["after"]:
            break
        shutil.rmtree(home)
        shutil.copytree(template, home)
        for _ in range(chance.choice([1, 1, 3])):
            killed_while_opening(home, chance.uniform(0, longest))
        came = how_far(home)
        seen[came] += 1
        longest *= 3 if came == "before" else 0.7  # a busy machine gets nowhere in that time
        assert told(home, "ben", clock) in [way(released, "ben") for way in (before, told_at_last)]
        for kin in ("ana", "ben"):
            assert told(home, kin, clock) == told_at_last(released, kin)
        with closing(SqliteStore(home, "ana", clock)) as store:
            assert problems(store) == []
    assert seen["before"] and seen["after"], seen


def how_far(home: Path) -> str:

    with closing(raw(home / "kins/ana.db")) as db:
        mark = db.execute("SELECT value FROM marks WHERE name = 'adopted'").get
    return {None: "before", migrating.HOME: "between", migrating.DONE: "after"}[mark]
