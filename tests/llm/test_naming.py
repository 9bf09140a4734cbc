"""Names out of the judge's chances for pieces of words, and whom that serves."""

from collections.abc import Sequence

import numpy as np
import pytest

from kinmem.errors import ModelError
from kinmem.llm.naming import TAGS, Naming, entities, names_in, words_of
from kinmem.models import Entity
from tests.tables import each


def pieces_of(*parts: str) -> tuple[str, list[tuple[int, int]]]:
    """A text that is made of these pieces, and where they stand; the marks around it as well."""
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    return "".join(parts), [(0, 0), *zip(ends, ends[1:], strict=False), (0, 0)]


def logits(*tags: str) -> np.ndarray:
    rows = np.zeros((len(tags) + 2, len(TAGS)))
    for row, tag in zip(rows[1:], tags, strict=False):
        row[TAGS.index(tag)] = 8
    return rows


def named(parts: Sequence[str], tags: Sequence[str], **bars: float) -> list[tuple[str, str]]:
    text, offsets = pieces_of(*parts)
    found = names_in(text, offsets, logits(*tags), **bars)
    return [(text[start:end], type) for (start, end), type, _ in found]


PERSON, PLACE = ("B-person", "I-person"), ("B-location", "I-location")


def test_pieces_belong_to_words() -> None:
    text, offsets = pieces_of("ask", " gre", "ta", "'", "s", " 我", "住", "在")

    belongs, words = words_of(text, offsets)

    assert belongs == [-1, 0, 1, 1, 2, 3, 4, 5, 6, -1]
    assert [text[start:end] for start, end in words] == ["ask", "greta", "'", "s", "我", "住", "在"]


@each(
    ("parts", "tags", "expected"),
    [
        pytest.param(
            (" ask", " gre", "ta", " now"), ("O", PERSON[0], PERSON[0], "O"),
            [("greta", "person")], id="whole words",
        ),
        pytest.param(
            (" new", " york", ","), (PLACE[0], PLACE[1], PLACE[1]),
            [("new york", "location")], id="no punctuation behind it",
        ),
        pytest.param(
            (" greta", "'", "s", " car"), (PERSON[0], PERSON[1], PERSON[1], "O"),
            [("greta", "person")], id="no genitive",
        ),
        pytest.param(
            (" ana", ",", " ben"), (PERSON[0], "O", PERSON[0]),
            [("ana", "person"), ("ben", "person")], id="two with a comma between them",
        ),
        pytest.param(
            (" new", " york"), (PLACE[0], PLACE[0]),
            [("new york", "location")], id="with nothing between them one",
        ),
        pytest.param(
            (" dr", ".", " ruiz"), (PERSON[0], "O", PERSON[0]),
            [("dr. ruiz", "person")], id="an abbreviation",
        ),
        pytest.param(
            ("我", "住", "苏", "州"), ("O", "O", *PLACE), [("苏州", "location")], id="Chinese"
        ),
        pytest.param((" tea", " please"), ("O", "O"), [], id="nothing"),
    ],
)  # fmt: skip
def test_names_begin_and_end_where_words_do(
    parts: Sequence[str], tags: Sequence[str], expected: list[tuple[str, str]]
) -> None:
    assert named(parts, tags) == expected


def test_what_a_capital_makes_likely_needs_to_be_less_sure() -> None:
    bars = {"sure": 0.9999, "likely": 0.9}

    assert named((" ask", " Greta"), ("O", PERSON[0]), **bars) == [("Greta", "person")]
    assert named((" ask", " greta"), ("O", PERSON[0]), **bars) == []


def test_no_text_has_no_names() -> None:
    assert names_in("", [(0, 0), (0, 0)], logits()) == []


def test_a_project_is_stored_as_something_else() -> None:
    found = entities([("project zephyr", [((0, 14), "project", 0.9)])])

    assert found == (Entity("project zephyr", "other"),)


class Unwell:
    """A judge that was loaded and fails."""

    name = "unwell"
    ready = True

    def names(self, text: str, *, deadline: float | None = None) -> tuple[Entity, ...]:
        raise ModelError("no")


def test_without_the_judge_rules_name() -> None:
    expected = Naming()("I moved to Ulm.")

    assert Entity("Ulm", "location") in expected.entities
    assert Naming(Unwell())("I moved to Ulm.") == expected  # type: ignore[arg-type]
