"""Damage stays where it is: everything else goes on, and what is damaged is named."""

import logging
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from kinmem.models import Memory
from kinmem.store.sql.damage import SUMMED, UNSUMMED, WIDTH
from kinmem.store.sql.memory_rows import FIELDS, indexed
from kinmem.store.sqlite import mending
from kinmem.store.sqlite.driver import connect
from kinmem.store.sqlite.mending import TABLES
from kinmem.store.sqlite.migrating import MIGRATIONS, numbered
from kinmem.store.sqlite.snapshot import SqliteHome
from tests.conftest import MovableClock
from tests.keys import IS_ENCRYPTED
from tests.store.poison import (
    BYTES,
    NO_JSON,
    PAGE,
    UNDECODABLE,
    Spot,
    copied,
    failures,
    flip,
    full_home,
    in_use,
    open_on,
    pages,
    poison,
    spots,
)
from tests.sweeps import rounds

pytestmark = pytest.mark.usefixtures("judge_off")

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


def test_what_is_written_during_a_deep_look_is_no_damage(
    home: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_on(home, clock)) as ana, closing(open_on(home, clock)) as writer:
        [memory] = writer.list_memories(limit=1).memories
        texts = iter(["Clara sold the cello"])

        def indexed_while_somebody_writes(read: Memory) -> tuple[str, ...]:
            for text in texts:
                writer.update_memory(memory.id, content=text)
            return indexed(read)

        monkeypatch.setattr(mending, "indexed", indexed_while_somebody_writes)

        assert [one.damaged or one.damage for one in ana.store.health(deep=True)] == [(), ()]
        assert writer.store.memories([memory.id])[memory.id].content == "Clara sold the cello"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(rounds(8, 1)))
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


def test_what_is_damaged_ends_no_page(home: Path, clock: MovableClock) -> None:
    with closing(open_on(home, clock)) as ana:
        every = len(ana.list_memories(limit=100).memories)
        session = ana.sessions()[0].name
    assert poison(home, Spot(OWN, "memories", "created_at"), BYTES)
    assert poison(home, Spot(OWN, "turns", "text"), BYTES)

    with closing(open_on(home, clock)) as ana:
        listed, cursor = 0, None
        while page := ana.list_memories(sort="oldest", limit=2, cursor=cursor):
            listed += len(page.memories)
            if (cursor := page.next_cursor) is None:
                break
        said = ana.turns(session)
        first = ana.store.turns.messages(session, limit=len(said))

    assert listed == every - 1
    assert first == said
    assert said


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


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("links", "verified_at"),
        ("entities", "name"),
        ("relations", "origin"),
        ("summaries", "text"),
        ("tier_changes", "reason"),
        ("turn_words_content", "c1"),
    ],
)
def test_a_changed_text_that_nobody_would_miss_is_found(
    home: Path, clock: MovableClock, table: str, column: str
) -> None:
    assert poison(home, Spot(OWN, table, column), b"2026-05-03T12:00:00.000000Z")

    with closing(open_on(home, clock)) as ana:
        [own, _] = ana.store.health(deep=True)
    assert table.removesuffix("_content") in {one.table for one in own.damaged}


@pytest.mark.parametrize("table", ["vectors_1_vector_chunks00", "turn_vectors"])
def test_the_last_digit_of_a_vector_is_found(home: Path, clock: MovableClock, table: str) -> None:
    page = pages(home, OWN, table)[-1]
    flip(home, OWN, page, PAGE - 500, 0)  # numbers of four bytes, the lowest one first

    with closing(open_on(home, clock)) as ana:
        [own, _] = ana.store.health(deep=True)
    assert [one.table.replace("turn_", "") for one in own.damaged] == ["vectors"]


@pytest.mark.slow
@pytest.mark.skipif(IS_ENCRYPTED, reason="what a page holds cannot be read from outside")
def test_a_bit_in_use_is_found_and_no_other_matters(home: Path, tmp_path: Path) -> None:
    """At least 95 of 100; in a short run three of twenty may be of those that only rank."""
    chance, missed = random.Random(11), 0
    every, rows = in_use(home, OWN), dumped(home)
    for number in range(count := rounds(300, 20)):
        page, held = chance.choice(every)
        byte, broken = chance.randrange(PAGE), copied(home, tmp_path / str(number))
        flip(broken, OWN, page, byte, chance.randrange(8))
        if byte not in held:
            assert dumped(broken) == rows
        elif not SqliteHome().damage(broken / OWN):
            missed += 1
        shutil.rmtree(broken)
    assert missed <= max(3, count // 20)


def dumped(home: Path) -> list[object]:
    """All rows of all tables, as bytes."""
    with closing(connect(home / OWN)) as db:
        tables = [name for (name,) in db.execute(TABLES)]
        read = {
            table: ", ".join(
                f"CAST({name} AS BLOB)"
                for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))
            )
            for table in tables
        }
        return [db.execute(f"SELECT {read[table]} FROM {table}").fetchall() for table in tables]


def test_vectors_of_an_older_home_get_their_sums(home: Path, clock: MovableClock) -> None:
    with closing(connect(home / OWN)) as db:
        before = list(db.execute("SELECT * FROM vector_sums ORDER BY chunk"))
        db.execute("DELETE FROM vector_sums")
    with closing(open_on(home, clock)) as ana:
        assert ana.store.health(deep=True)[0].damaged == ()
        ana.sleep(["housekeeping"])
    with closing(connect(home / OWN)) as db:
        assert list(db.execute("SELECT * FROM vector_sums ORDER BY chunk")) == before != []


def test_every_field_that_matters_is_in_the_sum() -> None:
    assert set(SUMMED["memories"]) | UNSUMMED == set(FIELDS)
    script = "".join(text for _, text in numbered(MIGRATIONS))
    for table, columns in SUMMED.items():
        told = script.split(f"UPDATE {table} SET sum = kinmem_sum(")[1].split(");")[0]
        names = re.sub(r"CAST\(|\s+AS\s+BLOB\)", "", told).split(",")
        assert tuple(name.strip() for name in names) == columns


# the chain of the history


def broken(home: Path) -> list[str]:
    """What `doctor --deep` says of the history."""
    with closing(open_on(home, MovableClock())) as ana:
        [own, _] = ana.store.health(deep=True)
    return [f"{one.key}: {one.problem}" for one in own.damaged if one.table == "history"]


def edit(home: Path, *statements: str) -> None:
    """Write as somebody does who does not know of the chain."""
    with closing(connect(home / OWN)) as db:
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        for sql in statements:
            db.execute(sql)


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("UPDATE history SET reason = 'so it was' WHERE seq = 9", id="changed"),
        pytest.param("DELETE FROM history WHERE seq = 9", id="taken out"),
        pytest.param(
            "INSERT INTO history (seq, at, kin, memory_id, action, write, seal)"
            " SELECT 99999, at, kin, memory_id, action, write, seal FROM history WHERE seq = 9",
            id="put in",
        ),
        pytest.param(
            "UPDATE history SET seq = CASE seq WHEN 9 THEN -10 ELSE -9 END WHERE seq IN (9, 10);"
            " UPDATE history SET seq = -seq WHERE seq < 0",
            id="exchanged",
        ),
    ],
)
def test_a_line_that_was_tampered_with_is_found(home: Path, sql: str) -> None:
    assert broken(home) == []
    edit(home, *sql.split(";"))
    assert broken(home)


def test_erasing_keeps_the_chain_and_nothing_of_what_was_said(
    home: Path, clock: MovableClock
) -> None:
    with closing(open_on(home, clock)) as ana:
        id = str(ana.memorize("The gate code is on the fridge door").id)
        with closing(connect(home / OWN)) as db:
            sealed = db.execute("SELECT seal FROM history WHERE memory_id = ?", (id,)).get
        ana.forget(id, erase=True)
        ana.forget_about("Gustav").erase()
        ana.undo()
    assert broken(home) == []
    with closing(connect(home / OWN)) as db:
        seals = [seal for (seal,) in db.execute("SELECT seal FROM history")]
    salt, sum = sealed[:WIDTH], sealed[WIDTH : 2 * WIDTH]
    assert not any(salt in seal or sum in seal for seal in seals)


def test_lines_that_are_gone_are_counted_and_the_chain_goes_on(home: Path) -> None:
    chance = random.Random(3)
    with closing(connect(home / OWN)) as db:
        lines = [seq for (seq,) in db.execute("SELECT seq FROM history ORDER BY seq")]
        gone = chance.sample(lines[:-1], 20)
        for seq in gone:
            db.execute("DELETE FROM history WHERE seq = ?", (seq,))
        stretches = list(db.execute("SELECT last, count FROM erased_lines ORDER BY last"))
    assert broken(home) == []
    assert sum(count for _, count in stretches) >= 20
    ends = {last - count for last, count in stretches}
    assert not ends.intersection(last for last, _ in stretches)  # neighbours are one stretch


def test_blank_lines_of_erased_memories_leave_in_the_end(home: Path, clock: MovableClock) -> None:
    with closing(open_on(home, clock)) as ana:
        ids = [str(ana.memorize(f"Zoe keeps hive {n} by the mill").id) for n in range(5)]
        for id in ids:
            ana.forget(id, erase=True)
        ana.memorize("The mill is closed in winter")

        def lines() -> list[int]:
            with closing(connect(home / OWN)) as db:
                sql = "SELECT count(*) FROM history WHERE memory_id = ?"
                return [int(db.execute(sql, (id,)).get) for id in ids]

        assert lines() == [2] * 5
        ana.sleep(["housekeeping"])
        assert lines() == [1] * 5
        clock.advance(days=91)
        ana.sleep(["housekeeping"])
        assert lines() == [0] * 5
        last = str(ana.memorize("The mill opens in spring").id)
        assert list(ana.undo().became) == [last]
    assert broken(home) == []
