"""kin, token, config, reembed, doctor, bench: administration."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext, kin_names
from kinmem.cli.commands import command, without_command
from kinmem.errors import ConfigError, InvalidInput, KinmemError
from kinmem.models import Filters

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from kinmem.cli.installation_checks import Check
    from kinmem.service import Stats
    from kinmem.settings import Settings

PANEL = "Look after"
# Share of the vectors at which the configured embedder takes over (recall/search.py).
ENOUGH = 0.99
app = typer.Typer()
kins = typer.Typer(help="The Kins that have a memory here. Without a command, lists them.")
tokens = typer.Typer(help="Tokens for HTTP, each for one Kin. Without a command, lists them.")
STYLES = {"ok": "green", "warning": "yellow", "error": "red"}
WARNED = 4
CHECKOUT = Path(__file__).parents[2]


@command(kins, "list")
def kin_list(context: CommandContext) -> None:
    """List every Kin with a memory in the home folder, and the number of its memories."""
    from kinmem.cli.tables import kin_table

    settings = context.settings()
    found = list(kins_under(settings))
    context.tell({"home": str(settings.home), "kins": found}, kin_table(found, settings))


@command(kins, "current")
def kin_current(context: CommandContext) -> None:
    """Show which Kin the commands use, and where that is set."""
    from rich.text import Text

    settings = context.settings()
    kin, origin = settings.general.kin, settings.origins.get("KINMEM_KIN", "default")
    context.tell({"kin": kin, "origin": origin}, Text(f"{kin} ({origin})"))


@command(tokens, "add")
def token_add(
    context: CommandContext, name: take.KinName, note: take.Label = None, days: take.Days = None
) -> None:
    """Make a token for a Kin. It is shown once."""
    from rich.text import Text

    from kinmem.mcp.tokens import Tokens

    token = Tokens(context.settings().home).add(name, note, days)
    if not context.json:
        typer.echo("Shown once. Clients send it as: Authorization: Bearer TOKEN", err=True)
    context.tell({"token": token, "kin": name}, Text(token, no_wrap=True, overflow="ignore"))


@command(tokens, "list")
def token_list(context: CommandContext) -> None:
    """List all tokens, without their secrets."""
    from kinmem.cli.tables import token_rows, token_table
    from kinmem.mcp.tokens import Tokens

    rows = token_rows(Tokens(context.settings().home).tokens())
    context.tell({"tokens": rows}, token_table(rows))


@command(tokens, "revoke")
def token_revoke(context: CommandContext, token_id: take.TokenId) -> None:
    """Revoke a token for good, with immediate effect on running servers."""
    from kinmem.cli.tables import token_rows, token_table
    from kinmem.mcp.tokens import Tokens

    rows = token_rows([Tokens(context.settings().home).revoke(token_id)])
    context.tell(rows[0], token_table(rows))


without_command(kins, kin_list)
without_command(tokens, token_list)


@command(app, rich_help_panel=PANEL)
def config(context: CommandContext, changed: take.Changed = False) -> None:
    """Show every setting, its value, and where the value comes from."""
    from kinmem.cli.tables import setting_rows, setting_table, without_effect

    settings = context.settings()
    rows = list(setting_rows(settings, context.home is not None))
    if changed:
        rows = [row for row in rows if row["origin"] != "default"]
    unread = without_effect(settings)
    context.tell({"settings": rows, "unread": unread}, *setting_table(rows, unread, settings))


@command(app, rich_help_panel=PANEL)
def reembed(context: CommandContext, drop: take.Drop = None) -> None:
    """Make a vector of every memory with the configured embedder. Can be interrupted and
    continued."""
    from rich.text import Text

    from kinmem.cli.terminal import progress_bar

    with context.memory() as memory:
        if drop is not None:
            _check_drop(drop, memory.stats())
            memory.store.index.retire(drop)
            context.tell({"dropped": drop}, Text(f"The vectors of {drop} are gone."))
            return
        try:
            with progress_bar() as progress:
                made = memory.reembed(progress)
        except KeyboardInterrupt:
            typer.echo("Stopped. What is made stays; kinmem reembed goes on from there.", err=True)
            raise
        embedder = memory.stats().embedder
    context.tell(
        {"made": made, "embedder": embedder}, Text(f"{made:,} vectors made by {embedder}.")
    )


def _check_drop(drop: str, stats: "Stats") -> None:
    """Refuse to drop vectors that are still in use, unless they are the configured embedder's
    own."""
    done = {coverage.embedder: coverage.share for coverage in stats.embedders}
    if drop not in done:
        told = f"there are no vectors of {drop!r}, only of {', '.join(done) or 'nobody'}"
        raise InvalidInput(told)
    if drop != stats.embedder and done.get(stats.embedder, 0.0) < ENOUGH and done[drop]:
        raise InvalidInput(
            f"the vectors of {drop} still answer: {stats.embedder} has made"
            f" {done.get(stats.embedder, 0.0):.0%} of its own; run kinmem reembed first"
        )


def kins_under(settings: "Settings") -> Iterator[dict[str, Any]]:
    """Yield each Kin with the number of its memories, or with the reason why its file cannot be
    opened."""
    from kinmem.wiring.open_memory import open_service

    for name in kin_names(settings.home):
        general = replace(settings.general, kin=name)
        try:
            with open_service(replace(settings, general=general)) as service:
                counts = service.store.counts()
                own = counts["kin"].get(name, 0)
                yield {"kin": name, "memories": own, "current": name == settings.general.kin}
        except KinmemError as error:
            yield {
                "kin": name,
                "error": f"{error.code}: {error}",
                "current": name == settings.general.kin,
            }


@command(app, rich_help_panel=PANEL)
def doctor(
    context: CommandContext, strict: take.Strict = False, online: take.Online = False
) -> None:
    """Check everything kinmem depends on. Each line says what helps."""
    found = list(examined(context, online=online))
    statuses = {check.status for check in found}
    told = {"ok": statuses == {"ok"}, "checks": [asdict(check) for check in found]}
    context.tell(told, check_table(found))
    if "error" in statuses:
        raise typer.Exit(1)
    if strict and "warning" in statuses:
        raise typer.Exit(WARNED)


def examined(context: CommandContext, *, online: bool) -> "Iterator[Check]":
    """Yield all checks in order: those that others depend on come first."""
    from kinmem.cli import installation_checks as checks
    from kinmem.cli.mcp_client import self_test
    from kinmem.cli.memory_checks import memory
    from kinmem.errors import ConfigError

    yield from _guarded(checks.python)
    yield from _guarded(checks.clock)
    try:
        settings = context.settings()
    except ConfigError as error:
        yield checks.Check("settings", "error", str(error), "correct it; kinmem config shows all")
        return
    yield from _guarded(lambda: checks.settings_read(settings))
    yield from _guarded(lambda: checks.place(settings.home))
    yield from _guarded(lambda: checks.access(settings))
    yield from _guarded(checks.model_files)
    yield from _guarded(lambda: checks.models(settings, online=online))
    yield from _guarded(lambda: memory(settings))
    yield from _guarded(self_test)


def _guarded(check: "Callable[[], Iterator[Check]]") -> "Iterator[Check]":
    """Run a check; if the check itself fails, that is a finding too."""
    from kinmem.cli.installation_checks import Check

    try:
        yield from check()
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        yield Check(getattr(check, "__name__", "check"), "error", told, "report it with this line")


def check_table(found: "list[Check]") -> "Table":
    """Return a table with one line per check, its remedy below it."""
    from rich.table import Table
    from rich.text import Text

    from kinmem.cli.terminal import one_line

    table = Table.grid(padding=(0, 2))
    for check in found:
        status = Text(check.status, style=STYLES[check.status])
        table.add_row(status, Text(check.name), Text(one_line(check.told)))
        if check.remedy:
            table.add_row("", "", Text(f"-> {one_line(check.remedy)}", style="bold"))
    return table


@command(app, rich_help_panel=PANEL)
def bench(
    context: CommandContext,
    which: take.Which = None,
    short: take.Short = False,
    embedder: take.EmbedderNames = None,
) -> None:
    """Measure this version; or compare two embedders on the Kin's own memories."""
    if embedder and not which:
        _compare_embedders(context, embedder)
        return
    if not (CHECKOUT / "benchmarks" / "__main__.py").exists():
        raise ConfigError("the benchmarks come with a checkout of kinmem, not with the package")
    run = [sys.executable, "-m", "benchmarks", *(which or []), *(["--short"] if short else [])]
    run += [word for name in embedder or [] for word in ("--embedder", name)]
    with TemporaryDirectory() as folder:
        numbers = Path(folder) / "numbers.json"
        quiet = subprocess.PIPE if context.json else None
        done = subprocess.run(
            [*run, "--json", str(numbers)], cwd=CHECKOUT, stdout=quiet, stderr=quiet, check=False
        )
        if context.json and numbers.exists():
            typer.echo(numbers.read_text(encoding="utf-8"))
        elif context.json:
            raise typer.BadParameter(_last_line(done.stderr))
    raise typer.Exit(done.returncode)


def _last_line(said: bytes) -> str:
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "the benchmarks ended without numbers"


def _compare_embedders(context: CommandContext, names: Sequence[str]) -> None:
    """Compare two embedders on the same part of the Kin's memories. Nothing is written to its
    memory."""
    from kinmem.cli.embedder_comparison import (
        MOST,
        comparison_row,
        comparison_tables,
        measured,
        probes,
    )
    from kinmem.cli.terminal import progress_bar
    from kinmem.wiring.open_memory import scratch_store
    from kinmem.wiring.pick_models import embedder_named

    if len(names) != 2:
        raise InvalidInput("two are compared: --embedder is given twice; one alone goes with WHICH")
    settings = context.settings()
    embedders = [embedder_named(name, settings) for name in names]
    with context.memory(resident=False) as memory:
        memories = memory.store.page(Filters(), "newest", MOST).memories
        kin, clock = memory.kin, memory.clock
    asked = probes(memories)
    if not asked:
        raise InvalidInput("there are no memories here that two embedders could be compared on")
    outcomes = []
    for one in embedders:
        with scratch_store(kin) as store, progress_bar() as progress:
            outcomes.append(measured(one, memories, asked, store, settings, clock, progress))
    first, second = outcomes
    count = len(memories)
    context.tell(
        comparison_row(first, second, asked, count), *comparison_tables(first, second, asked, count)
    )
