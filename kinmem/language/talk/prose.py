"""What of a message is its writer's own prose: no code, logs, quotations, tables, pasted text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kinmem.language.lexicon import either, pattern
from kinmem.language.talk.statements import Statement, in_json, statements, unkept
from kinmem.language.talk.wording import IMPERATIVES
from kinmem.text import late

FENCED = late(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
LINK = late(r"(?i)<?(?:https?://|www\.)\S+>?")
QUOTED = late(r"\s*(?:>|\|.*\|\s*$)")
PASTE_FOLLOWS = late(rf"(?i)\b(?:{either('paste_follows')})\b[^\n]{{0,120}}:\s*$")
LONGEST_ANNOUNCEMENT = 160
"""Characters, from its first word to the colon and some more."""
SELF = late(rf"(?i)\b(?=[eijmnouwy])(?:{either('of_oneself')})\b|[我咱]")
LONG_PARAGRAPH = 600
"""Characters; that much without a word about oneself is a document, not talk."""

LOG = late(rf"\s*(?:{pattern('pasted', 'log')})")
CODE = late(rf"\s*(?:{pattern('pasted', 'code')})|.*[{{}};]\s*$")
FIELD = late(rf"(?i)[\s*]*(?:{pattern('pasted', 'field')})[\s*]*[:：][\s*]*\S")
"""A line at the head of a mail, with the field's name as mail programs write it."""
ADDRESS = late(r"\w@\w")
WROTE = late(rf"(?i)(?:{pattern('pasted', 'wrote')})\s?[:：]\s*$")
"""How a line ends that mail programs put before what is answered: "On 3 Nov 2026 Lena wrote:"."""
LONGEST_LINE_BEFORE = 300
"""Characters of that line, with two names and addresses."""
DIGIT = late(r"\d")
GREETING = late(rf"(?i)\s*(?:{pattern('pasted', 'greeting')})\s*$")
"""A line that greets, and holds nothing else."""
CLOSING = late(rf"(?i)\s*(?:{pattern('pasted', 'closing')})[,!.，！。]?\s*$")
"""A line that closes a letter, before its writer's name."""
LONGEST_SIGNATURE = 4
"""Lines behind it: a name, a title, a company, a number."""
REQUESTS = "|".join([either("wishes", "requests", "orders"), *sorted(IMPERATIVES)])
INSTRUCTS = late(rf"(?i)(?:{REQUESTS})\b|请|帮我")
"""Where a paragraph begins so, its writer turns to the assistant."""
MARKUP = late(r"(?m)^[^\S\n]*(?:[-*•+]|\d{1,2}[.)]|#+)\s+|\*\*|__(?=\w)|(?<=\w)__")
"""List marks, headings and emphasis."""
HEAD = 8
"""Lines at the head of a mail that are looked at."""
SYMBOLS = late(r"[{}()\[\]<>=;|\\/_*&^%$#@~`+:]")
MOST_SYMBOLS = 0.12
"""Share of a line; prose with a path and a bracket stays below."""


def own_places(text: str) -> str:
    """The text with line feeds in place of what its writer has put in from elsewhere.

    It is as long as before, so that a place in it is the same place in the text.
    """
    kept: list[str] = []
    in_mail = in_paste = False
    lines = FENCED.sub(_blank, text).split("\n")
    last = _last_paragraph(lines)
    letters = _letters(lines)
    for at, line in enumerate(lines):
        in_mail = in_mail or _begins_mail(lines, at)
        if at == last and INSTRUCTS.match(line.lstrip()):
            in_mail = False
        pasted = in_mail or in_paste or at in letters
        foreign = pasted or QUOTED.match(line) or _is_technical(line) or _is_document(line)
        in_paste = in_paste or _announces_paste(line)
        kept.append("\n" * len(line) if foreign else line)
    return "\n".join(kept)


def _announces_paste(line: str) -> bool:
    line = line.rstrip()
    return line.endswith(":") and PASTE_FOLLOWS.search(line[-LONGEST_ANNOUNCEMENT:]) is not None


def _last_paragraph(lines: Sequence[str]) -> int:
    """The line that begins what follows the last blank line; 0 without one."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return next((at for at in range(end, 0, -1) if not lines[at - 1].strip()), 0)


def _blank(match: re.Match[str]) -> str:
    return "\n" * len(match[0])


def _begins_mail(lines: Sequence[str], at: int) -> bool:
    """Whether a mail is pasted from this line on: its head has two fields at least, one with an
    address, or the subject and a person. Where to fly from and to, and when, has neither; notes
    have a subject and a date."""
    if _answers_mail(lines[at]):
        return True
    fields = list(takewhile(bool, map(FIELD.match, lines[at : at + HEAD])))
    found = [one for one in fields if one]
    if len(found) < 2:
        return False
    return any(ADDRESS.search(one.string) for one in found) or all(
        any(one[name] for one in found) for name in ("subject", "person")
    )


def _letters(lines: Sequence[str]) -> frozenset[int]:
    """The lines of letters that are pasted without a head: from a greeting that something stands
    before to the names behind what closes it. One's own message begins with its greeting."""
    found: set[int] = set()
    begin: int | None = None
    for at, line in enumerate(lines):
        if GREETING.match(line) and begin is None and any(map(str.strip, lines[:at])):
            begin = at
        elif begin is not None and CLOSING.match(line):
            signed = takewhile(str.strip, lines[at + 1 : at + 1 + LONGEST_SIGNATURE])
            found.update(range(begin, at + 1 + sum(1 for _ in signed)))
            begin = None
    return frozenset(found)


def _answers_mail(line: str) -> bool:
    """Whether a mail program says here who has written what follows; nobody does so with "me"."""
    if len(line) > LONGEST_LINE_BEFORE or not (wrote := WROTE.search(line)):
        return False
    return DIGIT.search(line, 0, wrote.start()) is not None and SELF.search(line) is None


def _is_technical(line: str) -> bool:
    line = LINK.sub("", line.strip())
    if not line:
        return False
    if LOG.match(line) or CODE.match(line):
        return True
    return len(SYMBOLS.findall(line)) > max(2, MOST_SYMBOLS * len(line))


def _is_document(paragraph: str) -> bool:
    return len(paragraph) > LONG_PARAGRAPH and SELF.search(paragraph) is None


@dataclass(frozen=True, slots=True)
class Prose:
    """A message, and what of it is its writer's own."""

    message: str

    @property
    def own(self) -> str:
        """It without what its writer has put in from elsewhere, and without markup; line breaks
        stay."""
        return MARKUP.sub("", own_places(self.message)).strip()

    @property
    def statements(self) -> list[Statement]:
        """The sentences of its writer, as they stand in the message."""
        return statements(own_places(self.message))

    @property
    def unkept(self) -> frozenset[int]:
        """Which of these its writer asks not to keep, by their numbers."""
        return unkept(self.statements, self.message)

    @property
    def kept(self) -> str:
        """The message without the sentences that are not to be kept."""
        message, parts = self.message, statements(self.message)
        left_out = sorted(unkept(parts, message))
        for at in reversed(left_out):
            message = message[: parts[at].start] + message[parts[at].end :]
        return message.strip() if left_out else message

    @property
    def of_program(self) -> list[tuple[str, str | None]] | None:
        """Its texts, each with its `type`, if the message is JSON; else None."""
        return in_json(self.message)
