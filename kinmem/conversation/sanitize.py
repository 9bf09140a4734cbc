"""Makes texts harmless before they are shown: no markup, no role, no delimiter of ours.

`disarmed` writes a memory as one line of a block, and loses what it takes out. `inert` is for
answers that a model may write back: it escapes single characters, and `restored` reads them again.
`indented` separates a text of several lines from what follows it.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from kinmem.models import ROLES, Memory
from kinmem.models.turns import Message
from kinmem.text import late

# Characters of one memory in a block; recall shows all of it.
LONGEST = 600
# A joiner has a meaning inside words of some scripts (Persian) and between emoji.
_JOINERS = "\u200c\u200d"
_EMOJI_STYLE = "\ufe0f"
# Unicode's Default_Ignorable_Code_Point, as far as it is not in category Cf.
_UNSEEN = late(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
_LINK = late(r"!?\[([^\[\]\n]{0,300})\]\(\s{0,5}([^()\s]{1,500})[^()\n]{0,200}\)")
# A link whose address contains brackets, a reference, or its definition.
_LINKS = late(r"\]([(\[:])")
_TAG_LIKE = late(r"<(?=[\w!?|<:$%&]|\s{0,3}/)")
# What our own lines consist of, and what model templates mark roles with.
_OURS = late(
    r"\[(?=\s{0,3}/?(?:inst|system|sys|user|assistant|context\s{0,3}:|shared\s+by\b|tool\b))", re.I
)
_NAME = late(r"kinmem[\s_-]{0,3}notes", re.I)
_FENCE = late(r"`{2,}|~{2,}")
_SHAPES = late("[★●◎○▸✗]")
_BEGINS = late(r"(?:#{1,6}\s+|>+\s+|[=-]{3,}\s*)+")


# Everything that str.splitlines or a model reads as the end of a line.
LINE_END = late("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
DELIMITER = late(r"(?:<|&lt;|\\u003c|＜)(?=\s{0,3}[/\\]{0,2}\s{0,3}kinmem)", re.IGNORECASE)
NOT_A_NAME = ROLES | {"human", "developer"}
LONGEST_NAME = 80


def disarmed(text: str, longest: int = LONGEST) -> str:
    """Return one line of at most `longest` characters that cannot open, close or begin anything.

    Invisible characters, bidirectional controls included, are removed. `<` before a name and `[`
    before a role are replaced by look-alikes. Images and links keep their text, with a broken
    address; references lead nowhere. Fences, headings and our own signs are removed. An address
    written out is kept: it hides nothing, and users store addresses.
    """
    line = " ".join(_visible(text[: 8 * longest]).split())
    line = line.replace("＜", "<").replace("＞", ">").replace("［", "[").replace("］", "]")
    line = _LINK.sub(_broken, line)
    if _TAG_LIKE.search(line):
        line = _TAG_LIKE.sub("‹", line).replace(">", "›").replace("<", "‹")
    line = _NAME.sub("kinmem's notes", _OURS.sub("(", line))
    line = _FENCE.sub("'", _SHAPES.sub("", line)).replace("-->", "->")
    line = _LINKS.sub(r"] \1", line)
    if begun := _BEGINS.match(line):
        line = line[begun.end() :]
    return _cut(" ".join(line.split()), longest)


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    kept: list[str] = []
    for at, sign in enumerate(text):
        kind = unicodedata.category(sign)
        if sign == _EMOJI_STYLE:
            kept.append(sign * (at > 0 and _takes_a_style(text[at - 1])))
        elif kind in ("Zl", "Zp", "Cc"):
            kept.append(" ")
        elif kind == "Cf":
            kept.append(sign * (sign in _JOINERS and _joins(text, at)))
        elif kind != "Cs" and not _UNSEEN.match(sign):
            kept.append(sign)
    return "".join(kept)


def _takes_a_style(sign: str) -> bool:
    """Return whether an emoji style may follow: after a heart or the digit of a keycap.

    Elsewhere the selector would only hide something.
    """
    return sign in "#*0123456789" or unicodedata.category(sign) in ("So", "Sk", "Sm", "Po")


def _joins(text: str, at: int) -> bool:
    """Return whether it stands between two characters that are not Latin letters."""
    around = text[at - 1 : at] + text[at + 1 : at + 2]
    return len(around) == 2 and all(ord(sign) > 0x2FF and sign not in _JOINERS for sign in around)


def _broken(link: re.Match[str]) -> str:
    address = link[2].replace("://", "[:]//").replace("javascript:", "javascript[:]")
    return f"{link[1]} ({address})" if link[1] else f"({address})"


def _cut(line: str, longest: int) -> str:
    """Cut at the end of a word, with an ellipsis."""
    if len(line) <= longest:
        return line
    head = line[: longest - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[longest // 2 :] else head).rstrip() + "…"


def indented(text: str) -> str:
    """Indent all lines but the first, and break our delimiters."""
    return LINE_END.sub("\n  ", without_delimiters(text))


def without_delimiters(text: str) -> str:
    """Break `<kinmem-notes>` and the like, so that they open and close nothing."""
    return DELIMITER.sub("‹", text)


def who(message: Message) -> str:
    """Return the speaker's name unless it poses as a role, else the role; for a tool its name as
    well."""
    if message.role == "tool":
        return f"tool {_name(message.tool or '')}".strip()
    name = _name(message.speaker or "")
    return message.role if not name or name.casefold() in NOT_A_NAME else name


def _name(text: str) -> str:
    """Put the name on one line, without invisible characters and those that could end or begin a
    text."""
    seen = "".join(c for c in text if unicodedata.category(c)[0] != "C" or c in "\n\t")
    return " ".join(re.sub(r"[:：<>\[\]#`]", " ", seen).split())[:LONGEST_NAME]


Changes = TypeVar("Changes", bound=Mapping[str, Any])
# What a reader does not see, or what turns a line around. Visible signs of category Cf, as the
# Arabic number sign, are none of them.
_HIDDEN = late(
    "[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\ufff0-\ufff8\U000e0000-\U000e0fff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
# Flags of England, Scotland and Wales, the only ones that are spelled with tag characters.
_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)
_DIRECTION_MARKS = "\u061c\u200e\u200f"
_STYLES = "\ufe0e\ufe0f"
_FRAMES = (
    r"system(?:[-_ ]\w{1,20})?|user|assistant|human|developer|model|tools?(?:_\w{1,20})?"
    r"|function(?:_\w{1,20})?s?|antml|instructions?|important|invoke|thinking|im_start|im_end|bos|eos"
    r"|(?:start|end)_of_turn|img|iframe|script|object|embed|svg"
)
_TAG = r"(?:<|＜|&lt;|\\u003c)(?=\s{{0,3}}[/\\]{{0,2}}\s{{0,3}}(?:(?:{})\b|/s>|[|｜]|<?/?sys>))"
_BRACKET = r"(?<!\w)\[(?=\s{0,3}/?(?:inst|system|sys|user|assistant)\s{0,3}\])"
_ADDRESS = r"<?(?:[a-z][a-z0-9+.-]{0,20}:|//|\\\\|www\.|[{$])"
_LIVE_LINK = rf"(?<=\])\((?=\s{{0,5}}{_ADDRESS})|(?<=\]):(?=\s{{0,5}}{_ADDRESS})"
_LIVE_PARTS = f"{_BRACKET}|{_LIVE_LINK}"
_LIVE = late(f"{_TAG.format(_FRAMES + '|kinmem')}|{_LIVE_PARTS}", re.I)
_LIVE_BESIDE_OURS = late(f"{_TAG.format(_FRAMES)}|{_LIVE_PARTS}", re.I)
_ROLE_LINE = late(
    r"([\n\r][ \t>*_#-]{0,8}(?:system|user|assistant|human|developer|tool|instructions?)"
    r"[ \t*_]{0,3}):",
    re.I,
)
# An indented member with one word as its value: settings and code, no talk.
_MEMBER = late(r"[\n\r][ \t]{2,}[a-z]+:[ \t]{1,3}[^\s:]{1,60}[ \t]{0,3}(?=[\n\r]|$)")
ESCAPED = "⟨U+"
_ESCAPE = late(r"⟨U\+([0-9A-F]{4,6})⟩")


def inert(text: str) -> str:
    """Return the text with an escape such as ⟨U+202E⟩ for each character that hides something or
    turns text around, and for the first of what poses as a frame, a role, an image or a link.

    Code, plain addresses, emoji and the marks that scripts need stay as they are.
    """
    if text.isascii() and not any(sign in text for sign in "<[:&\\") and text.isprintable():
        return text
    return _ROLE_LINE.sub(_escape_role, _LIVE.sub(_escape_first, revealed(text)))


def inert_conversation(text: str) -> str:
    """Return the same for a conversation that kinmem has laid out: roles at the beginning of a line
    are its own, and so are its delimiters, since `indented` breaks all others."""
    return _LIVE_BESIDE_OURS.sub(_escape_first, revealed(text))


def restored(changes: Changes, memory: Memory) -> Changes:
    """Return what a model writes of a memory that it has read, with the characters that `inert` has
    escaped in it. Other escapes stay as they are written."""
    parts = (memory.content, memory.subject, memory.source_context, *memory.tags)
    stored = "".join(filter(None, parts))

    def character(escape: re.Match[str]) -> str:
        code = int(escape[1], 16)
        sign = chr(code) if code < 0x110000 else ""
        return sign if sign and sign in stored and escape[0] not in stored else escape[0]

    def back(value: Any) -> Any:
        if isinstance(value, str):
            return _ESCAPE.sub(character, value)
        return tuple(map(back, value)) if isinstance(value, tuple) else value

    return cast(Changes, {name: back(value) for name, value in changes.items()})


def inert_values(value: Any) -> Any:
    """Return an answer with all its texts made inert, the names of members included."""
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, dict):
        return {inert(key): inert_values(member) for key, member in value.items()}
    return [inert_values(item) for item in value] if isinstance(value, list) else value


def revealed(text: str) -> str:
    """Return the text with an escape such as ⟨U+202E⟩ for each character that hides something or
    turns text around."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _HIDDEN.sub(lambda found: _escape_hidden(found, text), text)


def _escape_hidden(found: re.Match[str], text: str) -> str:
    return found[0] if _is_needed(text, found.start()) else _escape(found[0])


def _escape_role(found: re.Match[str]) -> str:
    is_member = _MEMBER.match(found.string, found.start())
    return found[0] if is_member else f"{found[1]}{_escape(':')}"


def _escape_first(found: re.Match[str]) -> str:
    return _escape(found[0][0]) + found[0][1:]


def _escape(sign: str) -> str:
    return f"⟨U+{ord(sign):04X}⟩"


def _is_needed(text: str, at: int) -> bool:
    """Return whether a script or an emoji needs the unseen character there to look right."""
    sign, before = text[at], text[at - 1] if at else ""
    if sign in _JOINERS:
        return _joins(text, at)
    if sign in _STYLES:
        return bool(before) and _takes_a_style(before)
    if sign in _DIRECTION_MARKS:
        return _is_beside_right_to_left(text, at)
    if "\u180b" <= sign <= "\u180f":
        return "\u1820" <= before <= "\u18aa"
    if "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef":
        return "\u3400" <= before <= "\u9fff" or "\U00020000" <= before <= "\U0003ffff"
    begins = text.rfind("\U0001f3f4", max(0, at - 6), at)
    return begins >= 0 and text.startswith(_FLAGS, begins)


def _is_beside_right_to_left(text: str, at: int) -> bool:
    """Return whether a letter that is written from right to left is near, and no other mark."""
    around = text[max(0, at - 4) : at] + text[at + 1 : at + 5]
    marked = any(sign in _DIRECTION_MARKS for sign in around)
    return not marked and any(
        unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in around
    )
