"""The page as a server on a free port with one home, and a real Chromium where there is one."""

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from starlette.applications import Starlette

from kinmem.cli.serve import Services
from kinmem.http.guard import Guard, Sessions
from kinmem.http.server import bearer_of
from kinmem.http.tokens import Bearer, Scope, Tokens
from kinmem.service import Service
from kinmem.settings import load
from kinmem.web.routes import SEGMENTS, missing, web_routes
from kinmem.web.views import review_queue

CHROMIUM = os.environ.get("KINMEM_TEST_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
MILLISECONDS = 60_000
"""That a step in the browser may take on a loaded machine."""
expect.set_options(timeout=MILLISECONDS)


@dataclass
class Site:
    """A running page."""

    url: str
    home: Path
    services: Services
    sessions: Sessions

    @property
    def service(self) -> Service:
        return self.services.get()

    def link(self, scope: Scope = "admin", kin: str = "ana") -> str:
        """A link that logs in once."""
        return f"{self.url}/login?key={self.sessions.invite(Bearer(kin, scope))}"

    @contextmanager
    def client(self, scope: Scope = "admin", **headers: str) -> Iterator[httpx.Client]:
        """Somebody who has logged in, without a browser."""
        with httpx.Client(
            base_url=self.url,
            headers=headers,
            follow_redirects=True,
            timeout=60,
            verify=False,  # nothing is encrypted here, and certificates take 22 ms to read
        ) as client:
            client.get(self.link(scope))
            yield client

    def csrf(self, client: httpx.Client) -> str:
        cookie = client.cookies[self.sessions.cookie]
        return self.sessions._sessions[cookie].csrf

    def post(self, client: httpx.Client, path: str, **form: Any) -> httpx.Response:
        """Send a form as one of our pages does."""
        return client.post(path, data={"csrf": self.csrf(client), **form})


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("page")
    settings = load({"KINMEM_HOME": str(home), "KINMEM_KIN": "ana", "KINMEM_TZ": "Europe/Berlin"})
    services = Services(settings)
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    sessions = Sessions(home, port, bearer_of(settings, Tokens(home)), SEGMENTS)
    pages = Starlette(routes=web_routes(services.get, sessions))
    pages.router.default = missing
    app = Guard(pages, [], lambda token: None, sessions)
    config = uvicorn.Config(app, log_config=None, ws="none", lifespan="off")
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield Site(f"http://127.0.0.1:{port}", home, services, sessions)
    server.should_exit = True
    thread.join(10)
    services.close()


@pytest.fixture(autouse=True)
def _reviewed_while_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review is on its page, however long the machine takes for it."""
    monkeypatch.setattr(review_queue, "PATIENCE", 60.0)
    monkeypatch.setattr(review_queue, "PATIENCE_AGAIN", 60.0)


@pytest.fixture(autouse=True)
def _empty(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test begins with a memory of its own making; nothing is still learned from another."""
    yield
    if "site" in request.fixturenames:
        service: Service = request.getfixturevalue("site").service
        assert service.settle(60)
        for state in ("active", "stale", "archived", "superseded", "quarantined", "deleted"):
            while listed := service.list_memories(state=state, limit=200).memories:
                for memory in listed:
                    with suppress(Exception):
                        service.forget(memory.id, erase=True)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """For one module: as long as playwright is there, no other test of the worker can run an event
    loop in its thread."""
    if not Path(CHROMIUM).exists():
        pytest.skip("no chromium: apt-get install chromium, or name one in KINMEM_TEST_CHROMIUM")
    with sync_playwright() as playwright:
        # Chromium makes its socket below TMPDIR: there the path has room (see tests/conftest.py).
        # And it leaves settings of its own at home, even if that is no folder.
        its = {"TMPDIR": tempfile.gettempdir(), "HOME": str(tmp_path_factory.mktemp("browser"))}
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], env={**os.environ, **its}
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A browser that has logged in as the owner, and reads English."""
    with logged_in(browser, site) as made:
        yield made


@contextmanager
def logged_in(browser: Browser, site: Site, **options: Any) -> Iterator[BrowserContext]:
    """A browser with cookies of its own."""
    usual = {"locale": "en-GB", "timezone_id": "Europe/Berlin", "reduced_motion": "reduce"}
    made = browser.new_context(base_url=site.url, **{**usual, **options})
    made.set_default_timeout(MILLISECONDS)
    first = made.new_page()
    first.goto(site.link())
    first.close()
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab whose scripts must neither fail nor be refused."""
    tab = context.new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on(
        "console",
        lambda line: problems.append(line.text) if "Content Security Policy" in line.text else None,
    )
    yield tab
    tab.close()
    assert problems == []
