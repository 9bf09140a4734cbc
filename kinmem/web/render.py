"""How a page is written: templates, with what every page knows, its icons, and a memory's text."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.responses import HTMLResponse

from kinmem.conversation.sanitize import revealed
from kinmem.web import VERSION
from kinmem.web.view import Asked, Notice, Shown, View
from kinmem.web.words import Language, language

STATIC = Path(__file__).parent / "static"
THEME = "kinmem_theme"
Theme = Literal["auto", "light", "dark"]
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")
# The parts of a call by a text alone, in a template.
CALL = ["name", "lparen", "string", "rparen"]
# htmx needs neither eval nor styles of its own, and must not keep memories in the browser.
HTMX = json.dumps(
    {
        "allowEval": False,
        "includeIndicatorStyles": False,
        "historyCacheSize": 0,
        "refreshOnHistoryMiss": True,
        "selfRequestsOnly": True,
        "scrollIntoViewOnBoost": False,
        # A form that could not be done is shown again, with the reason.
        "responseHandling": [{"code": "204", "swap": False}, {"code": ".*", "swap": True}],
    }
)
# Nothing but our own files; no script or style within a page.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}


class Worded(Extension):
    """Writes a text that is called by its mere key into the template when it is compiled: a long
    list would look up the same few texts for each of its lines."""

    def filter_stream(self, stream: TokenStream) -> TokenStream:
        text = cast("Callable[[str], str]", self.environment.globals["_"])
        worded: list[Token] = []
        for token in stream:
            worded.append(token)
            last = worded[-4:]
            if [one.type for one in last] == CALL and last[0].value == "_":
                worded[-4:] = [Token(token.lineno, "string", text(last[2].value))]
        return TokenStream(worded, stream.name, stream.filename)


@cache
def environment(code: str) -> Environment:
    """Return the templates in the language of that code. Every value is escaped, and a missing one
    is an error."""
    made = Environment(
        loader=PackageLoader("kinmem.web"),
        autoescape=True,
        auto_reload=False,
        extensions=[Worded],
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"htmx": HTMX, "version": VERSION, "themes": THEMES}
    made.globals |= {"address": address, **_texts(language(code))}
    made.filters |= {"icon": icon, "visible": visible, **_filters(language(code))}
    return made


def _texts(language: Language) -> dict[str, Any]:
    return {
        "_": language.text,
        "told_error": language.error,
        "told_errors": lambda errors: "; ".join(dict.fromkeys(map(language.error, errors))),
        "count": language.count,
        "found": language.finding,
        "language": language,
        "number": language.number,
        "percent": language.percent,
        "chance": language.chance,
    }


def _filters(language: Language) -> dict[str, Callable[..., str]]:
    """What each line of a list needs is a filter, which templates call several times as fast as a
    function."""

    @pass_context
    def when(context: Context, at: datetime, how: str = "ago") -> Markup:
        return language.time(at, context["now"], context["zone"], how)

    return {"name": lambda value, family: language.name(family, value), "when": when}


def visible(text: str | None) -> str:
    """Return what people see of a text: hidden characters and those that turn text around are
    written out. Autoescape does the rest."""
    return revealed(text or "")


def address(path: str, **query: Any) -> str:
    """Return the path with what is asked of it; what is None or empty is left out."""
    pairs = [(name, value) for name, value in query.items() if value not in (None, "", False)]
    return f"{path}?{urlencode(pairs, doseq=True)}" if pairs else path


def page(
    shown: Shown, asked: Asked, view: View | None, views: Sequence[View], theme: str
) -> HTMLResponse:
    """Return a whole page within the frame; without its head if that was sent."""
    frame = {
        **_frame(asked, view, views, theme),
        "now": asked.now,
        "zone": asked.zone,
        "notices": _notices(asked),
        "part": "rest" if asked.head.is_sent else "whole",
    }
    return HTMLResponse(_rendered(shown, frame, asked.language), shown.status)


def page_head(asked: Asked, view: View, views: Sequence[View], theme: str) -> str:
    """Return what stands before the view's own."""
    frame = {**_frame(asked, view, views, theme), "notices": (), "part": "head"}
    return _rendered(Shown("base.html"), frame, asked.language)


def _frame(asked: Asked, view: View | None, views: Sequence[View], theme: str) -> dict[str, Any]:
    groups: dict[str, list[View]] = {}
    for one in views:
        if one.is_listed and asked.may(one.needs):
            groups.setdefault(one.group, []).append(one)
    return {
        "asked": asked,
        "at": asked.at,
        "csrf": asked.session.csrf,
        "groups": groups,
        "kin": asked.service.kin,
        "may_write": asked.may("write"),
        "may_erase": asked.may("admin"),
        "theme": theme,
        "page_title": asked.head.title,
        "view": view,
    }


def bare(shown: Shown, language: Language, theme: str) -> HTMLResponse:
    """Return a page for someone without a session."""
    frame: dict[str, Any] = {
        "theme": theme,
        "groups": {},
        "view": None,
        "notices": [],
        "part": "whole",
        "page_title": None,
    }
    return HTMLResponse(_rendered(shown, frame, language), shown.status)


def _notices(asked: Asked) -> list[Notice]:
    """Return what has been done since the last page of this session that a person has asked for."""
    if asked.is_live:
        return []
    found: list[Notice] = list(asked.session.notices)
    asked.session.notices.clear()
    return found


def _rendered(shown: Shown, frame: Mapping[str, Any], language: Language) -> str:
    template = environment(language.code).get_template(shown.template)
    return template.render({**frame, **shown.model})


OTHER = '<circle cx="12" cy="12" r="3"/>'
DRAWN = {
    "overview": '<path d="M4 13h6V4H4zM14 20h6v-9h-6zM14 4v3h6V4zM4 20h6v-3H4z"/>',
    "memories": '<path d="M5 5h14v5H5zM5 14h14v5H5z"/>',
    "search": '<circle cx="11" cy="11" r="6.5"/><path d="m20 20-4.2-4.2"/>',
    "review": '<path d="m5 13 4 4L19 7"/>',
    "timeline": '<path d="M4 12h16M7 8v8M13 5v14M18 9v6"/>',
    "conversations": '<path d="M4 5h16v11H10l-4 4v-4H4z"/>',
    "topology": (
        '<circle cx="6" cy="6" r="2.5"/><circle cx="18" cy="9" r="2.5"/><circle cx="9" '
        'cy="18" r="2.5"/><path d="m8.3 7 7.3 1.5M6.6 8.5 8.4 15.6M16.5 11l-5.7 5.3"/>'
    ),
    "documents": '<path d="M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6"/>',
    "activity": '<path d="M3 12h4l3-8 4 16 3-8h4"/>',
    "settings": (
        '<path d="M4 7h10M18 7h2M4 17h2M10 17h10"/><circle cx="16" cy="7" r="2"/><circle '
        'cx="8" cy="17" r="2"/>'
    ),
    "kins": (
        '<circle cx="9" cy="8" r="3.5"/><path d="M3 20c0-4 3-6 6-6s6 2 6 6M15.5 5a3.5 '
        '3.5 0 0 1 0 6.5M17 14.5c2.5.7 4 2.6 4 5.5"/>'
    ),
    "add": '<path d="M12 5v14M5 12h14"/>',
    "pin": '<path d="M9 4h6l-1 6 3 3v1H7v-1l3-3zM12 14v6"/>',
    "share": (
        '<circle cx="12" cy="12" r="8.5"/><path d="M3.5 12h17M12 3.5c3 2.5 3 14.500 0 '
        '17M12 3.5c-3 2.500-3 14.500 0 17"/>'
    ),
    "lock": '<path d="M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3"/>',
    "archive": '<path d="M4 5h16v4H4zM6 9v10h12V9M10 13h4"/>',
    "forget": '<path d="M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13"/>',
    "edit": '<path d="m5 19 1-4L16 5l3 3L9 18z"/>',
    "undo": '<path d="M9 6 5 10l4 4M5 10h9a5 5 0 0 1 0 10h-3"/>',
    "close": '<path d="m6 6 12 12M18 6 6 18"/>',
    "previous": '<path d="m15 5-7 7 7 7"/>',
    "next": '<path d="m9 5 7 7-7 7"/>',
    "logout": '<path d="M10 4H5v16h5M15 8l4 4-4 4M19 12H9"/>',
    "theme-auto": (
        '<circle cx="12" cy="12" r="7.500"/><path d="M12 4.500v15A7.500 7.500 0 0 0 12 '
        '4.500" fill="currentColor"/>'
    ),
    "theme-light": (
        '<circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.600 '
        '5.600 7 7M17 17l1.400 1.400M5.600 18.400 7 17M17 7l1.400-1.400"/>'
    ),
    "theme-dark": (
        '<path d="M19 14.500A7.500 7.500 0 0 1 9.500 5a7.500 7.500 0 1 0 9.500 9.500z"/>'
    ),
}


@cache
def icon(name: str) -> Markup:
    """Return the drawing of that name; a dot if there is none."""
    drawn = DRAWN.get(name, OTHER)
    return Markup(f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{drawn}</svg>')
