"""Who gets in: one-time links, tokens, sessions, forms of other pages; and what answers forbid."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from kinmem.http import open_page
from kinmem.http.guard import IDLE_SECONDS, Sessions
from kinmem.http.open_page import is_waiting, open_at
from kinmem.http.tokens import Bearer, Tokens
from tests.test_http import running
from tests.web.conftest import Site

ANA = Bearer("ana", "admin")


class Watch:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def sessions(tmp_path: Path, watch: Watch) -> Sessions:
    return Sessions(tmp_path, 1, lambda token: None, {""}, watch)


def test_a_link_opens_one_session_and_only_once(sessions: Sessions) -> None:
    key = sessions.invite(ANA)

    opened = sessions.accept(key)

    assert opened is not None and opened.bearer == ANA
    assert sessions.accept(key) is None
    assert sessions.accept("guessed") is None


def test_a_link_is_worth_nothing_after_two_minutes(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_page, "LINK_SECONDS", -1)
    key = sessions.invite(ANA)

    assert sessions.accept(key) is None


def test_an_unused_session_ends(sessions: Sessions, watch: Watch) -> None:
    session = sessions.accept(sessions.invite(ANA))
    assert session is not None
    cookie = f"{sessions.cookie}={session.key}"

    assert sessions._known(cookie) is session
    watch.now += IDLE_SECONDS + 1
    assert sessions._known(cookie) is None


def test_each_home_and_each_port_has_a_cookie_of_its_own(tmp_path: Path) -> None:
    places = [(tmp_path, 1), (tmp_path, 2), (tmp_path / "other", 1)]

    assert len({Sessions(home, port, lambda t: None, {""}).cookie for home, port in places}) == 3


def test_without_a_session_every_page_leads_to_the_login(site: Site) -> None:
    answer = httpx.get(f"{site.url}/memories?subject=tea", timeout=60)

    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=%2Fmemories%3Fsubject%3Dtea"
    assert httpx.post(f"{site.url}/memories/forget", timeout=60).headers["location"] == "/login"


def test_the_cookie_is_closed_to_scripts_and_other_sites(site: Site) -> None:
    answer = httpx.get(site.link(), timeout=60)

    given = answer.headers["set-cookie"].lower()
    assert "httponly" in given and "samesite=strict" in given and "path=/" in given
    assert answer.headers["location"] == "/"


def test_a_token_logs_in_and_ends_its_session_when_it_is_revoked(site: Site) -> None:
    token = Tokens(site.home).add("ana", scope="read")

    with httpx.Client(base_url=site.url, timeout=60) as client:
        wrong = client.post("/login", data={"token": "kmk_0_wrong", "next": "/memories"})
        right = client.post("/login", data={"token": token, "next": "/memories"})
        seen = client.get("/memories")
        Tokens(site.home).revoke(token.split("_")[1])
        after = client.get("/memories")

    assert (wrong.status_code, right.status_code) == (403, 303)
    assert right.headers["location"] == "/memories"
    assert seen.status_code == 200 and "data-chosen" not in seen.text
    assert after.status_code == 303


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example", "x"])
def test_the_login_leads_to_our_own_pages_only(site: Site, to: str) -> None:
    token = Tokens(site.home).add("ana")
    answer = httpx.post(f"{site.url}/login", data={"token": token, "next": to}, timeout=60)

    assert answer.headers["location"] == "/"


def test_a_form_needs_the_mark_of_its_session(site: Site) -> None:
    stored = site.service.memorize("The kettle is blue").id
    with site.client() as client, site.client() as other:
        form = {"id": stored, "back": "/memories"}
        without = client.post("/memories/forget", data=form)
        foreign = client.post("/memories/forget", data={**form, "csrf": site.csrf(other)})
        own = site.post(client, "/memories/forget", **form)

    assert (without.status_code, foreign.status_code) == (403, 403)
    assert own.status_code == 200 and "Forgotten." in own.text


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="another site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="another port, as browsers say"),
        pytest.param({"Origin": "http://127.0.0.1:1"}, id="another port"),
        pytest.param({"Origin": "https://evil.example"}, id="another host"),
        pytest.param({"Origin": "null"}, id="a page without an origin"),
    ],
)
def test_a_form_of_another_page_is_refused(site: Site, headers: dict[str, str]) -> None:
    stored = site.service.memorize("The kettle is red").id
    with site.client() as client:
        form = {"csrf": site.csrf(client), "id": stored}
        answer = client.post("/memories/forget", data=form, headers=headers)

    assert answer.status_code == 403
    assert site.service.get(str(stored)).state == "active"


def test_the_cookie_opens_pages_and_nothing_else(site: Site) -> None:
    with site.client() as client:
        assert client.get("/memories").status_code == 200
        for path in ("/mcp", "/api/v1/memories", "/export", "/nothing"):
            assert client.get(path).status_code == 401


def test_a_reading_session_changes_nothing(site: Site) -> None:
    stored = site.service.memorize("The kettle is green").id
    with site.client("read") as client:
        refused = site.post(client, "/memories/forget", id=stored)

    assert refused.status_code == 403 and "takes a token of scope" in refused.text
    assert site.service.get(str(stored)).state == "active"


def test_every_answer_forbids_what_is_not_ours(site: Site) -> None:
    with site.client() as client:
        answers = [client.get(path) for path in ("/", "/login", "/static/page.css", "/memories")]
        answers.append(client.post("/memories/forget"))

    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
    assert {one.headers["cache-control"] for one in (answers[0], answers[3])} == {"no-store"}


def test_no_page_holds_a_script_or_a_style_of_its_own(site: Site) -> None:
    site.service.memorize("The kettle is black")
    with site.client() as client:
        for path in ("/", "/memories", "/login"):
            text = client.get(path).text
            assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
            assert re.findall(r"<script(?![^>]* src=)", text) == []
            assert set(re.findall(r"(?:src|href|action)=\"(\w+:[^\"]*)", text)) == set()


def test_logging_out_ends_the_session(site: Site) -> None:
    with site.client() as client:
        cookie = client.cookies[site.sessions.cookie]
        site.post(client, "/logout")
        again = httpx.get(
            f"{site.url}/memories",
            headers={"Cookie": f"{site.sessions.cookie}={cookie}"},
            timeout=60,
        )

    assert again.status_code == 303


def test_a_large_form_is_refused(site: Site) -> None:
    with site.client() as client:
        assert site.post(client, "/memories/forget", id="x" * (2 << 20)).status_code == 413


@contextmanager
def started(home: Path, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A kinmem command that serves."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kinmem", *words],
        env={**os.environ, "KINMEM_HOME": str(home), "KINMEM_KIN": "ana", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_kinmem_web_prints_a_link_that_opens_once_and_a_second_one_shows_the_same(
    tmp_path: Path,
) -> None:
    with started(tmp_path, "web", "--no-browser", "--json") as process:
        assert process.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            told += process.stdout.readline()
        link = json.loads(told)["link"]
        with httpx.Client(follow_redirects=True, timeout=60) as first:
            opened = first.get(link)
        again = httpx.get(link, timeout=60)
        second = subprocess.run(
            [sys.executable, "-m", "kinmem", "web", "--no-browser"],
            env={**os.environ, "KINMEM_HOME": str(tmp_path), "KINMEM_KIN": "ben"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        other = second.stdout.split()[-1]
        with httpx.Client(follow_redirects=True, timeout=60) as client:
            text = client.get(other).text

    assert second.returncode == 0 and "is open already" in second.stdout
    assert other.split("/login")[0] == link.split("/login")[0]
    assert '<span class="kin" title="Whose memory this is">ben</span>' in text
    assert open_page.running(tmp_path) is None  # it has ended
    assert opened.status_code == 200 and "Nothing is remembered yet" in opened.text
    assert again.status_code == 403 and "used already" in again.text
    assert process.returncode == 0


def test_the_server_over_http_shows_the_page_only_if_asked_to(tmp_path: Path) -> None:
    token = Tokens(tmp_path).add("ana", scope="admin")
    served: dict[str, list[int]] = {}
    for web in ("on", "off"):
        with (
            running(tmp_path, KINMEM_KIN="ana", KINMEM_WEB=web) as server,
            httpx.Client(base_url=server.url, timeout=60) as client,
        ):
            client.post("/login", data={"token": token})
            served[web] = [client.get(path).status_code for path in ("/memories", "/mcp")]
            # What a program asks does not depend on the page.
            known = {"Authorization": f"Bearer {token}"}
            served[web] += [
                client.request(method, path, headers=known).status_code
                for method, path in (("POST", "/mcp/"), ("GET", "/sse/"), ("POST", "/register"))
            ]

    assert served == {"on": [200, 401, 307, 307, 404], "off": [401, 401, 307, 307, 404]}


def test_the_growth_counts_by_day(site: Site) -> None:
    today = site.service.clock()
    site.service.memorize("The kettle is white")

    counted = site.service.growth()

    assert sum(counted.values()) >= 1
    assert set(counted) <= {f"{today - timedelta(days=n):%Y-%m-%d}" for n in (-1, 0, 1)}


def test_the_browser_is_led_on_by_a_file_that_nobody_else_reads(
    site: Site, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its arguments hold no key; and the page, whose cookie no other page may send, is open."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    key = site.sessions.invite(ANA)
    named: list[str] = []
    opening = threading.Thread(
        target=open_at,
        args=(f"{site.url}/login?key={key}", lambda: not is_waiting(site.home, key), named.append),
    )
    opening.start()
    with browser.new_context() as context:
        page = context.new_page()
        while not named:  # the file is written before it is named
            opening.join(0.01)
        (file,) = tmp_path.glob("*/open.html")
        modes = [one.stat().st_mode & 0o777 for one in (file, file.parent)]
        page.goto(file.as_uri())
        page.wait_for_url(f"{site.url}/")
    opening.join()

    assert named == [file.as_uri()] and key not in named[0]
    assert modes == [0o600, 0o700]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/nope", "/memories/a/b", "/api/v1/memories"])
def test_an_address_that_is_no_page_says_so_in_a_page(
    site: Site, browser: Browser, path: str
) -> None:
    with browser.new_context(base_url=site.url) as person:
        tab = person.new_page()
        tab.goto(site.link())

        answer = tab.goto(path)

        assert answer is not None and answer.status == 404
        tab.get_by_role("link", name="To the overview").click()
        expect(tab).to_have_url(f"{site.url}/")


def test_a_program_is_told_that_nothing_is_there(site: Site) -> None:
    with site.client() as person:
        answer = person.get("/memories/a/b", headers={"accept": "application/json"})

    assert answer.status_code == 404 and answer.json()["error"]["code"] == "not_found"
    asked = httpx.get(f"{site.url}/nope")
    assert asked.status_code == 401 and asked.json()["error"]["code"] == "unauthorized"
