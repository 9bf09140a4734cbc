"""The data files of the lexicon: read as they are, each entry is asked for, each is well formed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinmem.language import lexicon as package
from kinmem.language.lexicon import LANGUAGES

FOLDER = Path(package.__file__).parent
FILES = sorted(FOLDER.glob("*.json"))
CODE = "".join(path.read_text("utf-8") for path in FOLDER.parent.rglob("*.py"))
SECTIONS = {"language", "words", "forms", "phrases", "rules", "time", "spoken_time", "past"}


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def entries(section: str) -> Iterator[tuple[str, str, Any]]:
    for language in LANGUAGES:
        for name, entry in read(FOLDER / f"{language}.json").get(section, {}).items():
            yield language, name, entry


def is_word(text: object) -> bool:
    return isinstance(text, str) and bool(text) and not re.search(r"\s", text)


def test_a_file_is_of_a_language_or_of_a_subject() -> None:
    for path in FILES:
        found = read(path)
        if path.stem in LANGUAGES:
            assert found["language"] == path.stem
            assert found.keys() <= SECTIONS
        else:
            assert found["subject"]

    assert {path.stem for path in FILES} >= set(LANGUAGES)


@pytest.mark.parametrize("section", ["words", "forms", "phrases", "rules"])
def test_every_entry_is_asked_for(section: str) -> None:
    asked = set(re.findall(r"[\"'](\w+)[\"']", CODE))

    assert {name for _, name, _ in entries(section)} - asked == set()


def test_a_class_of_words_has_each_word_once() -> None:
    for language, name, found in entries("words"):
        assert found and all(map(is_word, found)), (language, name)
        assert len(set(found)) == len(found), (language, name)


def test_a_form_stands_for_words() -> None:
    for language, name, table in entries("forms"):
        rows = table.items() if isinstance(table, dict) else [("", row) for row in table]
        assert all(group.split() for _, group in rows), (language, name)


def test_a_phrase_is_part_of_a_regular_expression() -> None:
    for language, name, found in entries("phrases"):
        assert len(set(found)) == len(found), (language, name)
        for phrase in found:
            re.compile(re.sub(r"[{<]\w+[>}]", "", phrase))
            assert not re.search(r"(?<!\\)[.\w\])][*+](?![+?)\]])[*+]", phrase), (language, name)
