"""Stage 1b: a web page becomes Markdown, without what a reader of the page does not read."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kinmem.documents.styles import Rules, hides
from kinmem.errors import Unreadable

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

UNREAD = frozenset(
    """script style noscript template head nav footer aside menu form button select option textarea
    svg math canvas iframe object embed audio video map dialog""".split()
)
"""Programs, forms, pictures, and the ways to other pages."""
UNREAD_ROLES = frozenset("navigation menu menubar search banner contentinfo complementary".split())
BLOCKS = frozenset(
    """address article blockquote body dd div dl dt fieldset figcaption figure header hr html main
    ol p section summary table tbody thead tfoot ul details caption center""".split()
)
TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]{0,40})([^<>]*)")
VOID = frozenset(
    """area base br col embed hr img input link meta param source track wbr li p td tr th dt
    dd""".split()
)
"""Elements that nothing needs to close."""
MOST_DEPTH, MOST_ATTRIBUTES = 2_000, 1_000
SPACE = re.compile(r"\s+")
ENDS = re.compile(r"[ \t]+\n")
BLANKS = re.compile(r"[ \t]*\n[ \t]*(?:\n[ \t]*)+")


def read_html(source: str, what: str) -> tuple[str, str, str]:
    """(text, title, description) of a page. Raises Unreadable for one that is built to hang."""
    _check(source, what)
    from selectolax.lexbor import LexborHTMLParser  # late: a server starts without it

    page = LexborHTMLParser(source)
    title, meta = page.css_first("title"), page.css_first('meta[name="description" i]')
    told = meta.attributes.get("content") if meta is not None else None
    text = "".join(_told(page.body, _rules(page))) if page.body is not None else ""
    text = BLANKS.sub("\n\n", ENDS.sub("\n", text)).strip()
    return text, _line(title.text() if title is not None else ""), _line(told or "")


def _rules(page: "LexborHTMLParser") -> Rules:
    css = "\n".join(one.text() for one in page.css("style"))
    return Rules(css, others=page.css_first('link[rel~="stylesheet" i]') is not None)


def _check(source: str, what: str) -> None:
    """Parsers take time by the square of the depth, and of the attributes of one tag."""
    depth = 0
    for found in TAG.finditer(source):
        depth += -1 if found[1] else found[2].lower() not in VOID
        depth = max(depth, 0)
        if depth > MOST_DEPTH:
            raise Unreadable(what, f"its tags are nested more than {MOST_DEPTH:,} deep")
        if len(found[3]) > MOST_ATTRIBUTES and len(found[3].split()) > MOST_ATTRIBUTES:
            raise Unreadable(what, f"a tag has more than {MOST_ATTRIBUTES:,} attributes")


def _line(text: str) -> str:
    return SPACE.sub(" ", text).strip()


def _told(body: "LexborNode", rules: Rules) -> Iterator[str]:
    """The text of what is seen, with Markdown's marks. No recursion: pages nest without limit."""
    node: LexborNode | None = body
    fenced = 0
    looks = [rules.page]
    while node is not None:
        if node.is_text_node:
            said = node.text_content or ""
            if looks[-1].is_seen:
                yield said if fenced else SPACE.sub(" ", said)
        elif node.is_element_node and not _is_unread(node):
            style = rules.of(node.tag or "", node.attributes)
            if node is body or not hides(style):  # a program may show all of a page at last
                fenced += node.tag == "pre"
                yield _opening(node.tag or "", node)
                if node.child is not None:
                    looks.append(looks[-1].with_style(style) if style else looks[-1])
                    node = node.child
                    continue
                yield _closing(node.tag or "")
                fenced -= node.tag == "pre"
        while node is not None and node is not body and node.next is None:
            node = node.parent
            if node is None or node.mem_id == body.mem_id:
                return
            looks.pop()
            yield _closing(node.tag or "")
            fenced -= node.tag == "pre"
        if node is None or node.mem_id == body.mem_id:
            return
        node = node.next


def _is_unread(node: "LexborNode") -> bool:
    if node.tag in UNREAD:
        return True
    told = node.attributes
    return bool(told) and (
        "hidden" in told
        or (told.get("aria-hidden") or "").lower() == "true"
        or (told.get("role") or "").lower() in UNREAD_ROLES
    )


def _opening(tag: str, node: "LexborNode") -> str:
    match tag:
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            return f"\n\n{'#' * int(tag[1])} "
        case "li":
            return "\n- "
        case "pre":
            return "\n\n```\n"
        case "br":
            return "\n"
        case "tr":
            return "\n| "
        case _ if tag in BLOCKS:
            return "\n\n"
    return ""


def _closing(tag: str) -> str:
    match tag:
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            return "\n\n"
        case "pre":
            return "\n```\n\n"
        case "td" | "th":
            return " | "
        case _ if tag in BLOCKS:
            return "\n\n"
    return ""
