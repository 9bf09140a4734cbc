"""Every view in a real browser: hostile contents, each width, light and dark, no JavaScript."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from kinmem.web.views import VIEWS
from tests.sweeps import WHOLE, rounds, sample
from tests.web.conftest import Site, logged_in
from tests.web.test_memory_views import stored

AXE = (Path(__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# Characters without a space: each 400 take a run of the model.
LONG = rounds(64 << 10, 2_000)
# A telephone, a small laptop, and 4k.
WIDTHS = (360, 1280, 3840)
MARKUP = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
HOSTILE = {
    "markup": MARKUP,
    "a template": "{{ 7 * 7 }} {% raw %} ${7 * 7} </textarea><h1>out</h1>",
    "turned around": "\u202egnihtyreve\u202c is \u2066turned\u2069",
    "tag characters": "nothing \U000e0068\U000e0069 here",
    "without spaces": "x" * LONG,
    "right to left": "שלום עולם, hello, مرحبا بالعالم",
}


def filled(site: Site) -> dict[str, str]:
    """Hostile contents wherever there is room for some; return the memories' ids."""
    service = site.service
    ids = {name: stored(site, text, subject=text[:80]) for name, text in HOSTILE.items()}
    service.update_memory(ids["markup"], content=f"{MARKUP} again", tags=["<b>x</b>"], trusted=True)
    stored(site, "Maya lives in Lyon since May", subject="Maya", tags=["home"])
    stored(site, "Maya lives in Berlin now", subject="Maya", tags=["home"])
    stored(site, "Maya plays the cello", subject="Maya", tags=["home"])
    service.record_turn(f"<b>s</b>\u202e {MARKUP}", "x" * LONG, MARKUP)
    return ids


def paths(site: Site, ids: dict[str, str]) -> Iterator[str]:
    """Every page that is read, with what hides behind an address."""
    yield from (view.path for view in VIEWS if view.is_listed)
    yield from (f"/memory/{id}" for id in sample(list(ids.values()), 4))
    yield f"/memory/{ids['a template']}/edit"
    yield "/memories/new"
    yield from ("/memories?filtering=1&tag=home", "/search?q=where+does+Maya+live")
    yield from (
        "/timeline?held=1",
        "/topology?kind=entity",
        "/settings?changed=1",
        "/memory/nothing",
    )
    write = site.service.history(ids["markup"])[0].write
    yield f"/activity/undo?what={write}"
    yield "/conversations/one?name=%3Cb%3Es%3C/b%3E%E2%80%AE+" + MARKUP.replace(" ", "+")


@pytest.mark.slow
def test_every_view_is_text_fits_each_screen_and_can_be_read_by_all(
    site: Site, context: BrowserContext, page: Page
) -> None:
    """Nothing runs, nothing hides, nothing is wider than the screen, and axe-core finds nothing
    serious: in light on one page and in dark on the next, under `make sweeps` in both."""
    ids, problems = filled(site), []
    page.on("dialog", lambda dialog: problems.append(f"a script has run: {dialog.message}"))
    for number, path in enumerate(paths(site, ids)):
        page.set_viewport_size({"width": WIDTHS[0], "height": 800})
        answer = page.goto(path)
        assert answer is not None and answer.status in (200, 404), path
        problems += [f"{path}: {one}" for one in _seen(page)]
        widths = WIDTHS if WHOLE else (WIDTHS[0], WIDTHS[1 + number % 2])
        problems += [f"{path}: {one}" for one in _too_wide(page, widths)]
        schemes = ("light", "dark") if WHOLE else (("light", "dark")[number % 2],)
        problems += [f"{path}: {one}" for one in _inaccessible(page, schemes)]
    page.emulate_media(color_scheme="light")
    assert problems == []


def _seen(page: Page) -> Iterator[str]:
    if page.title() == "owned":
        yield "a script has run"
    if page.locator("main img, main h1:text('out'), main script").count():
        yield "markup of a memory is markup of the page"
    if page.locator("h1").count() != 1:
        yield "not one heading of the first level"


def _too_wide(page: Page, widths: Sequence[int]) -> Iterator[str]:
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        wide = page.evaluate("document.documentElement.scrollWidth") - width
        if wide > 0:
            yield f"wider than {width} by {wide}"


def _inaccessible(page: Page, schemes: Sequence[Literal["light", "dark"]]) -> Iterator[str]:
    page.evaluate(AXE)
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        for one in result["violations"]:
            if one["impact"] in ("serious", "critical"):
                node = one["nodes"][0]
                why = [reason["message"] for reason in node["any"]]
                yield f"{scheme}, {one['id']}: {node['html'][:120]} {why}"


def test_hostile_texts_are_shown_as_they_are(site: Site, page: Page) -> None:
    ids = {name: stored(site, HOSTILE[name]) for name in ("markup", "a template", "tag characters")}
    page.goto(f"/memory/{ids['markup']}")
    expect(page.locator("[data-content]")).to_have_text(MARKUP)
    page.goto(f"/memory/{ids['a template']}/edit")
    expect(page.get_by_role("textbox", name="Text")).to_have_value(HOSTILE["a template"])
    page.goto(f"/memory/{ids['tag characters']}")
    expect(page.locator("[data-content]")).to_have_text("nothing ⟨U+E0068⟩⟨U+E0069⟩ here")


def test_without_javascript_everything_is_found_changed_and_taken_back(
    site: Site, browser: Browser
) -> None:
    """In German, as that browser prefers."""
    stored(site, "The piano is in tune", subject="piano")
    stored(site, "The piano is black", subject="piano")
    with logged_in(browser, site, java_script_enabled=False, locale="de-DE") as plain:
        page = plain.new_page()
        page.goto("/")
        assert page.locator("html").get_attribute("lang") == "de"
        page.get_by_role("searchbox").fill("Is the piano in tune?")
        page.keyboard.press("Enter")
        page.locator(".hit .said").first.click()
        page.get_by_role("link", name="Bearbeiten").click()
        page.get_by_role("textbox", name="Text").fill("The piano is out of tune")
        page.get_by_role("button", name="Speichern").click()
        expect(page.locator("[data-content]")).to_have_text("The piano is out of tune")
        page.get_by_role("button", name="Vergessen").click()
        page.locator(".notice").get_by_role("button", name="Rückgängig").click()
        expect(page.get_by_role("button", name="Anheften")).to_be_visible()

        page.goto("/memories")
        page.locator(".row").get_by_role("checkbox").first.check()
        page.get_by_role("button", name="Vergessen").click()
        expect(page.locator(".row")).to_have_count(1)
        page.get_by_role("link", name="Verlauf").click()
        page.locator(".entry").get_by_role("link", name="Zurücknehmen").first.click()
        page.get_by_role("button", name="Rückgängig").click()
        expect(page.locator(".notice")).to_be_visible()

        page.get_by_role("link", name="Topologie").click()
        page.get_by_role("searchbox", name="Name oder Text").fill("out of")
        page.get_by_role("button", name="Anwenden").click()
        expect(page.locator(".nodes tbody tr")).to_have_count(2)
        expect(page.locator(".drawing")).to_be_hidden()
