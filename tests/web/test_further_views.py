"""Activity, timeline, conversations: what they show, what they take back."""

import re

import httpx

from kinmem.http.tokens import Tokens
from kinmem.web.views.manage_pages import _told
from tests.web.conftest import Site


def test_what_an_undo_would_change_is_shown_before_it_is_done(site: Site) -> None:
    stored = site.service.memorize("The cat is called Momo")
    site.service.update_memory(stored.id or "", content="The cat is called Mimi")
    with site.client() as client:
        shown = client.get("/activity").text
        (to, *_) = re.findall(r'href="(/activity/undo\?what=[^"]+)"', shown)
        before = client.get(to).text
        assert "<del>The cat is called Mimi" in before and "<ins>The cat is called Momo" in before
        assert site.service.get(stored.id or "").content.endswith("Mimi")

        done = site.post(client, "/activity/undo", what=to.partition("=")[2])

    assert "Undone." in done.text
    assert site.service.get(stored.id or "").content.endswith("Momo")


def test_what_later_changes_build_on_is_undone_with_them_only_if_asked(site: Site) -> None:
    stored = site.service.memorize("The dog is called Rex")
    first = site.service.history(stored.id)[0].write
    site.service.update_memory(stored.id or "", content="The dog is called Max")
    with site.client() as client:
        assert "Later changes build on this" in client.get(f"/activity/undo?what={first}").text
        assert "Not done" in site.post(client, "/activity/undo", what=first).text
        assert "Takes back 2 changes" in client.get(f"/activity/undo?what={first}&cascade=1").text


def test_a_day_shows_what_happened_and_what_held(site: Site) -> None:
    site.service.memorize("I moved to Lyon", occurred_at="2026-03-05")
    site.service.memorize("I bought a bicycle", occurred_at="2026-04-07")
    with site.client() as client:
        month = client.get("/timeline?day=2026-03").text
        day = client.get("/timeline?day=2026-04-07").text
        held = client.get("/timeline?day=2026-03-31&held=1").text
        wrong = client.get("/timeline?day=yesterday-ish")

    assert "5 Mar 2026: 1" in month and "bicycle" not in month
    assert "bicycle" in day and "Lyon" not in day
    assert "Lyon" in held and "bicycle" not in held
    assert wrong.status_code == 400


def test_a_conversation_shows_what_each_turn_became(site: Site) -> None:
    service = site.service
    service.record_turn("talk/1?&", "I live in Lyon and my sister is called Clara.", "Nice.")
    assert service.settle(60)
    with site.client() as client:
        listed = client.get("/conversations").text
        shown = client.get("/conversations/one", params={"name": "talk/1?&"}).text
        unknown = client.get("/conversations/one", params={"name": "none"})

    assert "talk/1?&amp;" in listed
    assert "Became" in shown and "Clara" in shown.partition("Became")[2]
    assert unknown.status_code == 404


def test_a_file_is_stored_only_after_it_was_looked_at(site: Site) -> None:
    text = b"# Budget\n\nThe budget is <b>400</b> euros.\n\n# Trips\n\nBy train."
    with site.client() as client:
        form = {"csrf": site.csrf(client), "back": "/documents"}
        files = {"file": ("budget.md", text, "text/markdown")}
        looked = client.post("/documents/preview", data=form, files=files)
        assert "&lt;b&gt;400" in looked.text and "<b>400" not in looked.text
        assert "New." in looked.text and "Budget" in looked.text
        assert site.service.store.documents.listed(10) == []
        (key,) = re.findall(r'name="key" value="([^"]+)"', looked.text)

        stored = site.post(client, "/documents/store", key=key, title="Our budget")
        assert "Our budget" in stored.text and "&lt;b&gt;400" in stored.text
        again = site.post(client, "/documents/store", key=key)
        assert "no longer waits" in again.text
        (id,) = site.service.store.documents.listed(10)
        assert "Our budget" in client.get("/documents").text
        site.post(client, "/memories/forget", id=id)
    assert site.service.store.documents.listed(10) == []


def test_a_token_is_shown_once_and_revoked(site: Site) -> None:
    with site.client() as client:
        made = site.post(client, "/kins/add", kin="ana", scope="read", note="<i>phone</i>").text
        (token,) = re.findall(r"kmk_[0-9a-f]{8}_[\w-]{43}", made)
        listed = client.get("/kins").text
        assert token not in listed and "&lt;i&gt;phone" in listed
        assert Tokens(site.home).verify(token) is not None
        site.post(client, "/kins/revoke", id=token.split("_")[1])
    assert Tokens(site.home).verify(token) is None


def test_who_came_with_a_token_makes_no_tokens_and_sees_its_own_kin(site: Site) -> None:
    tokens = Tokens(site.home)
    mine, other = tokens.add("ana", scope="admin"), tokens.add("bob")
    other_id = other.split("_")[1]
    with httpx.Client(base_url=site.url, follow_redirects=True, timeout=60) as client:
        client.post("/login", data={"token": mine})
        assert other_id not in client.get("/kins").text
        assert "Not done" in site.post(client, "/kins/add", kin="bob", scope="admin").text
        assert "Not done" in site.post(client, "/kins/revoke", id=other_id).text
    with site.client("write") as client:
        assert client.get("/kins").status_code == 403
    assert Tokens(site.home).verify(other) is not None
    assert len(Tokens(site.home).tokens()) == len(tokens.tokens())


def test_settings_show_no_password_and_where_they_come_from(site: Site) -> None:
    with site.client() as client:
        shown = client.get("/settings?changed=1").text
    assert "KINMEM_TZ" in shown and "Europe/Berlin" in shown and "command line" in shown
    assert _told("https://ana:secret@models.example/v1") == "https://…@models.example/v1"
