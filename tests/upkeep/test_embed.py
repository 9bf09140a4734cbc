"""Vectors are made for everything that can have one, whatever stands in the way."""

from collections.abc import Sequence
from typing import Any

import pytest

from kinmem.errors import ModelError
from kinmem.llm.base import Purpose
from kinmem.models import Vectors
from kinmem.upkeep.embed import Embed
from tests.upkeep.conftest import Bench


class Picky:
    """The built-in embedder, but it fails for texts with a word in them, or always."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self.name = "picky"
        self.is_away = False
        self.word = "forbidden"
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        self.asked += 1
        if self.is_away or any(self.word in text for text in texts):
            raise ModelError("the provider refuses this text")
        return self._embedder.embed(texts)  # type: ignore[no-any-return]


def filled(bench: Bench, count: int, forbidden: Sequence[int]) -> Picky:
    """A store of `count` memories, those at the places in `forbidden` with the word in them."""
    for n in range(count):
        word = "forbidden" if n in forbidden else "plain"
        bench.keep(f"A {word} statement about cloud number {n}.")
    return Picky(bench.embedder)


def coverage(bench: Bench) -> tuple[int, int]:
    (mine,) = [one for one in bench.store.index.coverage() if one.embedder == "picky"]
    return mine.done, mine.total


def test_a_refused_text_does_not_hold_up_those_behind_it(bench: Bench) -> None:
    picky = filled(bench, 80, forbidden=[3, 40])
    embed = Embed(bench.store.index, picky)

    assert embed.all() == 78
    assert coverage(bench) == (78, 80)
    asked = picky.asked
    assert list(embed.pool()) == []
    assert picky.asked == asked


def test_refused_texts_do_not_fill_the_pool(bench: Bench) -> None:
    picky = filled(bench, 40, forbidden=range(20))
    embed = Embed(bench.store.index, picky)
    embed.enroll()
    list(embed.pool())
    new = bench.keep("A plain statement that came later.")

    assert [chunk.memory_id for part in embed.pool() for chunk, _ in part] == [new]


def test_an_embedder_that_is_away_is_told_and_nothing_is_given_up(bench: Bench) -> None:
    picky = filled(bench, 10, forbidden=[])
    embed = Embed(bench.store.index, picky)
    embed.enroll()
    picky.is_away = True
    with pytest.raises(ModelError):
        list(embed.pool())
    picky.is_away = False

    assert embed.all() == 10


def test_an_embedder_that_was_retired_meanwhile_is_enrolled_again(bench: Bench) -> None:
    picky = filled(bench, 3, forbidden=[])
    embed = Embed(bench.store.index, picky)
    embed.enroll()

    def retire(done: int, total: int, what: str) -> None:
        bench.store.index.retire("picky")

    assert embed.all(retire) == 3
    assert embed.all() == 3


class Slow(Picky):
    """Takes eight texts in its time; after more of them it is busy once."""

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        self.asked += 1
        busy, self.is_away = self.is_away, len(texts) > 8
        if busy or self.is_away:
            raise ModelError("it took too long")
        return self._embedder.embed(texts)  # type: ignore[no-any-return]


def test_an_embedder_that_is_slow_is_given_less_at_a_time(bench: Bench) -> None:
    filled(bench, 60, forbidden=[])
    slow = Slow(bench.embedder)
    embed = Embed(bench.store.index, slow)
    embed.enroll()

    for _ in range(3):  # too much, so that it seems to be away
        with pytest.raises(ModelError):
            list(embed.pool())
    assert embed.all() == 60


def test_a_refused_text_is_found_in_few_calls(bench: Bench) -> None:
    picky = filled(bench, 64, forbidden=[20])

    assert Embed(bench.store.index, picky).all() == 63
    assert picky.asked < 25


def test_what_failed_for_a_moment_is_not_passed_over(bench: Bench) -> None:
    picky = filled(bench, 3, forbidden=[1])
    embed = Embed(bench.store.index, picky)
    embed.enroll()
    parts = embed.pool()
    next(parts)
    picky.word = "nothing of the kind"

    assert len(list(parts)) == 1
    assert coverage(bench) == (3, 3)


def test_what_failed_twice_is_tried_again_after_an_hour(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    picky = filled(bench, 3, forbidden=[1])
    embed = Embed(bench.store.index, picky)
    monkeypatch.setattr("kinmem.upkeep.embed.REFUSED_SECONDS", 0.0)
    assert embed.all() == 2
    picky.word = "nothing of the kind"

    assert embed.all() == 1
