"""Texts one below the other, so that none poses as another's. Pure."""

import re
import unicodedata

from kinmem.models import ROLES
from kinmem.turns import Message

# Everything that str.splitlines or a model takes for the end of a line.
LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
DELIMITER = re.compile(r"(?:<|&lt;|\\u003c|＜)(?=\s{0,3}[/\\]{0,2}\s{0,3}kinmem)", re.IGNORECASE)
NOT_A_NAME = ROLES | {"human", "developer"}
LONGEST_NAME = 80


def inert(text: str) -> str:
    """The text with its further lines indented and our delimiters broken."""
    return LINE_END.sub("\n  ", without_delimiters(text))


def without_delimiters(text: str) -> str:
    """As it was, but `<kinmem-notes>` and its like open and close nothing."""
    return DELIMITER.sub("‹", text)


def who(message: Message) -> str:
    """A person's name unless it poses as a role, else the role; a tool's beside the role."""
    if message.role == "tool":
        return f"tool {_name(message.tool or '')}".strip()
    name = _name(message.speaker or "")
    return message.role if not name or name.casefold() in NOT_A_NAME else name


def _name(text: str) -> str:
    """On one line, without what is not seen and what could begin or end the part before a text."""
    seen = "".join(c for c in text if unicodedata.category(c)[0] != "C" or c in "\n\t")
    return " ".join(re.sub(r"[:：<>\[\]#`]", " ", seen).split())[:LONGEST_NAME]
