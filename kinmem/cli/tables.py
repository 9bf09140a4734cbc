"""Kins, tokens and settings as rows for programs and tables for people."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kinmem.cli.terminal import one_line
from kinmem.recall.profiles import reads
from kinmem.settings import HOME_VARIABLE, Settings, knobs, unread

if TYPE_CHECKING:
    from kinmem.tokens import Token

Row = Mapping[str, Any]
UNREAD = "the active ranking profile, or this version, does not read it."


def table_of(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A plain table; cells are data and shown safely."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else one_line(str(cell))) for cell in row))
    return table


def kin_table(found: Sequence[Row], settings: Settings) -> RenderableType:
    """Who has how many memories."""
    if not found:
        return Text(f"Nobody has a memory in {settings.home} yet.")
    rows = [
        ("*" if row["current"] else "", row["kin"], row.get("error", f"{row.get('memories', 0):,}"))
        for row in found
    ]
    return table_of(("", "kin", "memories"), rows)


def token_rows(tokens: "Sequence[Token]") -> list[dict[str, Any]]:
    """Everything but the digests."""
    now = datetime.now(UTC)
    return [
        {
            "id": token.id,
            "kin": token.kin,
            "valid": token.valid(now),
            "note": token.note,
            "createdAt": token.created_at,
            "expiresAt": token.expires_at,
            "revokedAt": token.revoked_at,
        }
        for token in tokens
    ]


def token_table(rows: Sequence[Row]) -> RenderableType:
    """What became of which token."""
    if not rows:
        return Text("No tokens: HTTP answers this machine only. kinmem token add KIN makes one.")
    told = []
    for row in rows:
        end = f"expires {row['expiresAt'][:10]}" if row["expiresAt"] else "until revoked"
        state = end if row["valid"] else "revoked" if row["revokedAt"] else "expired"
        told.append((row["id"], row["kin"], state, row["createdAt"][:10], row["note"]))
    return table_of(("id", "kin", "valid", "made", "note"), told)


def setting_rows(settings: Settings, home_given: bool) -> Iterator[dict[str, Any]]:
    """Every setting as it is in force; `home_given`: on the command line."""
    yield {
        "variable": HOME_VARIABLE,
        "value": str(settings.home),
        "origin": _home_origin(home_given),
        "description": "Folder that holds everything kinmem stores.",
    }
    for knob in knobs():
        yield {
            "variable": knob.variable,
            "value": getattr(getattr(settings, knob.section), knob.name),
            "origin": settings.origins.get(knob.variable, "default"),
            "description": knob.description,
        }
    for name, provider in settings.providers.items():
        told = ", ".join(f"{key} {value}" for key, value in asdict(provider).items() if value)
        yield {
            "variable": f"[providers.{name}]",
            "value": told,
            "origin": "config.toml",
            "description": "A provider of models.",
        }


def setting_table(
    rows: Sequence[Row], ignored: Sequence[str], settings: Settings
) -> Iterator[RenderableType]:
    """The settings, those that were set standing out; then what has no effect."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("setting", "value", "from"):
        table.add_column(column, overflow="fold")
    for row in rows:
        value = row["value"]
        told = "unset" if value is None or value == "" else one_line(str(value))
        style = "dim" if row["origin"] == "default" else "bold"
        table.add_row(*(Text(cell, style=style) for cell in (row["variable"], told, row["origin"])))
    yield table
    for name in ignored:
        yield Text(f"{name} changes nothing: {UNREAD}", style="yellow")
    file = settings.home / "config.toml"
    found = "is read" if file.exists() else "does not exist; it may hold the same names"
    yield Text(f"\n{file} {found}. What each means: README, or --json.", style="dim")


def without_effect(settings: Settings) -> list[str]:
    """Variables that are set and change nothing."""
    return unread(settings, reads(settings.recall.profile, settings.recall.fusion))


def _home_origin(given: bool) -> str:
    if given:
        return "flag"
    return "environment" if os.environ.get(HOME_VARIABLE) else "default"
