"""add, summarize."""

from pathlib import Path

import pytest

from tests.cli.conftest import Kinmem
from tests.documents.files import HANDBOOK, PAGE, pdf


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    (tmp_path / "handbook.md").write_text(HANDBOOK)
    (tmp_path / "deep" / "hours.html").write_text(PAGE)
    (tmp_path / "deep" / "offices.pdf").write_bytes(pdf(["Lyon has forty desks."], ["Page two."]))
    (tmp_path / "deep" / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (tmp_path / "deep" / ".hidden" / "secret.md").write_text("not meant")
    return tmp_path


def test_files_are_added_and_found(kinmem: Kinmem, folder: Path) -> None:
    ran = kinmem("add", str(folder / "handbook.md"), "--tag", "team")

    assert ran.code == 0
    assert "created" in ran.out and "Team handbook" in ran.out and "4 chunks" in ran.out
    told = kinmem("recall", "who agrees to expensive travel?")
    assert "chunk 3 of 4: Handbook > Budget > Priorities" in told.out
    assert "Team handbook" in kinmem("list").out


def test_a_folder_is_read_on_demand(kinmem: Kinmem, folder: Path) -> None:
    refused = kinmem("add", str(folder))
    added = kinmem("add", str(folder), "--recursive", "--json")

    assert refused.code == 3 and "--recursive" in refused.err
    told = added.json["documents"]
    assert [(Path(one["file"]).name, one["status"], one["type"]) for one in told] == [
        ("handbook.md", "created", "markdown"),
        ("hours.html", "created", "html"),
        ("offices.pdf", "created", "pdf"),
    ]
    assert told[2]["pages"] == 2


def test_one_bad_file_does_not_keep_the_others_out(kinmem: Kinmem, folder: Path) -> None:
    ran = kinmem(
        "add",
        str(folder / "no.md"),
        str(folder / "deep/picture.png"),
        str(folder / "handbook.md"),
        "--json",
    )

    assert ran.code == 3
    told = ran.json["documents"]
    assert [one.get("error", {}).get("code") for one in told] == ["unreadable", "unreadable", None]
    assert len(kinmem("list", "--json").json["memories"]) == 1


def test_a_changed_file_replaces_what_it_said(kinmem: Kinmem, folder: Path) -> None:
    file = folder / "handbook.md"
    first = kinmem("add", str(file), "--json").json["documents"][0]
    same = kinmem("add", str(file), "--json").json["documents"][0]
    file.write_text(HANDBOOK.replace("forty", "fifty"))

    changed = kinmem("add", str(file), "--json").json["documents"][0]

    assert (same["status"], changed["status"]) == ("duplicate_of", "updated")
    assert first["id"] == same["id"] == changed["id"]


def test_a_dry_run_stores_nothing(kinmem: Kinmem, folder: Path) -> None:
    ran = kinmem("add", str(folder), "-r", "--dry-run", "--json")

    assert [one["status"] for one in ran.json["documents"]] == ["would create"] * 3
    assert kinmem("list", "--json").json["memories"] == []


def test_a_dash_reads_stdin(kinmem: Kinmem) -> None:
    ran = kinmem("add", "-", "--title", "Minutes", "--json", typed="Ana brings the cake on Friday.")

    assert ran.json["documents"][0]["title"] == "Minutes"
    assert "cake" in kinmem("recall", "who brings the cake?").out


def test_a_title_is_for_one_document(kinmem: Kinmem, folder: Path) -> None:
    assert kinmem("add", str(folder), "-r", "--title", "x").code == 2


def test_long_memories_are_summarised(kinmem: Kinmem) -> None:
    text = "The lease ends in June. We looked at four buildings. Two of them had no lift. " * 2
    more = "Therefore we decided to move the office to Quai Perrache in May 2026, as Ana wished. "
    id = kinmem("memorize", text + more * 2, "--json").json["id"]

    ran = kinmem("summarize", id)

    assert ran.code == 0
    assert "Perrache in May 2026" in ran.out
    assert "Quai Perrache" in kinmem("list", "--json").json["memories"][0]["summary"]
    assert kinmem("summarize", "--json").json["made"] == 0
