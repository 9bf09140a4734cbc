"""With what a new statement is compared: the vectors that seek it, and what its message is near."""

from collections.abc import Sequence
from typing import Any

import pytest

from kinmem.language import claim
from kinmem.learn import compare as module
from kinmem.learn.change_chance import Near
from kinmem.learn.compare import LONGEST_CORRECTION, Compare
from kinmem.learn.reconcile import Merge
from kinmem.models import Chunks, Draft, Stored
from kinmem.service import Service
from tests.recall.made import memory


def comparing(service: Service, judge: Any = None) -> Compare:
    store, embedder = service.store, service.components.embedder
    return Compare(store, embedder, service.settings, service.clock, judge)


@pytest.mark.parametrize(("longer", "vectors"), [(0, 2), (1, 1)], ids=["200", "201"])
def test_a_correction_of_200_characters_is_sought_by_what_it_says_now_as_well(
    service: Service, longer: int, vectors: int
) -> None:
    said = "Tom now works at the bakery in Rome, "
    text = said + "x" * (200 + longer - len(said))
    service.components.embedder.warm()
    compare = comparing(service)

    assert claim(text).corrects and LONGEST_CORRECTION == 200
    assert len(compare.vectors_of(text, compare.chunks(text))) == vectors


def test_what_the_message_is_near_counts_for_a_change_beside_the_statement_alone(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Near] = []

    def noted(near: Sequence[Near], message: str | None, relating: object) -> list[None]:
        seen.extend(near)
        return [None] * len(near)

    monkeypatch.setattr(module, "changes", noted)
    service.memorize("I live in a flat in Lyon")
    seen.clear()
    text = "I have moved to a house in Rome. My sister Anna is a surgeon and plays the cello."
    service.record_turn("talk", text, "Good luck there!")
    assert service.settle(60)

    beside = [one for one in seen if "Lyon" in one.earlier]
    assert beside and all(one.cosine != one.of_message for one in beside)


def test_a_merge_has_the_chunks_of_the_text_that_it_leads_to(service: Service) -> None:
    new = memory(content="I live in Rome")
    draft = Draft(new, Chunks(("the chunks of the new one",)))
    compare = comparing(service)

    def texts(content: str, among: Draft | None) -> tuple[str, ...]:
        chunks = compare.merged_chunks(Merge(new, content, "same"), among)
        assert chunks is not None
        return chunks.texts

    assert texts("I live in Rome", draft) == ("the chunks of the new one",)
    assert texts("I live in Rome", None) == ("I live in Rome",)
    assert texts("I live in Lyon, later in Rome", draft) == ("I live in Lyon, later in Rome",)


@pytest.mark.parametrize("status", ["created", "updated"])
def test_who_shares_the_same_text_is_named_where_it_is_stored_all_the_same(
    service: Service, status: Any
) -> None:
    new, theirs = memory("1", "I live in Rome"), memory("2", "I live in Rome", kin="ben")
    outcome = Stored(status, "1", reason="as it was")

    told = comparing(service).with_copies(outcome, new, [(theirs, 0.99)])

    expected = "says the same as ben's 2" if status == "created" else "as it was"
    assert told.reason == expected
