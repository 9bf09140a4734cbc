"""Templates: what every page knows, and how a memory's text is written into it."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from kinmem import __version__
from kinmem.conversation.sanitize import revealed
from kinmem.web.icons import icon
from kinmem.web.language import Language
from kinmem.web.view import Asked, Notice, Shown, View

HERE = Path(__file__).parent
STATIC = HERE / "static"
THEME = "kinmem_theme"
Theme = Literal["auto", "light", "dark"]
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")
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


@cache
def environment() -> Environment:
    """Return the templates. Every value is escaped, and a missing one is an error."""
    made = Environment(
        loader=PackageLoader("kinmem.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["visible"] = visible
    made.globals |= {"htmx": HTMX, "version": __version__, "themes": THEMES}
    made.globals |= {"address": address, "icon": icon}
    return made


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
    frame = {
        **of_language(asked.language),
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
        "when": lambda at, how="ago": asked.language.time(at, asked.now, asked.zone, how),
    }
    return HTMLResponse(_rendered(shown, {**frame, "notices": _notices(asked)}), shown.status)


def bare(shown: Shown, language: Language, theme: str) -> HTMLResponse:
    """Return a page for someone without a session."""
    frame = {**of_language(language), "theme": theme, "groups": {}, "view": None, "notices": []}
    return HTMLResponse(_rendered(shown, frame), shown.status)


def of_language(language: Language) -> dict[str, Any]:
    return {
        "_": language.text,
        "told_error": language.error,
        "told_errors": lambda errors: "; ".join(dict.fromkeys(map(language.error, errors))),
        "count": language.count,
        "found": language.finding,
        "language": language,
        "name": language.name,
        "number": language.number,
        "percent": language.percent,
    }


def _notices(asked: Asked) -> list[Notice]:
    """Return what has been done since the last page of this session that a person has asked for."""
    if asked.is_live:
        return []
    found: list[Notice] = list(asked.session.notices)
    asked.session.notices.clear()
    return found


def _rendered(shown: Shown, frame: Mapping[str, Any]) -> str:
    return environment().get_template(shown.template).render({**frame, **shown.model})
