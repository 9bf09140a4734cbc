"""What of a message is its writer's own prose: no code, logs, quotations, tables, pasted text. And
how a sentence of it is worded: what it states, and how much it tells."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kinmem.language.change.vetoes import is_of_others, is_rule
from kinmem.language.lexicon import either, pattern, word_class
from kinmem.language.salience import INSTRUCTS, PROPER, TIMES
from kinmem.language.talk.statements import (
    ASKED_TO_KEEP,
    HE,
    HEDGE,
    NEVER,
    QUOTATION,
    QUOTED_SHARE,
    SELF,
    Statement,
    in_json,
    statements,
    subject,
    unkept,
)
from kinmem.text import STOP_WORDS, late, words

IMPERATIVES = word_class("imperatives")
EMPTY_WORDS = word_class("empty")
"""Words of praise, comfort and filling: in most small talk, in few answers."""
SENTENCE_VERBS = word_class("sentence_verbs")
"""Without one of these a few words are no sentence."""
FIRST_PERSON = late(rf"(?i)\b(?:{either('first_person')})\b")
SUBJECT = late(r"(?i)\b(?:i|i['’]\w+|we|we['’]\w+|ich|wir|je|j['’]\w+|nous|yo|io|eu)\b")
ADDRESSED = late(rf"(?i)\b(?:{either('second_person')})\b")
ELIDED = late(f"(?i){either('elided')}")
"""A statement about oneself that has lost its "I": "Went to Rome"."""
COURTESY = late(rf"(?i)\b(?:{either('courtesy')})\b")
"""Wisdom and politeness, of which nothing is asked later."""
SMALL_QUESTION = late(rf"(?i)(?:{either('small_questions')})\W*$")
OFFER = late(rf"(?i)(?:{either('offers')})\b")
NUMBER = late(rf"(?i)\d[\d.,:]*|\b(?:{either('number_words')})\b")
TITLE = late(r"[\"“«][^\"”»]{2,60}[\"”»]")
FUNCTION = STOP_WORDS["en"] | {"would", "could", "yeah", "oh", "hey", "hi"}

# Chosen on three LoCoMo conversations (26, 41, 43). Left out one by one, on all five, recall@10
# falls by 4.9 (ME) and 2.7 points (DETAIL); without COURTEOUS 1.5 % more of the text is kept.
ME, COURTEOUS, DETAIL, CONTENT = 0.6, 0.7, 0.7, 0.25
MOST_DETAILS, MOST_CONTENT = 4, 14
SURE = 9.0


@dataclass(frozen=True, slots=True)
class Wording:
    """How a sentence is worded: what it states, of whom it is, and how much it tells."""

    text: str

    @property
    def is_small_question(self) -> bool:
        """Whether it is asked out of politeness: "How are you?"."""
        return SMALL_QUESTION.match(self.text) is not None

    @property
    def is_offer(self) -> bool:
        """Whether an assistant offers to go on: "Would you like more examples?"."""
        return OFFER.match(self.text) is not None

    @property
    def is_quotation(self) -> bool:
        """Whether most of it stands in quotation marks: those are not the speaker's words."""
        quoted = sum(len(found[0]) for found in QUOTATION.finditer(self.text) if " " in found[0])
        return quoted > QUOTED_SHARE * len(self.text)

    @property
    def is_own(self) -> bool:
        """Whether it speaks of the speaker, or of a we that the speaker belongs to."""
        return FIRST_PERSON.search(self.text) is not None or ELIDED.match(self.text) is not None

    @property
    def addresses_somebody(self) -> bool:
        """Whether it has a word for whoever is spoken to."""
        return ADDRESSED.search(self.text) is not None

    @property
    def has_verb(self) -> bool:
        """Whether one of the frequent verbs makes it a sentence."""
        return not SENTENCE_VERBS.isdisjoint(words(self.text))

    @property
    def refers_back(self) -> bool:
        """Whether only what was said before it tells of whom it is: She likes dogs."""
        return HE.match(self.text) is not None

    @property
    def is_instruction(self) -> bool:
        """Whether it asks for something once and for all: "Always show the unit"."""
        return INSTRUCTS.match(self.text) is not None

    @property
    def begins_with_speaker(self) -> bool:
        """Whether one of its first three words says who speaks: I, my, nous."""
        return not SELF.isdisjoint(words(self.text)[:3])

    @property
    def is_rule(self) -> bool:
        """Whether it forbids or orders something for good."""
        return is_rule(self.text)

    @property
    def is_of_others(self) -> bool:
        """Whether it is quoted, or somebody else speaks behind a colon."""
        return is_of_others(self.text)

    @property
    def telling(self) -> float:
        """How much it tells: its own words, names, numbers and times; more about oneself. SURE for
        an instruction; 0 for what leads up to something else or gives an order."""
        text = self.text
        if self.is_instruction:
            return SURE
        found = words(text)
        if not found or text.endswith(":"):
            return 0.0
        if found[0] in IMPERATIVES and not (self.is_own and SUBJECT.search(text)):
            return 0.0
        own = {w for w in found if len(w) > 1 and w not in FUNCTION and w not in EMPTY_WORDS}
        details = sum(len(one.findall(text)) for one in (PROPER, TITLE, NUMBER))
        details += sum(word in TIMES for word in found)
        value = CONTENT * min(len(own), MOST_CONTENT) + DETAIL * min(details, MOST_DETAILS)
        return value + ME * self.is_own - COURTEOUS * bool(COURTESY.search(text))

    @property
    def asks_to_keep(self) -> bool:
        """Whether it begins by asking to keep it, "Remember that"."""
        return ASKED_TO_KEEP.match(self.text) is not None

    @property
    def is_bare_request(self) -> bool:
        """Whether it asks to keep something and does not say what: "Remember that!"."""
        found = ASKED_TO_KEEP.match(self.text)
        return found is not None and NEVER.issuperset(words(self.text[found.end() :]))

    @property
    def request_length(self) -> int:
        """Characters of an opening that asks to keep it, if the statement stands without them; else
        0."""
        found = ASKED_TO_KEEP.match(self.text)
        return found.end() if found and found["before"] else 0

    @property
    def hedge(self) -> int:
        """Characters of the opening that says how sure its writer is, "Apparently"; 0 without."""
        found = HEDGE.match(self.text)
        return found.end() if found else 0

    def subject(self, *, named: bool = True) -> str | None:
        """Of whom or what it is; see statements.subject."""
        return subject(self.text, named=named)


FENCED = late(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
LINK = late(r"(?i)<?(?:https?://|www\.)\S+>?")
QUOTED = late(r"\s*(?:>|\|.*\|\s*$)")
PASTE_FOLLOWS = late(rf"(?i)\b(?:{either('paste_follows')})\b[^\n]{{0,120}}:\s*$")
LONGEST_ANNOUNCEMENT = 160
"""Characters, from its first word to the colon and some more."""
OF_ONESELF = late(rf"(?i)\b(?=[eijmnouwy])(?:{either('of_oneself')})\b|[我咱]")
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
TURNS_TO_ASSISTANT = late(rf"(?i)(?:{REQUESTS})\b|请|帮我")
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
        if at == last and TURNS_TO_ASSISTANT.match(line.lstrip()):
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
    return DIGIT.search(line, 0, wrote.start()) is not None and OF_ONESELF.search(line) is None


def _is_technical(line: str) -> bool:
    line = LINK.sub("", line.strip())
    if not line:
        return False
    if LOG.match(line) or CODE.match(line):
        return True
    return len(SYMBOLS.findall(line)) > max(2, MOST_SYMBOLS * len(line))


def _is_document(paragraph: str) -> bool:
    return len(paragraph) > LONG_PARAGRAPH and OF_ONESELF.search(paragraph) is None


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
