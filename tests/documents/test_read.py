"""Files of every kind become a text with a title."""

import pytest

from kinmem.documents.document import Given
from kinmem.documents.read import read, title_of
from kinmem.errors import TooLarge, Unreadable
from kinmem.models.draft import TEXT_BYTES
from tests.documents.files import HANDBOOK, PAGE, pdf
from tests.tables import each

GERMAN = "Die Straße führt über die Brücke.\nDanach wird es ruhig."


@each(
    ("data", "encoding"),
    [
        pytest.param(GERMAN.encode(), None, id="UTF-8"),
        pytest.param(GERMAN.encode("utf-8-sig"), "utf-8-sig", id="UTF-8 with its mark"),
        pytest.param(GERMAN.encode("utf-16"), "utf-16", id="UTF-16 with its mark"),
        pytest.param(GERMAN.encode("utf-16-le"), "utf-16-le", id="UTF-16 that does not say so"),
        pytest.param(GERMAN.encode("utf-16-be"), "utf-16-be", id="big-endian UTF-16"),
        pytest.param(GERMAN.encode("utf-32"), "utf-32", id="UTF-32"),
        pytest.param(GERMAN.encode("latin-1"), "cp1252", id="Latin-1"),
        pytest.param(GERMAN.replace("\n", "\r\n").encode(), None, id="lines of Windows"),
    ],
)
def test_text_is_read_in_whatever_encoding(data: bytes, encoding: str | None) -> None:
    document = read(Given(data=data, name="weg.txt"))

    assert document.text == GERMAN
    assert document.notes.get("encoding") == encoding


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        pytest.param("a.md", b"plain words here", "markdown", id="by its ending"),
        pytest.param("a", b"# Title\n\nwords", "markdown", id="headings without an ending"),
        pytest.param("a.txt", b"# not a heading\nwords", "text", id="a text with a hash"),
        pytest.param("a.php", b"<!DOCTYPE html><p>words</p>", "html", id="a page by its beginning"),
        pytest.param("a.bin", pdf(["words"]), "pdf", id="a PDF by its beginning"),
    ],
)
def test_what_a_file_is_its_content_says_then_its_name(name: str, data: bytes, kind: str) -> None:
    assert read(Given(data=data, name=name)).kind == kind


def test_of_a_page_only_what_a_reader_sees_is_kept() -> None:
    document = read(Given(data=PAGE.encode(), name="hours.html"))

    assert document.title == "Opening hours - Museum"
    assert document.description == "When the museum is open."
    assert document.text == (
        "# Opening hours\n\n"
        "The museum opens at nine on weekdays.\n\n"
        "## Holidays\n\n"
        "- Closed on New Year's Day\n"
        "- Open on Easter Monday\n\n"
        "| Ticket | Price |\n| Adult | 12 euros |\n\n"
        "```\nring  twice\nat the gate\n```"
    )


def test_a_pdf_is_read_page_by_page() -> None:
    data = pdf(["Lyon has forty desks."], [], ["Porto has twelve desks and a ter-", "race."])

    document = read(Given(data=data, name="offices.pdf"))

    assert document.text.split() == (
        "Lyon has forty desks. Porto has twelve desks and a terrace.".split()
    )
    assert document.text[document.pages[2] :].startswith("Porto has")
    assert document.notes == {"pages": 3, "pages_without_text": 1}


@each(
    ("data", "name", "why"),
    [
        pytest.param(b"", "empty.txt", "there is no text in it", id="empty"),
        pytest.param(b" \n\t\n", "blank.md", "there is no text in it", id="blank"),
        pytest.param("\u200b\u2060".encode(), "unseen.txt", "no text in it", id="unseen signs"),
        pytest.param(b"\x7fELF\x02\x01\x01" + bytes(60), "a.out", "it is no text", id="a program"),
        pytest.param(b"PK\x03\x04" + bytes(60), "a.docx", "office file", id="an office file"),
        pytest.param(pdf(["words"], encrypted=True), "a.pdf", "encrypted", id="an encrypted PDF"),
        pytest.param(pdf(["words"])[:200], "a.pdf", "it is damaged", id="a PDF cut short"),
        pytest.param(pdf([], []), "a.pdf", "none of its 2 pages has text", id="a scanned PDF"),
        pytest.param(b"%PDF-1.4\nnothing", "a.pdf", "it is damaged", id="hardly a PDF"),
        pytest.param(b"\xff\xfeabc", "a.txt", "begins like utf-16 but", id="damaged UTF-16"),
        pytest.param(b"<html><script>x</script></html>", "a.html", "no text", id="an empty page"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(data: bytes, name: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why) as refused:
        read(Given(data=data, name=name))

    assert name in str(refused.value)
    assert refused.value.code == "unreadable"


def test_a_text_over_the_limit_is_refused() -> None:
    with pytest.raises(TooLarge, match=r"long\.txt has 8,388,609 bytes, the limit is 8,388,608"):
        read(Given(data=b"x" * (TEXT_BYTES + 1), name="long.txt"))


def test_signs_that_nobody_sees_are_taken_out() -> None:
    document = read(Given(data="pass\u200bword \u202egnol\u202c \U000e0041tag\x00", name="a.txt"))

    assert document.text == "password gnol tag"


def test_letters_and_joiners_of_other_scripts_stay() -> None:
    text = "שלום עולם. می\u200cخواهم. 👩\u200d💻 乌龙茶。"

    assert read(Given(data=text, name="a.txt")).text == text


@pytest.mark.parametrize(
    ("given", "title"),
    [
        pytest.param(Given(data="words", name="a.md", title=" My\ntitle "), "My title", id="given"),
        pytest.param(Given(data=HANDBOOK, name="h.md"), "Team handbook", id="front matter"),
        pytest.param(
            Given(data="# The *big* `plan`\nx", name="a.md"), "The big plan", id="heading"
        ),
        pytest.param(Given(data="Plan\n====\nx", name="a.md"), "Plan", id="underlined heading"),
        pytest.param(Given(data=pdf(["x"], title="A plan"), name="a.pdf"), "A plan", id="of a PDF"),
        pytest.param(Given(data="words", name="notes.txt"), "notes.txt", id="name of the file"),
        pytest.param(Given(data="first line\nsecond"), "first line", id="first line"),
    ],
)
def test_a_title_is_found(given: Given, title: str) -> None:
    assert title_of(read(given), given) == title
