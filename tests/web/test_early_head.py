"""A page begins before the store has answered; it is the same page, with the same status, as one
that comes whole."""

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from starlette.responses import Response
from starlette.types import Message, Send

from kinmem.errors import Overloaded, StillWorking, StoreError
from kinmem.http.lanes import Lane
from kinmem.web import early_page, routes
from kinmem.web.early_page import EarlyHead, EarlyPage
from kinmem.web.views import VIEWS
from tests.web.conftest import Site
from tests.web.test_memory_views import stored

LIVE = {"X-Live": "1"}
"""With it a page comes whole."""


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    """Somebody who has seen a page, so that the memory is open."""
    with site.client() as made:
        made.get("/")
        yield made


def test_a_page_begins_before_the_store_has_answered(
    site: Site, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(site, "The piano is in tune")
    may_answer, answer = threading.Event(), site.service.list_memories

    def slow(**asked: object) -> object:
        assert may_answer.wait(60)
        return answer(**asked)  # type: ignore[arg-type]

    monkeypatch.setattr(site.service, "list_memories", slow)
    with client.stream("GET", "/memories") as page:
        pieces = page.iter_text()
        head = next(pieces)
        may_answer.set()
        rest = "".join(pieces)

    assert (
        page.status_code == 200
        and "page.css" in head
        and head.rstrip().endswith('<main id="main" tabindex="-1">')
    )
    assert "The piano is in tune" in rest and rest.rstrip().endswith("</html>")
    assert page.headers["content-security-policy"] and page.headers["cache-control"] == "no-store"


def test_it_is_the_page_that_comes_whole_otherwise(site: Site, client: httpx.Client) -> None:
    id = stored(site, "Maya plays the cello", subject="Maya")
    site.service.record_turn("evening", "Is it late?", "It is.")
    assert site.service.settle(60)
    client.get("/review")  # waits until the memory was looked through
    listed = [view.path for view in VIEWS if view.is_listed]
    others = (
        f"/memory/{id}",
        f"/memory/{id}/edit",
        "/conversations/one?name=evening",
        "/topology?kind=memory",
    )

    for path in (*listed, *others):
        early, whole = client.get(path), client.get(path, headers=LIVE)
        assert "content-length" not in early.headers and "content-length" in whole.headers, path
        assert early.status_code == whole.status_code == 200
        assert early.text == whole.text, path


def test_a_memory_is_the_title_of_its_page(site: Site, client: httpx.Client) -> None:
    id = stored(site, "<b>The kettle</b> is new")

    assert (
        "<title>&lt;b&gt;The kettle&lt;/b&gt; is new · kinmem</title>"
        in client.get(f"/memory/{id}").text
    )


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreError("the disk is gone"), "the disk is gone"),
        (ZeroDivisionError("4711"), "Something went wrong in kinmem"),
    ],
    ids=["of the store", "of ours"],
)
def test_an_error_that_comes_later_is_told_within_the_page(
    site: Site,
    client: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    told: str,
) -> None:
    def fail(**asked: object) -> None:
        raise error

    monkeypatch.setattr(site.service, "list_memories", fail)
    page = client.get("/memories")

    main = re.search("<main.*</main>", page.text, re.S)
    assert page.status_code == 200 and main and told in main[0] and "4711" not in page.text
    assert page.text.count("<nav") == page.text.count("</html>") == 1
    monkeypatch.undo()
    assert client.get("/memories").status_code == 200


def test_what_a_script_asks_for_has_the_status_of_its_error(
    site: Site, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**asked: object) -> None:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(site.service, "list_memories", fail)
    asked = [client.get("/memories", headers=one) for one in (LIVE, {"HX-Request": "true"})]
    monkeypatch.undo()

    assert [one.status_code for one in asked] == [503, 503]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/memory/nothing", 404),
        ("/conversations/one?name=nothing", 404),
        ("/memories?cursor=nothing", 400),
        ("/timeline?day=nothing", 400),
        ("/documents/nothing", 404),
    ],
)
def test_what_is_not_there_has_its_status(client: httpx.Client, path: str, status: int) -> None:
    assert client.get(path).status_code == status


def test_a_session_that_may_not_see_a_page_is_told_with_403(site: Site) -> None:
    with site.client("write") as client:
        client.get("/")
        assert client.get("/kins").status_code == 403


def test_asking_for_the_head_alone_is_answered_without_a_body(client: httpx.Client) -> None:
    answer = client.head("/memories")

    assert answer.status_code == 200 and answer.content == b""
    assert client.head("/memory/nothing").status_code == 404


def test_what_was_done_is_told_once_at_the_end_of_the_page(
    site: Site, client: httpx.Client
) -> None:
    id = stored(site, "The cup is chipped")
    page = site.post(client, "/memories/forget", id=id, back="/memories")

    assert page.url.path == "/memories" and page.text.count("Forgotten. It stays in the bin") == 1
    assert "Forgotten. It stays in the bin" not in client.get("/memories").text


def _answer(work: Callable[[EarlyHead], Awaitable[Response]], send: Send) -> None:
    """Answer with the work, on a loop in a thread of its own: a browser keeps one in this."""

    async def receive() -> Message:
        raise AssertionError

    with ThreadPoolExecutor(1) as threads:
        scope = {"type": "http", "method": "GET"}
        threads.submit(asyncio.run, EarlyPage(work)(scope, receive, send)).result(60)


def _told(head: EarlyHead) -> Callable[[Exception], Response]:
    return lambda error: Response("rest" if head.is_sent else "whole")


def test_a_call_that_ends_just_while_its_page_begins_is_answered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent, schedule = list[Message](), asyncio.run_coroutine_threadsafe

    def slow(*given: Any) -> Future[Any]:
        scheduled = schedule(*given)
        threading.Event().wait(0.5)  # as if another thread had its turn
        return scheduled

    async def send(message: Message) -> None:
        sent.append(message)

    async def work(head: EarlyHead) -> Response:
        head.write, head.tell = (lambda: "head"), _told(head)
        threading.Thread(target=head.begin, args=(None,)).start()
        while len(sent) < 2:
            await asyncio.sleep(0)
        raise StillWorking(1, 1)

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", slow)
    _answer(work, send)

    assert [one.get("body") for one in sent] == [None, b"head", b"rest"]


def test_a_call_that_is_refused_just_before_its_page_begins_is_refused_with_503(
    site: Site, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads, make, seal = list[EarlyHead](), EarlyHead, routes._sealed

    def made(send: Send) -> EarlyHead:
        heads.append(make(send))
        heads[-1].write = lambda: "head"
        return heads[-1]

    async def full(lane: Lane, work: object) -> None:
        raise Overloaded(1, 1)

    def late(response: Response) -> Response:
        for head in heads:
            thread = threading.Thread(target=head.begin, args=(None,))
            thread.start()
            thread.join()
        return seal(response)

    monkeypatch.setattr(early_page, "EarlyHead", made)
    monkeypatch.setattr(routes, "_sealed", late)
    monkeypatch.setattr(Lane, "run", full)
    answer = client.get("/memories?sort=oldest")
    monkeypatch.undo()

    assert len(heads) == 1 and answer.status_code == 503 and "head" not in answer.text


def test_the_error_of_a_view_is_logged_though_the_browser_has_gone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def send(message: Message) -> None:
        raise OSError("the browser has gone")

    async def work(head: EarlyHead) -> Response:
        head.write, head.tell = (lambda: "head"), _told(head)
        await asyncio.to_thread(head.begin, None)
        raise ZeroDivisionError

    with pytest.raises(OSError, match="has gone"):
        _answer(work, send)

    logged = [one.exc_info[0] for one in caplog.records if one.exc_info]
    assert logged == [ZeroDivisionError]
