"""Files that are built to hang or to fill the memory are refused or read.

What hangs after all is ended by the limit that pytest has for every test.
"""

import pytest

from kinmem.documents.cut import chunked
from kinmem.documents.document import Document, Given
from kinmem.documents.read import read
from kinmem.errors import Unreadable
from kinmem.settings import load
from kinmem.store.sql.document_rows import joined
from kinmem.wiring.open_memory import embedders
from tests.documents.files import pdf
from tests.sweeps import rounds

LONGER = rounds(4, 1)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param(
            Given(data=pdf([""], extra=b" " * 100_000_000), name="bomb.pdf"),
            "none of its 1 pages has text",
            id="a PDF stream of 100 MB in 100 KB",
        ),
        pytest.param(
            Given(data="<div>" * 200_000 + "words" + "</div>" * 200_000, name="deep.html"),
            "nested more than 2,000 deep",
            id="a page of 200,000 levels",
        ),
        pytest.param(
            Given(data=f"<p {' '.join(f'a{n}=b' for n in range(100_000))}>words", name="wide.html"),
            "a tag has more than 1,000 attributes",
            id="a tag of 100,000 attributes",
        ),
        pytest.param(Given(data="<!-- " * 300_000, name="a.md"), "no text", id="open comments"),
    ],
)
def test_what_is_built_to_hang_is_refused(given: Given, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(given)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 25_000 * LONGER, id="one word"),
        pytest.param("word " * 5_000 * LONGER, id="one line"),
        pytest.param("乌龙茶很好" * 2_500 * LONGER, id="no spaces"),
        pytest.param("שלום עולם " * 1_250 * LONGER, id="right to left"),
        pytest.param(
            "\n".join("`" * (3 + n % 60) + "x" for n in range(750 * LONGER)), id="open fences"
        ),
        pytest.param("# " + "[" * 150 + "\n" + "[a](" * 5_000 * LONGER, id="open brackets"),
        pytest.param("a\n" * 5_000 * LONGER, id="short lines"),
    ],
)
def test_odd_texts_are_cut_without_a_loss(text: str) -> None:
    embedder = embedders(load(environment={}))[0]

    chunks = chunked(Document(kind="markdown", text=text, size=0), embedder)

    assert joined(zip(chunks.places, chunks.texts, strict=True)) == text
