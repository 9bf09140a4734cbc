"""What kinmem knows of the words of each language: one data file a language, read once.

A file has sections. `words` are classes of words, `forms` words with the form that stands for them,
`phrases` alternatives of regular expressions; `time`, `spoken_time` and `past` are read by
language/time. What is no language's own, such as the formats of keys, has a file of its subject.

A word that is taken for one of another language makes texts differ that need not, never the other
way round. Only PASSED may be missing from one of two texts that are called the same, so that table
is kept by language.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "zh", "other")
"""In this order the words of all languages are read. `other`: a few words of further ones."""


@cache
def lexicon(name: str) -> Mapping[str, Any]:
    """The data file of one of LANGUAGES, or of a subject, by its sections."""
    path = Path(__file__).parent / f"{name}.json"
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def by_language(name: str, section: str = "words") -> dict[str, Any]:
    """An entry of a section for each language that has it."""
    sections = {language: lexicon(language).get(section, {}) for language in LANGUAGES}
    return {language: found[name] for language, found in sections.items() if name in found}


def alternatives(section: str, name: str) -> list[str]:
    """A list of a section in every language, one after another."""
    return [word for found in by_language(name, section).values() for word in found]


def word_class(*names: str) -> frozenset[str]:
    """The words of these classes in every language."""
    return frozenset(word for name in names for word in alternatives("words", name))


def either(*names: str) -> str:
    """These phrases in every language as alternatives within a regular expression."""
    return "|".join(phrase for name in names for phrase in alternatives("phrases", name))


def word_forms(name: str) -> dict[str, str]:
    """Each word of a table with the form that stands for it; the first that has a word wins."""
    return by_word(row for table in by_language(name, "forms").values() for row in table.items())


def by_word(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Rows of a form and its words as word -> form; the first that has a word wins."""
    table: dict[str, str] = {}
    for form, group in rows:
        for word in group.split():
            table.setdefault(word, form)
    return table


def pattern(subject: str, name: str) -> str:
    """The alternatives of a regular expression in the file of a subject."""
    return "|".join(lexicon(subject)[name])


def table(subject: str, name: str) -> dict[str, str]:
    """The same of a table in the file of a subject."""
    return by_word(lexicon(subject)[name].items())


PASSED = {language: frozenset(found) for language, found in by_language("passed").items()}
"""Words without which a statement stays the same, per language: `a` is a verb in French.

Only English articles: le, la, lo, die are pronouns as well, and nobody leaves them out.
"""
JOINING = {language: frozenset(found) for language, found in by_language("joining").items()}
"""A comma in other words, per language."""
MARKERS = {language: frozenset(found) for language, found in by_language("markers").items()}
"""Frequent words by which a text's language is guessed."""

CONTRACTIONS: Mapping[str, str] = by_language("contractions", "forms")["en"]
ENDINGS: Mapping[str, str] = by_language("endings", "forms")["en"]
"""What stands behind an apostrophe."""
IS_BEFORE = word_class("is_before")
"""Behind these 's is read as `is`; behind any other word it is a genitive."""
ELISIONS = word_class("elisions")
SAME = word_forms("same")
"""Words that stand for each other in any statement."""

SUBJECTS = word_class("subjects")
PRONOUNS = word_class("subjects", "pronouns")
PLACES = word_class("places")
"""Prepositions: one in place of another is a difference, and each begins a phrase."""
CLAUSAL = word_class("clausal")
"""Prepositions behind which a whole statement may stand."""
LINKS = word_class("links")
"""Words that begin a phrase besides prepositions and pronouns."""
FUNCTION_WORDS = PRONOUNS | PLACES | word_class("links", "passed", "function_words")
"""Words that carry a sentence and not its matter; never names."""

NEGATORS = word_class("negators")
CONCORD = word_class("concord")
"""These negate only where no `no`, `non` or `não` stands: with one, both are a single negation."""
PERSONS = PRONOUNS | word_class("persons")
MODALS = word_class("modals")
"""Wishes, plans, conditions, hearsay: what is said is not said to be so."""
TENSES = word_class("tenses")
PAST = word_class("past_forms")
"""Signs of an event: events on other days or in other numbers do not contradict each other."""
QUANTITIES = word_class("quantities")
ATTRIBUTES = word_forms("attributes")
"""Words of a class of which one in place of another is a difference, however long the texts."""


def _opposites() -> dict[str, frozenset[tuple[int, bool]]]:
    """Of lines `word word | word word` for each word the lines it stands in, each with its side."""
    table: dict[str, frozenset[tuple[int, bool]]] = {}
    lines = [line for found in by_language("opposites", "forms").values() for line in found]
    for number, line in enumerate(lines):
        for right, group in enumerate(line.split("|")):
            for word in group.split():
                table[word] = table.get(word, frozenset()) | {(number, bool(right))}
    return table


OPPOSITES = _opposites()
"""Each word's lines of antonyms. English verbs are looked up by their stem as well."""
REVERSING = tuple(by_language("reversing")["en"])
"""Beginnings that turn a word round: necessary and unnecessary, legal and illegal."""

SINGLE_VALUED = word_class("single_valued")
"""Words of one value at a time: another value contradicts the first instead of adding to it."""
PLAIN_VERBS = word_class("plain_verbs")
"""English verbs that tell how a thing is, as they are without -s; many are nouns as well."""
STATE_VERBS = word_class("state_verbs")
"""Forms that tell how a thing is, whatever stands before them."""
ONLY_ONES = word_class("only_ones")
"""Persons of whom one has one at a time."""
COMMON = FUNCTION_WORDS.union(
    *(PERSONS, NEGATORS, CONCORD, MODALS, TENSES, PAST, QUANTITIES, ATTRIBUTES, OPPOSITES),
    *(SINGLE_VALUED, word_class("common")),
)
"""Words that are no names where a sentence begins with them."""
