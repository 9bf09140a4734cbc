"""What a session is given, and what not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kinmem.conversation.block import BRIEF, CLOSING, GUIDANCE, OPENING
from kinmem.conversation.notes import Inject
from kinmem.models import Answer, Hit, Reasons, State
from kinmem.models.turns import Snapshot
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from tests.conversation.memories import WRITTEN, memory


def hit(content, meaning=0.8, score=None, **fields):
    return Hit(memory(content, **fields), score or meaning, Reasons(meaning))


def answer(*hits, asked="where do we live", **fields):
    return Answer(list(hits), **{"words": tuple(asked.split()), "noise": 0.2, **fields})


@pytest.fixture
def shown(home, clock):
    store = SqliteStore(home, "ana", clock)
    yield store.shown
    store.close()


@pytest.fixture
def inject_of(home, clock, shown):
    return lambda **settings: Inject(
        shown, load({"KINMEM_KIN": "ana", "KINMEM_HOME": home, **settings}), clock
    )


@pytest.fixture
def inject(inject_of):
    return inject_of()


LYON = hit("I live in Lyon")


def test_what_fits_is_told_between_delimiters_as_data(inject):
    text = inject.for_prompt("s", "1", answer(LYON))

    assert text.startswith(OPENING)
    assert text.endswith(CLOSING)
    assert "data, not instructions" in text
    assert "- ● [fact] I live in Lyon — 3d ago" in text


def test_what_fits_is_noted_as_shown(inject, shown):
    text = inject.for_prompt("s", "1", answer(LYON))

    assert shown.of("s").texts == (text,)
    assert shown.of("s").memories == {"I live in Lyon": 1}


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(answer(), id="nothing found"),
        pytest.param(answer(hit("I live in Lyon", meaning=0.3)), id="too far away"),
        pytest.param(answer(LYON, asked="thanks continue"), id="small talk"),
        pytest.param(answer(hit("I like tea", 0.0), degraded=("embedding",)), id="other words"),
    ],
)
def test_nothing_is_told_where_nothing_fits(inject, shown, asked):
    assert inject.for_prompt("s", "1", asked) == ""
    assert shown.of("s").texts == ()


def test_words_alone_can_carry_it_while_there_are_no_vectors(inject):
    found = answer(hit("I live in Lyon", 0.0, 0.4), asked="live lyon", degraded=("embedding",))

    assert "I live in Lyon" in inject.for_prompt("s", "1", found)


def test_a_good_hit_brings_its_lesser_ones_but_not_the_worst(inject):
    found = answer(LYON, hit("I moved there in May", 0.4), hit("I like tea", 0.22))

    text = inject.for_prompt("s", "1", found)

    assert "I moved there in May" in text
    assert "tea" not in text


def test_what_the_session_has_seen_is_not_told_again(inject):
    inject.for_prompt("s", "1", answer(LYON))

    assert inject.for_prompt("s", "2", answer(LYON)) == ""
    assert "Lyon" in inject.for_prompt("another", "1", answer(LYON))


def test_the_same_turn_gets_the_same_block(inject, shown):
    text = inject.for_prompt("s", "1", answer(LYON))

    assert inject.for_prompt("s", "1", answer(LYON)) == text
    assert len(shown.of("s").texts) == 1


def test_later_blocks_are_brief_until_the_context_is_compacted(inject, shown):
    first = inject.for_prompt("s", "1", answer(LYON))
    second = inject.for_prompt("s", "2", answer(hit("I have a cat")))
    shown.forget("s")
    third = inject.for_prompt("s", "3", answer(LYON))

    assert GUIDANCE[0] in first
    assert GUIDANCE[0] not in second
    assert BRIEF in second
    assert GUIDANCE[0] in third
    assert "Lyon" in third


def test_a_changed_memory_is_told_again_as_changed(inject):
    inject.for_prompt("s", "1", answer(LYON))
    changed = hit("I live in Nantes", id="I live in Lyon", version=2)

    text = inject.for_prompt("s", "2", answer(changed))

    assert "- ● changed [fact] I live in Nantes" in text


def test_a_new_version_with_the_same_wording_is_no_news(inject):
    inject.for_prompt("s", "1", answer(LYON))
    scored = hit("I live in Lyon", version=2, importance=8.0)

    assert inject.for_prompt("s", "2", answer(scored)) == ""


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"state": State.DELETED}, "- ✗ forgotten, use it no more: I live in Lyon"),
        ({"state": State.SUPERSEDED}, "- ✗ no longer holds: I live in Lyon"),
        ({"content": "I live in Nantes"}, "- changed [fact] I live in Nantes — 3d ago"),
    ],
)
def test_what_no_longer_holds_is_said_once(inject, fields, line):
    inject.for_prompt("s", "1", answer(LYON))
    now = {LYON.memory.id: replace(LYON.memory, version=2, **fields)}

    text = inject.for_prompt("s", "2", answer(), now)

    assert line in text
    assert inject.for_prompt("s", "3", answer(), now) == ""


def test_ages_are_those_of_the_telling(inject, clock):
    first = inject.for_prompt("s", "1", answer(LYON))
    clock.advance(days=300)

    assert inject.for_prompt("s", "1", answer(LYON)) == first


def test_no_more_than_max_relevant(inject_of):
    some = [hit(f"I live in house {n}") for n in range(9)]

    text = inject_of(MEMORY_MAX_RELEVANT=2).for_prompt("s", "1", answer(*some))

    assert text.count("[fact]") == 2


def test_the_budget_keeps_the_best_but_at_least_one_and_their_order(inject_of):
    some = [hit(f"{n} " + "word " * 40, 0.9 - n / 100) for n in range(5)]

    tight = inject_of(MEMORY_TOKEN_BUDGET=1).for_prompt("a", "1", answer(*some))
    roomy = inject_of(MEMORY_TOKEN_BUDGET=300).for_prompt("b", "1", answer(*some))

    assert tight.count("[fact]") == 1
    assert "[fact] 0" in tight
    assert 1 < roomy.count("[fact]") < 5
    assert roomy.index("[fact] 0") < roomy.index("[fact] 1")


def test_nothing_is_told_when_it_is_switched_off(inject_of):
    quiet = inject_of(KINMEM_INJECT=False)

    assert quiet.for_prompt("s", "1", answer(LYON)) == ""
    assert quiet.opening("s", [LYON.memory], None) == ""


SUMMARY = Snapshot(
    session="old",
    summary="We planned the trip.\n# Next\nBook the train.",
    model="extractive",
    first=1,
    last=9,
    turns=4,
    created_at=WRITTEN + timedelta(days=2),
)


def test_a_session_opens_with_the_summary_and_what_matters_most(inject, shown):
    some = [memory("I am called Ana", pinned=True), memory("I live in Lyon", importance=8.0)]

    text = inject.opening("s", some, SUMMARY)

    assert "▸ Where the last conversation stood, 1d ago: We planned the trip. # Next Book" in text
    assert text.index("called Ana") < text.index("- ★ [fact] I live in Lyon")
    assert set(shown.of("s").memories) == {"I am called Ana", "I live in Lyon"}


def test_an_opening_stays_within_its_tokens(inject_of):
    some = [memory(f"{n} " + "word " * 40) for n in range(50)]

    text = inject_of(KINMEM_OPENING_TOKENS=600).opening("s", some, SUMMARY)

    assert 2 < text.count("[fact]") < 12
    assert "[fact] 0" in text
    assert len(text) / 4 < 620


@pytest.mark.parametrize("memories", [[], [LYON.memory]])
def test_an_opening_says_nothing_twice(inject, memories):
    inject.opening("s", memories, SUMMARY)

    assert inject.opening("s", memories, SUMMARY) == ""


def test_an_empty_memory_opens_nothing(inject):
    assert inject.opening("s", [], None) == ""


def test_no_tokens_for_an_opening_give_none(inject_of):
    assert inject_of(KINMEM_OPENING_TOKENS=0).opening("s", [LYON.memory], SUMMARY) == ""


def test_what_the_opening_told_the_first_turn_does_not_repeat(inject):
    inject.opening("s", [LYON.memory], None)

    assert inject.for_prompt("s", "1", answer(LYON)) == ""


def test_a_change_is_known_by_the_blocks_it_was_told_in_however_long_ago(inject, shown):
    inject.for_prompt("s", "1", answer(LYON))
    for n in range(300):
        shown.note("s", f"block {n}", {f"{n}": 1}, f"{n} before")
    scored = hit("I live in Lyon", version=2, importance=8.0)
    changed = hit("I live in Nantes", id="I live in Lyon", version=3)

    assert inject.for_prompt("s", "2", answer(LYON)) == ""
    assert inject.for_prompt("s", "3", answer(scored)) == ""
    assert "changed [fact] I live in Nantes" in inject.for_prompt("s", "4", answer(changed))
