"""How commands are declared: functions whose parameters are options, with those of all."""

import inspect
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import typer

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext

CONTEXT = inspect.Parameter(
    "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
)


def command(
    app: typer.Typer, name: str | None = None, **display: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a command: a function of its context and options. --kin, --home and --json are
    added.

    `**rest: Unpack[Keys]` stands for one option for each key, which is passed only if it was given.
    """

    def declare(body: Callable[..., None]) -> Callable[..., None]:
        def run(ctx: typer.Context, **given: Any) -> None:
            everywhere = {name: given.pop(name) for name in ("kin", "home", "as_json")}
            absent = [name for name in shared if given[name] in (None, [])]
            for name in absent:
                del given[name]
            body(context_of(ctx, **everywhere), **given)

        own, shared = _options_of(body)
        parameters = [CONTEXT, *own, *EVERYWHERE]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__name__, run.__doc__ = body.__name__, body.__doc__
        app.command(name, **display)(run)
        return body

    return declare


def _options_of(body: Callable[..., None]) -> tuple[list[inspect.Parameter], list[str]]:
    """Return the options of a command, and the names of those that stand in its `**rest`."""
    *own, last = list(inspect.signature(body).parameters.values())[1:] or [CONTEXT]
    if last is CONTEXT:
        return [], []
    if last.kind is not last.VAR_KEYWORD:
        return [*own, last], []
    (keys,) = get_args(last.annotation)
    hints = get_type_hints(keys, include_extras=True)
    return [*own, *(_option(name, hint, None) for name, hint in hints.items())], list(hints)


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


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


EVERYWHERE = (
    _option("kin", take.Kin, None),
    _option("home", take.Home, None),
    _option("as_json", take.Json, False),
)
