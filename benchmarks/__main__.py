"""python -m benchmarks [retrieval|latency|throughput|...|all] [--short] [--json FILE]"""

import argparse
import importlib
import json
import sys
from pathlib import Path

from benchmarks.report import Table, Target, as_json, machine, targets_table

BENCHMARKS = (
    *("retrieval", "abstention", "replay", "duplicates", "reembedding"),
    *("latency", "throughput", "cold-start", "tool-list"),
)


def main() -> int:
    """Run what was asked for; 1 if a target was missed."""
    parser = argparse.ArgumentParser("benchmarks", description="Measure kinmem.")
    parser.add_argument(
        "which",
        nargs="*",
        default="all",
        choices=[*BENCHMARKS, "all"],
        metavar="which",
        help=f"{', '.join(BENCHMARKS)} or all (the default)",
    )
    parser.add_argument("--short", action="store_true", help="own data and few memories, a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there as well")
    options = parser.parse_args()
    which = BENCHMARKS if "all" in options.which else options.which
    print(f"kinmem benchmarks: {machine()}\n", flush=True)
    tables, targets = run(which, options.short)
    if targets:
        print(targets_table(targets))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, targets), indent=1), encoding="utf-8")
    return int(not all(target.met for target in targets))


def run(which: list[str] | tuple[str, ...], short: bool) -> tuple[list[Table], list[Target]]:
    """Each in turn; its tables are printed as soon as they are there."""
    tables: list[Table] = []
    targets: list[Target] = []
    for name in which:
        measure = importlib.import_module(f"benchmarks.{name.replace('-', '_')}").measure
        made, aimed = measure(short)
        for table in made:
            print(table, flush=True)
        tables += made
        targets += aimed
    return tables, targets


if __name__ == "__main__":
    sys.exit(main())
