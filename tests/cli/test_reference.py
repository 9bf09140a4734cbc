"""docs/cli.md is what the commands say of themselves."""

import re
from pathlib import Path

from kinmem.cli import __doc__ as told
from scripts.cli_reference import markdown

DOCUMENT = (Path(__file__).parent.parent.parent / "docs" / "cli.md").read_text(encoding="utf-8")


def test_the_reference_is_up_to_date() -> None:
    assert markdown() in DOCUMENT, "run cog -r docs/cli.md"


def test_every_option_is_explained() -> None:
    rows = re.findall(r"^\| (`?-?\S+).* \| (.*) \|$", markdown(), re.MULTILINE)

    assert [name for name, meaning in rows if not meaning] == []


def test_the_exit_codes_are_documented() -> None:
    """The table in the package's docstring and that of the document name the same codes."""
    code = re.compile(r"^(?:\| )?(\d+) ", re.MULTILINE)

    assert code.findall(told or "") == code.findall(DOCUMENT)
