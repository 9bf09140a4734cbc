"""One text told by another."""

from hypothesis import given
from hypothesis import strategies as st

from kinmem.store.sql.document_rows import applied, delta

SENTENCES = st.lists(
    st.sampled_from(["Tea is hot. ", "Ice is cold.\n", "x", "Ö" * 600]), max_size=20
)


@given(base=SENTENCES.map("".join), text=SENTENCES.map("".join))
def test_the_text_comes_back(base: str, text: str) -> None:
    assert applied(base, delta(base, text)) == text


def test_a_small_change_takes_little_room() -> None:
    base = " ".join(f"The house number {n} is old." for n in range(20_000))
    text = base.replace("number 77 ", "number 78 ").replace("number 15000 ", "")

    assert len(delta(base, text)) < 500
