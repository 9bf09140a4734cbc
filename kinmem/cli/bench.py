"""bench: the benchmarks of the checkout that this kinmem runs from, or two embedders compared."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command
from kinmem.errors import ConfigError, InvalidInput
from kinmem.models import Filters

app = typer.Typer()
ROOT = Path(__file__).parents[2]


@command(app, rich_help_panel="Look after")
def bench(
    here: Here,
    which: take.Which = None,
    short: take.Short = False,
    embedder: take.EmbedderNames = None,
) -> None:
    """Measure this version; or compare two embedders on the Kin's own memories."""
    if embedder and not which:
        _compare(here, embedder)
        return
    if not (ROOT / "benchmarks" / "__main__.py").exists():
        raise ConfigError("the benchmarks come with a checkout of kinmem, not with the package")
    run = [sys.executable, "-m", "benchmarks", *(which or []), *(["--short"] if short else [])]
    run += [word for name in embedder or [] for word in ("--embedder", name)]
    with TemporaryDirectory() as folder:
        numbers = Path(folder) / "numbers.json"
        quiet = subprocess.PIPE if here.json else None
        done = subprocess.run(
            [*run, "--json", str(numbers)], cwd=ROOT, stdout=quiet, stderr=quiet, check=False
        )
        if here.json and numbers.exists():
            typer.echo(numbers.read_text(encoding="utf-8"))
        elif here.json:
            raise typer.BadParameter(_last_line(done.stderr))
    raise typer.Exit(done.returncode)


def _last_line(said: bytes) -> str:
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "the benchmarks ended without numbers"


def _compare(here: Here, names: Sequence[str]) -> None:
    """Nothing is written to the Kin's memory; each embedder is sent the same part of it."""
    from kinmem.cli.compared import numbers, tables
    from kinmem.cli.progress import bar
    from kinmem.comparison import MOST, measured, probes
    from kinmem.wiring import embedder_named, scratch_store

    if len(names) != 2:
        raise InvalidInput("two are compared: --embedder is given twice; one alone goes with WHICH")
    settings = here.settings()
    embedders = [embedder_named(name, settings) for name in names]
    with here.memory(resident=False) as memory:
        memories = memory.store.page(Filters(), "newest", MOST).memories
        kin, clock = memory.kin, memory.clock
    asked = probes(memories)
    if not asked:
        raise InvalidInput("there are no memories here that two embedders could be compared on")
    outcomes = []
    for one in embedders:
        with scratch_store(kin) as store, bar() as progress:
            outcomes.append(measured(one, memories, asked, store, settings, clock, progress))
    first, second = outcomes
    count = len(memories)
    here.tell(numbers(first, second, asked, count), *tables(first, second, asked, count))
