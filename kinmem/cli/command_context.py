"""The context of every command: whose memory, where it is, how to answer; and how commands are
declared."""

import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from kinmem.cli import options as take
from kinmem.cli.terminal import json_text, say

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from kinmem.service import Service
    from kinmem.settings import Settings

CONTEXT = inspect.Parameter(
    "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
)


@dataclass(frozen=True)
class CommandContext:
    """The options that may stand before or after every command."""

    kin: str | None = None
    home: str | None = None
    json: bool = False

    def settings(self, **flags: Any) -> "Settings":
        """Return the settings in force. `flags` maps variables to values from the command line."""
        from kinmem.settings import load

        settings = load({"KINMEM_KIN": self.kin, "KINMEM_HOME": self.home, **flags})
        level = settings.general.log_level
        logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
        return settings

    @contextmanager
    def memory(self, *, resident: bool = True) -> "Iterator[Service]":
        """Open the Kin's memory, and close it when the command is done.

        Unless `resident`, no model is loaded and no background work is done.
        """
        from kinmem.wiring import open_service

        with open_service(self.settings(), resident=resident) as service:
            yield service

    def tell(self, value: Any, *shown: "RenderableType") -> None:
        """Print the answer: the value as JSON, or `shown` for people."""
        if self.json:
            typer.echo(json_text(value))
        else:
            say(*shown)


def command(
    app: typer.Typer, name: str | None = None, **display: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a command: a function of its context and options. --kin, --home and --json are
    added."""

    def declare(body: Callable[..., None]) -> Callable[..., None]:
        def run(ctx: typer.Context, **given: Any) -> None:
            everywhere = {name: given.pop(name) for name in ("kin", "home", "as_json")}
            body(context_of(ctx, **everywhere), **given)

        own = list(inspect.signature(body).parameters.values())[1:]
        parameters = [CONTEXT, *own, *EVERYWHERE]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__name__, run.__doc__ = body.__name__, body.__doc__
        app.command(name, **display)(run)
        return body

    return declare


def without_command(app: typer.Typer, body: Callable[[CommandContext], None]) -> None:
    """Run `body` when the group is called without one of its commands."""

    @app.callback(invoke_without_command=True)
    def alone(
        ctx: typer.Context,
        kin: take.Kin = None,
        home: take.Home = None,
        as_json: take.Json = False,
    ) -> None:
        ctx.find_root().obj = context = context_of(ctx, kin, home, as_json)
        if ctx.invoked_subcommand is None:
            body(context)


def context_of(
    ctx: typer.Context, kin: str | None, home: str | None, as_json: bool
) -> CommandContext:
    """Merge the options: those after the command take precedence over those before it."""
    before: CommandContext = ctx.find_root().obj or CommandContext()
    return CommandContext(kin or before.kin, home or before.home, as_json or before.json)


def kin_names(home: "Path") -> list[str]:
    """Return the Kins that have a file below the home folder, by name."""
    from kinmem.settings import KIN_NAME

    return sorted(
        file.stem for file in (home / "kins").glob("*.db") if KIN_NAME.fullmatch(file.stem)
    )


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


EVERYWHERE = (
    _option("kin", take.Kin, None),
    _option("home", take.Home, None),
    _option("as_json", take.Json, False),
)
