"""bench: the benchmarks of the checkout that this kinmem runs from."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command
from kinmem.errors import ConfigError

app = typer.Typer()
ROOT = Path(__file__).parents[2]


@command(app, rich_help_panel="Look after")
def bench(here: Here, which: take.Which = None, short: take.Short = False) -> None:
    """Measure retrieval, latency, throughput, cold start and the size of the tool list."""
    if not (ROOT / "benchmarks" / "__main__.py").exists():
        raise ConfigError("the benchmarks come with a checkout of kinmem, not with the package")
    run = [sys.executable, "-m", "benchmarks", *(which or []), *(["--short"] if short else [])]
    with TemporaryDirectory() as folder:
        numbers = Path(folder) / "numbers.json"
        quiet = subprocess.DEVNULL if here.json else None
        done = subprocess.run([*run, "--json", str(numbers)], cwd=ROOT, stdout=quiet, check=False)
        if here.json and numbers.exists():
            typer.echo(numbers.read_text(encoding="utf-8"))
    raise typer.Exit(done.returncode)
