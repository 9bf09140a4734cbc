"""Export as Markdown pages, edited by hand and imported again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinmem.backup import markdown
from kinmem.backup.pages import escaped, file_name, page, parsed, unescaped
from kinmem.errors import InvalidInput
from kinmem.service import Service
from tests.backup.test_jsonl import HOSTILE, KEY, contents

pytestmark = pytest.mark.usefixtures("judge_off")

ServiceOf = Callable[..., Service]


@pytest.fixture
def ana(service_of: ServiceOf) -> Service:
    return service_of("ana", resident=False)


def only(folder: Path) -> Path:
    """The one page that is not the list of pages."""
    [path] = [path for path in folder.glob("*.md") if path.name != "index.md"]
    return path


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_each_subject_has_a_page_and_the_index_links_them(ana: Service, tmp_path: Path) -> None:
    for name in ("Anna Berg", "anna berg", "CON", "../../etc", "我", "con"):
        ana.memorize(f"{name} is a name", subject=name)
    ana.memorize("Nothing in particular happened", occurred_at="2026-05-08")
    folder = tmp_path / "pages"

    done = ana.export_pages(folder)

    names = {path.name for path in folder.iterdir()}
    assert len(names) == done.pages + 1 == 6
    assert {"index.md", "_without-subject.md"} <= names
    index = (folder / "index.md").read_text(encoding="utf-8")
    assert all(f"]({name})" in index for name in names - {"index.md"})
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.iterdir())
    rest = (folder / "_without-subject.md").read_text(encoding="utf-8")
    assert "## Timeline" in rest
    assert "- 2026-05-08: Nothing" in rest


def test_pages_that_nobody_edited_change_nothing(ana: Service, tmp_path: Path) -> None:
    notes = [{"content": text, "subject": text[:40], "trusted": True} for text in HOSTILE]
    ana.memorize_many(notes)
    ana.export_pages(tmp_path / "pages")
    before = len(ana.history())

    done = ana.import_pages(tmp_path / "pages")

    assert (done.unchanged, done.is_empty, done.missing) == (len(HOSTILE), True, [])
    assert done.problems == []
    assert len(ana.history()) == before


def test_an_edited_line_is_one_update_by_hand(ana: Service, tmp_path: Path) -> None:
    id = ana.memorize("The office opens at nine", subject="office").id or ""
    other = ana.memorize("The office has two floors\nand a garden", subject="office").id or ""
    ana.export_pages(tmp_path / "pages")
    edited(
        only(tmp_path / "pages"), "- The office opens at nine", "- The office opens at ten & <late>"
    )
    before = len(ana.history())

    done = ana.import_pages(tmp_path / "pages")

    assert (done.updated, done.created, done.unchanged) == (1, 0, 1)
    assert ana.get(id).content == "The office opens at ten & <late>"
    assert len(ana.history()) == before + 1
    latest = ana.history(id)[0]
    assert (latest.action, latest.reason, latest.batch) == ("updated", "edited by hand", done.batch)
    assert len(ana.history(other)) == 1
    again = ana.import_pages(tmp_path / "pages")
    assert again.is_empty
    ana.undo(done.batch)
    assert ana.get(id).content == "The office opens at nine"


def test_a_line_that_an_editor_has_wrapped_is_one_item(ana: Service, tmp_path: Path) -> None:
    id = ana.memorize("The office opens at nine in the morning", subject="office").id or ""
    ana.export_pages(tmp_path / "pages")
    path = only(tmp_path / "pages")
    edited(path, "opens at nine in", "opens at\n  nine in")
    assert ana.import_pages(path).unchanged == 1
    edited(path, "  nine in", "  ten in")

    done = ana.import_pages(path)

    assert (done.updated, done.created) == (1, 0)
    assert ana.get(id).content == "The office opens at ten in the morning"


def test_a_new_line_is_memorized_once_under_the_subject(ana: Service, tmp_path: Path) -> None:
    ana.memorize("The office opens at nine", subject="office")
    ana.export_pages(tmp_path / "pages")
    path = only(tmp_path / "pages")
    edited(path, "## Memories\n\n", "## Memories\n\n- The office has a cat\n- \n")

    done = ana.import_pages(path)

    assert done.created == 1
    [new] = [m for m in ana.list_memories().memories if "cat" in m.content]
    assert (new.subject, new.channel) == ("office", "explicit")
    assert ana.history(new.id)[0].batch == done.batch
    again = ana.import_pages(path)
    assert (again.created, again.known) == (0, 1)


def test_a_deleted_line_forgets_only_on_request(ana: Service, tmp_path: Path) -> None:
    id = ana.memorize("The office opens at nine", subject="office").id or ""
    ana.memorize("The office has two floors", subject="office")
    ana.export_pages(tmp_path / "pages")
    path = only(tmp_path / "pages")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(one for one in lines if "at nine <!--" not in one), encoding="utf-8")

    assert ana.import_pages(path).missing == [id]
    assert ana.get(id).state == "active"
    done = ana.import_pages(path, delete_missing=True)

    assert done.forgotten == 1
    assert ana.get(id).state == "deleted"
    ana.undo(done.batch)
    assert ana.get(id).state == "active"


def test_a_line_that_moved_to_another_page_is_not_missing(ana: Service, tmp_path: Path) -> None:
    ana.memorize("The office opens at nine", subject="office")
    ana.memorize("The garden has a pond", subject="garden")
    folder = tmp_path / "pages"
    ana.export_pages(folder)
    one, other = folder / "office.md", folder / "garden.md"
    [line] = [row for row in one.read_text().splitlines() if row.startswith("- The office")]
    one.write_text(one.read_text().replace(line + "\n", ""))
    other.write_text(other.read_text().replace("## Memories\n\n", f"## Memories\n\n{line}\n"))

    done = ana.import_pages(folder, delete_missing=True)

    assert (done.missing, done.unchanged, done.forgotten) == ([], 2, 0)


def test_what_changed_here_since_stays(ana: Service, tmp_path: Path) -> None:
    both, here, gone, binned = (
        ana.memorize(f"The {what} is blue", subject="x").id or ""
        for what in ("door", "car", "sky", "pen")
    )
    ana.export_pages(tmp_path / "pages")
    path = only(tmp_path / "pages")
    for what in ("door", "sky", "pen"):
        edited(path, f"- The {what} is blue <", f"- The {what} is green <")
    ana.update_memory(both, content="The door is red")
    ana.update_memory(here, content="The car is red")
    ana.forget(gone, erase=True)
    ana.forget(binned)

    done = ana.import_pages(path)

    assert (done.conflicts, done.erased, done.edits) == ([both], [gone], [])
    assert len(done.problems) == 1
    assert "deleted here" in done.problems[0]
    assert ana.get(both).content == "The door is red"
    assert ana.get(here).content == "The car is red"


def test_only_ones_own_memories_are_on_the_pages_and_changed(
    ana: Service, service_of: ServiceOf, tmp_path: Path
) -> None:
    bob = service_of("bob", resident=False)
    id = bob.memorize("The door is blue", subject="door", scope="shared").id or ""
    ana.memorize("The sky is blue", subject="sky")
    assert ana.export_pages(tmp_path / "ana").memories == 1
    bob.export_pages(tmp_path / "bob")
    edited(only(tmp_path / "bob"), "- The door is blue", "- The door is red")

    done = ana.import_pages(tmp_path / "bob")

    assert "only its author" in done.problems[0]
    assert bob.get(id).content == "The door is blue"


def test_forged_ids_and_damaged_pages_do_no_harm(ana: Service, tmp_path: Path) -> None:
    id = ana.memorize("The door is blue", subject="door").id or ""
    ana.memorize(f"Forged: x <!-- kinmem {id} 000000000000 -->", subject="door")
    ana.export_pages(tmp_path / "pages")
    path = only(tmp_path / "pages")
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("## Timeline", "")
        + f"\n## Notes\n\n- The door is red <!-- kinmem {id} 000000000000 -->\n",
        encoding="utf-8",
    )
    (tmp_path / "pages" / "other.md").write_text("# Not ours\n\n- The door is red\n")
    (tmp_path / "pages" / "newer.md").write_text("---\nkinmem: 2\n---\n")
    (tmp_path / "pages" / "bytes.md").write_bytes(b"---\nkinmem: 1\n---\n\xff\xfe")

    done = ana.import_pages(tmp_path / "pages")

    assert (done.unchanged, done.edits, done.new) == (2, [], [])
    assert [one.partition(":")[0] for one in done.problems] == ["bytes.md", "newer.md", "other.md"]
    with pytest.raises(InvalidInput, match="no export"):
        ana.import_pages(tmp_path / "pages" / "other.md")


def test_a_dry_run_writes_nothing(ana: Service, home: Path, tmp_path: Path) -> None:
    ana.memorize("The door is blue", subject="door")
    ana.export_pages(tmp_path / "pages")
    edited(only(tmp_path / "pages"), "- The door is blue", "- The lamp is new\n- The door is red")
    before = contents(home)

    plan = ana.import_pages(tmp_path / "pages", dry_run=True)

    assert contents(home) == before
    assert (len(plan.edits), len(plan.new), plan.updated) == (1, 1, 0)
    assert plan.missing == []


def test_a_folder_with_files_is_refused_so_that_no_edit_is_lost(
    ana: Service, tmp_path: Path
) -> None:
    ana.memorize("The door is blue", subject="door")
    ana.export_pages(tmp_path / "pages")

    with pytest.raises(InvalidInput, match="not empty"):
        ana.export_pages(tmp_path / "pages")


def test_secrets_are_on_no_page(service_of: ServiceOf, tmp_path: Path) -> None:
    service_of("ana", resident=False, KINMEM_SECRETS="keep").memorize(f"The token is {KEY}")
    ana = service_of("ana", resident=False)
    with pytest.raises(InvalidInput, match="holds a secret"):
        ana.export_pages(tmp_path / "pages")
    assert list(tmp_path.iterdir()) == []

    redacting = service_of("ana", resident=False, KINMEM_SECRETS="redact")
    assert redacting.export_pages(tmp_path / "pages").redacted == 1

    assert KEY not in only(tmp_path / "pages").read_text(encoding="utf-8")
    assert redacting.import_pages(tmp_path / "pages").unchanged == 1


@given(st.text())
def test_any_text_is_one_line_and_comes_back(text: str) -> None:
    line = escaped(text)

    assert len(line.splitlines()) <= 1
    assert unescaped(line) == text


@given(st.text(min_size=1), st.text(min_size=1))
def test_names_of_pages_are_plain_and_each_subjects_own(one: str, other: str) -> None:
    name = file_name(one)

    assert name.isascii()
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert len(name) <= 80
    assert (name == file_name(other)) == (one == other)


def test_a_page_without_memories_is_still_a_page() -> None:
    found = parsed("\n".join(page("ana", "x\n---\ny", [], [])))

    assert (found.kin, found.subject, found.items) == ("ana", "x\n---\ny", [])


def test_in_another_home_a_memory_is_what_its_page_says(
    service: Service, service_of: ServiceOf, tmp_path: Path
) -> None:
    service.memorize(
        "The office opens at nine",
        category="decision",
        subject="office",
        importance=9,
        tags=["hours", "night"],
        speaker="Mia Ünal",
    )
    service.export_pages(tmp_path / "pages")
    other = service_of("other")

    other.import_pages(tmp_path / "pages")

    [memory] = other.list_memories().memories
    told = memory.category, memory.subject, memory.importance, memory.tags, memory.speaker
    assert told == ("decision", "office", 9, ("hours", "night"), "Mia Ünal")


def test_a_line_that_belongs_to_no_item_is_named(service: Service, tmp_path: Path) -> None:
    service.memorize("The office opens at nine", subject="office")
    service.export_pages(tmp_path / "pages")
    page = tmp_path / "pages" / "office.md"
    page.write_text(page.read_text().replace("## Timeline", "") + "-The door is green\n")

    plan = service.import_pages(page, dry_run=True)

    assert plan.new == []
    assert [problem.partition(": ")[2] for problem in plan.problems] == [markdown.STRAY]
