"""A message cut into the sentences that it consists of, each with its place in the message.

Nothing is reworded: a statement is a slice of what was said. Quotations stay in one piece, however
many sentences they hold, because who says them is told only once. With it stand the openings that
are no part of what is stated, what a person asks not to keep, of whom or what a statement is, and
whom it names: only what is surely a name, since a wrong one misleads later.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from kinmem.language.lexicon import FUNCTION_WORDS, MARKERS, either, word_class
from kinmem.language.same.amounts import NAMED_TIMES
from kinmem.language.sentence_borders import borders, sentences
from kinmem.models import Entity
from kinmem.text import STOP_WORDS, UNSPACED, late, words

LIST_MARK = late(r"(?:[-*•+]|\d{1,2}[.)]|#+)\s+")
QUOTATION = late(
    '"[^"\\n]{3,}?"(?!\\w)|“[^”]{3,}?”|„[^“”]{3,}?[“”]|«[^»]{3,}?»|‘[^’\\n]{12,}?’(?!\\w)'
)
ATTACHED = late(r"\[(?:photo|image|picture|video|attachment|gif|sticker|file)\b[^\]]*\]")
"""What a client puts in place of something shown; not the speaker's words."""
INLINE_CODE = late(r"`[^`\n]+`")
"""A command in a sentence, as people mark it; dots end no sentence in `go test ./... -race`."""
LONGEST = 2000
"""Characters of a sentence; whatever is longer is no talk."""
QUOTED_SHARE = 0.5
LEAST_WORDS = 3
"""Of a text in a program's message; a shorter one is a name or a value."""
ASKED_TO_KEEP = late(
    r"(?i)\W*(?:please |bitte |hey,? |(?:can|could|would|will) you )*"
    rf"(?:(?P<before>(?:{either('asked_to_keep')})[,:]?\s+(?!to\b|me\b)"
    rf"|(?:{either('asked_to_keep_unspaced')})[,，:：]?\s*)|(?:{either('asked_to_keep_whole')})\s+)"
)
"""What stands `before` the statement is taken off: "my dog is called Bello". A German clause behind
"dass" does not stand without it."""
HEDGE = late(rf"(?i)\W*(?:{either('hedge')})[,，:]?\s*(?:dass )?")
"""How somebody tells what they have found to be so: a fact none the less."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a line of a message."""

    text: str
    start: int
    """Where it begins in the message."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def statements(message: str) -> list[Statement]:
    """The sentences in order; what is longer than 2,000 characters is left out."""
    plain = ATTACHED.sub(lambda match: "\n" * len(match[0]), message)
    return [one for one in _cut(plain) if len(one.text) <= LONGEST]


def _cut(text: str) -> Iterator[Statement]:
    """The slices between the ends of sentences, without white space and list marks around them."""
    whole = [match.span() for marks in (QUOTATION, INLINE_CODE) for match in marks.finditer(text)]
    begin = 0
    for end in [*_ends(text, whole), len(text)]:
        part = text[begin:end]
        start = begin + len(part) - len(part.lstrip())
        if mark := LIST_MARK.match(text, start, end):
            start = mark.end()
        if kept := text[start:end].strip():
            yield Statement(kept, start)
        begin = end


def _ends(text: str, whole: list[tuple[int, int]]) -> Iterator[int]:
    """The ends of sentences, but not within what stays whole: its places are given."""
    for end in borders(text):
        begun = len(text[:end].rstrip())
        if not any(first < begun and end < last for first, last in whole):
            yield end


def in_json(message: str) -> list[tuple[str, str | None]] | None:
    """The prose in a program's message, each text with its `type`; None: it is not JSON, as a whole
    or line by line."""
    stripped = message.strip()
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]"):
        return None
    for parts in ([stripped], stripped.splitlines()):
        with suppress(ValueError, RecursionError):
            return [text for part in parts if part for text in _texts(json.loads(part), None)]
    return None


def _texts(value: object, type: str | None) -> Iterator[tuple[str, str | None]]:
    match value:
        case str() if len(value) <= LONGEST and _says_something(value):
            yield value, type
        case list():
            for item in value:
                yield from _texts(item, type)
        case dict():
            own = value.get("type")
            for item in value.values():
                yield from _texts(item, own if isinstance(own, str) else type)


def _says_something(text: str) -> bool:
    signs = len(UNSPACED.findall(text)) // 2  # scripts without spaces: two count as a word
    return len(text.split()) + signs >= LEAST_WORDS


CLAUSE = (
    r"(?:(?:^|[,;:.…(\[–—-])\s*|\b(?:but|please|aber|doch|mais|pero|ma|però|mas)\s+)"
    r"(?:(?:oh|ok|okay|hey|also|so|and|well|please|just|bitte|und|ach|s['’]il (?:te|vous) pla[iî]t"
    r"|et|por favor|y|per favore|per piacere|e),?\s+)*"
)
"""Where a request begins; behind a subject the same words tell what somebody does."""
END = r"(?=\s*(?:$|[.,;:!?…)\]–—-]|(?:but|because|since|please|though|bitte|aber)\b))"
KEPT = r"(?: down| anywhere| in mind| on file| (?:to|in|into) (?:your |the )?memor(?:y|ies))*"
POINTING = late(r"(?i)[a-zà-ÿ]|这|那|以下|我说的")
"""A Chinese request may leave out what it is about, and then is none."""


def _asking() -> str:
    """The ways to ask it; English ones have signs in place of what they share."""
    asked = either("not_to_keep").replace("<kept>", KEPT)
    return asked.replace("<this>", either("said_here")).replace("<dont>", either("do_not"))


NOT_TO_KEEP = late(
    rf"(?i){CLAUSE}(?P<asked>(?:{_asking()}){END})"
    rf"|(?:^|[,;:，。；：\s])(?:(?:这|那|我说的)(?:个|些|件事|句话|话|事|点|内容)?)?(?P<zh>{either('not_to_keep_unspaced')})"
)
TO_FORGET = late(
    rf"(?i){CLAUSE}(?:{either('to_forget')}){END}"
    r"|忘(?:了|掉|记)(?:我(?:刚才|刚刚)?说的|这(?:个|件事|句话))|(?:就)?当我(?:没|没有)说"
)
"""What was said before it is meant; what follows may be what holds instead."""


def unkept(parts: Sequence[Statement], message: str) -> frozenset[int]:
    """Which sentences of a message their writer asks not to keep, by their numbers.

    A request not to keep covers its sentence and its paragraph; one that is a paragraph by itself
    the next one, or the one before if it is the last. A request to forget covers what stands before
    it in its paragraph, or in the one before.
    """
    place = [message.count("\n\n", 0, one.start) for one in parts]
    found: set[int] = set()
    for at, one in enumerate(parts):
        if _asks_not_to_keep(one.text):
            own = _beside(place, at)
            found |= {at, *own}
            if not own:
                near = at + 1 if at + 1 < len(parts) else at - 1
                found |= {n for n in range(len(parts)) if near >= 0 and place[n] == place[near]}
        elif asked := TO_FORGET.search(one.text):
            before = {n for n in _beside(place, at) if n < at}
            if not before and at:
                before = {n for n in range(at) if place[n] == place[at - 1]}
            is_first = not one.text[: asked.start()].strip()
            is_all = not one.text[asked.end() :].strip(" .,;:!?…")
            found |= before | ({at} if is_all or not is_first else set())
    return frozenset(found)


def _beside(place: Sequence[int], at: int) -> set[int]:
    """The other sentences of its paragraph."""
    return {n for n, other in enumerate(place) if other == place[at] and n != at}


def _asks_not_to_keep(text: str) -> bool:
    found = NOT_TO_KEEP.search(text)
    return found is not None and POINTING.search(found[0]) is not None


WORD = r"(?-i:[A-ZÀ-Þ][\w’-]*[^\W_])"
NAME = rf"{WORD}(?: (?:(?:van|von|de|da|del|di|der) )?{WORD}){{0,2}}"
KIN, KIN_ABROAD = either("kin"), either("kin_abroad")
MINE, ARTICLES = either("mine"), either("articles")
RELATIVE = rf"(?:{KIN}|{KIN_ABROAD}|cão|cadela|gato|landlord|vermieter(?:in)?|housemate|flatmate)"
THING = either("things")
"""Things of one's work and home, of which it is told how they are."""
VERB = r"(?-i:[a-zà-ÿ])"
"""How what is said of a name goes on."""
OF_TWO = late(rf"(?i){WORD} (?:and|und|et|y|e|ed) {WORD} {VERB}")
OF_ONE = late(
    rf"(?i)(?:A (?={WORD} ))?(?P<who>{NAME})(?:['’]s?)? (?!(?:ich|wir|er|man|du)\b){VERB}"
)
OF_RELATIVE = late(
    rf"(?i)(?:a |à |al )?(?:{MINE}) (?:\w+ )?(?P<what>{RELATIVE})(?:,? (?:is |named |called )?"
    rf"(?P<who>{WORD}),?)? (?=[a-zà-ÿ])"
)
OF_THING = late(
    rf"(?i)(?:(?:{ARTICLES}|{MINE}) ?\b(?P<what>(?:(?!of\b|and\b|in\b)[\w-]+ ){{0,2}}?(?:{THING}))"
    rf"|(?:project|projekt|projet|proyecto|progetto|projeto) (?P<who>{WORD}(?: {WORD})?))"
    rf"(?= (?:{either('goes')})\b|['’]s )"
)
PLURAL = late(r"(?i)\b(deploy|deployment|release|build|pipeline|server|backup|service|sprint)s$")
HE = late(
    rf"(?i)(?:(?:{either('before_named')})\b|he(?! \w+(?:ado|ido|cho|sto|rto)\b)\b"
    r"|(?:his|her|its|their|sein\w*|ihr\w*|su|leur) \w)"
)
"""Whoever was named before."""
NEVER = (FUNCTION_WORDS | frozenset().union(*STOP_WORDS.values()) | NAMED_TIMES) - {"mia"}
HEAD = 200
"""Characters that are looked at."""


def subject(text: str, *, named: bool = True) -> str | None:
    """A name, or what somebody or something is to the speaker; None where it is of two, or nobody
    knows. `named`: it may begin with a name; an order begins with a verb."""
    text = text[:HEAD]
    if found := OF_RELATIVE.match(text):
        return found["who"] or found["what"]
    if found := OF_THING.match(text):
        return found["who"] or PLURAL.sub(r"\1", found["what"])
    found = OF_ONE.match(text)
    if not named or found is None or OF_TWO.match(text):
        return None
    return None if found["who"].split()[0].casefold() in NEVER else found["who"]


SELF = word_class("subjects", "own")
"""At the beginning of a statement these are somebody else with each speaker."""
CAPITAL = r"(?:[A-ZÀ-Þ][\w’'-]*\w|[A-Z]{2,})"
RUN = re.compile(rf"{CAPITAL}(?:(?: (?:of|the|de|da|del|van|von))? {CAPITAL})*")
OF_KIN = late(
    rf"(?i)\b(?:{KIN}|{KIN_ABROAD}),? (?:is |named |called |is called |is named |hei(?:ß|ss)t "
    rf"|namens )?$"
)
KIN_AND_NAME = late(rf"(?i)(?:.* )?(?:{KIN}|{KIN_ABROAD}) (?=[A-ZÀ-Þ])")
WITHIN = re.compile(r"\w[^.!?:\"“]*$")
"""A word before, and no beginning of a sentence or a quotation since."""
ABBREVIATED = """i i'm i've i'll i'd i’m i’ve i’ll i’d ok okay tv pic fyi btw lol omg mom mum dad
    grandma grandpa god""".split()
NO_NAMES = FUNCTION_WORDS | NAMED_TIMES | frozenset(ABBREVIATED)
MOST_NAMED = 8
NEAR = 80
"""Characters before a name that tell what it names."""
NAMED_WITHIN = 2000


def names_in(text: str, known: Collection[str] = ()) -> tuple[Entity, ...]:
    """At most eight, in order, each once. `known`: names of people who talk.

    Within a sentence a capital makes a name, at its start only a known one does. Where nouns have
    capitals (German) a name is known, has two words, or follows what somebody is to the speaker.
    """
    found: dict[str, Entity] = {}
    for start, end in names_by_capitals(text[:NAMED_WITHIN], known):
        name = text[start:end]
        is_person = name in known or OF_KIN.search(text[max(0, start - NEAR) : start])
        found.setdefault(name, Entity(name, "person" if is_person else "other"))
    return tuple(found.values())[:MOST_NAMED]


@lru_cache(maxsize=1)
def _opening() -> re.Pattern[str]:
    name = rf"(?P<%s>{CAPITAL}(?: {CAPITAL}){{0,2}})"
    greeting = r"(?:[^\W\d_]{2,9}(?: [^\W\d_]{2,9})?,\s)?"
    return re.compile(
        rf"\W*{greeting}(?:{name % 'first'}\s(?i:{either('speaks_behind')})\s?(?:[:,.!]|\s[–—-])"
        rf"|(?i:{either('speaks_before')})\s{name % 'last'}\s?(?::|\s[–—-]))\s+(?=\w)"
    )


def introduced_in(text: str) -> tuple[str, int] | None:
    """Who says of himself at the start that it is he who speaks, "Robin here: ...", and where his
    words begin. A form alone: "Bug here: ..." has it too, and the judge tells names from things."""
    found = _opening().match(text[:NAMED_WITHIN])
    return (found["first"] or found["last"], found.end()) if found else None


def names_by_capitals(text: str, known: Collection[str] = ()) -> Iterator[tuple[int, int]]:
    """Where they stand."""
    nouns, begin = _has_capital_nouns(text), 0
    for sentence in sentences(text):
        for match in RUN.finditer(sentence):
            name = re.sub(r"['’]s$", "", match[0])
            start = 0
            before = sentence[max(0, match.start() - NEAR) : match.start()]
            if of_kin := KIN_AND_NAME.match(name):
                start = of_kin.end()
            elif name not in known:
                if name.casefold() in NO_NAMES or name.split()[0].casefold() in NO_NAMES:
                    continue
                is_within = WITHIN.search(before) and (not nouns or " " in name)
                if not is_within and not OF_KIN.search(before):
                    continue
            yield begin + match.start() + start, begin + match.start() + len(name)
        begin += len(sentence)


def _has_capital_nouns(text: str) -> bool:
    told = set(words(text))
    score = {language: len(told & marks) for language, marks in MARKERS.items()}
    return score["de"] > 0 and score["de"] >= max(score.values())
