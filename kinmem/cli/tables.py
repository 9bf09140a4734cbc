"""Kins, tokens, settings, conversations, runs, statistics, versions: rows for programs, tables for
people."""

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kinmem import __version__
from kinmem.cli.terminal import one_line
from kinmem.clock import moment
from kinmem.http.tokens import Token
from kinmem.models.turns import Message, Run, Session
from kinmem.recall.profiles import reads
from kinmem.settings import HOME_VARIABLE, Settings, knobs, unread

if TYPE_CHECKING:
    from kinmem.service import Stats

Row = Mapping[str, Any]
UNREAD = "the active ranking profile, or this version, does not read it."
# Characters of a message in a table.
MESSAGE_SHOWN = 80


def table_of(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a plain table. Cells are data and shown safely."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else one_line(str(cell))) for cell in row))
    return table


def kin_table(found: Sequence[Row], settings: Settings) -> RenderableType:
    """Return the Kins with the number of their memories."""
    if not found:
        return Text(f"Nobody has a memory in {settings.home} yet.")
    rows = [
        ("*" if row["current"] else "", row["kin"], row.get("error", f"{row.get('memories', 0):,}"))
        for row in found
    ]
    return table_of(("", "kin", "memories"), rows)


def token_rows(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    """Return everything but the digests."""
    now = datetime.now(UTC)
    return [
        {
            "id": token.id,
            "kin": token.kin,
            "scope": token.scope,
            "valid": token.valid(now),
            "note": token.note,
            "createdAt": token.created_at,
            "expiresAt": token.expires_at,
            "revokedAt": token.revoked_at,
        }
        for token in tokens
    ]


def token_table(rows: Sequence[Row]) -> RenderableType:
    """Return the tokens with their state."""
    if not rows:
        return Text("No tokens yet: the first start of an HTTP server makes one.")
    told = []
    for row in rows:
        end = f"expires {row['expiresAt'][:10]}" if row["expiresAt"] else "until revoked"
        state = end if row["valid"] else "revoked" if row["revokedAt"] else "expired"
        told.append(
            (row["id"], row["kin"], row["scope"], state, row["createdAt"][:10], row["note"])
        )
    return table_of(("id", "kin", "scope", "valid", "made", "note"), told)


def backup_table(rows: Sequence[Row], elsewhere: Sequence[Row], zone: tzinfo) -> RenderableType:
    """Return the backups, the latest first, then those that are not in the home's folder."""
    if not rows and not elsewhere:
        return Text("No backups yet. kinmem backup makes one; a server makes one a day.")
    told = []
    for row in rows:
        at = datetime.fromisoformat(row["at"]).astimezone(zone)
        size = f"{row['bytes'] / 1e6:,.1f} MB"
        encrypted = "encrypted" if row["encrypted"] else ""
        told.append(
            (f"{at:%Y-%m-%d %H:%M}", row["reason"], size, encrypted, Path(row["path"]).name)
        )
    for row in elsewhere:
        at = datetime.fromisoformat(row["at"]).astimezone(zone)
        state = "encrypted" if row["encrypted"] else ""
        found = "" if row["found"] else "(not found now) "
        told.append((f"{at:%Y-%m-%d %H:%M}", "elsewhere", "", state, f"{found}{row['path']}"))
    return table_of(("made", "why", "size", "", "file"), told)


def setting_rows(settings: Settings, home_given: bool) -> Iterator[dict[str, Any]]:
    """Yield every setting in force.

    `home_given` says that the folder was given on the command line.
    """
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
    """Yield the settings, with those that were set standing out, then those without effect."""
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
    yield Text(f"\n{file} {found}. What each means: docs/settings.md, or --json.", style="dim")


def without_effect(settings: Settings) -> list[str]:
    """Return the variables that are set without effect."""
    return unread(settings, reads(settings.recall.profile, settings.recall.fusion))


def _home_origin(given: bool) -> str:
    if given:
        return "flag"
    return "environment" if os.environ.get(HOME_VARIABLE) else "default"


def session_rows(sessions: Sequence[Session], zone: tzinfo) -> list[dict[str, Any]]:
    return [
        {
            "session": session.name,
            "began": session.began,
            "speaker": session.speaker,
            "client": session.client,
            "place": session.place,
            "turns": session.turns,
            "messages": session.messages,
            "from": moment(session.first_at, zone),
            "to": moment(session.last_at, zone),
        }
        for session in sessions
    ]


def session_table(rows: Sequence[Row]) -> RenderableType:
    if not rows:
        return Text("No conversation was observed yet. kinmem install connects a client's hooks.")
    told = [
        (
            row["session"],
            row["client"],
            row["turns"],
            row["to"][:16],
            one_line(row["began"], MESSAGE_SHOWN),
        )
        for row in rows
    ]
    return table_of(("session", "client", "turns", "last", "began with"), told)


def message_rows(messages: Sequence[Message], zone: tzinfo) -> list[dict[str, Any]]:
    return [
        {
            "session": message.session,
            "turn": message.turn,
            "who": message.who,
            "text": message.text,
            "at": moment(message.said_at, zone),
            "state": _message_state(message),
            "problem": message.problem,
        }
        for message in messages
    ]


def message_table(rows: Sequence[Row]) -> RenderableType:
    told = [
        (
            row["at"][:16],
            row["who"],
            one_line(row["text"], MESSAGE_SHOWN),
            row["problem"] or row["state"],
        )
        for row in rows
    ]
    return table_of(("at", "who", "text", "state"), told)


def run_row(run: Run, zone: tzinfo) -> dict[str, Any]:
    return {
        "kind": run.kind,
        "at": moment(run.started_at, zone),
        "seconds": round((run.finished_at - run.started_at).total_seconds(), 3),
        "would" if run.is_dry else "counts": dict(run.counts),
        "steps": dict(run.seconds),
        "problems": list(run.problems),
    }


def run_table(rows: Sequence[Row]) -> RenderableType:
    if not rows:
        return Text("Nothing was done in the background yet.")
    told = [
        (
            row["at"][:16],
            row["kind"],
            f"{row['seconds']:.1f} s",
            _counted(row["counts"]),
            "; ".join(row["problems"]),
        )
        for row in rows
    ]
    return table_of(("at", "what", "took", "done", "problems"), told)


def step_table(run: Run) -> Iterator[RenderableType]:
    """Yield what each step did and how long it took, then the problems."""
    told = [
        (step, f"{seconds:.2f} s", _counted(run.counted(step)))
        for step, seconds in run.seconds.items()
    ]
    if told:
        yield table_of(("step", "took", "would do" if run.is_dry else "done"), told)
    for problem in run.problems:
        yield Text(one_line(problem), style="yellow")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing to do"


def _message_state(message: Message) -> str:
    if message.parked:
        return "parked"
    if message.role == "system":
        return "kept"
    if message.learned_at is None:
        return "waiting"
    return "learned"


def stats_row(stats: "Stats") -> dict[str, Any]:
    """Return the statistics for programs."""
    return {
        "kin": stats.kin,
        "memories": {table: dict(counts) for table, counts in stats.counts.items()},
        "embedder": stats.embedder,
        "embedders": [
            {"name": one.embedder, "dimension": one.dimension, "done": one.done, "total": one.total}
            for one in stats.embedders
        ],
        "conversations": dict(stats.conversations),
        "turnVectors": [
            {"name": one.embedder, "done": one.done, "total": one.total} for one in stats.turns
        ],
        "lastRun": run_row(stats.last_run, UTC) if stats.last_run else None,
    }


def stats_table(stats: "Stats") -> Table:
    """Return the statistics for people."""
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("Kin", style="dim"), Text(stats.kin, style="bold"))
    total = sum(stats.counts.get("kin", {}).values())
    table.add_row(Text("memories", style="dim"), Text(f"{total:,}"))
    for name in ("state", "scope", "tier", "category"):
        counts = sorted(stats.counts.get(name, {}).items(), key=lambda item: -item[1])
        told = ", ".join(f"{key} {count:,}" for key, count in counts) or "none"
        table.add_row(Text(f"by {name}", style="dim"), Text(told))
    for one in stats.embedders:
        told = f"{one.done:,} of {one.total:,} vectors by {one.embedder} ({one.dimension} wide)"
        mark = "" if one.embedder == stats.embedder else ", no longer configured"
        table.add_row(Text("meaning", style="dim"), Text(told + mark))
    if stats.conversations["messages"]:
        told = ", ".join(f"{name} {count:,}" for name, count in stats.conversations.items())
        table.add_row(Text("conversations", style="dim"), Text(told))
        for one in stats.turns:
            told = f"{one.done:,} of {one.total:,} vectors of what was said by {one.embedder}"
            table.add_row(Text("", style="dim"), Text(told))
    return table


PACKAGES = ("mcp", "apsw", "sqlite-vec", "onnxruntime", "tokenizers", "numpy")


def versions() -> dict[str, str]:
    """Return the versions by name, kinmem's first."""
    own = {"kinmem": __version__, "Python": platform.python_version()}
    return own | {name: installed(name) or "missing" for name in PACKAGES}


def installed(name: str) -> str | None:
    """Return a package's version, or None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # late: 30 ms

    try:
        return version(name)
    except PackageNotFoundError:
        return None
