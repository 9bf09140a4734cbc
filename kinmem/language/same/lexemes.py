"""A text as lexemes, each in one spelling: what is compared when two texts are called the same; and
as a whole, normalised and as a hash."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Literal, NamedTuple

from kinmem.language.lexicon import (
    COMMON,
    CONTRACTIONS,
    ELISIONS,
    ENDINGS,
    FUNCTION_WORDS,
    IS_BEFORE,
    JOINING,
    MARKERS,
    PASSED,
    SAME,
)
from kinmem.language.same import amounts
from kinmem.language.same.amounts import COUNTING, HALVES
from kinmem.text import UNSPACED, late

Kind = Literal["word", "name", "number", "unit", "date", "break", "question"]


class Lexeme(NamedTuple):
    form: str
    """Canonical; empty for a break."""
    kind: Kind


_TYPOGRAPHY = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "–": "-", "−": "-", "‐": "-", "‑": "-", "⁄": "/", "—": ";"}
    | {"\u00ad": None, "\u200b": None, "\ufeff": None, "。": ".", "、": ",", "؟": "?"}
)
# Each repetition is possessive, bounded, or of a class of its own: time grows with the length only.
# Groups are not possessive: Python before 3.11.5 gives up too little of them ("cats." as a word).
_LEXEME = late(
    r"""
      (?P<amount>(?<![\w.])(?:(?P<currency>[$€£¥])\s?)?(?P<digits>-?\d++(?:[.,:'/-]\d++)*)
        (?:\s?(?P<half>[apAP])\.?[mM]\b\.?|(?P<unit>%|°\w|[€$£¥]|[^\W\d_]{1,12}))?
        (?![\w@\\=]|/\w))
    | (?P<date>--\d\d(?:-\d\d)?(?!\w))
    | (?P<code>(?<!\S)["'(\[<`*]*+(?:--?[A-Za-z]\S*+|\.\w\S*+|\.\.(?!\S)|[^\s@\\_=/]*+[@\\_=/]\S*+))
    | (?P<face>[:;=]-?[()DP|](?!\w))
    | (?P<word>[^\W\d_]\w*+(?:'[^\W\d_]++)*(?:\.\w++)*(?:\+\+|\#)?|\w++)
    | (?P<question>\?)
    | (?P<stop>[.…\n:]++|(?<!!)!++(?!\w))
    | (?P<comma>[,;()\[\]{}|]++|(?<=\s)&(?=\s))
    | (?P<quiet>["“”„«»¡¿·•*`'\s]++|-(?![$€£¥]))
    | (?P<symbol>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CODE = late(r"""["'(\[<`*]*+(?:--?[A-Za-z]|\.\w|[^\s@\\_=/]*+[\\_=/])""")
_SLASHED_CAPITALS = late(r"[A-Z]++(?:/[A-Z]++)+")
_BRITISH = late(r"(?<=[a-z]{4})is(?=(?:e|ed|es|ing|ation)$)")
_PAST = ("ied", "ed")
_PRESENT = ("ing", "ies", "es", "s", "e", "y")
CACHED = 40
"""Longer words are rare and would fill the cache."""
_BREAK = Lexeme("", "break")


def lexemes(text: str) -> list[Lexeme]:
    """Words, names, numbers with units, dates and breaks in order, without articles and fillers.

    A number word is a number, a contraction its words. A name is capitalised within a sentence or
    is an identifier: letters with digits, a path, an address, capitals only. Case counts only in
    identifiers, where it may be a password's.
    """
    found = list(_read(_prepared(text)))
    language = _language(found)
    passed, joining = PASSED[language], JOINING[language]
    kept = []
    for lexeme, follower in pairwise([*found, _BREAK]):
        if lexeme.kind == "word" and lexeme.form in joining:
            kept.append(_BREAK)
        elif lexeme.kind != "word" or lexeme.form not in passed or follower is _BREAK:
            kept.append(lexeme)  # no article ends a clause: hepatitis a
    return kept


def case_counts(chunk: str) -> bool:
    """Whether case matters in this word, as it does in paths, flags, code and passwords.

    A password mixes cases and digits. Mail addresses, TCP/IP and plain words do not count.
    """
    if _CODE.match(chunk):
        return not _SLASHED_CAPITALS.fullmatch(chunk)
    return chunk.upper() != chunk != chunk.lower() and any(map(str.isdigit, chunk))


def stem(word: str, *, past: bool = True) -> str:
    """The word without a genitive's, plural's or verb's ending: one form for like, likes, liked.

    With past=False what is past stays apart: liked. For comparing; no word a dictionary has.
    """
    word = word.removesuffix("'s")
    if not word.isalpha() or word.endswith("ss"):
        return word
    for ending in (*_PAST, *_PRESENT) if past else _PRESENT:
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word.removesuffix(ending)
    return word


def bare(name: str) -> str:
    """Without the genitive's ending."""
    return name.removesuffix("'s")


_HOURS = "|".join(["sept", *(word for word, one in COUNTING.items() if one.isdecimal())])
_SEPT = {"sept": "7"}
"""Alone it is a month."""
_OCLOCK = r"(?:uhr|heures?|h|horas?|ore|o'clock)"
_TELLS_HOUR = late(rf"(?:[\d\s]{_OCLOCK}|{HALVES['a']}|{HALVES['p']})\b", re.IGNORECASE)
_SPOKEN_HOUR = late(
    rf"\b(?P<hour>\d{{1,2}}|{_HOURS})(?:\s?{_OCLOCK})?\s"
    rf"(?:(?P<a>{HALVES['a']})|(?P<p>{HALVES['p']}))\b"
    rf"|\b(?P<at>um|às|à|alle)\s(?P<hour2>\d{{1,2}})\s?{_OCLOCK}\b(?!\s?\d)",
    re.IGNORECASE,
)


def hours_in_digits(text: str) -> str:
    """The text with spoken hours as HH:MM: sept heures du soir is 19:00."""

    def clock(found: re.Match[str]) -> str:
        if found["at"]:
            hour = int(found["hour2"])
            return f"{found['at']} {hour:02}:00" if hour < 24 else found[0]
        told = found["hour"].lower()
        return (
            amounts.time(_SEPT.get(told, COUNTING.get(told, told)), "p" if found["p"] else "a")
            or found[0]
        )

    return _SPOKEN_HOUR.sub(clock, text) if _TELLS_HOUR.search(text) else text


def _prepared(text: str) -> str:
    if not text.isascii():
        text = re.sub(r"(?<=\d)[\u00a0\u202f](?=\d{3})", ",", text)
        text = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY)
    text = hours_in_digits(text)
    if re.search(r"\d", text):
        text = amounts.dates_in_iso(text)
    if "does" in text:
        text = _DOES_NOT.sub(lambda found: f"not {third_person(found[1])}", text)
    return text if text.isascii() else UNSPACED.sub(r" \g<0> ", text)


_DOES_NOT = late(r"\bdoes(?:n't| not) ([a-z]{2,20})\b")


def third_person(verb: str) -> str:
    """likes, watches, carries, has: what stands without `does not` as it does with it."""
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s")


def _language(found: list[Lexeme]) -> str:
    """The language most of whose frequent words occur; the first of those with as many."""
    forms = {lexeme.form for lexeme in found if lexeme.kind == "word"}
    return max(MARKERS, key=lambda language: len(forms & MARKERS[language]))


def _read(text: str) -> Iterator[Lexeme]:
    loud = text.isupper()
    first, counted = True, False
    for match in _LEXEME.finditer(text):
        group = match.lastgroup
        if group == "quiet":
            continue
        if group == "word":
            read = _word if len(match[0]) <= CACHED else _word.__wrapped__
            new = read(match[0], first, loud, counted)
        else:
            new = _other(match, counted)
        yield from new
        first = group in ("stop", "question") or (first and group == "comma")
        counted = new[-1].kind == "number"


def _other(match: re.Match[str], counted: bool) -> tuple[Lexeme, ...]:
    raw = match[0]
    match match.lastgroup:
        case "amount":
            return _amount(match)
        case "code":
            return _code(raw)
        case "date":
            return (Lexeme(raw, "date"),)
        case "question":
            return (Lexeme("?", "question"),)
        case "stop" | "comma":
            return (_BREAK,)
        case _:
            return (_symbol(raw, counted),)


def _symbol(raw: str, counted: bool) -> Lexeme:
    if counted and raw in amounts.UNITS:
        return Lexeme(amounts.UNITS[raw], "unit")
    return Lexeme("not" if raw == "!" else raw, "word")


def _code(raw: str) -> tuple[Lexeme, ...]:
    """An identifier as it is written, without the sentence's marks round it."""
    bare = raw.strip("\"'`*()[]<>,;:!?").rstrip("./")
    form = bare if case_counts(bare) else bare.casefold()
    name = Lexeme(form or raw, "name")
    return (name, Lexeme("?", "question")) if raw.endswith("?") else (name,)


def _amount(match: re.Match[str]) -> tuple[Lexeme, ...]:
    digits, unit = match["digits"], (match["unit"] or match["currency"] or "").casefold()
    if moment := amounts.time(digits, (match["half"] or "").lower()):
        return (Lexeme(moment, "number"),)
    if unit in ("st", "nd", "rd", "th"):
        return (Lexeme(digits + unit, "number"),)
    if unit and unit not in amounts.UNITS:
        return (Lexeme(digits + unit, "name"),)
    if not unit and (day := amounts.date(digits)):
        return (Lexeme(day, "date"),)
    number = Lexeme(amounts.number(digits), "number")
    return (number, Lexeme(amounts.UNITS[unit], "unit")) if unit else (number,)


@lru_cache(maxsize=8192)
def _word(raw: str, first: bool, loud: bool, counted: bool) -> tuple[Lexeme, ...]:
    if not raw.isalpha() and any(c.isdigit() or c == "_" for c in raw):
        return (Lexeme(raw if case_counts(raw) else raw.casefold(), "name"),)
    if not first and raw in amounts.CAPITAL_MONTHS:
        return (Lexeme(amounts.CAPITAL_MONTHS[raw], "date"),)
    if "." in raw and len(raw) == 2 * raw.count(".") + 1:
        raw = raw.replace(".", "")  # U.S., e.g.
    capital = raw[0].isupper() and not loud
    named = capital and (not first or raw.isupper() and len(raw) > 1)
    return tuple(
        _canonical(form, named or capital and form not in COMMON, counted)
        for form in _parts(raw.casefold())
    )


def _parts(word: str) -> list[str]:
    """What an apostrophe or a habit has drawn together, as separate words."""
    if word in CONTRACTIONS:
        return CONTRACTIONS[word].split()
    head, mark, tail = word.rpartition("'")
    if not mark or word in amounts.DAY_NAMES:
        return [word]
    if tail == "t" and head.endswith("n"):
        return [head[:-1], "not"]
    if tail in ENDINGS:
        return [head, ENDINGS[tail]]
    if tail == "s" and head in IS_BEFORE:
        return [head, "is"]
    return [head, tail] if head in ELISIONS else [word]


def _canonical(form: str, named: bool, counted: bool) -> Lexeme:
    if form in amounts.DAY_NAMES:
        return Lexeme(amounts.DAY_NAMES[form], "date")
    if form in COUNTING:
        return Lexeme(COUNTING[form], "number")
    if counted and form in amounts.UNITS:
        return Lexeme(amounts.UNITS[form], "unit")
    form = SAME.get(form) or _BRITISH.sub("iz", form)
    is_function_word = form in FUNCTION_WORDS and len(form) > 1 or form == "i"
    return Lexeme(form, "name" if named and not is_function_word else "word")


_BULLET = late(r"^[-*•·]\s+")
_STOPS = late(r"(?<=[^\s.!…,;:])[.!…,;:]+$")
_QUOTES = "\"'“”„«»‘’`"


def normalised(text: str) -> str:
    """NFKC, lower case, single spaces; without a bullet before, quotes round or a stop behind it.

    A question mark stays, and the case where it counts: in code and passwords, in units (5 mW is
    not 5 MW). 10² stays apart from 102.
    """
    kept = " ".join(_cased(_composed(text).split()))
    plain = _STOPS.sub("", _BULLET.sub("", _composed(kept)))
    quoted = len(plain) > 1 and plain[0] in _QUOTES and plain[-1] in _QUOTES
    return _STOPS.sub("", plain.strip(_QUOTES)) if quoted else plain


def _composed(text: str) -> str:
    if text.isascii():
        return text
    raised = _RAISED.sub(lambda sign: "^" + sign.group(), text)
    return unicodedata.normalize("NFKC", raised)


def _cased(words: list[str]) -> Iterator[str]:
    """The words in lower case, but for those whose case may mean something."""
    before, secret = "", False
    for word in words:
        small = word.casefold()
        counts = small != word and (secret or before[-1:].isdigit() or case_counts(word))
        yield word if counts else small
        secret = secret or small.strip(":;,.") in _SECRETS
        before = word


_RAISED = late("[¹²³⁰⁴-⁹¼½¾⅓⅔]")
_SECRETS = {"password", "passphrase", "passwort", "token", "key", "code", "pin", "secret"}


def content_hash(text: str) -> str:
    """128 bits of BLAKE2b over the normalised text, in hexadecimal."""
    return blake2b(normalised(text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
