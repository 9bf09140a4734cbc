"""export and import, as a person uses them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Kinmem


def test_what_one_home_exports_another_imports(
    kinmem: Kinmem, memorized: Callable[..., str], tmp_path: Path
) -> None:
    memorized("The office opens at nine", "--subject", "office")
    file, elsewhere = tmp_path / "x.jsonl", str(tmp_path / "elsewhere")
    assert "1 memory and" in kinmem("export", str(file)).out

    plan = kinmem("import", str(file), "--dry-run", "--home", elsewhere)
    refused = kinmem("import", str(file), "--home", elsewhere)
    done = kinmem("import", str(file), "--yes", "--home", elsewhere, "--json")

    assert "1 memory and 0 messages of default are new here" in plan.out
    assert (refused.code, "--yes" in refused.err) == (3, True)
    assert done.json["memories"] == 1
    assert "office" in kinmem("list", "--home", elsewhere).out
    assert kinmem("export", "--home", elsewhere).out.encode() == file.read_bytes()
    assert kinmem("undo", done.json["batch"], "--home", elsewhere).code == 0
    assert "office" not in kinmem("list", "--home", elsewhere).out


def test_a_page_is_edited_and_imported(
    kinmem: Kinmem, memorized: Callable[..., str], tmp_path: Path
) -> None:
    id = memorized("The office opens at nine", "--subject", "office")
    folder = tmp_path / "pages"
    assert (
        "1 memory is on 1 page in"
        in kinmem("export", "--format", "markdown", "--out", str(folder)).out
    )
    path = folder / "office.md"
    path.write_text(path.read_text().replace("at nine <", "at ten <"))

    shown = kinmem("import", str(folder), "--dry-run")
    done = kinmem("import", str(path), "--yes")

    assert "1 edited, 0 new, 0 unchanged" in shown.out
    assert "1 memory updated" in done.out
    history = kinmem("history", id).out
    assert "edited by hand" in history


def test_what_is_deleted_or_too_much_to_show_is_named(
    kinmem: Kinmem, memorized: Callable[..., str], tmp_path: Path
) -> None:
    id = memorized("The office opens at nine", "--subject", "office")
    folder = tmp_path / "pages"
    kinmem("export", "--format", "markdown", "--out", str(folder))
    path = folder / "office.md"
    kept = [line for line in path.read_text().splitlines() if "nine" not in line]
    path.write_text("\n".join([*kept, "## Memories", "", *(f"- Door {n}" for n in range(7))]))

    shown = kinmem("import", str(folder), "--dry-run", "--delete-missing").out

    assert "0 edited, 7 new" in shown and "and 2 more new" in shown
    assert f"1 are no longer on their page, and would be forgotten: {id[-8:]}" in shown


@pytest.mark.parametrize("words", [("x/y.jsonl",), ("folder",), ("--format=markdown", "file/x")])
def test_a_place_that_cannot_be_written_is_refused(
    kinmem: Kinmem, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()

    refused = kinmem("export", *words[:-1], str(tmp_path / words[-1]))

    assert refused.code == 3 and refused.err.startswith("invalid: ")
    assert sorted(one.name for one in tmp_path.iterdir() if one.name[0] == ".") == []


def test_a_folder_without_any_page_of_an_export_is_refused(kinmem: Kinmem, tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("# Rules\n")

    refused = kinmem("import", str(tmp_path), "--yes")

    assert refused.code == 3 and "no page" in refused.err


def test_the_schema_of_a_line_is_printed(kinmem: Kinmem) -> None:
    assert "$defs" in json.loads(kinmem("export", "--schema").out)


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--format", "markdown"),
        ("export", "x.jsonl", "--out", "folder"),
        ("import", "x.jsonl", "--delete-missing"),
    ],
)
def test_options_that_do_not_fit_are_refused(kinmem: Kinmem, words: tuple[str, ...]) -> None:
    assert kinmem(*words).code == 2


def test_a_kin_without_memories_is_not_exported_in_place_of_another(
    kinmem: Kinmem, memorized: Callable[..., str], tmp_path: Path
) -> None:
    memorized("The office opens at nine")
    file = tmp_path / "x.jsonl"

    refused = kinmem("export", str(file), "--kin", "defualt")

    assert refused.code == 3
    assert "those who have: default" in refused.err
    assert not file.exists()
    assert [one["kin"] for one in kinmem("kin", "list", "--json").json["kins"]] == ["default"]


def test_whoever_asks_under_a_new_name_is_told(
    kinmem: Kinmem, memorized: Callable[..., str]
) -> None:
    memorized("The office opens at nine")

    assert "defualt has no memories of its own yet" in kinmem("stats", "--kin", "defualt").err
    assert kinmem("stats").err == ""
    assert kinmem("memorize", "The door is green", "--kin", "bob").err == ""


def test_an_export_replaces_an_export_and_nothing_else(
    kinmem: Kinmem, memorized: Callable[..., str], tmp_path: Path
) -> None:
    memorized("The office opens at nine")
    letter, export = tmp_path / "letter.txt", tmp_path / "x.jsonl"
    letter.write_text("Dear Bob")

    assert kinmem("export", str(export)).code == 0
    assert kinmem("export", str(export)).code == 0
    refused = kinmem("export", str(letter))

    assert (refused.code, "no export of kinmem" in refused.err) == (3, True)
    assert letter.read_text() == "Dear Bob"
