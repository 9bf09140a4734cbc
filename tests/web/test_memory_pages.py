"""One memory, search and review in a real browser; hostile contents; what axe-core finds."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.conftest import Site
from tests.web.test_memory_views import stored

AXE = Path(__file__).parent / "axe.min.js"
HOSTILE = {
    "markup": "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>",
    "a template": "{{ 7 * 7 }} {% raw %} ${7 * 7} </textarea><h1>out</h1>",
    "turned around": "\u202egnihtyreve\u202c is \u2066turned\u2069",
    "tag characters": "nothing \U000e0068\U000e0069 here",
    "without spaces": "x" * 60_000,
    "right to left": "שלום עולם, hello, مرحبا بالعالم",
}


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


def test_without_javascript_a_memory_is_found_edited_forgotten_and_brought_back(
    site: Site, browser: Browser
) -> None:
    stored(site, "The piano is in tune")
    plain = browser.new_context(base_url=site.url, java_script_enabled=False, locale="en-GB")
    try:
        page = plain.new_page()
        page.goto(site.link())
        page.get_by_role("searchbox").fill("piano")
        page.keyboard.press("Enter")
        page.locator(".hit .said").first.click()
        page.get_by_role("link", name="Edit").click()
        page.get_by_role("textbox", name="Text").fill("The piano is out of tune")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("[data-content]")).to_have_text("The piano is out of tune")
        page.get_by_role("button", name="Forget").click()
        page.locator(".notice").get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Pin")).to_be_visible()
    finally:
        plain.close()


def test_hostile_contents_show_as_text_on_every_page(site: Site, page: Page) -> None:
    """Nothing runs, nothing hides, nothing is wider than the screen."""
    ids = [stored(site, text, subject=text[:80]) for text in HOSTILE.values()]
    page.set_viewport_size({"width": 360, "height": 780})
    for path in ("/", "/memories", "/review", "/search?q=nothing", *(f"/memory/{i}" for i in ids)):
        page.goto(path)
        assert page.title() != "owned", path
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        assert page.locator("main img, main h1:text('out')").count() == 0, path
    page.goto(f"/memory/{ids[0]}")
    expect(page.locator("[data-content]")).to_have_text(HOSTILE["markup"])
    page.goto(f"/memory/{ids[1]}/edit")
    expect(page.get_by_role("textbox", name="Text")).to_have_value(HOSTILE["a template"])
    page.goto(f"/memory/{ids[3]}")
    expect(page.locator("[data-content]")).to_have_text("nothing ⟨U+E0068⟩⟨U+E0069⟩ here")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(site: Site, browser: Browser, scheme: str) -> None:
    id = stored(site, "Maya lives in Lyon since May", subject="Maya", tags=["home"])
    stored(site, "Maya lives in Berlin now", subject="Maya")
    site.service.update_memory(id, content="Maya lives in Lyon since June")
    context = browser.new_context(base_url=site.url, color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        page.goto(f"{site.url}/login")
        found = serious(page, "/login")
        page.goto(site.link())
        for path in ("/", "/memories", f"/memory/{id}", f"/memory/{id}/edit", "/review"):
            page.goto(path)
            found += serious(page, path)
        page.goto("/search?q=where+does+Maya+live")
        found += serious(page, "/search")
        assert found == []
    finally:
        context.close()


def serious(page: Page, path: str) -> list[str]:
    page.add_script_tag(path=str(AXE))
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{path}: {one['id']}: {node['html'][:120]} {[why['message'] for why in node['any']]}"
        for one in result["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
