"""What every command begins with: whose memory, where it is, how to answer, which ids are meant."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from kinmem.cli.terminal import json_text, say
from kinmem.errors import InvalidInput
from kinmem.models import LIVE, TURN, Page, State
from kinmem.settings import KIN_NAME, Settings, load

if TYPE_CHECKING:
    from kinmem.service import Service


@dataclass(frozen=True)
class CommandContext:
    """The options that may stand before or after every command."""

    kin: str | None = None
    home: str | None = None
    json: bool = False

    def settings(self, **flags: Any) -> Settings:
        """Return the settings in force. `flags` maps variables to values from the command line."""

        settings = load({"KINMEM_KIN": self.kin, "KINMEM_HOME": self.home, **flags})
        level = settings.general.log_level
        logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
        return settings

    @contextmanager
    def memory(self, *, resident: bool = True) -> "Iterator[Service]":
        """Open the Kin's memory, and close it when the command is done.

        Unless `resident`, no model is loaded and no background work is done.
        """
        from kinmem.wiring.open_memory import open_service  # late: 0.5 s, and help needs none

        with open_service(self.settings(), resident=resident) as service:
            yield service

    def tell(self, value: Any, *shown: RenderableType) -> None:
        """Print the answer: the value as JSON, or `shown` for people."""
        if self.json:
            typer.echo(json_text(value))
        else:
            say(*shown)


def kin_names(home: Path) -> list[str]:
    """Return the Kins that have a file below the home folder, by name."""
    return sorted(
        file.stem for file in (home / "kins").glob("*.db") if KIN_NAME.fullmatch(file.stem)
    )


PAGE = 200
# A uuid7 begins with its time, which memories of one minute share. Its end is random.
SHORT = 8
WHOLE = 36


def whole_page(memory: "Service", *, every: bool, limit: int = PAGE, **asked: Any) -> Page:
    """Return one page of list_memories, or with `every` all pages from its cursor on as one."""
    if not every:
        return memory.list_memories(limit=limit, **asked)
    found = []
    cursor = asked.pop("cursor", None)
    while True:
        page = memory.list_memories(limit=PAGE, cursor=cursor, **asked)
        found += page.memories
        cursor = page.next_cursor
        if cursor is None:
            return Page(found)


def short_id(id: str) -> str:
    """Return the end of an id, which is enough to tell thousands of memories apart."""
    return id[-SHORT:]


def full_id(memory: "Service", typed: str) -> str:
    """Return the id that was meant. An ending that no memory has is returned as it is, to be
    refused.

    Raises InvalidInput if several visible memories have this ending.
    """
    ending = typed.strip().lower()
    if ending.startswith(TURN):
        return ending
    if not SHORT <= len(ending) < WHOLE:
        return ending
    states = (None, *(state for state in State if state not in LIVE))
    pages = (whole_page(memory, every=True, state=state) for state in states)
    found = {one.id for page in pages for one in page.memories if one.id.endswith(ending)}
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} memories end with {ending!r}; give the whole id")
    return found.pop() if found else ending
