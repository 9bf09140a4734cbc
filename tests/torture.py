"""The long runs: kills, power cuts, and a server that works on. `make torture`.

Run as `python -m tests.torture --kills 10000 --cuts 5000 --soak 1800`. Prints what each run did,
and ends with 1 if anything was lost.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.processes import run

ROUNDS = 250
"""Kills, or power cuts, in one process."""
SLOW = 3600.0


def main() -> None:
    asked = _asked()
    wrong = 0
    for name, told, is_sound in _runs(asked):
        wrong += not is_sound
        print(f"{'ok   ' if is_sound else 'WRONG'} {name}: {json.dumps(told)}", flush=True)  # noqa: T201
    sys.exit(1 if wrong else 0)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--cuts", type=int, default=5_000)
    parser.add_argument("--soak", type=float, default=1_800, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _runs(asked: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any], bool]]:
    yield _repeated("kills", asked.kills, asked.seed, _kills)
    yield _repeated("power cuts", asked.cuts, asked.seed, _cuts)
    if asked.soak:
        told = _done("tests.store.soak", asked.soak)
        flat = told["memory"][1] <= 1.1 * told["memory"][0]
        same = told["descriptors"][1] <= told["descriptors"][0] + 2
        yield "soak", told, flat and same and not told["errors"]


def _repeated(
    name: str, count: int, seed: int, some: Callable[[int, int], dict[str, Any]]
) -> tuple[str, dict[str, Any], bool]:
    """Do it in processes of some rounds each; the numbers added up."""
    whole: dict[str, Any] = {"wrong": []}
    while count > 0 and not whole["wrong"]:
        for what, number in some(min(count, ROUNDS), seed).items():
            whole[what] = whole.get(what, type(number)()) + number
        count, seed = count - ROUNDS, seed + 1_000
    return name, whole, not whole["wrong"]


def _kills(rounds: int, seed: int) -> dict[str, Any]:
    return _done("tests.store.crash_loop", rounds, seed)


def _cuts(rounds: int, seed: int) -> dict[str, Any]:
    return _done("tests.store.power_cuts", rounds, seed, "FULL")


def _done(module: str, *arguments: object) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="kinmem-torture-") as folder:
        found: dict[str, Any] = json.loads(run(module, Path(folder), *arguments, seconds=SLOW))
        return found


if __name__ == "__main__":
    main()
