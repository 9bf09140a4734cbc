"""Timeline, conversations, documents, activity, settings, Kins and topology, used in a browser."""

import json
from pathlib import Path

import pytest
import uuid_utils
from playwright.sync_api import Page, expect

from kinmem.http.tokens import Tokens
from kinmem.web.views import VIEWS, review_queue
from tests.web.conftest import MILLISECONDS, Site
from tests.web.test_memory_views import stored


def until(page: Page, condition: str) -> None:
    """Wait until it holds: wait_for_function would need eval, which no page of ours allows."""
    for _ in range(MILLISECONDS // 50):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never: {condition}")


def test_a_day_is_chosen_in_the_chart(site: Site, page: Page) -> None:
    stored(site, "I bought a bicycle", occurred_at="2026-04-07")
    stored(site, "I moved to Lyon", occurred_at="2026-04-09")
    page.goto("/timeline?day=2026-04")
    page.get_by_role("link", name="7 Apr 2026: 1").click()
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("bicycle")
    page.get_by_role("link", name="What held then").click()
    expect(page.locator(".choices [aria-current]")).to_have_text("What held then")


def test_a_conversation_is_opened_with_keys_and_a_long_message_unfolds(
    site: Site, page: Page
) -> None:
    long = "The beginning of a long story. " * 60 + "The end of it."
    site.service.record_turn("talk of today", long, "I see.")
    page.goto("/conversations")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("The beginning of a long story.")
    expect(page.get_by_text("The end of it.")).to_be_hidden()
    page.get_by_text("Show all").click()
    expect(page.get_by_text("The end of it.")).to_be_visible()
    site.service.record_turn("talk of today", "One more thing.", "Yes?")
    expect(page.get_by_text("One more thing.")).to_be_visible()
    expect(page.get_by_text("The end of it.")).to_be_visible()


def test_a_document_is_looked_at_stored_and_taken_back(
    site: Site, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "budget.md"
    file.write_text("# Budget\n\nThe budget is 400 euros.\n", encoding="utf-8")
    page.goto("/documents")
    page.get_by_label("A document, or an export").set_input_files(file)
    page.get_by_role("button", name="Look at it first").click()
    expect(page.get_by_text("New.")).to_be_visible()
    page.get_by_role("button", name="Store").click()
    expect(page.locator(".notice")).to_contain_text("Stored.")
    expect(page.locator(".chunk")).to_contain_text("The budget is 400 euros.")
    page.keyboard.press("u")
    expect(page.locator(".notice")).to_contain_text("Undone.")
    assert site.service.store.documents.listed(10) == []


def test_an_export_is_looked_at_imported_and_taken_back(
    site: Site, page: Page, tmp_path: Path
) -> None:
    id = stored(site, "The ladder is in the shed")
    exported = tmp_path / "ana.jsonl"
    site.service.export(exported)
    site.service.forget(id, erase=True)
    # As another memory: what was erased does not come back.
    text = exported.read_text(encoding="utf-8").replace(id, str(uuid_utils.uuid7()))
    exported.write_text(text, encoding="utf-8")
    page.goto("/documents")
    page.get_by_label("A document, or an export").set_input_files(exported)
    page.get_by_role("button", name="Look at it first").click()
    expect(page.get_by_text("New memories")).to_be_visible()
    assert site.service.list_memories().memories == []
    page.get_by_role("button", name="Import").click()
    expect(page.locator(".entry").first).to_contain_text("The ladder is in the shed")
    page.keyboard.press("u")
    expect(page.locator(".notice")).to_contain_text("Undone.")
    assert site.service.list_memories().memories == []


def test_a_change_is_undone_after_looking_and_that_is_undone_too(site: Site, page: Page) -> None:
    id = stored(site, "The cat is called Momo")
    site.service.update_memory(id, content="The cat is called Mimi")
    page.goto("/activity")
    page.get_by_role("link", name="Undo").first.click()
    expect(page.locator("del", has_text="Mimi")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice")).to_contain_text("Undone.")
    assert site.service.store.get(id).content.endswith("Momo")
    page.keyboard.press("u")
    expect(page.locator(".entry").nth(1).locator(".did")).to_have_text("Undone")
    assert site.service.store.get(id).content.endswith("Mimi")


def test_a_token_is_made_shown_once_and_revoked(site: Site, page: Page) -> None:
    page.goto("/settings")
    page.get_by_role("link", name="Set by somebody").click()
    expect(page.locator(".setting", has_text="KINMEM_TZ")).to_contain_text("Europe/Berlin")
    page.get_by_role("link", name="Kins and tokens").click()
    page.get_by_label("Note").fill("of the browser")
    page.get_by_role("button", name="Make a token").click()
    token = page.locator(".token").inner_text()
    assert Tokens(site.home).verify(token) is not None
    page.get_by_role("link", name="Kins and tokens").click()
    expect(page.locator(".token")).to_have_count(0)
    entry = page.locator(".entry", has_text="of the browser")
    entry.get_by_role("button", name="Revoke").click()
    expect(page.locator(".notice")).to_contain_text("Revoked.")
    expect(entry.get_by_role("button")).to_have_count(0)
    expect(entry).to_contain_text("revoked")
    assert Tokens(site.home).verify(token) is None


def test_the_graph_is_drawn_narrowed_and_told(site: Site, page: Page) -> None:
    first = stored(site, "Maya plays the cello", subject="Maya")
    stored(site, "Maya lives in Lyon", subject="Maya")
    page.goto("/")
    page.get_by_role("link", name="Topology").click()
    graph = "document.querySelector('.canvas')?.drawn"
    until(page, f"{graph}?.nodes().length === 3")
    expect(page.locator(".nodes tbody tr")).to_have_count(3)
    colours = f"{graph}?.nodes('.entity').style('background-color')"
    light = page.evaluate(colours)
    page.emulate_media(color_scheme="dark")
    until(page, f"{colours} !== {json.dumps(light)}")

    page.evaluate(
        f"void {graph}.nodes('.memory')"
        f".filter((one) => one.data('node').to.endsWith('{first}')).select()"
    )
    expect(page.locator(".of-node a")).to_have_text("Maya plays the cello")
    level = page.evaluate(f"{graph}.zoom()")
    page.get_by_role("button", name="Zoom in").click()
    assert page.evaluate(f"{graph}.zoom()") > level

    page.get_by_label("Kind").select_option("Entity")
    until(page, f"{graph}?.nodes().length === 1")
    expect(page.locator(".nodes tbody tr")).to_contain_text("Maya")
    page.get_by_role("link", name="Clear filters").click()
    until(page, f"{graph}?.nodes().length === 3")
    stored(site, "Maya's brother is Tom", subject="Maya")
    until(page, f"{graph}?.nodes().length >= 4")


def test_what_waits_is_opened_while_the_rest_is_looked_for(
    site: Site, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What asks again by itself is no parent of a link: htmx would let the link inherit it."""
    stored(site, "Maya lives in Lyon since May", subject="Maya")
    stored(site, "Maya lives in Berlin now", subject="Maya")
    monkeypatch.setattr(review_queue.REVIEWS, "glance", lambda service, live: (None, True))
    page.goto("/")
    page.get_by_role("link", name="contradiction to decide").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    for path in (view.path for view in VIEWS if view.is_listed):
        page.goto(path)
        assert page.locator("main [hx-get]").locator("a, button, form, input").count() == 0


def test_a_view_that_is_open_shows_what_is_written_meanwhile(site: Site, page: Page) -> None:
    """Each view within a few seconds; how soon, `LOOK_SECONDS` of routes.py tells."""
    for path, told in (
        ("/", "in use"),
        ("/timeline", "The kettle whistles at"),
        ("/activity", "The kettle whistles at"),
        ("/topology", "The kettle whistles at"),
        ("/conversations", "a talk beside"),
    ):
        page.goto(path)
        stored(site, f"The kettle whistles at {path}")
        site.service.record_turn(f"a talk beside {path}", "What is that noise?", "The kettle.")
        expect(page.get_by_text(told).first).to_be_visible()
