from hypothesis import given, settings
from hypothesis import strategies as st

from kinmem.learn.chunk import SIZE, chunks_of


class Whole:
    """An embedder with a boundless window."""

    def pieces(self, text, limit):
        return [text[at : at + limit] for at in range(0, len(text), limit)]


def test_a_short_text_is_its_own_only_part():
    assert chunks_of("The office closes at six.", Whole()) == ("The office closes at six.",)


def test_parts_end_with_sentences_and_repeat_a_short_one():
    sentence = "This sentence has a length of about sixty characters, yes. "
    parts = chunks_of(sentence * 40, Whole())

    assert all(part.endswith("yes.") for part in parts)
    assert all(len(part) <= SIZE for part in parts)
    assert all(part.startswith("This") for part in parts)
    assert sum(part.count("yes.") for part in parts) == 40 + len(parts) - 1


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1, max_size=4000))
def test_every_word_is_in_some_part(text):
    parts = chunks_of(text, Whole())

    joined = "".join("".join(parts).split())
    assert len(joined) >= len("".join(text.split()))
    assert all(part.strip() for part in parts)
