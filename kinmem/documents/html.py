"""Stage 1a: turn a web page into Markdown, without what a reader of the page does not see.

Text hidden by styles is left out if that is plainly declared: in `style` attributes, a few older
attributes, and rules for a tag, a class or an id in the page's own `style` elements. Fetched style
sheets, scripts and other rules are not evaluated.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinmem.errors import Unreadable

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Programs, forms, pictures, and navigation to other pages.
UNREAD = frozenset(
    """script style noscript template head nav footer aside menu form button select option textarea
    svg math canvas iframe object embed audio video map dialog""".split()
)
UNREAD_ROLES = frozenset("navigation menu menubar search banner contentinfo complementary".split())
BLOCKS = frozenset(
    """address article blockquote body dd div dl dt fieldset figcaption figure header hr html main
    ol p section summary table tbody thead tfoot ul details caption center""".split()
)
TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]{0,40})([^<>]*)")
# Elements that need no closing tag.
VOID = frozenset(
    """area base br col embed hr img input link meta param source track wbr li p td tr th dt
    dd""".split()
)
MOST_DEPTH, MOST_ATTRIBUTES = 2_000, 1_000
SPACE = re.compile(r"\s+")
ENDS = re.compile(r"[ \t]+\n")
BLANKS = re.compile(r"[ \t]*\n[ \t]*(?:\n[ \t]*)+")


Style = Mapping[str, str]
# Red, green and blue, 0-255, and opacity, 0-1.
Colour = tuple[float, ...]

# Characters of a page's style elements that are read.
LONGEST = 500_000
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?|\\(.)", re.IGNORECASE)
PLAIN = re.compile(r"([a-z][a-z0-9]*)?(?:([.#])([\w-]+))?")
NUMBER = re.compile(r"(-?\d{0,9}\.?\d{1,9})(px|pt|em|rem|%|ch|vw|vh|)")
CLIPPED = re.compile(r"rect\(\s*[01](?:px)?[\s,]|inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0")
MOVED = re.compile(r"scale[xy]?\(\s*0(?:\.0+)?\s*[,)]|translate[xy]?\([^)]{0,20}-\d{3}")
PLACES = "left right top bottom margin margin-left margin-top margin-right text-indent".split()
# The smallest readable font size, by unit.
LEAST = {"px": 3.0, "pt": 2.5, "em": 0.2, "rem": 0.2, "%": 20.0, "": 3.0}
FAR = {
    "px": -500.0,
    "pt": -400.0,
    "em": -50.0,
    "rem": -50.0,
    "%": -100.0,
    "vw": -100.0,
    "vh": -100.0,
}
NAMES: Mapping[str, Colour] = {
    "white": (255, 255, 255, 1), "black": (0, 0, 0, 1), "transparent": (0, 0, 0, 0),
    "snow": (255, 250, 250, 1), "ivory": (255, 255, 240, 1), "whitesmoke": (245, 245, 245, 1),
    "gray": (128, 128, 128, 1), "grey": (128, 128, 128, 1), "silver": (192, 192, 192, 1),
    "red": (255, 0, 0, 1), "green": (0, 128, 0, 1), "blue": (0, 0, 255, 1),
    "yellow": (255, 255, 0, 1), "navy": (0, 0, 128, 1),
}  # fmt: skip
WHITE = NAMES["white"]
# Largest difference in each part of two colours that is invisible.
NEAR = 12.0
# Largest opacity that is invisible.
FAINT = 0.1


@dataclass(frozen=True, slots=True)
class Look:
    """How text is shown; None: not known."""

    colour: Colour | None
    ground: Colour | None

    def with_style(self, style: Style) -> "Look":
        """Return the look of text inside an element of this style."""
        colour, ground = self.colour, self.ground
        if "color" in style:
            colour = _colour(style["color"])
        told = style.get("background-color") or style.get("background")
        if told and (found := _colour(told)) != NAMES["transparent"]:
            ground = found
        return Look(colour, ground)

    @property
    def is_seen(self) -> bool:
        if self.colour is None:
            return True
        if self.colour[3] <= FAINT:
            return False
        pairs = zip(self.colour[:3], self.ground[:3], strict=True) if self.ground else ()
        return self.ground is None or any(abs(one - other) > NEAR for one, other in pairs)


class Rules:
    """What the page's own style elements declare for tags, classes and ids."""

    def __init__(self, css: str, *, others: bool) -> None:
        """`others` says that there are style sheets elsewhere, which may declare more."""
        self._plain = defaultdict[str, dict[str, str]](dict)
        for heads, said in _plain_rules(COMMENT.sub(" ", css[:LONGEST])):
            style = read_style(said)
            for head in heads.lower().split(","):
                found = PLAIN.fullmatch(head.strip())
                if found and found[0]:
                    self._plain[found[0]] |= style
                others = others or not found and "background" in said
        page = Look(None, None if others else WHITE)
        self.page = page.with_style(self._plain.get("html", {}))
        """How text is shown for which nothing is declared."""

    def of(self, tag: str, attributes: Mapping[str, str | None]) -> Style:
        """Return the style of an element: the more specific a rule, the higher its precedence; the
        element's own style comes first."""
        if not attributes and not self._plain:
            return {}
        style: dict[str, str] = {}
        for head in self._heads(tag, attributes):
            style |= self._plain.get(head, {})
        if said := attributes.get("bgcolor"):
            style["background"] = said.lower()
        if tag == "font" and (said := attributes.get("color")):
            style["color"] = said.lower()
        return style | read_style(attributes.get("style") or "")

    def _heads(self, tag: str, attributes: Mapping[str, str | None]) -> Iterator[str]:
        yield tag
        for mark, name in ((".", "class"), ("#", "id")):
            for one in (attributes.get(name) or "").lower().split():
                yield f"{mark}{one}"
                yield f"{tag}{mark}{one}"


def read_html(source: str, what: str) -> tuple[str, str, str]:
    """Return (text, title, description) of a page.

    Raises Unreadable for a page that is built to hang.
    """
    _check(source, what)
    from selectolax.lexbor import LexborHTMLParser  # late: a server starts without it

    page = LexborHTMLParser(source)
    title, meta = page.css_first("title"), page.css_first('meta[name="description" i]')
    told = meta.attributes.get("content") if meta is not None else None
    text = "".join(_visible_text(page.body, _rules(page))) if page.body is not None else ""
    text = BLANKS.sub("\n\n", ENDS.sub("\n", text)).strip()
    return text, _line(title.text() if title is not None else ""), _line(told or "")


def _rules(page: "LexborHTMLParser") -> Rules:
    css = "\n".join(one.text() for one in page.css("style"))
    return Rules(css, others=page.css_first('link[rel~="stylesheet" i]') is not None)


def _check(source: str, what: str) -> None:
    """Refuse pages on which a parser would hang: its time grows with the square of the depth and of
    the number of attributes of a tag."""
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


def _visible_text(body: "LexborNode", rules: Rules) -> Iterator[str]:
    """Yield the visible text with Markdown marks. No recursion, since pages nest without limit."""
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
            # A script may show a hidden body in the end.
            if node is body or not hides(style):
                fenced += node.tag == "pre"
                yield _opening(node.tag or "")
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


def _opening(tag: str) -> str:
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


def _plain_rules(css: str) -> Iterator[tuple[str, str]]:
    """Yield (selectors, declarations) of the rules that apply unconditionally."""
    depth = 0
    for part in css.split("}"):
        depth += part.count("{")
        head, brace, said = part.rpartition("{")
        if brace and depth == 1:
            yield head.rpartition(";")[2], said
        depth = max(0, depth - 1)


def read_style(said: str) -> dict[str, str]:
    """Return the declarations in lower case; the last one wins for each name."""
    said = ESCAPE.sub(_unescaped, COMMENT.sub("", said)).lower()
    pairs = (one.partition(":") for one in said.split(";"))
    return {
        name.strip(): value.partition("!")[0].strip() for name, _, value in pairs if value.strip()
    }


def hides(style: Style) -> bool:
    """Return whether an element of this style shows nothing of what it contains."""
    size = style.get("font-size") or next(
        iter(style.get("font", "").partition("/")[0].split()[-1:]), ""
    )
    cut_off = "hidden" in style.get("overflow", "") and any(
        _below(style.get(name, ""), 2.0) for name in ("height", "max-height", "width", "max-width")
    )
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or _below(style.get("opacity", ""), FAINT)
        or _is_tiny(size)
        or cut_off
        or any(_is_far(style.get(name, "")) for name in PLACES)
        or CLIPPED.match(style.get("clip", style.get("clip-path", ""))) is not None
        or MOVED.search(style.get("transform", "")) is not None
    )


def _unescaped(found: re.Match[str]) -> str:
    return found[2] or chr(min(int(found[1], 16), 0x10FFFF))


def _below(told: str, least: float) -> bool:
    found = NUMBER.fullmatch(told)
    return found is not None and float(found[1]) <= least


def _is_tiny(told: str) -> bool:
    found = NUMBER.fullmatch(told)
    return found is not None and float(found[1]) < LEAST.get(found[2], 0.1)


def _is_far(told: str) -> bool:
    return any(float(value) <= FAR.get(unit, -500.0) for value, unit in NUMBER.findall(told))


def _colour(told: str) -> Colour | None:
    """Parse a plain colour; None for pictures, gradients and variables."""
    told = told.strip()
    if told in NAMES:
        return NAMES[told]
    if told.startswith("#") and re.fullmatch(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", told):
        digits = told[1:] if len(told) > 5 else "".join(2 * one for one in told[1:])
        parts = [int(digits[at : at + 2], 16) for at in range(0, len(digits), 2)]
        return (*parts[:3], parts[3] / 255 if len(parts) > 3 else 1.0)
    found = re.fullmatch(r"rgba?\(([\d.,/% ]{5,60})\)", told)
    parts_told = re.findall(r"([\d.]+)(%?)", found[1]) if found else []
    if len(parts_told) not in (3, 4):
        return None
    try:
        values = [float(one) / (100 if percent else 1) for one, percent in parts_told]
    except ValueError:
        return None
    return (*values[:3], values[3] if len(values) > 3 else 1.0)
