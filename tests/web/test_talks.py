"""Conversations are known by what was first said, and what was said in them is found."""

import html
import re

from playwright.sync_api import Page, expect

from tests.web.conftest import Site
from tests.web.test_every_view import MARKUP

HARP = "2f1c7a60-0f0e-4b5c-9d1f-6b8a2c3d4e5f"
BOAT = "7d9e0b12-5a44-4c37-8e0a-91f2b3c4d5e6"


def talked(site: Site) -> None:
    service = site.service
    service.record_turn(HARP, "How do I tune a harp?", "From the middle C on.", speaker="Maya")
    for number in range(31):
        service.record_turn(HARP, f"Well, {number}?", "Well.", speaker="Maya")
    service.record_turn(HARP, "The harp needs new strings in May.", "Noted.", speaker="Maya")
    service.record_turn(BOAT, "Where is the boat moored?", "In Kiel, at the third pier.")
    assert service.settle(60)


def test_a_list_tells_what_was_first_said_by_whom_and_how_much(site: Site) -> None:
    talked(site)
    with site.client() as client:
        text = html.unescape(client.get("/conversations").text)
        one = html.unescape(client.get("/conversations/one", params={"name": HARP}).text)

    row = re.search(r"How do I tune a harp\?.*?</li>", text, re.DOTALL)
    assert row is not None and "Maya" in row[0] and HARP in row[0]
    # 33, or more where another test of this worker has talked before.
    turns = next(one.turns for one in site.service.sessions() if one.name == HARP)
    assert turns >= 33 and f"{turns} turns" in row[0]
    assert "Where is the boat moored?" in text
    assert re.search(r"<h1[^>]*>How do I tune a harp\?</h1>", one)
    assert "Maya" in one.partition("</h1>")[2].partition("</div>")[0]


def test_what_was_said_leads_to_its_turn(site: Site, page: Page) -> None:
    talked(site)
    page.goto("/conversations")
    page.get_by_role("searchbox", name="Search what was said").fill("new strings")
    page.get_by_role("main").get_by_role("button", name="Search").click()

    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("in “How do I tune a harp?”")
    page.locator(".row .said").click()
    expect(page.locator(".turn:target")).to_contain_text("The harp needs new strings in May.")
    expect(page.get_by_role("heading", level=1)).to_have_text("How do I tune a harp?")


def test_a_conversation_is_found_by_its_beginning_and_its_id(site: Site) -> None:
    talked(site)
    with site.client(**{"Accept-Language": "de"}) as client:
        begun = html.unescape(client.get("/conversations", params={"q": "TUNE A"}).text)
        called = client.get("/conversations", params={"q": BOAT[:8]}).text
        nobody = html.unescape(client.get("/conversations", params={"q": "xylophone"}).text)

    assert "Gespräche, die so beginnen" in begun and HARP in begun and BOAT not in begun
    assert "boat moored" in called and HARP not in called
    assert "Das hat niemand gesagt" in nobody and "searchbox" not in nobody


def test_hostile_words_are_text_where_they_are_found(site: Site, page: Page) -> None:
    site.service.record_turn("s", f"The zither {MARKUP}", f"{MARKUP} zither")
    assert site.service.settle(60)
    page.goto("/conversations?q=zither")

    expect(page.locator(".row").first).to_contain_text("<script>")
    assert page.title() != "owned" and page.locator("main img, main script").count() == 0
    page.locator(".row .said").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("<script>")
    assert page.title() != "owned"


def test_a_message_that_is_gone_is_said_so(site: Site) -> None:
    with site.client() as client:
        answer = client.get("/conversations/turn", params={"id": "turn:999999"})

    assert answer.status_code == 404 and "There is nothing here" in answer.text
