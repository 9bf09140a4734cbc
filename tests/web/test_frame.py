"""The frame in a real browser: keys, two tabs, what others write."""

import subprocess
import sys

from playwright.sync_api import BrowserContext, Page, expect

from tests.web.conftest import Site
from tests.web.test_memory_views import stored


def test_a_list_is_chosen_from_forgotten_and_taken_back(site: Site, page: Page) -> None:
    for colour in ("blue", "red", "green"):
        site.service.memorize(f"The kettle in the {colour} kitchen is new")
    page.goto("/memories")
    rows = page.locator(".row")
    expect(rows).to_have_count(3)

    rows.nth(0).get_by_role("checkbox").check()
    rows.nth(1).get_by_role("checkbox").check()
    expect(page.get_by_text("2 chosen")).to_be_visible()
    page.get_by_role("button", name="Forget").click()

    expect(rows).to_have_count(1)
    expect(page.get_by_text("2 memories forgotten.")).to_be_visible()
    page.keyboard.press("u")
    expect(rows).to_have_count(3)
    expect(page.get_by_text("Undone.")).to_be_visible()


def test_keys_lead_through_the_page(site: Site, page: Page) -> None:
    for number in range(3):
        site.service.memorize(f"Shelf {number} holds cups")
    page.goto("/memories")

    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".row .said").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".row .said").nth(0)).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("jk")
    expect(page.get_by_role("searchbox")).to_have_value("jk")


def test_what_another_process_writes_shows_by_itself(site: Site, page: Page) -> None:
    page.goto("/memories")
    expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()
    code = (
        "import kinmem, sys\n"
        "with kinmem.open('ana', home=sys.argv[1]) as m: m.memorize('The tea is in the cellar')"
    )
    subprocess.run([sys.executable, "-c", code, str(site.home)], check=True, timeout=60)

    expect(page.get_by_text("The tea is in the cellar")).to_be_visible()


def test_what_somebody_is_choosing_is_not_replaced_under_their_hands(
    site: Site, page: Page
) -> None:
    site.service.memorize("The tea is green")
    page.goto("/memories")
    page.locator(".row").get_by_role("checkbox").check()
    site.service.memorize("The coffee is black")

    expect(page.get_by_text("Something has changed. Show it")).to_be_visible()
    expect(page.locator(".row")).to_have_count(1)
    page.get_by_text("Something has changed. Show it").click()
    expect(page.locator(".row")).to_have_count(2)


def test_two_tabs_show_the_same(site: Site, context: BrowserContext) -> None:
    site.service.memorize("The cup is chipped")
    first, second = context.new_page(), context.new_page()
    second.goto("/memories")
    first.goto("/memories")
    first.bring_to_front()
    first.locator(".row").get_by_role("checkbox").check()
    first.get_by_role("button", name="Forget").click()
    expect(first.get_by_text("Forgotten.")).to_be_visible()

    expect(second.get_by_text("Nothing is remembered yet")).to_be_visible()
    expect(second.locator(".notice")).to_have_count(0)
    first.close()
    second.close()


def test_dark_and_light_are_chosen_and_kept(page: Page) -> None:
    page.goto("/memories")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate(ground) != light
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.context.clear_cookies(name="kinmem_theme")


def test_the_address_of_a_list_has_only_what_was_asked_for(site: Site, page: Page) -> None:
    stored(site, "The piano is in tune")
    page.goto("/memories")
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("State").select_option("deleted")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("State: Forgotten")).to_be_visible()
    assert page.url.endswith("/memories?state=deleted&sort=newest")
