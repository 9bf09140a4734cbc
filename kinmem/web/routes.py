"""The routes of the page: its views, the login, what its forms do, files that never change, and a
stream that tells a page of changes.

The head of a page is sent early where that is possible (early_page.py).
"""

import time
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from markupsafe import escape
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from kinmem.errors import EntityNotFound, InvalidInput, KinmemError, MemoryNotFound, Overloaded
from kinmem.http.guard import (
    LIVE,
    LIVE_HEADER,
    LOGIN,
    MISSING,
    SESSION_KEY,
    STATIC,
    Session,
    Sessions,
    set_cookie,
)
from kinmem.http.lanes import Lanes, ServiceFor
from kinmem.http.refusals import refusal
from kinmem.http.tokens import Scope
from kinmem.web.early_page import EarlyHead, EarlyPage
from kinmem.web.render import HEADERS, THEME, THEMES, bare, page, page_head
from kinmem.web.render import STATIC as FILES
from kinmem.web.view import Answer, Asked, Done, Notice, Refused, Show, Shown, View, filled_in
from kinmem.web.views import VIEWS
from kinmem.web.words import Language, chosen

if TYPE_CHECKING:
    from kinmem.service import Service

LOGOUT, APPEARANCE = "/logout", "/appearance"
SEGMENTS = frozenset(
    path.split("/")[1]
    for path in (
        *(LOGIN, STATIC, LOGOUT, APPEARANCE, LIVE, MISSING),
        *(path for view in VIEWS for path in (view.path, *view.pages, *view.actions, *view.owner)),
    )
)
"""The first parts of the paths that are pages."""
YEAR = 365 * 24 * 3600
# A day: a new version of kinmem is seen by then.
CACHED = {"Cache-Control": "private, max-age=86400"}


def web_routes(
    service_for: ServiceFor, sessions: Sessions, lanes: Lanes | None = None
) -> list[BaseRoute]:
    """Return the routes of all views, for the sessions that the guard lets in."""
    pages = _Pages(service_for, sessions, lanes or Lanes())
    routes: list[BaseRoute] = [
        Route(LOGIN, pages.login, methods=["GET", "POST"]),
        Route(LOGOUT, pages.logout, methods=["POST"]),
        Route(APPEARANCE, pages.appearance, methods=["POST"]),
        Route(LIVE, Events(service_for, sessions).answer, methods=["GET"]),
        Mount(STATIC.rstrip("/"), _Files(directory=FILES)),
    ]
    for view in VIEWS:
        reading: dict[str, Show] = {view.path: view.show, **view.pages}
        routes += [_read(pages, view, path, show) for path, show in reading.items()]
        routes += [_acted(pages, view, path, act, "write") for path, act in view.actions.items()]
        routes += [_acted(pages, view, path, act, "admin") for path, act in view.owner.items()]
    return routes


def _read(pages: "_Pages", view: View, path: str, show: Show) -> Route:
    return Route(path, partial(pages.answer, view, show, view.needs), methods=["GET"])


def _acted(pages: "_Pages", view: View, path: str, act: Show, needs: Scope) -> Route:
    return Route(path, partial(pages.answer, view, act, needs), methods=["POST"])


@dataclass(frozen=True, slots=True)
class _Visit:
    """One request to a view."""

    view: View
    show: Show
    """What of the view is asked for."""
    needs: Scope
    request: Request
    head: EarlyHead
    form: FormData = field(default_factory=FormData)

    @property
    def session(self) -> Session:
        session: Session = self.request.scope[SESSION_KEY]
        return session

    @property
    def is_form(self) -> bool:
        return self.request.method == "POST"

    @property
    def language(self) -> Language:
        return chosen(self.request.headers.get("accept-language"))

    def asked(self, service: "Service") -> Asked:
        """Return what the view is asked."""
        return Asked(
            service=service,
            session=self.session,
            language=self.language,
            query=self.request.query_params,
            form=self.form,
            path=self.request.path_params,
            at=_at(self.request),
            is_live=LIVE_HEADER.decode() in self.request.headers,
            head=self.head,
        )


class _Pages:
    """Answers requests to views: with a page, or by sending the browser on."""

    def __init__(self, service_for: ServiceFor, sessions: Sessions, lanes: Lanes) -> None:
        self._service_for = service_for
        self._sessions = sessions
        self._lanes = lanes
        self._opened: WeakValueDictionary[str, Service] = WeakValueDictionary()
        """The memories that pages were shown of, by Kin."""

    async def answer(self, view: View, show: Show, needs: Scope, request: Request) -> Response:
        session: Session = request.scope[SESSION_KEY]
        # Who may not do it sees why, and nothing of what was sent is read.
        is_form = request.method == "POST" and session.bearer.may(needs)
        form = FormData()
        if is_form:
            try:
                is_upload = request.url.path in view.uploads
                form = await filled_in(request, session, files=is_upload)
            except Refused as refused:
                return _sealed(refused.response)
        lane = self._lanes.writing if is_form else self._lanes.reading

        async def work(head: EarlyHead) -> Response:
            visit = _Visit(view, show, needs, request, head, form)
            if not request.url.query and request.url.path == view.path and view.is_certain:
                await self._begin(visit)
            try:
                return _sealed(await lane.run(partial(self._page, visit)))
            except Overloaded as error:
                if head.close():
                    raise
                return _sealed(PlainTextResponse(str(error), 503))

        return EarlyPage(work)

    async def _begin(self, visit: _Visit) -> None:
        """Send the head of a page that is certain, if its memory is open and a thread is free."""
        bearer = visit.session.bearer
        service = self._opened.get(bearer.kin)
        if service and bearer.may(visit.needs) and self._lanes.reading.is_free:
            _prepare(visit, visit.asked(service))
            await visit.head.send_at_once()

    def _page(self, visit: _Visit) -> Response:
        """Answer in a worker, which goes on when the answer is no longer waited for."""
        try:
            return self._answered(visit)
        except KinmemError as error:  # the memory cannot be opened
            if visit.head.is_sent:
                raise
            told = {"problem": "problem.503", "told": visit.language.error(error)}
            shown = Shown("problem.html", told, 503)
            return bare(shown, visit.language, _theme(visit.request))
        finally:
            for file in visit.form.values():
                if isinstance(file, UploadFile):
                    file.file.close()

    def _answered(self, visit: _Visit) -> Response:
        kin = visit.session.bearer.kin
        service = self._opened[kin] = self._service_for(kin)
        asked = visit.asked(service)
        _prepare(visit, asked)
        if asked.may(visit.needs):
            answer = _outcome(visit, asked)
        else:
            answer = Shown("problem.html", {"problem": "problem.scope", "told": visit.needs}, 403)
        if isinstance(answer, Shown):
            return page(answer, asked, visit.view, VIEWS, _theme(visit.request))
        if isinstance(answer, Done):
            if answer.notice:
                visit.session.notices.append(answer.notice)
            return RedirectResponse(_local(answer.to), 303)
        return answer

    async def login(self, request: Request) -> Response:
        """Log in: by the key of a one-time link, by a token, or with nothing where nobody is asked
        for one."""
        query, to = request.query_params, _local(request.query_params.get("next", "/"))
        if request.method == "GET" and (key := query.get("key")):
            # A link that was used before still leads in who is in already.
            session = self._sessions.accept(key) or request.scope[SESSION_KEY]
            if session:
                return self._entered(request, session, "/")
            return _sealed(self._login_page(request, "/", "login.old_link", 403))
        if request.method != "POST":
            return _sealed(self._login_page(request, to, None, 200))
        try:
            form = await filled_in(request, None)
        except Refused as refused:
            return _sealed(refused.response)
        token, to = str(form.get("token", "")).strip(), _local(str(form.get("next", "/")))
        session = await anyio.to_thread.run_sync(self._sessions.log_in, token or None)
        if session:
            return self._entered(request, session, to)
        return _sealed(self._login_page(request, to, "login.wrong", 403))

    def _login_page(self, request: Request, to: str, problem: str | None, status: int) -> Response:
        language = chosen(request.headers.get("accept-language"))
        shown = Shown("login.html", {"next": to, "problem": problem}, status)
        return bare(shown, language, _theme(request))

    def _entered(self, request: Request, session: Session, to: str) -> Response:
        response = _sealed(_onward(request, to))
        secure = request.headers.get("origin", "").startswith("https:")
        set_cookie(response, self._sessions, session, secure=secure)
        return response

    async def logout(self, request: Request) -> Response:
        session: Session = request.scope[SESSION_KEY]
        try:
            await filled_in(request, session)
        except Refused as refused:
            return _sealed(refused.response)
        self._sessions.log_out(session)
        response = _sealed(RedirectResponse(LOGIN, 303))
        response.delete_cookie(self._sessions.cookie, httponly=True, samesite="strict")
        return response

    async def appearance(self, request: Request) -> Response:
        """Keep in the browser whether pages are dark or light."""
        try:
            form = await filled_in(request, request.scope[SESSION_KEY])
        except Refused as refused:
            return _sealed(refused.response)
        response = _sealed(RedirectResponse(_local(str(form.get("back", "/"))), 303))
        theme = str(form.get("theme"))
        if theme in THEMES:
            response.set_cookie(THEME, theme, max_age=YEAR, samesite="strict")
        return response


async def missing(scope: Connection, receive: Receive, send: Send) -> None:
    """Answer for an address that nothing else is at: people see a page, programs an error."""
    request = Request(scope)
    if "text/html" in request.headers.get("accept", ""):
        language = chosen(request.headers.get("accept-language"))
        told = {"problem": "problem.404", "told": language.text("problem.address")}
        answer = _sealed(bare(Shown("problem.html", told, 404), language, _theme(request)))
    else:
        answer = refusal(404, "not_found", f"nothing is at {request.url.path}")
    await answer(scope, receive, send)


def _outcome(visit: _Visit, asked: Asked) -> Answer:
    """Answer the request; a form that cannot be done leads back to its page, which says why."""
    try:
        with nullcontext() if visit.is_form else asked.service.store.reading():
            return visit.show(asked)
    except KinmemError as error:
        if visit.is_form:
            notice = Notice("problem.told", is_problem=True, errors=(error,))
            return Done(asked.given("back") or "/", notice)
        return _failed(error, asked)


def _prepare(visit: _Visit, asked: Asked) -> None:
    """Let the head be sent early if a browser shows what comes: a script swaps in what has come
    whole, and looks at its status."""
    request, view, theme = visit.request, visit.view, _theme(visit.request)
    if request.method != "GET" or asked.is_live or "hx-request" in request.headers:
        return
    visit.head.write = lambda: page_head(asked, view, VIEWS, theme)
    visit.head.tell = lambda error: page(_failed(error, asked), asked, view, VIEWS, theme)


def _failed(error: Exception, asked: Asked) -> Shown:
    """Return a page that says what went wrong; of a fault of ours only that there was one."""
    status = 503
    if isinstance(error, MemoryNotFound | EntityNotFound):
        status = 404
    elif isinstance(error, InvalidInput):
        status = 400
    words = asked.language
    told = words.error(error) if isinstance(error, KinmemError) else words.text("problem.fault")
    return Shown("problem.html", {"problem": f"problem.{status}", "told": told}, status)


def _onward(request: Request, to: str) -> Response:
    """Send the browser on. If a page that is not ours, or a file, has sent it here, it goes on by a
    page of ours: only then does it send a cookie that is meant for our pages alone."""
    if request.headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return RedirectResponse(to, 303)
    where = escape(to)
    return HTMLResponse(
        f'<!doctype html><meta http-equiv="refresh" content="0;url={where}"><title>kinmem</title>'
        f'<a href="{where}">kinmem</a>'
    )


def _theme(request: Request) -> str:
    theme = request.cookies.get(THEME, THEMES[0])
    return theme if theme in THEMES else THEMES[0]


def _at(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def _local(to: str) -> str:
    """Return the address if it is one of ours; else the first page. //evil.example is not."""
    try:
        parts = urlsplit(to)
    except ValueError:
        return "/"
    is_ours = to.startswith("/") and not to.startswith(("//", "/\\")) and not parts.netloc
    return to if is_ours and to.isprintable() and "\\" not in to else "/"


def _sealed(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


class _Files(StaticFiles):
    """Our own scripts and styles."""

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        response = await self.get_response(self.get_path(scope), scope)
        response.headers.update({**HEADERS, **CACHED})
        await response(scope, receive, send)


# Seconds between two looks, which cost two small statements.
LOOK_SECONDS = 1.0
# Looks after which a line is sent all the same, so that an end that nobody told of is noticed.
STILL = 15
# Seconds after which a stream ends; a page that is still open asks again.
LONGEST = 3600.0


class Events:
    """Streams of one server."""

    def __init__(self, service_for: ServiceFor, sessions: Sessions) -> None:
        self._service_for = service_for
        self._sessions = sessions

    async def answer(self, request: Request) -> Response:
        session: Session = request.scope[SESSION_KEY]
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = self._lines(session)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def _lines(self, session: Session) -> AsyncIterator[str]:
        service = await anyio.to_thread.run_sync(self._service_for, session.bearer.kin)
        known = (await anyio.to_thread.run_sync(service.changes)).cursor
        yield "retry: 2000\n\n"
        still, ends_at = 0, time.monotonic() + LONGEST
        while time.monotonic() < ends_at:
            await anyio.sleep(LOOK_SECONDS)
            if not await anyio.to_thread.run_sync(self._sessions.is_live, session):
                return
            seen = (await anyio.to_thread.run_sync(service.changes, known)).cursor
            still += 1
            if seen != known:
                known, still = seen, 0
                yield f"event: changed\ndata: {seen}\n\n"
            elif still >= STILL:
                still = 0
                yield ": still here\n\n"
