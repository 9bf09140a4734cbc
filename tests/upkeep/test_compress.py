"""Kore's merge: without a model, by unique sentences, and only where nothing is lost."""

from collections import Counter
from collections.abc import Callable

import pytest

from kinmem.models import State
from kinmem.models.turns import Run
from kinmem.upkeep.merge import united
from tests.conftest import MovableClock
from tests.scripted import ScriptedModel
from tests.upkeep.conftest import Bench, all_of_it


def run(bench: Bench) -> Counter[str]:
    return bench.compress()


def test_the_more_important_text_leads_and_unique_sentences_follow(bench: Bench) -> None:
    less = bench.keep("Clara grows roses in her garden. She sells them.", importance=2)
    more = bench.keep("Clara grows 12 kinds of roses in her garden.", importance=6)

    counts = run(bench)

    (merged,) = bench.live()
    assert counts["merged"] == 1
    assert merged.content.split("\n") == [
        "Clara grows 12 kinds of roses in her garden.",
        "She sells them.",
    ]
    assert bench.state(less) == bench.state(more) == State.SUPERSEDED
    assert set(bench.store.parents(merged.id)) == {less, more}
    assert merged.model is None


def test_a_sentence_that_is_said_already_is_not_repeated() -> None:
    texts = ["I like tea. I live in Rome.", "I live in Rome! I like jam.", "I like jam."]

    assert united(texts) == "I like tea. I live in Rome.\nI like jam."


def test_what_adds_nothing_gives_way_without_a_new_memory(bench: Bench) -> None:
    whole = bench.keep("Clara grows roses in her garden. She sells them.", importance=6)
    part = bench.keep("Clara grows roses in her garden.", importance=2)

    run(bench)

    (kept,) = bench.live()
    assert kept.id == whole
    assert bench.store.get(part).superseded_by == whole


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Clara likes coriander in her soup.", "Clara does not like coriander in her soup."),
        ("The standup starts at 9:30.", "The standup starts at 10:30."),
        ("Clara lives in Lyon.", "Clara lives in Rome."),
    ],
)
def test_what_contradicts_is_never_put_together(bench: Bench, one: str, other: str) -> None:
    bench.keep(one)
    bench.keep(other)

    assert run(bench)["refused"] == 1
    assert len(bench.live()) == 2
    assert run(bench)["refused"] == 0


def test_what_would_be_too_long_stays_apart(bench: Bench) -> None:
    rest = " ".join(f"Bed {n} of the garden is watered by hand." for n in range(1, 12))
    bench.keep(f"Clara grows roses in her garden. {rest}")
    bench.keep(f"Clara grows roses and tulips in her garden. {rest.replace('hand', 'rain')}")

    run(bench)

    assert all(len(memory.content) <= 800 for memory in bench.live())


def test_merges_of_merges_end(bench_of: Callable[..., Bench]) -> None:
    bench = bench_of(KINMEM_COMPRESS_SIMILARITY=0.4)
    for (
        plant
    ) in "roses tulips lilies violets daisies ferns mint basil sage thyme kale leek".split():
        bench.keep(f"Clara grows {plant} in her garden.")

    for _ in range(9):
        run(bench)
    before = bench.live()
    counts = run(bench)

    assert counts["merged"] == 0
    assert bench.live() == before
    assert max(memory.generation for memory in before) <= 3
    said = " ".join(memory.content for memory in before)
    assert all(plant in said for plant in ("roses", "leek", "thyme"))


def test_nothing_crosses_scopes_and_owners(bench_of: Callable[..., Bench]) -> None:
    ana, bob = bench_of("ana"), bench_of("bob")
    bob.keep("Clara grows roses in her garden.", scope="shared")
    ana.keep("Clara grows red roses in her garden.")
    ana.keep("Clara grows white roses in her garden.", scope="shared")

    assert run(ana)["merged"] == 0
    assert len(ana.live()) == 3


def test_a_run_of_compress_hides_nothing_from_a_model_that_comes_later(
    bench: Bench, clock: MovableClock
) -> None:
    bench.keep("Clara grows roses in her garden.")
    bench.keep("Clara waters the roses in her garden.")
    bench.store.decisions.refuse("compress", [memory.id for memory in bench.live()])
    counts = {f"consolidate.{what}": count for what, count in run(bench).items()}
    done = Run(kind="sleep", started_at=clock(), finished_at=clock(), counts=counts)
    bench.store.jobs.record(done)
    clock.advance(days=1)

    assert bench.consolidate(ScriptedModel(all_of_it))["merged"] == 1


@pytest.mark.parametrize("copies", [3, 6])
def test_what_lasts_and_was_said_on_several_days_becomes_one_that_can_be_replaced(
    bench: Bench, copies: int
) -> None:
    for day in range(1, copies + 1):
        bench.keep("I live in Bremen.", speaker="user", occurred_at=f"2026-03-0{day}")
    for _ in range(3):
        bench.service.sleep(compress=True)
    said = [memory.content for memory in bench.live()]
    bench.service.record_turn("z", "I live in Hamburg now.", "ok", at="2026-05-01T10:00:00")
    bench.service.sleep(compress=False)

    assert said == ["I live in Bremen."]
    assert [memory.content for memory in bench.live()] == ["I live in Hamburg now."]
    assert not [one for one in bench.service.review_memories().issues if "contra" in one.type]


def test_records_of_different_days_stay_apart(bench: Bench) -> None:
    for day in ("2026-03-01", "2026-03-02"):
        bench.keep("Clara ran along the river.", category="event", occurred_at=day)
    for year in (2019, 2021):
        bench.keep("We tested the backup.", occurred_at=f"{year}-03-01", channel="explicit")

    assert run(bench)["merged"] == 0
    assert len(bench.live()) == 4


def test_all_merges_of_a_run_are_undone_at_once_or_one_by_one(bench: Bench) -> None:
    apart = {
        *(bench.keep(text) for text in ("Clara grows roses at home.", "Clara grows red roses.")),
        *(
            bench.keep(text, scope="shared")
            for text in ("Otto bakes bread at night.", "Otto bakes rye bread.")
        ),
    }
    assert run(bench)["merged"] == 2
    merged = {one.id for one in bench.live()}
    last = bench.service.history(limit=1)[0]
    assert last.batch is not None

    one = bench.service.undo(last.write)
    assert len(one.writes) == 1
    assert len(merged & {memory.id for memory in bench.live()}) == 1
    bench.service.undo(one.batch)
    assert {memory.id for memory in bench.live()} == merged

    assert len(bench.service.undo(last.batch).writes) == 2
    assert {memory.id for memory in bench.live()} == apart
