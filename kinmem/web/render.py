"""Templates: what every page knows, and how a memory's text is written into it."""

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

from kinmem import __version__
from kinmem.conversation.sanitize import revealed
from kinmem.web.icons import icon
from kinmem.web.language import Language, language
from kinmem.web.view import Asked, Notice, Shown, View

HERE = Path(__file__).parent
STATIC = HERE / "static"
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
    made.globals |= {"htmx": HTMX, "version": __version__, "themes": THEMES}
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
    """Return a whole page within the frame."""
    groups: dict[str, list[View]] = {}
    for one in views:
        if one.is_listed and asked.may(one.needs):
            groups.setdefault(one.group, []).append(one)
    frame: dict[str, Any] = {
        "asked": asked,
        "at": asked.at,
        "csrf": asked.session.csrf,
        "groups": groups,
        "kin": asked.service.kin,
        "may_write": asked.may("write"),
        "may_erase": asked.may("admin"),
        "now": asked.now,
        "theme": theme,
        "view": view,
        "zone": asked.zone,
        "notices": _notices(asked),
    }
    return HTMLResponse(_rendered(shown, frame, asked.language), shown.status)


def bare(shown: Shown, language: Language, theme: str) -> HTMLResponse:
    """Return a page for someone without a session."""
    frame: dict[str, Any] = {"theme": theme, "groups": {}, "view": None, "notices": []}
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
