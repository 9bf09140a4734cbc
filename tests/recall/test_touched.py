"""Of a long prompt only words that can be alike are compared, and the longest are sought."""

from itertools import product

from kinmem.recall.working_prompt import MOST_WORDS, _alike, likeness, sought_in

STEMS = ("lab", "label", "printer", "maschine", "schleif", "werk", "statt", "kai", "a1", "tür")
WORDS = [
    *STEMS,
    *(f"{one}{other}" for one, other in product(STEMS, STEMS)),
    *(f"{stem}{ending}" for stem in STEMS for ending in ("s", "n", "ing", "ungen", "ed")),
]


def test_comparing_few_finds_what_comparing_all_finds() -> None:
    sought, told = WORDS[::2], WORDS[::3]

    every = {
        word: {other: value for other in told if (value := likeness(word, other))}
        for word in sought
    }

    assert _alike(sought, told) == {word: found for word, found in every.items() if found}
    assert {value for found in every.values() for value in found.values()} == {0.7, 0.9, 1.0}


def test_a_very_long_prompt_is_sought_by_its_longest_words_in_their_order() -> None:
    long = [f"word{number:04}" for number in range(MOST_WORDS)]

    assert sought_in(" ".join(["tea", *long, "cup"])) == long
    assert sought_in(" ".join(["tea", *long[2:], "cup"])) == ["tea", *long[2:], "cup"]
