"""A summary by rules takes the sentences that say most of a text."""

import pytest

from kinmem.language.salience import summary
from tests.growth import assert_linear

REPORT = """# Move of the Lyon office

Good morning everybody. It was a long week.

The lease of the Lyon office ends on 30 June 2026. We looked at four buildings in the city.
Two of them had no lift. It was raining on both days. The owner of the third one did not answer.
Therefore we decided to move the Lyon office to the fourth building, on Quai Perrache, in May 2026.
The building on Quai Perrache has forty desks and costs 9,000 euros a month.
What colour will the walls be? Nobody knows yet.

| desk | price |
"""


def test_the_sentences_that_matter_are_taken_in_their_order() -> None:
    told = summary(REPORT, 2, 400, "Move of the Lyon office")

    assert "decided to move the Lyon office" in told
    assert "long week" not in told
    assert "?" not in told
    assert told.count(".") == 2 or told.endswith("month.")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The office moves to Porto in May. Ana packs the books.", id="two sentences"),
        pytest.param("", id="nothing"),
        pytest.param("# Only\n\n## Headings\n\n```\ncode here\n```", id="no sentences"),
    ],
)
def test_what_is_short_needs_none(text: str) -> None:
    assert summary(text, 2, 300) == ""


def test_marks_of_markdown_are_not_told() -> None:
    text = (
        "- **Lyon** has [forty desks](http://x.example/a) in *one* building.\n"
        "- Porto has `twelve` desks and a terrace above the river.\n"
        "- Turin has thirty desks beside the old station.\n"
    )

    told = summary(text, 2, 300)

    assert not set("*`[]") & set(told)


PAGES = """ACME Harbour Report 2026 Page 1
1 Introduction
The harbour of Lyon was rebuilt in 2024 after the flood, and its cranes were
replaced. Dr. Maria Weber led the works, e.g. the new quay, until
Item Price Count
Crane 400000 3
Rope 20 12
December 2025. <rdf:Description rdf:about="uuid:1"><dc:format>application/pdf</dc:format>

ACME Harbour Report 2026 Page 2
The total cost was 4.2 million euros, which is <b>less</b> than the council had planned. It was paid
by the region. The next inspection is due in March 2027 and will be carried out by the port
authority. function() { return x; }

ACME Harbour Report 2026 Page 3
The old warehouse stays closed until its roof is mended by the owner
"""
SAID = (
    "The harbour of Lyon was rebuilt in 2024 after the flood, and its cranes were replaced.",
    "The total cost was 4.2 million euros, which is less than the council had planned.",
    "The next inspection is due in March 2027 and will be carried out by the port authority.",
)


def test_of_pages_whole_sentences_are_told_and_nothing_else() -> None:
    """No markup, no heads of pages, no rows of tables, no code, no half sentences."""
    assert summary(PAGES, 3, 500) == " ".join(SAID)


def test_a_sentence_for_which_there_is_no_room_ends_with_a_word() -> None:
    told = summary(PAGES, 2, 60)

    assert told.endswith("…")
    assert any(one.startswith(f"{told[:-1]} ") for one in SAID)


def test_rows_are_told_where_there_is_no_prose() -> None:
    rows = "\n".join(f"Crane number {n} weighs {n} tons in all" for n in ("one", "two", "three"))

    assert summary(rows.replace("\n", "\n\n"), 2, 300).startswith("Crane number")


@pytest.mark.parametrize("unit", ["a. ", "x " * 30 + "e.g. ", "<a ", "Line\n", '."'])
def test_it_takes_no_longer_for_odd_texts(unit: str) -> None:
    assert_linear(lambda count: summary(unit * count, 3, 500), 200_000 // len(unit))


@pytest.mark.parametrize("most", [40, 80, 200])
def test_it_keeps_within_its_room(most: int) -> None:
    assert 0 < len(summary(REPORT, 3, most)) <= most


def test_what_is_said_twice_is_told_once() -> None:
    text = "The harbour opens at nine on Mondays. " * 5 + (
        "Boats with cargo pay forty euros a day. Fishermen of the village pay nothing at all."
    )

    assert summary(text, 3, 400).count("opens at nine") == 1


def test_of_a_long_text_all_of_it_is_looked_at_in_time() -> None:
    plain = "The train carried oranges and a letter to the mayor of the town. " * 20_000
    end = "The strike of the dockers ended the trade in oranges, and the strike was long. " * 4_000

    told = summary(plain + end, 2, 400)

    assert "strike" in told and "train" in told
