"""When two memories are linked, how, and how much that weighs."""

from typing import Any

import pytest

from kinmem.errors import InvalidInput
from kinmem.models.record import INVERSE, RELATIONS, LinkChange, linked
from kinmem.upkeep.link import Evidence, Scale, cited, confidence, proposed, weight
from kinmem.validation import checked_links
from tests.tables import each

SCALE = Scale.calibrated(noise=0.2, near=0.85)


def test_the_seeds_example_comes_out() -> None:
    assert weight(1, 1, 0.167) == pytest.approx(0.75, abs=1e-3)
    assert confidence(1, 1, 0.167) == pytest.approx(0.80)


@pytest.mark.parametrize(
    ("tags", "entities", "cosine", "weighs", "sure"),
    [
        pytest.param(0, 0, 0.0, 0.0, 0.0, id="nothing"),
        pytest.param(2, 1, 0.0, 1.0, 0.9, id="two tags and an entity fill it"),
        pytest.param(5, 5, 1.0, 1.0, 1.0 - 0.5**5 * 0.4**5 * 0.5, id="never above one"),
        pytest.param(0, 0, 1.0, 0.3, 0.5, id="similarity alone"),
        pytest.param(1, 0, -0.4, 0.3, 0.5, id="opposite directions take nothing away"),
    ],
)
def test_weight_and_confidence(
    tags: int, entities: int, cosine: float, weighs: float, sure: float
) -> None:
    assert weight(tags, entities, cosine) == pytest.approx(weighs)
    assert confidence(tags, entities, cosine) == pytest.approx(sure)


@each(
    ("found", "relation"),
    [
        pytest.param(Evidence(), None, id="nothing"),
        pytest.param(Evidence(tags=frozenset({"budget"})), None, id="one tag alone"),
        pytest.param(Evidence(tags=frozenset({"budget"}), cosine=0.5), None, id="and similar"),
        pytest.param(
            Evidence(tags=frozenset({"budget"}), chosen=frozenset({"budget"})),
            "related_to",
            id="one that a person gave to both",
        ),
        pytest.param(Evidence(tags=frozenset({"a", "b"})), None, id="two words in common"),
        pytest.param(Evidence(entities=frozenset({"ben"})), "related_to", id="an entity"),
        pytest.param(Evidence(cosine=0.7), None, id="a little similar"),
        pytest.param(Evidence(cosine=0.9), "similar_to", id="very similar"),
        pytest.param(Evidence(is_next=True), "precedes", id="said after it, stored from it"),
        pytest.param(Evidence(is_part=True, is_next=True), "part_of", id="of one document"),
        pytest.param(Evidence(is_authors=True), "authored_by", id="its author"),
        pytest.param(Evidence(is_cited=True, cosine=0.9), "references", id="names its id"),
    ],
)
def test_what_is_proposed(found: Evidence, relation: str | None) -> None:
    link = proposed("m2", "m1", found, SCALE)

    assert (link.relation if link else None) == relation


def test_a_link_keeps_what_speaks_for_it() -> None:
    found = Evidence(
        tags=frozenset({"b", "a"}), entities=frozenset({"ben"}), cosine=0.4567, chunk=3
    )
    link = proposed("m1", "m2", found, SCALE)

    assert link is not None
    assert link.evidence == {
        "sharedTags": ["a", "b"],
        "sharedEntities": ["ben"],
        "similarity": 0.457,
        "contextChunk": 3,
    }


@each("relation", RELATIONS)
def test_a_link_reads_right_from_both_ends(relation: str) -> None:
    link = linked("m2", "m1", relation)

    assert link.seen_from("m2") == relation
    assert link.seen_from("m1") == INVERSE[relation]
    assert linked("m1", "m2", "precedes") == linked("m2", "m1", "follows")
    assert linked("m1", "m2", "related_to") == linked("m2", "m1", "related_to")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([{"id": "m2", "relation": "part_of"}], [LinkChange("m2", "part_of")]),
        ([{"id": " m2 "}], [LinkChange("m2", "related_to")]),
        (["m2"], [LinkChange("m2", "related_to")]),
        ([{"id": "m2", "relation": None}], [LinkChange("m2", None)]),
        ([], []),
    ],
)
def test_links_as_callers_name_them(values: Any, told: list[LinkChange]) -> None:
    assert checked_links(values, "m1") == told


@each(
    "values",
    [
        "m2",
        {"id": "m2"},
        7,
        [7],
        [{}],
        [{"id": ""}],
        [{"id": 7}],
        [{"id": "m2", "relation": "friend"}],
        [{"id": "m2", "relation": ""}],
        [{"id": "m2", "weight": 1}],
        [{"id": "m1"}],
        [{"id": f"m{n}"} for n in range(2, 103)],
    ],
)
def test_what_is_no_link_is_refused(values: Any) -> None:
    with pytest.raises(InvalidInput):
        checked_links(values, "m1")


def test_ids_in_a_text() -> None:
    text = "See [[m7]] and 01A1FE36-1a97-74e3-9dd5-e42d446ea491, not [x](y) or [[two words]]."

    assert cited(text) == {"m7", "01a1fe36-1a97-74e3-9dd5-e42d446ea491"}
