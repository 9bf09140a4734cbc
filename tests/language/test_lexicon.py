"""The tables of words beside language/same: each is asked for, and each line is well formed."""

import re

import pytest

from kinmem.language.same.lexicon import FILE, grouped, listed

CODE = "".join(path.read_text("utf-8") for path in FILE.parent.glob("*.py"))
TABLES = re.findall(r"^\[([\w.]+)\]$", FILE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_as_the_code_asks_for_it(name: str) -> None:
    is_grouped = f'grouped("{name}")' in CODE

    assert is_grouped or f'listed("{name}")' in CODE
    words = grouped(name) if is_grouped else listed(name)
    assert len(words) >= 10
    assert all(word == word.strip() and word for word in words)
