"""A large document leaves the index of words quickly, and without a trace."""

import random
from collections.abc import Iterator
from pathlib import Path
from time import thread_time

import pytest

from kinmem.errors import StoreError
from kinmem.models import Passage
from kinmem.service import Service
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.indexes import FEW, WordIndex

pytestmark = pytest.mark.usefixtures("judge_off")

NAME = "qxwvutzk"


@pytest.fixture
def database(home: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(home / "one.db")
    yield database
    database.close()


def fill(database: SqliteDatabase, count: int) -> range:
    """The numbers of so many chunks of 170 words; the last one says a NAME."""
    draw = random.Random(1)
    chunks = [" ".join(f"w{draw.randrange(20_000)}" for _ in range(170)) for _ in range(count)]
    chunks[-1] += f" {NAME}"
    with database.writing() as db:
        WordIndex().put_parts(db, ((n, text, Passage(start=0)) for n, text in enumerate(chunks, 1)))
    return range(1, count + 1)


def is_told(database: SqliteDatabase) -> bool:
    """Whether the index still holds the NAME; how it begins may be told by the term before."""
    return any(
        NAME[1:].encode() in block for (block,) in database.rows("SELECT block FROM words_data")
    )


@pytest.mark.parametrize("count", [1, FEW, FEW + 1, 3 * FEW])
def test_what_is_removed_is_in_the_index_no_more(database: SqliteDatabase, count: int) -> None:
    chunks = fill(database, count)
    assert is_told(database)

    with database.writing() as db:
        WordIndex().remove_parts(db, chunks)

    assert not is_told(database)


def test_a_large_document_is_removed_at_once_not_chunk_by_chunk(database: SqliteDatabase) -> None:
    chunks = fill(database, 1_600)  # 1.7 MB

    with database.writing() as db:
        began = thread_time()
        for chunk in chunks[:100]:
            WordIndex().remove_parts(db, [chunk])
        between = thread_time()
        WordIndex().remove_parts(db, chunks[100:])
        ended = thread_time()

    one_by_one = (between - began) * (len(chunks) - 100) / 100
    assert ended - between < one_by_one / 3  # a twentieth when measured


def test_a_removal_that_is_undone_leaves_the_next_one_thorough(database: SqliteDatabase) -> None:
    chunks = fill(database, 2 * FEW)
    with pytest.raises(StoreError), database.writing() as db:
        WordIndex().remove_parts(db, chunks)
        raise StoreError("the disk is full")
    assert is_told(database)

    with database.writing() as db:
        WordIndex().remove_parts(db, chunks[-1:])

    assert not is_told(database)


def test_what_a_large_document_said_is_nowhere_once_it_is_erased(
    service: Service, home: Path
) -> None:
    text = "".join(f"The mill {n} by {NAME} stands on hill {n * 7}. " * 20 for n in range(120))
    id = service.add_document(text, source_ref="/mills").id or ""
    assert service.get(id).metadata["parts"] > FEW
    service.add_document(f"Not a word of it. {text}", source_ref="/mills")
    kept = service.memorize("The river freezes in January").id

    service.forget(id, erase=True)

    assert [hit.memory.id for hit in service.recall("When does the river freeze?").hits] == [kept]
    service.close()
    for file in home.rglob("*.db*"):
        assert NAME[1:].encode() not in file.read_bytes()
