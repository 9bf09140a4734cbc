"""Close memories become one: only what is proved, never across owners, and it comes to an end."""

import json
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kinmem.errors import ModelError, Unusable
from kinmem.llm.base import ChatModels
from kinmem.models import State
from kinmem.models.turns import Run
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_memory import embedders
from tests.conftest import MovableClock
from tests.scripted import ScriptedModel
from tests.upkeep.conftest import Bench, all_of_it, shown

ROSES = (
    "Clara grows 12 roses in her garden.",
    "Clara waters the roses in her garden with rain.",
)


def run(bench: Bench, model: ScriptedModel) -> Counter[str]:
    return bench.consolidate(model)


def answering(content: str, **fields: Any) -> ScriptedModel:
    told = {"content": content, "category": "fact", "subject": None, "superseded": [], **fields}
    return ScriptedModel(lambda prompt: told)


def test_two_memories_become_one_that_is_recalled_instead(bench: Bench) -> None:
    first = bench.keep(ROSES[0], importance=3, tags=("garden",), source_context="on a walk")
    second = bench.keep(ROSES[1], importance=7, confidence=0.6, source_context="at lunch")
    bench.store.count_use([first], bench.clock())
    bench.store.flush_use()

    counts = run(bench, answering("Clara grows 12 roses in her garden, waters them with rain."))

    (merged,) = bench.live()
    assert counts["merged"] == 1
    assert bench.state(first) == bench.state(second) == State.SUPERSEDED
    assert bench.store.get(first).superseded_by == merged.id
    assert merged.importance == 7
    assert merged.manual_tags == ("garden",)
    assert merged.source_context == "on a walk\nat lunch"
    assert merged.recalled_count == 1
    assert merged.generation == 1
    assert merged.channel == "consolidation"
    assert merged.model == "scripted"
    assert set(bench.store.parents(merged.id)) == {first, second}
    found = [hit.memory.id for hit in bench.service.recall("Clara's roses").hits]
    assert found == [merged.id]


def test_a_merge_can_be_followed_back_line_by_line(bench: Bench) -> None:
    first, second = bench.keep(ROSES[0]), bench.keep(ROSES[1])

    run(bench, ScriptedModel(all_of_it))

    (merged,) = bench.live()
    line = bench.service.history(first)[0]
    assert line.action == "consolidated"
    assert line.before["state"] == "active"
    assert line.after["superseded_by"] == merged.id
    assert merged.id in (line.reason or "")
    bench.service.restore(first)
    bench.service.restore(second)
    assert bench.state(first) == State.ACTIVE


def test_a_model_may_leave_apart_what_does_not_belong_together_and_is_not_asked_again(
    bench: Bench,
) -> None:
    bench.keep(ROSES[0])
    bench.keep(ROSES[1])
    model = ScriptedModel(lambda prompt: {"abort": True})

    assert run(bench, model)["aborted"] == 1
    assert run(bench, model)["aborted"] == 0
    assert len(model.prompts) == 1
    assert len(bench.live()) == 2


BAD = {
    "a number is dropped": "Clara grows roses in her garden, waters them with rain.",
    "a number is altered": "Clara grows 13 roses in her garden, waters them with rain.",
    "a name is altered": "Carla grows 12 roses in her garden, waters them with rain.",
    "a name is invented": "Clara and Bob grow 12 roses in the garden, water them with rain.",
    "a negation is invented": "Clara grows 12 roses in her garden, never waters them with rain.",
    "a date is invented": "Clara grows 12 roses in her garden since 2019, waters them with rain.",
    "a unit is invented": "Clara grows 12 kg roses in her garden, waters them with rain.",
    "nothing is said": "",
    "it is too long": "Clara grows 12 roses in her garden and waters the roses with rain. " * 40,
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_what_is_not_proved_is_refused_after_one_repair_and_remembered(
    bench: Bench, content: str
) -> None:
    ids = {bench.keep(ROSES[0]), bench.keep(ROSES[1])}
    model = answering(content)

    counts = run(bench, model)

    assert counts["refused"] == 1
    assert {memory.id for memory in bench.live()} == ids
    assert len(model.prompts) == 2
    assert run(bench, model)["refused"] == 0
    assert len(model.prompts) == 2


def test_a_first_try_is_mended_when_the_model_is_told_what_is_missing(bench: Bench) -> None:
    bench.keep(ROSES[0])
    bench.keep(ROSES[1])
    model = ScriptedModel([{"content": BAD["a number is dropped"]}, all_of_it_of(ROSES)])

    assert run(bench, model)["merged"] == 1
    assert "(12 is missing)" in model.prompts[1]


def all_of_it_of(texts: tuple[str, ...]) -> dict[str, Any]:
    return {"content": " ".join(texts), "category": "no such category", "subject": "Somebody"}


def test_category_and_subject_are_those_of_a_source(bench: Bench) -> None:
    bench.keep(ROSES[0], category="activity", subject="Clara", importance=8)
    bench.keep(ROSES[1], category="knowledge", importance=2)

    run(bench, ScriptedModel([all_of_it_of(ROSES)]))

    (merged,) = bench.live()
    assert (merged.category, merged.subject) == ("activity", "Clara")


def test_nothing_is_merged_across_owners_scopes_speakers_and_subjects(
    bench_of: Callable[..., Bench],
) -> None:
    ana, bob = bench_of("ana"), bench_of("bob")
    bob.keep("Clara prunes the roses in her garden in spring.", scope="shared")
    ana.keep(ROSES[0])
    ana.keep(ROSES[1], scope="shared")
    ana.keep("Clara loves the roses in her garden.", speaker="Melanie")
    ana.keep("Clara sells the roses of her garden.", subject="business")
    ana.keep("Clara counts the roses of her garden.", subject="hobby", speaker="Caroline")
    model = ScriptedModel(all_of_it)

    run(ana, model)

    for prompt in model.prompts:
        subjects = {one["subject"] for one in shown(prompt) if one.get("subject")}
        assert len(subjects) <= 1
    merged = [memory for memory in ana.live() if memory.generation]
    for memory in merged:
        sources = [ana.store.get(id) for id in ana.store.parents(memory.id)]
        assert len({(one.kin, one.scope, one.speaker) for one in sources}) == 1
        assert {(one.kin, one.scope, one.speaker) for one in sources} == {
            (memory.kin, memory.scope, memory.speaker)
        }
    assert len(bob.live()) == len([m for m in ana.live() if m.scope == "shared"])


@pytest.mark.parametrize("fields", [{"pinned": True}, {"archived": True}])
def test_pinned_and_archived_memories_stay_as_they_are(
    bench: Bench, fields: dict[str, Any]
) -> None:
    bench.keep(ROSES[0])
    bench.service.update_memory(bench.keep(ROSES[1]), **fields)
    model = ScriptedModel(all_of_it)

    run(bench, model)

    assert model.prompts == []


def test_the_days_of_what_happened_on_different_days_are_written_down(bench: Bench) -> None:
    event = {"category": "event"}
    bench.keep("Clara planted roses in her garden.", occurred_at="2026-05-08", **event)
    bench.keep("Clara planted tulips in her garden.", occurred_at="2026-05-12", **event)
    model = ScriptedModel(all_of_it)

    run(bench, model)

    (merged,) = bench.live()
    assert merged.occurred_at is None
    assert "roses in her garden (2026-05-08)." in merged.content
    assert "tulips in her garden (2026-05-12)." in merged.content


def test_the_day_they_have_in_common_stays_their_day(bench: Bench) -> None:
    bench.keep("Clara planted roses in her garden.", occurred_at="2026-05-08T10:00")
    bench.keep("Clara planted tulips in her garden.", occurred_at="2026-05-08T18:00")

    run(bench, ScriptedModel(all_of_it))

    (merged,) = bench.live()
    assert merged.occurred_at == datetime(2026, 5, 8, 10, tzinfo=UTC)
    assert "2026" not in merged.content


def test_words_that_depend_on_the_day_keep_memories_of_two_days_apart(bench: Bench) -> None:
    bench.keep("Clara planted roses in her garden yesterday.", occurred_at="2026-05-08")
    bench.keep("Clara planted tulips in her garden yesterday.", occurred_at="2026-05-12")
    model = ScriptedModel(all_of_it)

    run(bench, model)

    assert model.prompts == []


def test_a_merge_that_says_what_a_source_says_keeps_that_source(bench: Bench) -> None:
    whole = bench.keep("Clara grows 12 roses in her garden in Lyon.", importance=2)
    part = bench.keep("Clara grows 12 roses in her garden.", importance=6)

    run(bench, answering("Clara grows 12 roses in her garden in Lyon."))

    (memory,) = bench.live()
    assert (memory.id, memory.importance, memory.generation) == (whole, 6, 0)
    assert bench.store.get(part).superseded_by == whole


def test_an_update_may_give_up_what_an_earlier_memory_said(bench: Bench) -> None:
    bench.keep("Clara lives in Lyon.", occurred_at="2026-01-01")
    bench.keep("Clara lives in Rome now.", occurred_at="2026-03-01")
    old = "Clara lives in Lyon."

    run(bench, answering("Clara lives in Rome now.", superseded=[old]))

    (merged,) = bench.live()
    assert merged.content == "Clara lives in Rome now."


def test_what_was_said_last_is_never_given_up(bench: Bench) -> None:
    bench.keep("Clara lives in Lyon.", occurred_at="2026-01-01")
    bench.keep("Clara lives in Rome now.", occurred_at="2026-03-01")
    new = "Clara lives in Rome now."

    counts = run(bench, answering("Clara lives in Lyon.", superseded=[new]))

    assert counts["refused"] == 1


def test_what_nothing_later_excludes_is_never_given_up(bench: Bench) -> None:
    bench.keep(ROSES[0])
    bench.keep(ROSES[1])

    counts = run(bench, answering(ROSES[1], superseded=[ROSES[0]]))

    assert counts["refused"] == 1


def test_a_run_makes_no_more_than_it_may_and_the_next_goes_on(
    bench_of: Callable[..., Bench],
) -> None:
    bench = bench_of(MEMORY_CONSOLIDATION_MAX_GEN=1, MEMORY_CONSOLIDATION_SIMILARITY=0.7)
    for plant in ("roses", "tulips", "lilies", "violets", "daisies"):
        bench.keep(f"Clara grows {plant} in her garden.")
    model = ScriptedModel(all_of_it)

    first = run(bench, model)

    assert first["merged"] == 1
    assert first["left"] > 0
    assert all(len(shown(prompt)) - 1 <= 3 for prompt in model.prompts)
    assert run(bench, model)["merged"] == 1


def test_consolidation_can_be_switched_off(bench_of: Callable[..., Bench]) -> None:
    bench = bench_of(MEMORY_CONSOLIDATION_MAX_GEN=0)
    bench.keep(ROSES[0])
    bench.keep(ROSES[1])

    assert run(bench, ScriptedModel([])) == {}


def gullible(prompt: str) -> dict[str, Any]:
    """Says yes to everything, and loses a number now and then."""
    told = all_of_it(prompt)
    return {**told, "content": told["content"].replace(" 7 ", " ")}


def test_ten_rounds_converge(bench: Bench) -> None:
    for n, plant in enumerate(("roses", "tulips", "lilies", "violets", "daisies", "ferns")):
        bench.keep(f"Clara grows {n + 5} {plant} in her garden.")
        bench.keep(f"Bob paints {n + 5} {plant} for the kitchen wall.")
    model = ScriptedModel(gullible)
    for _ in range(9):
        run(bench, model)
    before, asked = bench.live(), len(model.prompts)

    counts = run(bench, model)

    assert bench.live() == before
    assert len(model.prompts) == asked
    assert counts["merged"] == counts["refused"] == 0
    said = " ".join(memory.content for memory in before)
    assert all(f" {n + 5} " in said for n in range(6))


def test_a_run_that_left_nothing_over_lets_the_next_look_at_what_is_new_only(
    bench: Bench, clock: Any
) -> None:
    bench.keep(ROSES[0])
    started = clock()
    counts = run(bench, ScriptedModel([]))
    told = {f"consolidate.{what}": count for what, count in counts.items()}
    bench.store.jobs.record(Run(kind="cycle", started_at=started, finished_at=clock(), counts=told))
    clock.advance(hours=1)
    bench.keep(ROSES[1])

    assert run(bench, ScriptedModel(all_of_it))["merged"] == 1


def failing_after(answers: int) -> ScriptedModel:
    """A model that merges whatever it is shown so many times, and then is away."""

    def answer(prompt: str) -> dict[str, Any]:
        if len(model.prompts) > answers:
            raise ModelError("away")
        return all_of_it(prompt)

    model = ScriptedModel(answer)
    return model


def test_a_model_that_is_away_is_told_and_what_was_merged_stays_merged(bench: Bench) -> None:
    for plant in ("roses", "tulips"):
        bench.keep(f"Clara grows {plant} in her garden in Lyon.")
    for car in ("rusty", "noisy"):
        bench.keep(f"Bob repairs an old {car} car.")
    for sea in ("whales", "dolphins"):
        bench.keep(f"Priya studies how {sea} sleep under the water of the ocean.")
    counts: Counter[str] = Counter()
    with pytest.raises(ModelError):
        bench.consolidate(failing_after(1), counts)

    assert [memory.generation for memory in bench.live()].count(1) == 1
    assert (counts["merged"], counts["failed"]) == (1, 2)
    assert counts["left"] > 0


def test_what_was_merged_before_the_model_failed_is_reported(
    home: Path, clock: MovableClock
) -> None:
    near = {"MEMORY_CONSOLIDATION_SIMILARITY": 0.5, "KINMEM_KIN": "ana", "KINMEM_HOME": home}
    settings, cars = load(near), [f"Bob repairs an old {car} car." for car in ("rusty", "noisy")]
    model = failing_after(1)
    store = SqliteStore(home, "ana", clock)
    with Service(
        store,
        embedders(settings),
        settings,
        models=ChatModels(consolidation=model),
        clock=clock,
        resident=False,
    ) as service:
        for text in (*ROSES, *cars):
            service.memorize(text)

        run = service.sleep()

    assert run.problems == ("consolidate: away",)
    assert (run.counts["consolidate.merged"], run.counts["consolidate.failed"]) == (1, 1)


def asked_about_roses(
    bench: Bench, failure: ModelError, rounds: int
) -> tuple[ScriptedModel, Counter[str]]:
    """A model that fails whenever it is asked about roses, and what became of so many runs."""

    def answer(prompt: str) -> dict[str, Any]:
        if any("roses" in one.get("text", "") for one in shown(prompt)):
            raise failure
        return all_of_it(prompt)

    model, counts = ScriptedModel(answer), Counter[str]()
    for _ in range(rounds):
        with suppress(ModelError):
            bench.consolidate(model, counts)
    return model, counts


def test_what_a_model_can_never_answer_is_left_out_until_it_is_another_text(bench: Bench) -> None:
    first = bench.keep(ROSES[0])
    bench.keep(ROSES[1])
    for car in ("rusty", "noisy"):
        bench.keep(f"Bob repairs an old {car} car.")
    broken = Unusable("it broke off")

    model, counts = asked_about_roses(bench, broken, rounds=6)
    assert (counts["failed"], counts["merged"], len(model.prompts)) == (3, 1, 4)
    assert run(bench, model) == {}  # the part is held no longer: nothing is read

    bench.service.update_memory(first, content="Clara grows 14 roses in her garden.")
    bench.service.settle()
    model, counts = asked_about_roses(bench, broken, rounds=6)
    assert counts["failed"] == 3


def test_a_provider_that_is_away_is_asked_again_about_all(bench: Bench) -> None:
    bench.keep(ROSES[0])
    bench.keep(ROSES[1])

    assert asked_about_roses(bench, ModelError("it is away"), rounds=5)[1]["failed"] == 5
    assert run(bench, ScriptedModel(all_of_it))["merged"] == 1


def test_a_full_group_that_is_left_out_does_not_keep_the_others_waiting(
    bench_of: Callable[..., Bench],
) -> None:
    bench = bench_of(MEMORY_CONSOLIDATION_SIMILARITY=0.4)
    for where in ("garden", "yard", "park", "field", "street"):
        bench.keep(f"Clara grows roses in her {where}.")

    model, counts = asked_about_roses(bench, Unusable("it broke off"), rounds=30)

    assert counts["failed"] == len(model.prompts)
    assert run(bench, model) == {}


def test_what_somebody_changes_meanwhile_is_left_alone(bench: Bench) -> None:
    first = bench.keep(ROSES[0])
    bench.keep(ROSES[1])

    def meddling(prompt: str) -> dict[str, Any]:
        bench.service.update_memory(first, importance=9)
        return all_of_it(prompt)

    counts = run(bench, ScriptedModel(meddling))

    assert counts["changed"] == 1
    assert len(bench.live()) == 2
    assert run(bench, ScriptedModel(all_of_it))["merged"] == 1


def test_an_expiry_is_never_lost(bench: Bench) -> None:
    bench.keep(ROSES[0], expires_at=bench.clock() + timedelta(days=3))
    bench.keep(ROSES[1])
    model = ScriptedModel(all_of_it)

    run(bench, model)

    assert model.prompts == []


def fuzzed(dice: random.Random) -> Any:
    """What a bad model might say: half a merge, other types, other words, no JSON at all."""
    words = " ".join(ROSES).split()
    text = " ".join(word for word in words if dice.random() > 0.15)
    text = " ".join(
        dice.choice(["not", "13", "Bob", word]) if dice.random() < 0.1 else word
        for word in text.split()
    )
    told: dict[str, Any] = {
        "abort": dice.choice([False, False, False, True, "no", None, 7]),
        "content": dice.choice([text, text, text, " ".join(ROSES), None, 12, [text], {}]),
        "category": dice.choice(["fact", "", None, "DROP TABLE", 3]),
        "subject": dice.choice([None, "Clara", "x" * 5000, 4]),
        "importance": dice.choice([5, -1, 1e400, "high", None]),
        "superseded": dice.choice([[], [], [ROSES[0]], list(ROSES), "all", [None]]),
    }
    for name in list(told):
        if dice.random() < 0.1:
            del told[name]
    return dice.choice([told, told, told, json.dumps(told)[: dice.randint(0, 90)], [], "no idea"])


@pytest.mark.parametrize("part", range(4))
def test_whatever_a_model_says_no_memory_is_lost(bench_of: Callable[..., Bench], part: int) -> None:
    dice = random.Random(part)
    for n in range(15):
        bench = bench_of(f"kin{part}{n}")
        ids = [bench.keep(text) for text in ROSES]
        with suppress(ModelError):
            run(bench, ScriptedModel(lambda prompt: fuzzed(dice)))

        live = bench.live()
        if {memory.id for memory in live} != set(ids):
            (merged,) = live
            assert {bench.store.get(id).superseded_by for id in ids} <= {merged.id, None}
            kept = merged.content if merged.id not in ids else "12 Clara rain garden"
            assert all(word in kept for word in ("12", "Clara"))
            assert not {"13", "Bob", "not"} & set(kept.split())
        bench.service.close()


BACKUP = (
    "The nightly backup of the billing database runs at 02:00.",
    "The nightly backup of the billing database takes 40 minutes.",
    "The billing database's nightly backup goes to the S3 bucket kin-backups.",
)
CLARA = "Clara grows {} in her garden."


@pytest.fixture
def calibrated(bench_of: Callable[..., Bench]) -> Bench:
    """Asks where the built-in embedder says that memories may belong together."""
    return bench_of(MEMORY_CONSOLIDATION_SIMILARITY=None)


def test_three_sentences_about_one_thing_are_asked_about_by_default(calibrated: Bench) -> None:
    for text in BACKUP:
        calibrated.keep(text)
    whole = (
        "The nightly backup of the billing database runs at 02:00, takes 40 minutes and goes to"
        " the S3 bucket kin-backups."
    )

    assert run(calibrated, answering(whole))["merged"] == 1
    assert [memory.content for memory in calibrated.live()] == [whole]


def test_only_another_number_date_or_name_is_nobodys_question(calibrated: Bench) -> None:
    for number in range(100, 130):
        calibrated.keep(f"Ticket {number} of the Falcon project was closed by Ben on 7 May.")
    model = ScriptedModel(lambda prompt: {"abort": True})

    run(calibrated, model)

    assert model.prompts == []


def test_eight_nights_repeat_no_call_and_come_to_an_end(
    bench_of: Callable[..., Bench], clock: MovableClock
) -> None:
    bench = bench_of(MEMORY_CONSOLIDATION_MAX_GEN=1)
    for plant in "roses tulips lilies violets daisies ferns mint basil sage thyme".split():
        bench.keep(CLARA.format(plant))
    model = ScriptedModel(lambda prompt: {"abort": True})
    asked = []

    for _ in range(8):
        before = len(model.prompts)
        run(bench, model)
        asked.append(len(model.prompts) - before)
        clock.advance(days=1)

    told = [frozenset(one["text"] for one in shown(prompt)) for prompt in model.prompts]
    assert len(set(told)) == len(told)
    assert max(asked) <= 6  # for each merge that a run may make
    assert sum(asked) <= 10
    assert asked[-4:] == [0, 0, 0, 0]


def test_the_calls_of_a_day_are_bounded_whatever_comes_of_them(
    bench_of: Callable[..., Bench], clock: MovableClock
) -> None:
    bench = bench_of(MEMORY_CONSOLIDATION_MAX_GEN=1)
    model = ScriptedModel(lambda prompt: {"content": "Nobody says anything."})
    for person in "Clara Dora Emma Fiona Greta Hanna Ida Jana Klara Lena".split():
        bench.keep(f"{person} grows 12 roses at home.", subject=person)
        bench.keep(f"{person} waters the roses at home.", subject=person)

    for _ in range(3):
        run(bench, model)
    assert len(model.prompts) == 6
    clock.advance(days=1)
    run(bench, model)

    assert len(model.prompts) == 12


def test_a_model_is_told_who_said_it_when_and_what_day_it_is(
    bench: Bench, clock: MovableClock
) -> None:
    for text in ROSES:
        bench.keep(text, speaker="Melanie", occurred_at="2026-03-01")
    model = ScriptedModel(lambda prompt: {"abort": True})

    run(bench, model)

    assert f"{clock():%Y-%m-%d}" in model.prompts[0]
    assert {(one["speaker"], one["at"]) for one in shown(model.prompts[0])} == {
        ("Melanie", "2026-03-01")
    }
