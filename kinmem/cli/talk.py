"""Sessions, messages and reports as rows for programs and tables for people."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from kinmem.cli.tables import table_of
from kinmem.cli.terminal import one_line
from kinmem.clock import moment
from kinmem.turns import Message, Run, Session

Row = Mapping[str, Any]
SHOWN = 80
"""Characters of a message in a table."""


def session_rows(sessions: Sequence[Session], zone: tzinfo) -> list[dict[str, Any]]:
    return [
        {
            "session": session.name,
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
    told = [(row["session"], row["client"], row["turns"], row["to"][:16]) for row in rows]
    return table_of(("session", "client", "turns", "last"), told)


def message_rows(messages: Sequence[Message], zone: tzinfo) -> list[dict[str, Any]]:
    return [
        {
            "session": message.session,
            "turn": message.turn,
            "who": message.who,
            "text": message.text,
            "at": moment(message.said_at, zone),
            "state": _state(message),
            "problem": message.problem,
        }
        for message in messages
    ]


def message_table(rows: Sequence[Row]) -> RenderableType:
    told = [
        (row["at"][:16], row["who"], one_line(row["text"])[:SHOWN], row["problem"] or row["state"])
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
    """What each step did in what time, then what went wrong."""
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


def _state(message: Message) -> str:
    if message.parked:
        return "parked"
    if message.role == "system":
        return "kept"
    if message.learned_at is None:
        return "waiting"
    return "learned"
