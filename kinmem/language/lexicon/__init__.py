"""What kinmem knows of the words of each language: one data file a language, read once.

A file has sections. `words` are classes of words, `forms` words with the form that stands for them,
`phrases` alternatives of regular expressions; `time`, `spoken_time` and `past` are read by
language/time. What is no language's own, such as the formats of keys, has a file of its subject.
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
