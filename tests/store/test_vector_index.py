"""The index against a dictionary of the same vectors, searched row by row."""

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import fsum

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from numpy.typing import NDArray

from kinmem.models import Vector, Vectors
from kinmem.store import vector_index
from kinmem.store.vector_index import VectorIndex

Ids = NDArray[np.int64]
Row = tuple[int, int, float]
IN_16_BITS = 3e-5
"""By how much a cosine may be wrong in a large index of 48 dimensions."""


def ids(*numbers: int) -> Ids:
    return np.array(numbers, np.int64)


def unit(vectors: NDArray[np.floating]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / lengths, np.float32)


def scattered(count: int, dimension: int, seed: int = 0) -> Vectors:
    return unit(np.random.default_rng(seed).standard_normal((count, dimension)))


def clustered(count: int, dimension: int = 384, seed: int = 0) -> Vectors:
    """Topics of Zipf sizes in 48 directions, all leaning one way: neighbours are close."""
    random = np.random.default_rng(seed)
    topics = random.standard_normal((100, 48))
    directions = np.linalg.qr(random.standard_normal((dimension, 48))).Q.T
    lean = random.standard_normal(dimension)
    weights = 1 / np.arange(1, 101)
    topic = random.choice(100, count, p=weights / weights.sum())
    inside = topics[topic] + 0.6 * random.standard_normal((count, 48))
    return unit(inside @ directions + 0.03 * random.standard_normal((count, dimension)) + lean)


def rows_of(found: tuple[Ids, Ids, NDArray[np.float32]]) -> list[Row]:
    chunks, memories, cosines = found
    return list(zip(chunks.tolist(), memories.tolist(), cosines.tolist(), strict=True))


def recall(index: VectorIndex, vectors: Vectors, queries: Vectors, limit: int) -> float:
    """Of an index whose chunk ids are the row numbers of `vectors`."""
    hits = 0
    for query in queries:
        nearest = np.argsort(-(vectors @ query))[:limit]
        hits += len(np.intersect1d(index.search(query, limit)[0], nearest))
    return hits / (limit * len(queries))


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past 256 rows only 32, or 1 % if that is more, survive the sketch."""
    monkeypatch.setattr(vector_index, "WHOLE_ROWS", 256)
    monkeypatch.setattr(vector_index, "_LEAST_SURVIVORS", 32)
    monkeypatch.setattr(vector_index, "_SURVIVING_SHARE", 0.01)


@pytest.mark.parametrize("allowed", [None, ids(*range(100)), ids(*range(0, 500, 2))])
def test_several_queries_find_what_each_of_them_finds(allowed: Ids | None) -> None:
    index, numbers = VectorIndex(48), np.arange(500)
    index.put(numbers, numbers, clustered(500, 48))
    queries = clustered(20, 48, seed=1)

    found = index.search_each(queries, 7, allowed=allowed)

    alone = [index.search(query, 7, allowed=allowed) for query in queries]
    assert list(map(rows_of, found)) == list(map(rows_of, alone))


@pytest.mark.usefixtures("sketched")
def test_several_queries_are_sketched_one_by_one() -> None:
    vectors, queries = clustered(2000), clustered(20, seed=1)
    one, other = VectorIndex(384), VectorIndex(384)
    for index in (one, other):
        index.put(np.arange(2000), np.arange(2000), vectors)

    found = one.search_each(queries, 7)

    assert list(map(rows_of, found)) == [rows_of(other.search(query, 7)) for query in queries]


# A few vectors that come again and again, so that there are ties, replacements by an equal and
# self-searches; and of a width that fills no word of the sketch.
PALETTE = scattered(24, 70)
SOME_CHUNKS = st.integers(1, 60)
SOME_MEMORIES = st.integers(1, 12)
SOME_VECTORS = st.integers(0, len(PALETTE) - 1)


class Exact(RuleBasedStateMachine):
    """Whatever is put and dropped, a search gives what a dictionary gives."""

    def __init__(self) -> None:
        super().__init__()
        self.index = VectorIndex(PALETTE.shape[1])
        self.model: dict[int, tuple[int, int]] = {}

    @rule(rows=st.lists(st.tuples(SOME_CHUNKS, SOME_MEMORIES, SOME_VECTORS), max_size=40))
    def put(self, rows: list[tuple[int, int, int]]) -> None:
        chunks, memories, vectors = np.array(rows, np.int64).reshape(-1, 3).T
        self.index.put(chunks, memories, PALETTE[vectors])
        self.model.update({chunk: (memory, vector) for chunk, memory, vector in rows})

    @rule(chunks=st.lists(SOME_CHUNKS, max_size=25))
    def drop(self, chunks: list[int]) -> None:
        self.index.drop(chunks)
        for chunk in chunks:
            self.model.pop(chunk, None)

    @rule(chunks=st.lists(SOME_CHUNKS))
    def keep(self, chunks: list[int]) -> None:
        self.index.keep(ids(*chunks))
        self.model = {chunk: row for chunk, row in self.model.items() if chunk in chunks}

    @rule(
        query=SOME_VECTORS,
        limit=st.integers(1, 70),
        allowed=st.none() | st.sets(SOME_MEMORIES).map(sorted),
    )
    def search(self, query: int, limit: int, allowed: list[int] | None) -> None:
        found = self.index.search(
            PALETTE[query], limit, allowed=None if allowed is None else ids(*allowed)
        )
        self.check(rows_of(found), self.expected(PALETTE[query], allowed)[:limit])

    @rule(query=SOME_VECTORS, memories=st.sets(SOME_MEMORIES))
    def cosines(self, query: int, memories: set[int]) -> None:
        found = self.index.cosines(PALETTE[query], ids(*memories))
        self.agree(rows_of(found), sorted(self.expected(PALETTE[query], memories)))

    @invariant()
    def counts(self) -> None:
        assert len(self.index) == len(self.model)

    def check(self, found: list[Row], expected: list[Row]) -> None:
        assert found == expected

    def agree(self, found: list[Row], expected: list[Row]) -> None:
        assert found == expected

    def expected(self, query: Vector, allowed: set[int] | list[int] | None) -> list[Row]:
        rows = [
            (chunk, memory, cosine(PALETTE[vector], query))
            for chunk, (memory, vector) in self.model.items()
            if allowed is None or memory in allowed
        ]
        return sorted(rows, key=lambda row: (-row[2], row[0]))


class Sketched(Exact):
    """With a sketch from which only two rows are sure to survive, what is found is right."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(vector_index, "WHOLE_ROWS", 8)
        self.patch.setattr(vector_index, "_LEAST_SURVIVORS", 2)

    def teardown(self) -> None:
        self.patch.undo()

    def check(self, found: list[Row], expected: list[Row]) -> None:
        truth = {row[0]: row for row in self.expected(PALETTE[0], None)}
        assert min(2, len(expected)) <= len(found) <= len(expected)
        assert len({chunk for chunk, _, _ in found}) == len(found)
        assert found == sorted(found, key=lambda row: (-row[2], row[0]))
        assert all(truth[chunk][1] == memory for chunk, memory, _ in found)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def search_for_a_stored_one(self, data: st.DataObject) -> None:
        """No bit of it differs from its own: it survives unless the sketch missed a change."""
        chunk = data.draw(st.sampled_from(sorted(self.model)))
        vector = PALETTE[self.model[chunk][1]]
        self.agree(rows_of(self.index.search(vector, 1)), self.expected(vector, None)[:1])

    def agree(self, found: list[Row], expected: list[Row]) -> None:
        assert [row[:2] for row in found] == [row[:2] for row in expected]
        cosines = [row[2] for row in expected]
        assert [row[2] for row in found] == pytest.approx(cosines, abs=IN_16_BITS)


def cosine(one: Vector, other: Vector) -> float:
    products = one.astype(np.float64) * other.astype(np.float64)
    return float(np.float32(max(-1.0, min(1.0, fsum(products.tolist())))))


Exact.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
Sketched.TestCase.settings = Exact.TestCase.settings
TestExact = Exact.TestCase
TestSketched = Sketched.TestCase


def test_an_empty_index_finds_nothing() -> None:
    index = VectorIndex(4)
    query = scattered(1, 4)[0]

    assert rows_of(index.search(query, 10)) == []
    assert rows_of(index.search(query, 10, allowed=ids(1, 2))) == []
    assert rows_of(index.cosines(query, ids(1, 2))) == []


def test_equal_vectors_are_found_by_ascending_chunk_wherever_they_lie() -> None:
    vectors = scattered(5_003, 384)
    vectors[[7, 2_048, 3_333, 5_002]] = vectors[7]
    chunks = np.random.default_rng(1).permutation(5_003)
    index = VectorIndex(384)

    index.put(chunks, chunks, vectors)

    found, _, cosines = index.search(vectors[7], 3)
    assert found.tolist() == sorted(chunks[[7, 2_048, 3_333, 5_002]])[:3]
    assert set(cosines.tolist()) == {1.0}


def test_a_chunk_put_again_has_its_new_vector_and_memory_only() -> None:
    one, other = scattered(2, 16)
    index = VectorIndex(16)
    index.put(ids(5), ids(50), one[np.newaxis])

    index.put(ids(5), ids(60), other[np.newaxis])

    assert rows_of(index.search(other, 10)) == [(5, 60, 1.0)]
    assert rows_of(index.cosines(other, ids(50))) == []


def test_vectors_of_another_width_change_nothing() -> None:
    index = VectorIndex(16)

    with pytest.raises(ValueError, match="vectors"):
        index.put(ids(1), ids(1), scattered(1, 1))

    assert len(index) == 0


@pytest.fixture(scope="module")
def large() -> tuple[VectorIndex, Vectors, Vectors]:
    """20,000 vectors that came in blocks, after every tenth was put once wrongly and dropped."""
    both = clustered(20_060)
    vectors, queries = both[:20_000], both[20_000:]
    index = VectorIndex(384)
    for start in range(0, 20_000, 1_500):
        chunks = np.arange(start, min(start + 1_500, 20_000))
        index.put(chunks, chunks // 2, vectors[chunks])
    some = np.arange(0, 20_000, 10)
    index.put(some, some, vectors[some + 1])
    index.drop(some.tolist())
    index.put(some, some // 2, vectors[some])
    return index, vectors, queries


@pytest.mark.parametrize("limit", [10, 100])
def test_of_the_nearest_in_a_large_index_hardly_one_is_missed(
    large: tuple[VectorIndex, Vectors, Vectors], limit: int
) -> None:
    assert recall(*large, limit) >= 0.98


def test_few_allowed_memories_in_a_large_index_are_found_exactly(
    large: tuple[VectorIndex, Vectors, Vectors],
) -> None:
    index, vectors, queries = large
    allowed = np.arange(3, 10_000, 50)
    chunks = np.sort(np.concatenate([2 * allowed, 2 * allowed + 1]))

    for query in queries:
        found, memories, _ = index.search(query, 20, allowed=allowed)
        nearest = np.sort(vectors[chunks] @ query)[::-1][:20]
        assert vectors[found] @ query == pytest.approx(nearest, abs=IN_16_BITS)
        assert memories.tolist() == (found // 2).tolist()


def test_of_many_allowed_memories_in_a_large_index_hardly_one_is_missed(
    large: tuple[VectorIndex, Vectors, Vectors],
) -> None:
    index, vectors, queries = large
    allowed = np.arange(0, 9_000)
    hits = 0
    for query in queries:
        nearest = np.argsort(-(vectors[:18_000] @ query))[:50]
        hits += len(np.intersect1d(index.search(query, 50, allowed=allowed)[0], nearest))
    assert hits / (50 * len(queries)) >= 0.98


@pytest.mark.usefixtures("sketched")
def test_an_index_that_misses_neighbours_notices_and_looks_at_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = clustered(5_050, dimension=64)
    vectors, queries = both[:5_000], both[5_000:]
    index = VectorIndex(64)
    index.put(np.arange(5_000), np.arange(5_000), vectors)
    before = recall(index, vectors, queries, 10)

    monkeypatch.setattr(vector_index, "_CHECKED_SEARCHES", 2)
    for query in np.concatenate([queries] * 4):
        index.search(query, 10)

    monkeypatch.setattr(vector_index, "_CHECKED_SEARCHES", 1_000_003)
    assert before < 0.9
    assert recall(index, vectors, queries, 10) >= 0.98


@pytest.mark.usefixtures("sketched")
def test_a_file_that_turns_to_other_topics_as_it_grows_is_searched_as_well() -> None:
    both = clustered(5_060, seed=2)
    vectors, queries = both[:5_000], both[5_000:]
    index = VectorIndex(384)
    index.put(np.arange(10_000, 10_300), np.arange(300), clustered(300, seed=1))

    for start in (0, 2_500):
        chunks = np.arange(start, start + 2_500)
        index.put(chunks, chunks, vectors[chunks])

    # So few survive here that some are missed. With the mean of the first topics it would be .82.
    assert recall(index, vectors, queries, 10) >= 0.93


@pytest.fixture
def impatient_threads() -> Iterator[None]:
    """Threads take turns every 10 microseconds, so that they meet in unlikely places."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("sketched", "impatient_threads")
def test_searches_see_all_of_a_change_or_nothing_while_another_thread_writes() -> None:
    chunks = np.arange(400)
    editions = [scattered(400, 64, seed) for seed in range(2)]
    index = VectorIndex(64)
    index.put(chunks, chunks, editions[0])
    written = threading.Event()

    def write() -> None:
        try:
            for turn in range(1, 200):
                # Memory 1,000 + n holds the second edition of chunk n.
                index.put(chunks, chunks + 1_000 * (turn % 2), editions[turn % 2])
                index.drop(range(turn % 7, 400, 3))
        finally:
            written.set()

    def read(seed: int) -> int:
        searches = 0
        for query in np.resize(scattered(50, 64, seed), (100_000, 64)):
            found, memories, cosines = index.search(query, 20)
            check(found, memories, cosines, query)
            check(*index.cosines(query, np.arange(900, 1_200)), query)
            searches += 1
            if written.is_set():
                break
        return searches

    def check(found: Ids, memories: Ids, cosines: NDArray[np.float32], query: Vector) -> None:
        edition = memories // 1_000
        assert len(set(edition.tolist())) <= 1
        assert (memories % 1_000 == found).all()
        if len(found):
            truth = editions[edition[0]][found] @ query
            np.testing.assert_allclose(cosines, truth, atol=IN_16_BITS)

    with ThreadPoolExecutor(9) as pool:
        readers = [pool.submit(read, seed) for seed in range(8)]
        pool.submit(write).result(timeout=280)
        assert all(reader.result(timeout=280) for reader in readers)
