"""Mutation testing: does a test notice when the core does something else?

    python -m scripts.mutants --sample 60 --seed 7           # 60 places at random
    python -m scripts.mutants --only 'kinmem/recall/*'       # each mutant of these modules
    python -m scripts.mutants --only '*/fuse.py' --list      # what would be tried

cosmic-ray makes the mutants and runs the tests. Each worker has a copy of the working tree in a
temporary folder, which goes away at the end; the tree itself is only read.
"""

import argparse
import ast
import compileall
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

from cosmic_ray.commands.init import _all_work_items

from scripts.mutants import trial
from scripts.mutants.operators import is_used
from scripts.mutants.scope import EQUIVALENT, ROOT, TESTS, files_of

LEAST = 0.85


def main() -> int:
    asked = _arguments()
    mutants = [one for module in sorted(TESTS) if _wanted(module, asked.only) for one in of(module)]
    if asked.sample and asked.sample < len(_places(mutants)):
        mutants = sampled(mutants, asked.sample, asked.seed)
    if asked.list:
        print(*map(told, mutants), sep="\n")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copies go as well
    folder = Path(tempfile.mkdtemp(prefix="kinmem-mutants-"))
    try:
        return _run(mutants, folder, asked)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def of(module: str) -> list[Any]:
    """Every mutant of a module, as cosmic-ray describes it; none within an annotation, none of a
    star among parameters, none of a line that nobody can notice."""
    annotated = list(_annotations(module))
    lines = (ROOT / module).read_text(encoding="utf-8").splitlines()
    mutants = []
    for item in _all_work_items([ROOT / module], {}):
        (mutant,) = item.mutations
        within = any(start <= mutant.start_pos < end for start, end in annotated)
        row, column = mutant.start_pos
        line = lines[row - 1].strip()
        within |= lines[row - 1][column:].startswith("*,")
        if is_used(mutant.operator_name) and not within and (module, line) not in EQUIVALENT:
            mutants.append(mutant)
    return mutants


def sampled(mutants: Sequence[Any], count: int, seed: int) -> list[Any]:
    """So many places of the code at random, and at each one of its mutants."""
    chance = random.Random(seed)
    places = _places(mutants)
    return [chance.choice(places[place]) for place in chance.sample(sorted(places), count)]


def told(mutant: Any) -> str:
    where = mutant.module_path.relative_to(ROOT)
    return f"{where}:{mutant.start_pos[0]} {mutant.operator_name.partition('/')[2]}"


def _places(mutants: Sequence[Any]) -> dict[tuple[str, Any, str], list[Any]]:
    places: dict[tuple[str, Any, str], list[Any]] = {}
    for one in mutants:
        kind = one.operator_name.partition("/")[2].partition("_")[0]
        places.setdefault((str(one.module_path), one.start_pos, kind), []).append(one)
    return places


def _annotations(module: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        for name in ("annotation", "returns"):
            found = getattr(node, name, None)
            if isinstance(found, ast.expr):
                start = (found.lineno, found.col_offset)
                yield start, (found.end_lineno or 0, found.end_col_offset or 0)


def _run(mutants: Sequence[Any], folder: Path, asked: argparse.Namespace) -> int:
    copies = [folder / str(number) for number in range(asked.jobs)]
    for copy in copies:
        _copy_tree(copy)
    files = list(dict.fromkeys(file for one in mutants for file in files_of(trial.module_of(one))))
    print(f"{len(mutants)} mutants, {len(files)} files of tests; first those without a mutant")
    for copy in copies:  # so that the tests are read and rewritten once
        _pytest(copy, "--collect-only", "-q", *files, stdout=subprocess.DEVNULL)
    if not asked.trust and _pytest(copies[0], "-n", str(asked.jobs), *files):
        print("these have to pass before a mutant can fail them", file=sys.stderr)
        return 2
    survivors, counts = [], Counter[tuple[str, str]]()
    context = get_context("spawn")
    free = context.Queue()
    for copy in copies:
        free.put(copy)
    with ProcessPoolExecutor(asked.jobs, context, trial.start, (free,)) as pool:
        tried = {pool.submit(trial.attempt, one, asked.limit): one for one in mutants}
        for done in as_completed(tried):
            (outcome, diff), mutant = done.result(), tried[done]
            counts[trial.module_of(mutant), outcome] += 1
            print(f"{outcome:9}{told(mutant)}", flush=True)
            if outcome == "survived":
                survivors.append(diff)
    return _report(counts, survivors, asked.least)


def _pytest(copy: Path, *words: str, **streams: int) -> int:
    command = [sys.executable, "-m", "pytest", *trial.OPTIONS, *words]
    return subprocess.call(command, cwd=copy, env=trial.outside(copy), **streams)


def _report(counts: Counter[tuple[str, str]], survivors: Sequence[str], least: float) -> int:
    print(*survivors, sep="\n\n")
    print(f"\n{'module':36}{'killed':>8}{'survived':>10}")
    for module in sorted({module for module, _ in counts}):
        killed = counts[module, "killed"] + counts[module, "timeout"]
        print(f"{module:36}{killed:8}{counts[module, 'survived']:10}")
    share = 1 - len(survivors) / max(counts.total(), 1)
    print(f"{counts.total() - len(survivors)} of {counts.total()} killed: {share:.0%}")
    return 0 if share >= least else 1


def _copy_tree(copy: Path) -> None:
    """What git knows, as it stands in the working tree; compiled, so that a run starts fast."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    checked = PycInvalidationMode.CHECKED_HASH  # a mutant has another hash, whatever its time
    compileall.compile_dir(copy / "kinmem", quiet=1, invalidation_mode=checked)


def _wanted(module: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch(module, pattern) for pattern in patterns)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m scripts.mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--sample", type=int, default=0, help="places at random; all by default")
    parser.add_argument("--seed", type=int, default=0, help="another sample for another number")
    parser.add_argument("--only", action="append", default=[], help="modules, by pattern")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at the same time")
    parser.add_argument("--limit", type=float, default=600, help="seconds that one may take")
    parser.add_argument("--least", type=float, default=LEAST, help="killed, or the exit code is 1")
    parser.add_argument("--trust", action="store_true", help="do not run the tests unmutated first")
    parser.add_argument("--list", action="store_true", help="show the mutants and stop")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
