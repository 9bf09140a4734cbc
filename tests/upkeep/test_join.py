"""What the judge calls the same becomes one after every turn, without a chat model."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from kinmem.models import State
from kinmem.upkeep.consolidate import _standing_for_both
from tests.recall.made import memory
from tests.upkeep.conftest import Bench

SAME = Path(__file__).parents[1] / "corpora" / "same.jsonl"
PAIR = (
    "Lena plays the cello in the city orchestra.",
    "Lena is a cellist with the city orchestra.",
)


@pytest.fixture
def bench(bench_of: Callable[..., Bench]) -> Bench:
    return bench_of()


def run(bench: Bench) -> Counter[str]:
    found = bench.service.sleep(["consolidate"]).counts
    return Counter({name.removeprefix("consolidate."): count for name, count in found.items()})


def test_of_two_wordings_one_stays_and_nothing_is_lost(bench: Bench) -> None:
    ids = {bench.keep(text) for text in PAIR}

    counts = run(bench)

    (kept,) = bench.live()
    (gone,) = ids - {kept.id}
    assert (counts["asked"], counts["joined"]) == (1, 1)
    assert kept.id in ids
    assert bench.store.get(gone).superseded_by == kept.id
    last = bench.service.history(limit=1)[0]
    assert last.batch is not None
    bench.service.undo(last.batch)
    assert {one.id for one in bench.live()} == ids
    assert run(bench)["joined"] == 0, "what was undone stays apart"


def test_a_pair_of_texts_is_asked_about_once(bench: Bench) -> None:
    bench.keep("Otto grows tomatoes on the balcony.")
    bench.keep("Otto grows chillies on the balcony at home.")
    bench.keep("There are tomatoes that Otto likes from the market.")

    run(bench)
    bench.keep("Otto sold his old car to Vera.")

    assert run(bench)["asked"] <= 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user's rent is 800 euros a month.", "The user pays 850 euros rent a month."),
        ("Ben lives in Bremen.", "Ben's home is in Hamburg."),
        ("Anna manages Ben.", "Ben manages Anna."),
        ("Clara likes coriander in her soup.", "Clara does not like coriander in her soup."),
    ],
)
def test_what_differs_in_an_atom_stays_two(bench: Bench, one: str, other: str) -> None:
    bench.keep(one)
    bench.keep(other)

    assert run(bench)["joined"] == 0


def test_records_of_different_days_are_never_one(bench: Bench) -> None:
    for day, text in zip(("2026-03-01", "2026-03-02"), PAIR, strict=True):
        bench.keep(text, category="event", occurred_at=day)

    assert run(bench)["joined"] == 0


def test_paraphrases_become_one_and_look_alikes_do_not(bench: Bench) -> None:
    """Alone in a memory each; by the judge's own threshold."""
    found: dict[str, Counter[bool]] = {}
    rows = [json.loads(line) for line in SAME.read_text(encoding="utf-8").splitlines()]
    for row in rows[::3]:
        ids = [bench.keep(row["a"]), bench.keep(row["b"])]
        run(bench)
        states = {bench.state(id) for id in ids}
        found.setdefault(row["label"], Counter()).update([State.SUPERSEDED in states])
        for id in ids:
            bench.service.forget(id, erase=True)

    assert found["different"][True] <= 0.04 * found["different"].total()
    assert found["same"][True] >= 0.25 * found["same"].total()


def test_the_one_that_says_more_stays(bench: Bench) -> None:
    longer = "My sister's name is Anna and she lives near"
    bench.keep(longer, importance=5)
    bench.keep("Anna is my sister", importance=8)

    run(bench)

    assert longer in {one.content for one in bench.live()}


def test_the_one_that_stays_is_worth_what_either_was_and_trusted_as_the_lesser(
    bench: Bench,
) -> None:
    worths = [
        {"importance": 3, "trust": 0.9, "confidence": 0.5, "recalled_count": 4, "tags": ("a",)},
        {"importance": 8, "trust": 0.6, "confidence": 0.9, "recalled_count": 2, "tags": ("b",)},
    ]
    for text, worth in zip(PAIR, worths, strict=True):
        bench.keep(text, **worth)

    run(bench)

    (kept,) = bench.live()
    assert (kept.importance, kept.trust, kept.confidence) == (8, 0.6, 0.5)
    assert kept.recalled_count == 4
    assert set(kept.manual_tags) == {"a", "b"}


def test_a_dry_run_counts_pairs_and_asks_nobody(bench: Bench) -> None:
    for text in PAIR:
        bench.keep(text)

    dry = bench.service.sleep(["consolidate"], dry_run=True).counts

    assert dry["consolidate.pairs"] == 1
    assert "consolidate.asked" not in dry
    assert len(bench.live()) == 2


def test_it_can_be_switched_off(bench_of: Callable[..., Bench]) -> None:
    bench = bench_of(MEMORY_CONSOLIDATION_MAX_GEN=0)
    for text in PAIR:
        bench.keep(text)

    assert run(bench)["asked"] == 0
    assert len(bench.live()) == 2


@pytest.mark.parametrize("weightier", [0, 1])
def test_of_two_that_say_the_same_the_weightier_stays(bench: Bench, weightier: int) -> None:
    for at, text in enumerate(PAIR):
        bench.keep(text, importance=9 if at == weightier else 2)

    run(bench)

    assert [one.content for one in bench.live()] == [PAIR[weightier]]


@pytest.mark.parametrize("longer_first", [True, False])
def test_the_one_of_two_that_says_everything_stands_for_both(longer_first: bool) -> None:
    """What says more stays, whichever was told first."""
    whole = memory("1", "Lena plays the cello and the piano in Lyon")
    part = memory("2", "Lena plays the cello")

    class Reading:
        def same(self, one: str, other: str) -> float:
            return 0.99 if (one, other) == (whole.content, part.content) else 0.01

    pair = (whole, part) if longer_first else (part, whole)

    assert _standing_for_both(pair, Reading(), UTC) is whole  # type: ignore[arg-type]
