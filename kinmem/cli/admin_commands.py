"""kin, token, config, reembed, doctor, bench, store migrate, key: administration."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from kinmem.cli import options as take
from kinmem.cli.command_context import (
    CommandContext,
    command,
    kin_names,
    no_such_kin,
    without_command,
)
from kinmem.cli.tables import (
    kin_table,
    setting_rows,
    setting_table,
    token_rows,
    token_table,
    without_effect,
)
from kinmem.cli.terminal import one_line, progress_bar
from kinmem.errors import ConfigError, InvalidInput, KinmemError
from kinmem.http.tokens import tokens_of
from kinmem.settings import Settings
from kinmem.text import many

if TYPE_CHECKING:
    from kinmem.service import Stats
    from kinmem.wiring.home_keeping import KeyChange, KeyState, Moved


PANEL = "Look after"
# Share of the vectors at which the configured embedder takes over (recall/search.py).
ENOUGH = 0.99
app = typer.Typer()
kins = typer.Typer(help="The Kins that have a memory here. Without a command, lists them.")
tokens = typer.Typer(help="Tokens for HTTP, each for one Kin. Without a command, lists them.")
stores = typer.Typer(help="Where memories are kept: files of the home, or PostgreSQL.")
WARNED, SHOWN = 4, 5
CHECKOUT = Path(__file__).parents[2]


@command(kins, "list")
def kin_list(context: CommandContext) -> None:
    """List every Kin with a memory in the home folder, and the number of its memories."""
    settings = context.settings()
    found = list(kins_under(context, settings))
    context.tell({"home": str(settings.home), "kins": found}, kin_table(found, settings))


@command(kins, "current")
def kin_current(context: CommandContext) -> None:
    """Show which Kin the commands use, and where that is set."""
    settings = context.settings()
    kin, origin = settings.general.kin, settings.origins.get("KINMEM_KIN", "default")
    context.tell({"kin": kin, "origin": origin}, Text(f"{kin} ({origin})"))


@command(tokens, "add")
def token_add(
    context: CommandContext,
    name: take.KinName,
    note: take.Label = None,
    days: take.Days = None,
    scope: take.TokenScope = "write",
) -> None:
    """Make a token for a Kin. It is shown once."""
    settings = context.settings()
    known = kin_names(settings)
    token = tokens_of(settings).add(name, note, days, scope)
    if name not in known:
        typer.echo(f"note: {no_such_kin(name, known)}", err=True)
    if not context.json:
        typer.echo("Shown once. Clients send it as: Authorization: Bearer TOKEN", err=True)
    told = {"token": token, "kin": name, "scope": scope}
    context.tell(told, Text(token, no_wrap=True, overflow="ignore"))


@command(tokens, "list")
def token_list(context: CommandContext) -> None:
    """List all tokens, without their secrets."""
    rows = token_rows(tokens_of(context.settings()).tokens())
    context.tell({"tokens": rows}, token_table(rows))


@command(tokens, "revoke")
def token_revoke(context: CommandContext, token_id: take.TokenId) -> None:
    """Revoke a token for good, with immediate effect on running servers."""
    rows = token_rows([tokens_of(context.settings()).revoke(token_id)])
    context.tell(rows[0], token_table(rows))


without_command(kins, kin_list)
without_command(tokens, token_list)


@command(app, rich_help_panel=PANEL)
def config(context: CommandContext, changed: take.Changed = False) -> None:
    """Show every setting, its value, and where the value comes from."""
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


def kins_under(context: CommandContext, settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield each Kin with the number of its memories, or with the reason why its file cannot be
    opened."""
    for name in kin_names(settings):
        try:
            with replace(context, kin=name).memory(resident=False) as service:
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
    context: CommandContext,
    strict: take.Strict = False,
    online: take.Online = False,
    deep: take.Deep = False,
    repair: take.Repair = False,
    dry_run: take.DryRunRepair = False,
    yes: take.YesRepair = False,
) -> None:
    """Check everything kinmem depends on. Each line says what helps."""
    if repair or dry_run:
        from kinmem.cli.doctor import mend  # late: loads the database

        mend(context, dry_run=dry_run, yes=yes)
        return
    from kinmem.cli.doctor import check_table, examined  # late: loads mcp and more, 1 s

    found = list(examined(context, online=online, deep=deep))
    statuses = {check.status for check in found}
    told = {"ok": statuses == {"ok"}, "checks": [asdict(check) for check in found]}
    context.tell(told, check_table(found))
    if "error" in statuses:
        raise typer.Exit(1)
    if strict and "warning" in statuses:
        raise typer.Exit(WARNED)


@command(app, rich_help_panel=PANEL)
def bench(
    context: CommandContext,
    which: take.Which = None,
    short: take.Short = False,
    embedder: take.EmbedderNames = None,
) -> None:
    """Measure this version; or compare two embedders on the Kin's own memories."""
    if embedder and not which:
        from kinmem.cli.embedder_comparison import compare_embedders  # late: loads numpy, 0.5 s

        compare_embedders(context, embedder)
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


@command(stores, "migrate")
def migrate(
    context: CommandContext,
    to: take.ToStore,
    source: take.FromStore = None,
    only: take.OnlyKin = None,
) -> None:
    """Copy everything of all Kins to another store, and compare both. The source stays as it is.
    If it was interrupted, the same command goes on."""
    from kinmem.cli.terminal import progress_bar
    from kinmem.http.tokens import tokens_of
    from kinmem.wiring.home_keeping import migrate as moved_to

    here, there = _settings(context, source), _settings(context, to)
    kins = only or kin_names(here)
    with progress_bar() as progress:
        done = list(moved_to(here, there, kins, progress=progress))
    tokens = tokens_of(there).adopt(tokens_of(here).tokens())
    row = {"kins": [asdict(one) for one in done], "tokens": tokens}
    context.tell(row, *_cards(done, tokens))
    if not all(one.is_whole for one in done):
        raise typer.Exit(1)


def _settings(context: CommandContext, place: str | None) -> "Settings":
    """Return the settings with memories at that place: an address of PostgreSQL, or a home."""
    if place is None:
        return context.settings()
    if place.startswith(("postgresql://", "postgres://")):
        return context.settings(KINMEM_STORE=place)
    settings = context.settings()
    home = Path(place).expanduser().absolute()
    return replace(settings, home=home, general=replace(settings.general, store=""))


def _cards(done: "list[Moved]", tokens: int) -> Iterator[RenderableType]:
    if not done:
        yield Text("Nobody has memories there.")
    for one in done:
        count = sum(one.records.values())
        if one.is_whole:
            told = f"{one.kin}: {many(count, 'record is', 'records are')} the same in both"
            yield Text(f"{told}; new there: records {one.stored:,}, vectors {one.vectors:,}.")
        else:
            told = ", ".join(map(one_line, one.differing[:SHOWN]))
            yield Text(
                f"{one.kin}: {len(one.differing):,} of {count:,} records are not the same: {told}."
                " If it was in use meanwhile, stop what uses it and move it to an empty place.",
                style="red",
            )
        if one.without_vector:
            yield Text(f"  {one.without_vector:,} texts have no vector yet", style="dim")
    if tokens:
        yield Text(f"{tokens:,} {'token' if tokens == 1 else 'tokens'} for HTTP too.")


keys = typer.Typer(help="Encryption of the home's files. Without a command, shows its state.")


@command(keys, "show")
def key_show(context: CommandContext) -> None:
    """Show whether the home is encrypted, and where its key is."""
    from kinmem.wiring.home_keeping import key_state  # late, as in the others: loads the store

    state = key_state(context.settings())
    context.tell(asdict(state), Text(_told(state)))


@command(keys, "set")
def key_set(context: CommandContext, where: take.KeyPlace = None) -> None:
    """Encrypt the files with a new key, or give encrypted ones another. Nobody else may use the
    home meanwhile; it is backed up first."""
    from kinmem.hooks.socket_server import without_workers
    from kinmem.wiring.home_keeping import set_key

    settings = context.settings()
    with without_workers(settings.home):
        change = set_key(settings, where)
    _tell(context, change)


@command(keys, "remove")
def key_remove(context: CommandContext) -> None:
    """Decrypt the files. The key stays where it is, for backups."""
    from kinmem.hooks.socket_server import without_workers
    from kinmem.wiring.home_keeping import remove_key

    settings = context.settings()
    with without_workers(settings.home):
        change = remove_key(settings)
    _tell(context, change)


without_command(keys, key_show)


def _tell(context: CommandContext, change: "KeyChange") -> None:
    lines = [Text(f"{many(change.files, 'file', 'files')} changed. {_told(change.state)}")]
    if change.backup is not None:
        lines.append(Text(f"Backed up before that to {change.backup}"))
    if change.state.key is not None:
        lines.append(Text("Without the key nobody can read them: keep a copy of it elsewhere."))
    if change.in_the_clear:
        told = (
            "These backups are from before and not encrypted; delete them if you need them no more:"
        )
        lines += [Text(told), *(Text(f"  {path}") for path in change.in_the_clear)]
    described = {
        **asdict(change.state),
        "files": change.files,
        "backup": change.backup and str(change.backup),
        "inTheClear": [str(path) for path in change.in_the_clear],
    }
    context.tell(described, *lines)


def _told(state: "KeyState") -> str:
    if state.is_changing:
        return "A change was cut short: run kinmem key set, or kinmem key remove, again."
    if state.key is None:
        return "The files are not encrypted. kinmem key set encrypts them."
    place = "the keyring" if state.where == "keyring" else state.where
    return f"The files are encrypted; the key {state.key} is in {place}."
