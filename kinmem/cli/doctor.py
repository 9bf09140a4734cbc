"""`kinmem doctor`: what it examines, in order, how that is shown, and how it repairs; with the
checks around the memory: Python, packages, models, settings, disk, tokens, and a self-test."""

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

import typer
from rich.table import Table
from rich.text import Text

from kinmem import llm
from kinmem.backup.restore import Repair, plan, repair
from kinmem.cli.backup_commands import STILL_THERE
from kinmem.cli.command_context import CommandContext
from kinmem.cli.mcp_client import converse, serving
from kinmem.cli.memory_checks import Check, memory
from kinmem.cli.tables import PACKAGES, installed, without_effect
from kinmem.cli.terminal import Refused, one_line, say
from kinmem.errors import ConfigError, KinmemError
from kinmem.hooks.socket_server import without_workers
from kinmem.http.tokens import is_loopback, tokens_of
from kinmem.settings import Settings
from kinmem.settings.trust import warnings
from kinmem.text import many
from kinmem.wiring.open_home import lock_told, open_backups
from kinmem.wiring.open_memory import asks_network, chat_models, embedders

if TYPE_CHECKING:
    from kinmem.llm.base import Embedder

STYLES = {"ok": "green", "warning": "yellow", "error": "red"}


def examined(context: CommandContext, *, online: bool, deep: bool = False) -> Iterator[Check]:
    """Yield all checks in order: those that others depend on come first."""
    yield from _guarded(python)
    yield from _guarded(clock)
    try:
        settings = context.settings()
    except ConfigError as error:
        yield Check("settings", "error", str(error), "correct it; kinmem config shows all")
        return
    yield from _guarded(settings_read, settings)
    yield from _guarded(place, settings.home)
    yield from _guarded(locks, settings)
    yield from _guarded(access, settings)
    yield from _guarded(model_files)
    yield from _guarded(models, settings, online=online)
    yield from _guarded(memory, settings, deep=deep)
    yield from _guarded(self_test)


def _guarded(check: Callable[..., Iterator[Check]], *given: Any, **more: Any) -> Iterator[Check]:
    """Run a check; if the check itself fails, that is a finding too."""
    try:
        yield from check(*given, **more)
    except KinmemError as error:
        yield Check(check.__name__, "error", str(error), "do what the message says")
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        yield Check(check.__name__, "error", told, "report it with this line")


def check_table(found: list[Check]) -> Table:
    """Return a table with one line per check, its remedy below it."""
    table = Table.grid(padding=(0, 2))
    for check in found:
        status = Text(check.status, style=STYLES[check.status])
        table.add_row(status, Text(check.name), Text(one_line(check.told)))
        if check.remedy:
            table.add_row("", "", Text(f"-> {one_line(check.remedy)}", style="bold"))
    return table


SHOWN = 20


def mend(context: CommandContext, *, dry_run: bool, yes: bool) -> None:
    """Show what a repair would do; unless it is a dry run, ask and do it. Exits with 1 if something
    is lost."""
    backups = open_backups(context.settings())
    planned = plan(backups)
    if dry_run or not planned.damage:
        context.tell(_told(planned), *_lines(planned))
        if planned.unreadable:
            raise typer.Exit(1)
        return
    if not yes:
        if not sys.stdin.isatty():
            raise Refused(
                "a repair writes files anew, and nobody is here to be asked; --dry-run shows what"
                " it would do, --yes does it"
            )
        say(*_lines(planned))
        typer.confirm("Repair it?", abort=True, err=True)
    with without_workers(backups.home):
        done = repair(backups)
    lines = [*_lines(done), Text("Repaired.", style="green")]
    if done.before is not None:
        lines.append(Text(f"What was there before: {done.before.path}"))
    lines += [Text(STILL_THERE.format(name), style="yellow") for name in done.unreached]
    context.tell({**_told(done), "repaired": True}, *lines)
    if done.unreadable or any(file.lost for file in done.files.values()):
        raise typer.Exit(1)


def _told(found: Repair) -> dict[str, Any]:
    return {
        "damage": dict(found.damage),
        "files": {name: asdict(one) for name, one in found.files.items()},
        "unreadable": dict(found.unreadable),
        "upgrades": dict(found.upgrades),
        "unreached": list(found.unreached),
        "before": None if found.before is None else str(found.before.path),
    }


def _lines(found: Repair) -> Iterator[Text]:
    for name, schema in found.upgrades.items():
        yield Text(f"{name} has schema {schema} and is upgraded when it is opened, after a backup")
    for name, wrong in found.damage.items():
        yield Text(f"{name} is damaged:", style="bold")
        yield from _some([Text(f"  {one_line(one)}", style="red") for one in wrong])
    for name, one in found.files.items():
        yield Text(f"{name} written anew: memories before {one.before:,}, after {one.after:,}")
        yield from _some([Text(f"  back: {one_line(what)}", style="green") for what in one.brought])
        yield from _some([Text(f"  lost: {one_line(what)}", style="red") for what in one.lost])
    for name, why in found.unreadable.items():
        yield Text(f"{name} cannot be repaired: {why}", style="red")
        yield Text("  kinmem backup restore brings it back as it was")
    if not (found.damage or found.unreadable):
        yield Text("Nothing is damaged.", style="green")


def _some(lines: list[Text]) -> Iterator[Text]:
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield Text(f"  and {len(lines) - SHOWN:,} more")


REINSTALL = "reinstall kinmem, e.g. pip install --force-reinstall kinmem"
NAMED = "see MEMORY_EMBEDDING_MODEL"
LITTLE_SPACE, NO_SPACE = 1 << 30, 100 << 20  # bytes
ALIKE = ("the puppy is asleep", "a young dog is sleeping")
UNLIKE = "the invoice was paid in May"
# Folders whose files a program copies elsewhere, even while a database in them is being written.
SYNCED = re.compile(r"(?i)dropbox|onedrive|google ?drive|icloud|mobile documents|nextcloud")
FIRST_RELEASE = 1_780_000_000  # seconds; a clock that shows less is wrong


def python() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("Python", "ok", f"{version} on {sys.platform}")
    missing = [name for name in PACKAGES if installed(name) is None]
    if missing:
        yield Check("packages", "error", f"not installed: {', '.join(missing)}", REINSTALL)
    else:
        told = ", ".join(f"{name} {installed(name)}" for name in PACKAGES)
        yield Check("packages", "ok", told)


def model_files() -> Iterator[Check]:
    """Check that the model files in the package are undamaged; its NOTICE has their digests."""
    folder = Path(llm.__file__).parent / "minilm"
    expected = re.findall(r"^([0-9a-f]{64}) +(\S+)$", (folder / "NOTICE").read_text(), re.MULTILINE)
    broken = [name for digest, name in expected if not _is_whole(folder / name, digest)]
    if broken or not expected:
        told = f"damaged or missing in {folder}: {', '.join(broken) or 'NOTICE'}"
        yield Check("model files", "error", told, REINSTALL)
    else:
        yield Check("model files", "ok", f"{len(expected)} files, whole")


def models(settings: Settings, *, online: bool) -> Iterator[Check]:
    """Check that each local model loads and works; models on a network only if requested."""
    try:
        configured, *standing_in = embedders(settings)
    except ConfigError as error:
        yield Check("embedder", "error", str(error), NAMED)
        return
    if standing_in and not online and asks_network(settings.embedding.model, settings):
        yield Check("embedder", "ok", f"{configured.name} is configured; --online tries it")
    else:
        yield _embeds(configured)
    for embedder in standing_in:
        yield _embeds(embedder)
    if not asks_network(settings.model.named("rerank"), settings):
        yield _reranks(settings)
    yield _judges(settings)


def settings_read(settings: Settings) -> Iterator[Check]:
    ignored = without_effect(settings)
    if ignored:
        told = f"set, but without effect: {', '.join(ignored)}"
        remedy = "unset them, or choose a profile that reads them (MEMORY_RANKING_PROFILE)"
        yield Check("settings", "warning", told, remedy)
    else:
        told = f"{len(settings.origins)} set, all valid and in use; kinmem config shows them"
        yield Check("settings", "ok", told)


def access(settings: Settings) -> Iterator[Check]:
    """Check who could use an HTTP server of this home."""
    tokens = tokens_of(settings)
    is_open, local = settings.server.insecure_local, is_loopback(settings.server.host)
    if is_open and not local:
        told = "KINMEM_INSECURE_LOCAL is for a loopback address; kinmem serve will refuse to start"
        yield Check("access", "warning", told, "set KINMEM_HOST=127.0.0.1, or leave it out")
    elif is_open:
        told = "HTTP asks for no token: every account of this machine can read and change it"
        yield Check("access", "warning", told, "leave out KINMEM_INSECURE_LOCAL")
    elif tokens.tokens() and not tokens.usable():
        told = "every token has expired or been revoked; an HTTP server will refuse to start"
        yield Check("access", "warning", told, "kinmem token add KIN")
    else:
        yield Check("access", "ok", "HTTP asks for a token")


def place(home: Path) -> Iterator[Check]:
    """Check the home folder's permissions, free space and surroundings."""
    if SYNCED.search(str(home)):
        told = f"{home} seems to be copied by a sync program, which can damage databases in use"
        yield Check("folder", "warning", told, "set KINMEM_HOME to a folder that is not synced")
    for told in warnings(home):
        yield Check("folder", "warning", told, "see docs/security.md")
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    status: Literal["ok", "warning", "error"] = "ok"
    if free < LITTLE_SPACE:
        status = "error" if free < NO_SPACE else "warning"
    remedy = None if status == "ok" else f"make room on the disk of {existing}"
    yield Check("disk", status, f"{free / (1 << 30):,.1f} GiB free", remedy)
    if not home.exists():
        yield Check("folder", "ok", f"{home} is made when it is first needed")
    elif os.name == "posix":
        yield _rights(home)


def locks(settings: Settings) -> Iterator[Check]:
    """Check who has the home, if a lock file says so."""
    if told := lock_told(settings):
        yield Check("locks", "ok", told)


def clock() -> Iterator[Check]:
    now = time.strftime("%Y-%m-%d %H:%M %Z")
    if time.time() < FIRST_RELEASE:
        yield Check("clock", "error", f"it is set to {now}", "set the system's clock")
    else:
        yield Check("clock", "ok", now)


def _rights(home: Path) -> Check:
    """Check that folders have mode 0700 and files 0600, so that no other user can read memories."""
    found = [home, *home.glob("*"), *home.glob("kins/*")]
    open_to_others = [path for path in found if path.stat().st_mode & 0o077]
    if open_to_others:
        names = ", ".join(str(path) for path in open_to_others[:3])
        told = f"{len(open_to_others)} open to others: {names}"
        return Check("rights", "error", told, f"chmod -R go-rwx {home}")
    files = many(len(found) - 1, "file", "files")
    return Check("rights", "ok", f"{home} and the {files} in it are yours alone")


def _embeds(embedder: "Embedder") -> Check:
    started = time.monotonic()
    try:
        first, second, other = embedder.embed([*ALIKE, UNLIKE])
    except KinmemError as error:
        return Check("embedder", "error", str(error), f"{NAMED}; meanwhile kinmem finds by words")
    took = 1000 * (time.monotonic() - started)
    near, far = float(first @ second), float(first @ other)
    told = f"{embedder.name}, {embedder.dimension} wide, loaded and used in {took:.0f} ms"
    if near <= far:
        remedy = REINSTALL if embedder.name.startswith("builtin/") else NAMED
        return Check("embedder", "error", f"{told}, but it cannot tell likeness", remedy)
    return Check("embedder", "ok", f"{told}; alike {near:.2f}, unlike {far:.2f}")


def _reranks(settings: Settings) -> Check:
    started = time.monotonic()
    try:
        model = chat_models(settings).rerank
        assert model is not None, "models asks for it where one is configured"
        near, far = model.scores(ALIKE[0], [ALIKE[1], UNLIKE])
    except KinmemError as error:
        return Check("re-ranking", "error", str(error), "see MEMORY_RERANK_MODEL")
    took = 1000 * (time.monotonic() - started)
    told = f"{model.name}, loaded and used in {took:.0f} ms; alike {near:.2f}, unlike {far:.2f}"
    return Check("re-ranking", "ok", told)


def _judges(settings: Settings) -> Check:
    judge = chat_models(settings).judge
    if judge is None:
        return Check("judge", "ok", "off by KINMEM_JUDGE; exact rules alone decide")
    started = time.monotonic()
    try:
        near, far = judge.relations([ALIKE[0], UNLIKE], ALIKE[1])
    except KinmemError as error:
        return Check("judge", "error", str(error), REINSTALL)
    took = 1000 * (time.monotonic() - started)
    told = f"{judge.name}, loaded and used in {took:.0f} ms"
    return Check("judge", "ok", f"{told}; alike {near.same:.2f}, unlike {far.same:.2f}")


def _is_whole(file: Path, digest: str) -> bool:
    return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == digest


CONTENT = "The self-test of kinmem keeps its umbrella in the hallway."
QUESTION = "Where is something against the rain?"


def self_test() -> Iterator[Check]:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kinmem-doctor-") as folder:
        try:
            told = converse(lambda errors: _talk(Path(folder), errors))
        except KinmemError as error:
            yield Check("self-test", "error", str(error), "run kinmem serve by hand and see")
            return
    took = time.monotonic() - started
    yield Check("self-test", "ok", f"{told} over stdio in {took:.1f} s")


async def _talk(home: Path, errors: TextIO) -> str:
    async with serving("doctor", home, errors) as caller:
        tools = (await caller.client.list_tools()).tools
        made = await caller("memorize", content=CONTENT)
        await caller.model_loaded()
        found = (await caller("recall", query=QUESTION))["memories"]
        if [memory["id"] for memory in found] != [made["id"]]:
            raise SelfTestFailed(f"what was memorized was not recalled: {found}")
        version = caller.client.protocol_version
    return f"{len(tools)} tools, one memory stored and found by meaning, protocol {version}"


class SelfTestFailed(KinmemError):
    """The server answers, but wrongly."""
