"""Makes texts harmless before they are shown: no markup, no role, no delimiter of ours.

`disarmed` writes a memory as one line of a block; `indented` separates a text of several lines from
what follows it.
"""

import re
import unicodedata

from kinmem.models import ROLES
from kinmem.models.turns import Message

# Characters of one memory in a block; recall shows all of it.
LONGEST = 600
# A joiner has a meaning inside words of some scripts (Persian) and between emoji.
_JOINERS = "\u200c\u200d"
_EMOJI_STYLE = "\ufe0f"
# Unicode's Default_Ignorable_Code_Point, as far as it is not in category Cf.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(\s{0,5}([^()\s]{1,500})[^()\n]{0,200}\)")
# A link whose address contains brackets, a reference, or its definition.
_LINKS = re.compile(r"\]([(\[:])")
_TAG_LIKE = re.compile(r"<(?=[\w!?|<:$%&]|\s{0,3}/)")
# What our own lines consist of, and what model templates mark roles with.
_OURS = re.compile(
    r"\[(?=\s{0,3}/?(?:inst|system|sys|user|assistant|context\s{0,3}:|shared\s+by\b|tool\b))", re.I
)
_NAME = re.compile(r"kinmem[\s_-]{0,3}notes", re.I)
_FENCE = re.compile(r"`{2,}|~{2,}")
_SHAPES = re.compile("[★●◎○▸✗]")
_BEGINS = re.compile(r"(?:#{1,6}\s+|>+\s+|[=-]{3,}\s*)+")


# Everything that str.splitlines or a model reads as the end of a line.
LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
DELIMITER = re.compile(r"(?:<|&lt;|\\u003c|＜)(?=\s{0,3}[/\\]{0,2}\s{0,3}kinmem)", re.IGNORECASE)
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
