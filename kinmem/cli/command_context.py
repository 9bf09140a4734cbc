"""The context of every command: whose memory, where it is, how to answer."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from kinmem.cli.terminal import json_text, say
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
