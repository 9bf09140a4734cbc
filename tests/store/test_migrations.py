"""Files of other versions: brought up to date after a backup, or refused and left as they are."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from kinmem.errors import StoreError
from kinmem.models import Draft, Filters, Memory, State
from kinmem.models.turns import Batch, Repetition
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.memory_rows import FIELDS, indexed, row_of, time_text
from kinmem.store.sqlite import driver
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.indexes import ChunkVectors
from kinmem.store.sqlite.migrating import MIGRATIONS
from kinmem.store.sqlite.nearest_chunks import VectorCopies
from kinmem.store.sqlite.store import SqliteStore
from tests.backups import backups_of, before_upgrade
from tests.conftest import MovableClock
from tests.keys import IS_ENCRYPTED, raw
from tests.processes import REPOSITORY
from tests.random_writes import opened
from tests.store.contract import (
    NOON,
    TINY,
    WIDTH,
    added,
    draft_of,
    found_by_meaning,
    found_by_words,
)
from tests.store.sessions_contract import kept
from tests.store.soundness import problems
from tests.store.workers import in_processes, migrate, open_new
from tests.sweeps import rounds

Told = tuple[datetime, str, str, tuple[Mapping[str, Any], Mapping[str, Any]]]
"""When, which memory, what was done, and its fields before and after."""

SECOND = """
ALTER TABLE memories ADD COLUMN mood TEXT;
CREATE TABLE moods (name TEXT PRIMARY KEY);
INSERT INTO moods SELECT DISTINCT id FROM memories;
DROP TABLE words;
CREATE VIRTUAL TABLE words USING fts5 (content, subject, context, tokenize = "porter unicode61");
INSERT INTO words (rowid, content) SELECT rowid, content FROM memories;
"""


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of a kinmem that is one schema further."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    (folder / f"{LATEST + 1:04}_moods.sql").write_text(SECOND, encoding="utf-8")
    return folder


LATEST = len(list(MIGRATIONS.glob("*.sql")))


@pytest.fixture
def old(home: Path) -> Path:
    """A file of the present schema with some memories."""
    with closing(SqliteStore(home, "ana")) as store:
        for n in range(20):
            added(store, f"fact {n}")
    return home / "kins" / "ana.db"


def described(path: Path) -> tuple[object, ...]:
    """Version, schema and contents, read without kinmem."""
    with closing(raw(path, flags=apsw.SQLITE_OPEN_READONLY)) as db:
        return (
            db.execute("PRAGMA user_version").get,
            db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall(),
            db.execute("SELECT * FROM memories ORDER BY rowid").fetchall(),
            db.execute("SELECT * FROM history ORDER BY seq").fetchall(),
        )


def test_an_old_file_is_brought_up_to_date_after_a_backup(old: Path, later: Path) -> None:
    before = described(old)

    upgrading = backups_of(old.parents[1]).upgrading
    with closing(SqliteDatabase(old, later, upgrading)) as database:
        assert database.rows("PRAGMA user_version") == [(LATEST + 1,)]
        assert database.rows("SELECT count(*) FROM moods") == [(20,)]
        assert database.rows("SELECT count(*) FROM words WHERE words MATCH 'fact'") == [(20,)]

    copy = before_upgrade(old.parents[1]) / "kins/ana.db"
    assert described(copy) == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    shutil.move(copy, old)
    with closing(SqliteStore(old.parents[1], "ana")) as store:
        assert problems(store) == []


def written_by_version_1(path: Path, first: Path, drafts: list[Draft]) -> None:
    """A file as kinmem made it before it kept conversations; its statements, not today's."""
    database = SqliteDatabase(path, first)
    vectors = ChunkVectors(database, VectorCopies(database))
    with closing(database):
        vectors.enroll(TINY, WIDTH)
        columns = [name for _, name, *_ in database.rows("PRAGMA table_info(memories)")]
        with database.writing() as db:
            for row, draft in enumerate(drafts, start=1):
                memory = draft.memory
                known = dict(zip(FIELDS, row_of(memory), strict=True))
                values = {"rowid": row, "stability": 1.0, **known}
                db.run(
                    f"INSERT INTO memories VALUES ({', '.join('?' * len(columns))})",
                    [values[name] for name in columns],
                )
                sql = "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, ?)"
                db.run(sql, (row, *indexed(memory)))
                db.run("INSERT INTO chunks (id, memory, position) VALUES (?, ?, 0)", (row, row))
                vectors.queue(db, [row])
                if draft.chunks.vectors is not None:
                    sql = "INSERT INTO vectors_1 (chunk, embedding) VALUES (?, ?)"
                    db.run(sql, (row, draft.chunks.vectors[0].tobytes()))
                    db.run("DELETE FROM pending WHERE chunk = ?", (row,))
                _note(db, memory, "created", {"content": memory.content})
            db.run("UPDATE memories SET importance = 7, version = 2 WHERE rowid = 1")
            _note(db, drafts[0].memory, "updated", {"importance": 7.0})
            db.run("UPDATE revision SET number = 1")


def _note(db: Transaction, memory: Memory, action: str, after: dict[str, object]) -> None:
    db.run(
        "INSERT INTO history (at, kin, memory_id, action, after) VALUES (?, ?, ?, ?, ?)",
        (time_text(NOON), memory.kin, memory.id, action, json.dumps(after)),
    )


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """The migrations of version 1."""
    folder = tmp_path / "first"
    folder.mkdir()
    shutil.copy(MIGRATIONS / "0001_first.sql", folder)
    return folder


def test_version_1_with_memories_loses_nothing(home: Path, first: Path) -> None:
    paths = {"private": home / "kins" / "ana.db", "shared": home / "shared.db"}
    memories: dict[str, Memory] = {}
    for scope, path in paths.items():
        drafts = [draft_of(f"{scope} fact {n}", scope=scope) for n in range(10)]
        drafts.append(draft_of(f"{scope} waits", scope=scope, embedder=None, status="pending"))
        written_by_version_1(path, first, drafts)
        memories |= {one.memory.id: one.memory for one in drafts}
        changed = drafts[0].memory
        memories[changed.id] = replace(changed, importance=7.0, version=2)
    before = {scope: described(path) for scope, path in paths.items()}

    with closing(SqliteStore(home, "ana", before_upgrade=backups_of(home).upgrading)) as store:
        assert store.memories(memories.keys()) == memories
        assert problems(store) == []
        assert set(found_by_words(store, "fact")) == {
            id for id, one in memories.items() if "fact" in one.content
        }
        for id, one in memories.items():
            nearest = found_by_meaning(store, one.content)
            assert nearest[0] == id if "fact" in one.content else id not in nearest
        assert len(store.index.pending(TINY, 9)) == 2
        ids = kept(store, "1")["1"]
        [new] = store.apply(Batch(drafts=[draft_of("learned", turn_id="1")], learned=ids)) or []
        assert store.get(new).content == "learned"

    for scope, path in paths.items():
        assert before[scope][0] == 1 and described(path)[0] == LATEST
        if not IS_ENCRYPTED:  # copies are never alike then, so the second file has a backup too
            assert described(before_upgrade(home) / path.relative_to(home)) == before[scope]


def test_version_1_that_was_upgraded_has_the_schema_of_a_new_file(
    home: Path, tmp_path: Path, first: Path
) -> None:
    written_by_version_1(home / "kins" / "ana.db", first, [draft_of("tea")])
    SqliteStore(home, "ana").close()
    with closing(SqliteStore(tmp_path / "new", "ana")) as store:
        added(store, "tea")

    assert described(home / "kins" / "ana.db")[1] == described(tmp_path / "new/kins/ana.db")[1]


@pytest.fixture
def second(first: Path) -> Path:
    """The migrations of version 2."""
    shutil.copy(MIGRATIONS / "0002_conversations.sql", first)
    return first


MOVED = {"scope": "private"}, {"scope": "shared"}


def told_by_version_2(path: Path, lines: Sequence[Told]) -> None:
    """What the history has besides what `written_by_version_1` puts there."""
    with closing(raw(path)) as db:
        for at, id, action, (before, after) in lines:
            db.execute(
                "INSERT INTO history (at, kin, memory_id, action, before, after)"
                " VALUES (?, 'ana', ?, ?, ?, ?)",
                (time_text(at), id, action, json.dumps(before), json.dumps(after)),
            )


def test_what_version_2_has_shared_is_private_again_when_undone(
    home: Path, second: Path, clock: MovableClock
) -> None:
    office = draft_of("the office opens at nine", scope="shared", created_at=NOON)
    id, later = office.memory.id, NOON + timedelta(minutes=1)
    private = [draft_of(f"fact {n}") for n in range(10)]
    written_by_version_1(home / "kins/ana.db", second, private)
    told_by_version_2(home / "kins/ana.db", [(NOON, id, "created", ({}, {"scope": "private"}))])
    written_by_version_1(home / "shared.db", second, [office])
    with closing(raw(home / "shared.db")) as db:
        db.execute("DELETE FROM history")
    told_by_version_2(home / "shared.db", [(later, id, "moved", MOVED)])
    clock.now = later + timedelta(days=1)

    with closing(opened(home, clock)) as memory:
        assert memory.undo(id, dry_run=True).writes == (13,)
        memory.undo()
        assert (memory.get(id).scope, memory.get(id).state) == ("private", State.ACTIVE)


@pytest.mark.parametrize("action", ["updated", "created"])
def test_version_2_wrote_a_change_and_its_move_at_once(
    home: Path, second: Path, action: str
) -> None:
    """Whoever creates and shares does two things, be it at the same moment."""
    for name in ("kins/ana.db", "shared.db"):
        SqliteDatabase(home / name, second).close()
    told_by_version_2(home / "kins/ana.db", [(NOON, "1", action, ({}, {"importance": 7.0}))])
    told_by_version_2(home / "shared.db", [(NOON, "1", "moved", MOVED)])

    with closing(SqliteStore(home, "ana")) as store:
        together = {"updated": [1, 1], "created": [1, 2]}
        assert [line.write for line in store.past.about(["1"])] == together[action]


def test_version_2_is_numbered_by_time_and_no_number_is_given_twice(
    home: Path, second: Path
) -> None:
    """Of a clock that was set back too, and where a file has a history without memories."""
    minutes = {"kins/ana.db": [0, 5, 2, 9], "shared.db": [1, 6]}
    for name, at in minutes.items():
        SqliteDatabase(home / name, second).close()
        told_by_version_2(
            home / name,
            [(NOON + timedelta(minutes=m), f"{m}", "erased", ({}, {})) for m in at],
        )
    back = NOON - timedelta(days=1)
    told_by_version_2(home / "shared.db", [(back, "9", "moved", MOVED)])

    for _ in range(2):  # the second time there is nothing to number
        with closing(SqliteStore(home, "ana")) as store:
            found = store.past.writes(10)[::-1]
            assert [line.memory_id for line in found] == ["0", "1", "2", "5", "6", "9", "9"]
            assert [line.write for line in found] == [1, 2, 3, 4, 5, 6, 7]
            assert found[-1].action == "moved"


def test_each_kin_numbers_its_own_history_of_version_2(home: Path, second: Path) -> None:
    written_by_version_1(home / "shared.db", second, [draft_of("tea", scope="shared")])
    SqliteStore(home, "bob").close()

    with closing(SqliteStore(home, "ana")) as store:
        added(store, "cake")
        assert [line.write for line in store.past.writes(10)] == [3, 2, 1]


def test_version_5_with_turns_is_backed_up_and_notes_repetitions_then(
    home: Path, tmp_path: Path
) -> None:
    fifth = tmp_path / "fifth"
    shutil.copytree(MIGRATIONS, fifth)
    for script in fifth.glob("*.sql"):
        if int(script.name[:4]) > 5:
            script.unlink()
    path = home / "kins/ana.db"
    with closing(SqliteDatabase(path, fifth)) as database, database.writing() as db:
        db.run_each(
            "INSERT INTO turns (session, turn, role, text, said_at) VALUES ('s', ?, 'user', ?, ?)",
            [(f"{n}", f"I have {n} cats.", time_text(NOON)) for n in (1, 2)],
        )
    before = described(path)

    with closing(SqliteStore(home, "ana", before_upgrade=backups_of(home).upgrading)) as store:
        waiting = store.turns.learnable(NOON, 2)
        [id] = store.apply(Batch(drafts=[draft_of("I have cats")], learned=[waiting[0].id])) or []
        again = Repetition(id, "s", ("2", "no such turn"), "user")
        store.apply(Batch(learned=[waiting[1].id], repeated=[again]))
        learned = store.transcript.learned(waiting)
        assert [len(learned[one.id]) for one in waiting] == [0, 1]
        store.erase(id)
        assert [one.text for one in store.turns.messages("s")] == ["I have 1 cats.", "[erased]"]
        assert problems(store) == []

    assert described(before_upgrade(home) / "kins/ana.db") == before
    assert described(path)[0] == LATEST


IN_PROSE = {
    "judged to have taken its place (0.72); the other one is pinned": 0.72,
    "judged to exclude it (1.00)": 1.0,
    "judged to have another value (0.07); not clear enough to decide": 0.07,
    "says (since 0.9) that it was otherwise": None,
    "one is private, the other shared": None,
}
"""Reasons of conflicts, and the chances that version 12 read out of them."""


def test_version_11_has_the_chance_of_a_conflict_in_prose(home: Path, tmp_path: Path) -> None:
    eleventh, path = tmp_path / "eleventh", home / "kins" / "ana.db"
    eleventh.mkdir()
    for script in sorted(MIGRATIONS.glob("*.sql"))[:11]:
        shutil.copy(script, eleventh)
    with closing(SqliteDatabase(path, eleventh)) as database, database.writing() as db:
        db.run_each(
            "INSERT INTO conflicts (newer, older, kind, mode, reason, at)"
            " VALUES (?, 'b', 'update', 'temporal', ?, '2026-06-15T12:00:00.000000Z')",
            [(str(n), reason) for n, reason in enumerate(IN_PROSE)],
        )

    with closing(SqliteStore(home, "ana")) as store:
        assert {one.reason: one.chance for one in store.decisions.conflicts()} == IN_PROSE


def test_nothing_is_backed_up_where_nothing_changes(old: Path) -> None:
    home = old.parents[1]
    SqliteDatabase(old, before_upgrade=backups_of(home).upgrading).close()

    assert backups_of(home).listed() == []


def test_a_failing_migration_changes_nothing(old: Path, later: Path) -> None:
    (later / f"{LATEST + 2:04}_broken.sql").write_text("SELECT no_such_function();")
    before = described(old)

    with pytest.raises(StoreError) as failed:
        SqliteDatabase(old, later)
    assert failed.value.code == "storage_failed"
    assert described(old) == before
    with closing(SqliteStore(old.parents[1], "ana")) as store:
        added(store, "and it goes on")
        assert problems(store) == []


def test_a_newer_file_is_refused(old: Path, later: Path) -> None:
    SqliteDatabase(old, later).close()
    before = described(old)

    with pytest.raises(StoreError) as refused:
        SqliteStore(old.parents[1], "ana")
    assert refused.value.code == "storage_newer"
    assert described(old) == before


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("CREATE TABLE notes (text)", id="tables of another program"),
        pytest.param("PRAGMA user_version = 1", id="a version and nothing else"),
        pytest.param("PRAGMA application_id = 7", id="another program's mark"),
    ],
)
def test_a_file_of_another_program_is_refused(home: Path, script: str) -> None:
    home.mkdir(parents=True)
    with closing(raw(home / "shared.db")) as db:
        db.execute(script)
    before = (home / "shared.db").read_bytes()

    with pytest.raises(StoreError) as refused:
        SqliteStore(home, "ana")
    assert refused.value.code == "storage_foreign"
    assert (home / "shared.db").read_bytes() == before
    assert not (home / "shared.db-wal").exists()


def test_an_empty_file_becomes_a_store(home: Path) -> None:
    """A crash may have left it between its making and the first transaction."""
    home.mkdir(parents=True)
    (home / "shared.db").touch(0o600)

    with closing(SqliteStore(home, "ana")) as store:
        assert problems(store) == []


def test_who_lives_on_after_a_migration_reads_but_never_writes(old: Path, later: Path) -> None:
    with closing(SqliteStore(old.parents[1], "ana")) as store:
        id = store.page(Filters(), "newest", 1).memories[0].id
        in_processes(migrate, [(old, later)])
        before = described(old)

        for attempt in (
            lambda: added(store, "new"),
            lambda: store.update(id, {"pinned": True}),
            lambda: store.update(id, {"scope": "shared"}),
            lambda: store.erase(id),
            lambda: store.index.enroll("another", 4),
            lambda: store.index.retire("tiny"),
        ):
            with pytest.raises(StoreError) as refused:
                attempt()
            assert refused.value.code == "storage_newer"
        assert store.get(id).id == id
    assert described(old) == before


@pytest.mark.parametrize("round", range(rounds(20, 1)))
def test_six_processes_open_a_new_home_at_once(home: Path, round: int) -> None:
    ids = in_processes(open_new, [(home,)] * 6)

    with closing(SqliteStore(home, "ana")) as store:
        assert store.memories(ids).keys() == set(ids) and len(set(ids)) == 6
        assert problems(store) == []


def test_four_processes_migrate_at_once_with_one_good_backup(old: Path, later: Path) -> None:
    before = described(old)

    assert in_processes(migrate, [(old, later)] * 4) == [LATEST + 1] * 4
    made = backups_of(old.parents[1]).listed()
    assert [one.reason for one in made] == ["upgrade"]
    assert described(before_upgrade(old.parents[1]) / "kins/ana.db") == before


def test_the_backup_holds_what_was_written_last(
    old: Path, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can write between the backup and the migration."""
    held = []
    backups = backups_of(old.parents[1])

    @contextmanager
    def looking(path: Path) -> Iterator[Callable[[], None]]:
        with backups.upgrading(path) as back_up:

            def look() -> None:
                monkeypatch.setattr(driver, "BUSY_SECONDS", 0.05)
                with closing(raw(old)) as other:
                    try:
                        other.execute("BEGIN IMMEDIATE")
                    except apsw.BusyError:
                        held.append(True)
                back_up()

            yield look

    SqliteDatabase(old, later, looking).close()
    assert held == [True]


KILLED = """
import sys, apsw
from pathlib import Path
from kinmem.store.sqlite.connection import SqliteDatabase
sys.stdout.write("ready\\n"); sys.stdout.flush()
SqliteDatabase(Path(sys.argv[1]), Path(sys.argv[2]))
sys.stdout.write("done\\n"); sys.stdout.flush()
"""


def killed_while_migrating(path: Path, later: Path, seconds: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), str(later)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)


@pytest.mark.slow
def test_a_kill_in_a_migration_leaves_the_old_or_the_new(old: Path, later: Path) -> None:
    template = old.with_name("template.db")
    shutil.copy(old, template)
    before, after = described(template), None
    chance = random.Random(1)
    seen = {LATEST: 0, LATEST + 1: 0}
    kills = rounds(60, 12)
    for _ in range(kills):
        for leftover in remains(old):
            leftover.unlink()
        shutil.copy(template, old)
        killed_while_migrating(old, later, chance.uniform(0, 0.06))

        found = described(old)
        version = int(str(found[0]))
        seen[version] += 1
        if version == LATEST:
            assert found == before
        else:
            after = after or found[1:3]
            assert found[1:3] == after
        with closing(SqliteDatabase(old, later)) as database:
            assert database.rows("PRAGMA quick_check") == [("ok",)]
            assert database.rows("SELECT count(*) FROM moods") == [(20,)]
    assert sum(seen.values()) == kills and seen[LATEST] > 0


def remains(path: Path) -> Iterator[Path]:
    return path.parent.glob(f"{path.name}*")
