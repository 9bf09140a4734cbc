"""Damage stays where it is: everything else goes on, and what is damaged is named."""

import logging
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kinmem.store.sql.memory_rows import FIELDS
from kinmem.store.sql.sums import SUMMED, UNSUMMED
from kinmem.store.sqlite.migrating import MIGRATIONS
from tests.conftest import MovableClock
from tests.store.poison import (
    BYTES,
    NO_JSON,
    UNDECODABLE,
    Spot,
    copied,
    failures,
    flip,
    full_home,
    open_on,
    pages,
    poison,
    spots,
)

OWN, SHARED = "kins/ana.db", "shared.db"
CHECKED = {"memories-scope", "summaries-scope", "marks-name"}
"""Columns that SQLite itself keeps from other values; without the mark that counts writes a file is
refused, since nobody can tell what it lost."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undamaged home; made once, and copied."""
    home = tmp_path_factory.mktemp("whole") / "home"
    full_home(home, MovableClock())
    return home


@pytest.fixture
def home(whole: Path, tmp_path: Path) -> Iterator[Path]:
    yield copied(whole, tmp_path / "home")


@pytest.fixture
def clock() -> MovableClock:
    clock = MovableClock()
    clock.advance(days=2)
    return clock


def test_what_is_used_here_goes_on_in_a_home_without_damage(
    home: Path, clock: MovableClock
) -> None:
    assert failures(home, clock) == []
    with closing(open_on(home, clock)) as ana:
        assert [one.damaged or one.damage for one in ana.store.health(deep=True)] == [(), ()]
        assert not any(file.database.damage for file in ana.store.files)  # type: ignore[attr-defined]


@pytest.mark.parametrize("part", range(8))
def test_a_damaged_value_stops_nothing(
    whole: Path, tmp_path: Path, clock: MovableClock, part: int
) -> None:
    """Each text of each table in turn, in one of three ways."""
    every = [one for file in (OWN, SHARED) for one in spots(whole, file)]
    for number, spot in enumerate(every):
        if number % 8 != part or f"{spot.table}-{spot.column}" in CHECKED:
            continue
        kind = (UNDECODABLE, NO_JSON, BYTES)[(number // 8) % 3]
        home = copied(whole, tmp_path / str(number))
        if poison(home, spot, kind):
            assert failures(home, clock) == [], (spot, kind)
        shutil.rmtree(home)


@pytest.mark.parametrize("what", ["content", "created_at", "metadata", "subject", "manual_tags"])
def test_a_damaged_memory_is_left_out_and_named(
    home: Path, clock: MovableClock, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(open_on(home, clock)) as ana:
        before = {one.id for one in ana.list_memories(limit=100).memories}
    assert poison(home, Spot(OWN, "memories", what), UNDECODABLE)

    with caplog.at_level(logging.WARNING), closing(open_on(home, clock)) as ana:
        after = {one.id for one in ana.list_memories(limit=100).memories}
        ana.list_memories(limit=100)
        [lost] = before - after
        [file, _] = ana.store.health()
    assert [(one.table, one.key) for one in file.damaged] == [("memories", lost)]
    assert [lost in line.message for line in caplog.records if "left out" in line.message] == [True]


def test_silently_changed_content_is_not_given_out(home: Path, clock: MovableClock) -> None:
    """Text that is still text, and says something else."""
    with closing(open_on(home, clock)) as ana:
        [hit, *_] = ana.recall("what is the budget of Frida?").hits
        assert hit.memory.content == "The budget of Frida is 4,500 euros"
    spot = Spot(OWN, "memories", "content")
    assert poison(home, spot, b"The budget of Frida is 9,500 euros", row=hit.memory.id)

    with closing(open_on(home, clock)) as ana:
        answer = ana.recall("what is the budget of Frida?")
        assert "9,500" not in "".join(one.memory.content for one in answer.hits)
        ana.sleep()
        ana.store.count_use([hit.memory.id], clock())
        ana.store.flush_use()  # writing to the row does not make it right
        assert hit.memory.id not in {one.id for one in ana.list_memories(limit=100).memories}


def test_a_published_copy_is_checked_as_well(home: Path, clock: MovableClock) -> None:
    spot = Spot(SHARED, "memories", "content")
    assert poison(home, spot, b"Ben says the door is locked at 23:59", like="Ben says%")

    with closing(open_on(home, clock)) as ana:
        assert "23:59" not in str(ana.recall("when is the door locked?"))
        assert "23:59" not in str(ana.list_memories(limit=100))


@pytest.mark.parametrize("table", ["words", "turn_words", "vectors_1", "turn_vectors"])
def test_damaged_words_and_vectors_stop_nothing_and_are_made_anew(
    whole: Path, tmp_path: Path, clock: MovableClock, table: str
) -> None:
    chance = random.Random(table)
    numbers = pages(whole, OWN, f"{table}*")
    for number in range(6):
        home = copied(whole, tmp_path / str(number))
        page = chance.choice(numbers)
        for _ in range(3):
            flip(home, OWN, page, chance.randrange(100, 4096), chance.randrange(8))
        assert [one for one in failures(home, clock) if "internal" in one] == []
        shutil.rmtree(home)


def test_words_that_cannot_be_read_are_made_anew_by_sleep(home: Path, clock: MovableClock) -> None:
    for page in pages(home, OWN, "words_data"):
        for byte in range(200, 4000, 60):
            flip(home, OWN, page, byte, 4)
    with closing(open_on(home, clock)) as ana:
        assert ana.recall("who is allergic to peanuts?").hits
        assert str(ana.memorize("Zoe keeps bees behind the mill").status) == "created"
        ana.sleep()
        assert [one.damaged or one.damage for one in ana.store.health(deep=True)] == [(), ()]
        [first, *_] = ana.recall("bees mill").hits
        assert first.memory.content == "Zoe keeps bees behind the mill"


def test_every_field_that_matters_is_in_the_sum() -> None:
    assert set(SUMMED["memories"]) | UNSUMMED == set(FIELDS)
    script = (MIGRATIONS / "0008_sums.sql").read_text(encoding="utf-8")
    for table, columns in SUMMED.items():
        told = script.split(f"UPDATE {table} SET sum = kinmem_sum(")[1].split(");")[0]
        names = re.sub(r"CAST\(|\s+AS\s+BLOB\)", "", told).split(",")
        assert tuple(name.strip() for name in names) == columns
