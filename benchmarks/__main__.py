"""python -m benchmarks [retrieval|latency|throughput|...|all] [--short] [--json FILE]

ablation and embedders take --embedder NAME, for another model than the built-in one; talk,
commands, worlds and lives take the file or folder that is to be measured behind their name, pairs
one or more (see pairs.py).
"""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import pairs
from benchmarks.report import Table, Target, as_json, machine, targets_table
from kinmem.settings import load
from kinmem.wiring.open_memory import embedder_named

BENCHMARKS = (
    *(
        "retrieval",
        "ablation",
        "expansion",
        "tuning",
        "abstention",
        "answers",
        "judge",
        "standing",
        "replay",
        "talk",
        "commands",
        "duplicates",
        "paraphrases",
        "now",
        "updates",
        "worlds",
        "lives",
        "notes",
        "languages",
        "reembedding",
    ),
    *(
        "latency",
        "layers",
        "memory",
        "throughput",
        "sleeping",
        "life",
        "cold-start",
        "tool-list",
        "pages",
        "live",
    ),
    "tool-choice",
)
FILES = {
    "talk": "KINMEM_BENCH_TALK",
    "commands": "KINMEM_BENCH_COMMANDS",
    "worlds": "KINMEM_BENCH_WORLDS",
    "lives": "KINMEM_BENCH_LIVES",
}
"""Variables by which those that measure any file or folder are told which."""
OF_EMBEDDERS = ("ablation", "embedders")
"""Those that measure any embedder; the second only when it is asked for."""
OF_SERVERS = ("workers", "placement", "postgres", "large-kin")
"""Those that start database servers; only when they are asked for."""


def main() -> int:
    """Run what was asked for; 1 if a target was missed."""
    parser = argparse.ArgumentParser("benchmarks", description="Measure kinmem.")
    parser.add_argument(
        "which",
        nargs="*",
        default="all",
        choices=[*BENCHMARKS, "embedders", "kore", *OF_SERVERS, "all"],
        metavar="which",
        help=f"{', '.join((*BENCHMARKS, 'embedders', *OF_SERVERS))} or all (the default)",
    )
    parser.add_argument("--short", action="store_true", help="own data and few memories, a minute")
    parser.add_argument(
        "--embedder",
        action="append",
        metavar="NAME",
        help="for ablation and embedders: as MEMORY_EMBEDDING_MODEL names it, or builtin",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there as well")
    if sys.argv[1:2] == ["pairs"]:
        names = [name for name in sys.argv[2:] if name != "--same"]
        return _of_pairs([Path(name) for name in names], "--same" in sys.argv)
    options = parser.parse_args(_without_file(sys.argv[1:]))
    which = BENCHMARKS if "all" in options.which else options.which
    print(f"kinmem benchmarks: {machine()}\n", flush=True)
    tables, targets = run(which, options.short, options.embedder or ())
    if targets:
        print(targets_table(targets))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, targets), indent=1), encoding="utf-8")
    return int(not all(target.met for target in targets))


def _of_pairs(files: Sequence[Path], by_bar: bool) -> int:
    tables, targets = (pairs.by_bar(files), []) if by_bar else pairs.measure(files)
    print(*tables, sep="\n")
    if targets:
        print(targets_table(targets))
    return int(not all(target.met for target in targets))


def _without_file(arguments: list[str]) -> list[str]:
    """The arguments; a file behind the name of what measures it becomes its variable."""
    for at, name in enumerate(arguments[:-1]):
        if name in FILES and Path(arguments[at + 1]).exists():
            os.environ[FILES[name]] = arguments[at + 1]
            return arguments[: at + 1] + arguments[at + 2 :]
    return arguments


def run(
    which: Sequence[str], short: bool, embedders: Sequence[str] = ()
) -> tuple[list[Table], list[Target]]:
    """Each in turn; its tables are printed as soon as they are there."""
    named = [embedder_named(name, load()) for name in embedders]
    tables: list[Table] = []
    targets: list[Target] = []
    for name in which:
        measure = importlib.import_module(f"benchmarks.{name.replace('-', '_')}").measure
        made, aimed = measure(short, named) if name in OF_EMBEDDERS else measure(short)
        for table in made:
            print(table, flush=True)
        tables += made
        targets += aimed
    return tables, targets


if __name__ == "__main__":
    sys.exit(main())
