"""One mutant, tried in a worker's own copy of the tree."""

import os
import shlex
import sys
from multiprocessing import Queue
from pathlib import Path
from typing import Any

from attrs import evolve
from cosmic_ray.mutating import mutate_and_test

import scripts.mutants.operators  # noqa: F401 (by this cosmic-ray knows our operators)
from scripts.mutants.scope import ROOT, files_of

OPTIONS = ["-q", "-p", "no:cacheprovider", "--timeout", "240", "-m", "not slow and not live"]


def start(copies: "Queue[Path]") -> None:
    """Once for each worker."""
    copy = copies.get()
    os.chdir(copy)
    os.environ.update(outside(copy))


def outside(copy: Path) -> dict[str, str]:
    """An environment in which servers that tests start import the copy as well."""
    return {**os.environ, "PYTHONPATH": str(copy)}


def attempt(mutant: Any, limit: float) -> tuple[str, str]:
    """Whether a test of its row noticed (killed, timeout or survived), and how it differs."""
    module = module_of(mutant)
    guarded = [sys.executable, "-m", "scripts.mutants.guard", *OPTIONS]
    command = [*guarded, "-x", "--basetemp", f"{Path.cwd()}-files"]
    result = mutate_and_test(
        [evolve(mutant, module_path=Path(module))],
        shlex.join([*command, *files_of(module)]),
        limit,
    )
    if result.test_outcome not in ("killed", "survived"):
        raise RuntimeError(f"{module}: {result.output}")
    outcome = "timeout" if result.output == "timeout" else str(result.test_outcome.value)
    return outcome, result.diff or ""


def module_of(mutant: Any) -> str:
    return str(mutant.module_path.relative_to(ROOT))
