"""One memory, search and review in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Site
from tests.web.test_memory_views import stored


def test_a_memory_is_edited_with_keys_and_taken_back(site: Site, page: Page) -> None:
    id = stored(site, "The desk is oak")
    page.goto(f"/memory/{id}")
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Text").fill("The desk is beech")
    page.get_by_role("button", name="Save").click()

    expect(page.locator("[data-content]")).to_have_text("The desk is beech")
    expect(page.locator("ins", has_text="beech")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("[data-content]")).to_have_text("The desk is oak")


def test_what_is_wrong_is_shown_beside_what_was_typed(site: Site, page: Page) -> None:
    id = stored(site, "The desk is pine")
    page.goto(f"/memory/{id}/edit")
    page.get_by_label("Importance").fill("99")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert")).to_contain_text("between 1")
    expect(page.get_by_label("Importance")).to_have_value("99")


@pytest.mark.parametrize(
    ("button", "told", "back"),
    [
        ("Pin", "Pinned.", "Unpin"),
        ("Share", "Shared with the other Kins.", "Make private"),
        ("Archive", "Archived.", "Bring back"),
        ("Forget", "Forgotten.", "Bring back"),
    ],
)
def test_each_action_is_told_and_can_be_taken_back(
    site: Site, page: Page, button: str, told: str, back: str
) -> None:
    id = stored(site, "The rug is round")
    page.goto(f"/memory/{id}")
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator(".notice")).to_contain_text(told)
    expect(page.get_by_role("button", name=back)).to_be_visible()
    page.locator(".notice").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name=button, exact=True)).to_be_visible()


def test_erasing_takes_a_typed_word(site: Site, page: Page) -> None:
    id = stored(site, "The note is old")
    page.goto(f"/memory/{id}")
    page.get_by_text("Erase for good").click()
    page.get_by_label("to confirm").fill("erase")
    page.get_by_role("button", name="Erase").click()

    expect(page.locator(".notice")).to_contain_text("Erased for good.")
    expect(page.locator(".row")).to_have_count(0)


def test_a_question_is_answered_with_bars(site: Site, page: Page) -> None:
    stored(site, "Maya plays the cello on Thursdays", subject="Maya")
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type("When does Maya play the cello?")
    page.keyboard.press("Enter")

    expect(page.locator(".hit .said").first).to_contain_text("cello on Thursdays")
    bar = page.locator(".parts .added svg").first
    expect(bar).to_be_visible()
    assert bar.bounding_box()["width"] > 50  # type: ignore[index]


def test_a_contradiction_is_settled_by_a_click(site: Site, page: Page) -> None:
    stored(site, "Maya lives in Lyon since May", subject="Maya")
    stored(site, "Maya lives in Berlin now", subject="Maya")
    page.goto("/review")
    row = page.locator(".row", has_text="Berlin").first
    row.get_by_role("button", name="Keep this one").click()

    expect(page.locator(".notice")).to_contain_text("Done.")
    expect(page.locator(".row", has_text="Lyon")).to_have_count(0)
