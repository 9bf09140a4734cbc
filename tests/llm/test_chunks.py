import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinmem.llm.base import OVERLAP, SIZE, chunks_of
from kinmem.wiring.open_memory import embedders


@pytest.fixture(scope="module")
def embedder():
    from kinmem.settings import load

    return embedders(load(environment={}))[0]


def test_a_short_text_is_its_own_only_part(embedder):
    assert chunks_of("The office closes at six.", embedder) == ("The office closes at six.",)


def test_parts_end_with_sentences_and_repeat_a_short_one(embedder):
    sentence = "This sentence has a length of about sixty characters, yes. "
    parts = chunks_of(sentence * 40, embedder)

    assert all(part.startswith("This") and part.endswith("yes.") for part in parts)
    assert sum(part.count("yes.") for part in parts) == 40 + len(parts) - 1


def test_a_long_sentence_is_not_repeated(embedder):
    sentence = "word " * 30 + "ends here. "
    assert len(sentence) > OVERLAP

    parts = chunks_of(sentence * 10, embedder)

    assert sum(part.count("ends here.") for part in parts) == 10


@settings(max_examples=100, deadline=None)
@given(text=st.text(min_size=1, max_size=3000).filter(str.strip))
def test_every_part_is_read_whole_and_nothing_but_space_is_lost(embedder, text):
    parts = chunks_of(text, embedder)

    assert len("".join("".join(parts).split())) >= len("".join(text.split()))
    for part in parts:
        assert part.strip()
        assert len(part) <= SIZE
        assert embedder.pieces(part, SIZE) == [part]
