"""Settings in force with where each comes from; and, for the owner, Kins and tokens."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from kinmem.errors import InvalidInput
from kinmem.http.tokens import SCOPES, Token, tokens_of
from kinmem.settings import HOME_VARIABLE, KIN_NAME, knobs
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, View, number_in
from kinmem.wiring.open_home import kins_on_the_server

SETTINGS, KINS = "/settings", "/kins"
# Who logs in with a name and password in an address.
IN_ADDRESS = re.compile(r"//[^/@\s]*@")


class Row(NamedTuple):
    """One setting in force."""

    variable: str
    value: str
    origin: str
    told: str


def settings(asked: Asked) -> Answer:
    changed = asked.given("changed") is not None
    found = asked.service.settings
    sections: dict[str, list[Row]] = {}
    home = Row(
        HOME_VARIABLE, str(found.home), "home", "Folder that holds everything kinmem stores."
    )
    if not changed:
        sections["general"] = [home]
    for knob in knobs():
        origin = found.origins.get(knob.variable, "default")
        if changed and origin == "default":
            continue
        value = getattr(getattr(found, knob.section), knob.name)
        row = Row(knob.variable, _told(value), origin, knob.description)
        sections.setdefault(knob.section, []).append(row)
    for name, provider in found.providers.items():
        told = " ".join(filter(None, (provider.type, provider.base_url, provider.api_key_env)))
        row = Row(f"[providers.{name}]", _told(told), "config.toml", "A provider of models.")
        sections.setdefault("model", []).append(row)
    return Shown("settings.html", {"sections": sections, "changed": changed})


def _told(value: object) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        value = ", ".join(map(str, value))
    return "" if value is None else IN_ADDRESS.sub("//…@", str(value))


def kins(asked: Asked, made: str | None = None) -> Answer:
    listed = [asked.service.kin]
    if _is_at_the_machine(asked) and asked.service.settings.general.store:
        listed = kins_on_the_server(asked.service.settings)
    elif _is_at_the_machine(asked):
        files = (asked.service.settings.home / "kins").glob("*.db")
        listed = sorted({file.stem for file in files if KIN_NAME.fullmatch(file.stem)})
    return Shown(
        "kins.html",
        {
            "kins": listed,
            "tokens": _tokens(asked),
            "made": made,
            "may_add": _is_at_the_machine(asked),
            "scopes": SCOPES,
            "at_of": datetime.fromisoformat,
        },
    )


def _is_at_the_machine(asked: Asked) -> bool:
    """Return whether the session began with a link of this machine, not with a token.

    A token speaks for one Kin, maybe for a while: it must not make others that reach further.
    """
    return asked.session.token is None


def _tokens(asked: Asked) -> Sequence[Token]:
    """Return the tokens that the session may see, the latest first."""
    found = tokens_of(asked.service.settings, asked.service.clock).tokens()
    return [
        token
        for token in reversed(found)
        if token.kin == asked.service.kin or _is_at_the_machine(asked)
    ]


def add_token(asked: Asked) -> Answer:
    if not _is_at_the_machine(asked):
        told = "only who has opened the page with kinmem web makes tokens"
        raise InvalidInput(told, "not_at_the_machine")
    given, scope = asked.given("days"), asked.given("scope")
    days = number_in(given)
    if given is not None and days is None:
        raise InvalidInput(f"{given[:40]!r} is no number of days", "no_days")
    tokens = tokens_of(asked.service.settings, asked.service.clock)
    made = tokens.add(
        asked.given("kin") or asked.service.kin,
        asked.given("note"),
        days,
        next((one for one in SCOPES if one == scope), "write"),
    )
    return kins(asked, made)


def revoke_token(asked: Asked) -> Answer:
    id = asked.given("id") or ""
    if id not in {token.id for token in _tokens(asked)}:
        raise InvalidInput(f"no token has the id {id!r}", "no_token", given=id)
    tokens_of(asked.service.settings, asked.service.clock).revoke(id)
    return Done(KINS, Notice("kins.is_revoked"))


SETTINGS_VIEW = View("settings", SETTINGS, settings, group="manage")
KINS_VIEW = View(
    "kins",
    KINS,
    kins,
    owner={f"{KINS}/add": add_token, f"{KINS}/revoke": revoke_token},
    group="manage",
    needs="admin",
)
