"""What a reader of a page does not see is not read: that is where orders to a model are hidden."""

import pytest

from kinmem.documents.document import Given
from kinmem.documents.read import read
from tests.growth import assert_linear
from tests.tables import each

SIGHT = "The ferry leaves at noon."
PAGE = (
    "<!doctype html><html><head>{head}</head>"
    "<body><p>Welcome.</p>{body}<p>Goodbye.</p></body></html>"
)


def text_of(body: str, head: str = "") -> str:
    return read(Given(data=PAGE.format(body=body, head=head), name="page.html")).text


@each(
    "style",
    [
        "display:none",
        "DISPLAY : none !important",
        "display:/* x */none",
        r"d\69splay:none",
        "visibility:hidden",
        "opacity:0.0",
        "opacity:.05",
        "font-size:0",
        "font-size:1px",
        "font:0/0 a",
        "color:transparent",
        "color:rgba(0,0,0,0)",
        "color:#fff",
        "color:white;background:#ffffff",
        "background:rgb(1, 2, 3);color:#010203",
        "color:#fefefe",
        "position:absolute;left:-9999px",
        "position:fixed;right:-200vw",
        "text-indent:-9999px",
        "margin-left:-5000px",
        "position:absolute;clip:rect(0,0,0,0)",
        "clip-path:inset(100%)",
        "height:0;overflow:hidden",
        "transform:scale(0)",
    ],
)
def test_what_its_own_style_hides_is_not_read(style: str) -> None:
    assert text_of(f'<div style="{style}">Nobody sees it.</div>') == "Welcome.\n\nGoodbye."


@each(
    ("head", "body"),
    [
        pytest.param("", "<p hidden>{}</p>", id="hidden"),
        pytest.param("", "<p aria-hidden='true'>{}</p>", id="aria-hidden"),
        pytest.param("", "<template>{}</template>", id="template"),
        pytest.param("", "<noscript>{}</noscript>", id="noscript"),
        pytest.param("", "<!-- {} -->", id="comment"),
        pytest.param("", "<div style='color:white'><p>{}</p></div>", id="colour of what is around"),
        pytest.param("", "<font color=white>{}</font>", id="font"),
        pytest.param(
            "",
            "<div bgcolor=#000><p style='color:black'>{}</p></div>",
            id="ground of what is around",
        ),
        pytest.param("<style>.h {{display:none}}</style>", "<p class='x h'>{}</p>", id="a class"),
        pytest.param("<style>b,#a{{opacity:0}}</style>", "<p id=a>{}</p>", id="an id"),
        pytest.param("<style>small{{font-size:0}}</style>", "<small>{}</small>", id="a tag"),
        pytest.param("<style>p.z{{opacity:0}}</style>", "<p class=z>{}</p>", id="tag and class"),
        pytest.param(
            "<style>.z{{display:none}} p{{display:block}}</style>",
            "<p class=z>{}</p>",
            id="a class counts more than a tag",
        ),
        pytest.param(
            "<style>@import url(x); body{{background:#000}}</style>",
            "<p style='color:#000'>{}</p>",
            id="ground of the page",
        ),
    ],
)
def test_what_a_page_hides_is_not_read(head: str, body: str) -> None:
    assert text_of(body.format("Nobody sees it."), head.format()) == "Welcome.\n\nGoodbye."


@each(
    ("head", "body"),
    [
        pytest.param("", "<p style='color:#fff;background:#000'>{}</p>", id="white on black"),
        pytest.param(
            "",
            "<div style='background:url(a.png)'><p style='color:#fff'>{}</p></div>",
            id="picture",
        ),
        pytest.param("<link rel=stylesheet href=a>", "<p style='color:#fff'>{}</p>", id="fetched"),
        pytest.param(
            "<style>html{{background:#111}}</style>", "<p style='color:#fff'>{}</p>", id="dark page"
        ),
        pytest.param(
            "<style>.x .y{{background:#000}}</style>", "<p style='color:#fff'>{}</p>", id="unknown"
        ),
        pytest.param(
            "<style>@media print{{.a{{color:red}} .p{{display:none}}}}</style>",
            "<p class=p>{}</p>",
            id="hidden in print",
        ),
        pytest.param("<style>.y:hover{{display:none}}</style>", "<p class=y>{}</p>", id="hover"),
        pytest.param(
            "<style>.a{{display:none}}.a{{display:block}}</style>", "<p class=a>{}</p>", id="later"
        ),
        pytest.param("", "<p style='margin-left:-10px;opacity:0.5'>{}</p>", id="slightly"),
        pytest.param("", "<p style='font-size:0.9em'>{}</p>", id="small"),
        pytest.param("<style>body{{opacity:0}}</style>", "<p>{}</p>", id="shown by a program"),
    ],
)
def test_what_is_seen_is_read(head: str, body: str) -> None:
    assert SIGHT in text_of(body.format(SIGHT), head.format())


@pytest.mark.parametrize(
    "css",
    [
        "@" * 400_000,
        "a" * 400_000,
        "{" * 400_000,
        "@a{b{" * 100_000,
        "/*" * 200_000,
        f".a{{width:{'1' * 400_000}}}",
        ".a{" + "\\" * 400_000 + "}",
    ],
)
def test_odd_styles_are_read_in_time(css: str) -> None:
    def read(length: int) -> None:
        page = text_of(f"<p class=a>{SIGHT}</p>", f"<style>{css[:length]}</style>")
        assert SIGHT in page

    assert_linear(read, len(css))


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_signs_that_nobody_sees_are_in_no_kind_of_text(name: str) -> None:
    tagged = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    document = read(Given(data=f"Pay\u200bment \u202eis due{tagged} in\u2060 May.", name=name))

    assert document.text == "Payment is due in May."
