"""stats as a table and as JSON."""

from datetime import UTC
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from kinmem.cli.talk import run_row

if TYPE_CHECKING:
    from kinmem.service import Stats


def numbers(stats: "Stats") -> dict[str, Any]:
    """For programs."""
    return {
        "kin": stats.kin,
        "memories": {table: dict(counts) for table, counts in stats.counts.items()},
        "embedder": stats.embedder,
        "embedders": [
            {"name": one.embedder, "dimension": one.dimension, "done": one.done, "total": one.total}
            for one in stats.embedders
        ],
        "conversations": dict(stats.conversations),
        "turnVectors": [
            {"name": one.embedder, "done": one.done, "total": one.total} for one in stats.turns
        ],
        "lastRun": run_row(stats.last_run, UTC) if stats.last_run else None,
    }


def stats_table(stats: "Stats") -> Table:
    """For people."""
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("Kin", style="dim"), Text(stats.kin, style="bold"))
    total = sum(stats.counts.get("kin", {}).values())
    table.add_row(Text("memories", style="dim"), Text(f"{total:,}"))
    for name in ("state", "scope", "tier", "category"):
        counts = sorted(stats.counts.get(name, {}).items(), key=lambda item: -item[1])
        told = ", ".join(f"{key} {count:,}" for key, count in counts) or "none"
        table.add_row(Text(f"by {name}", style="dim"), Text(told))
    for one in stats.embedders:
        told = f"{one.done:,} of {one.total:,} vectors by {one.embedder} ({one.dimension} wide)"
        mark = "" if one.embedder == stats.embedder else ", no longer configured"
        table.add_row(Text("meaning", style="dim"), Text(told + mark))
    if stats.conversations["messages"]:
        told = ", ".join(f"{name} {count:,}" for name, count in stats.conversations.items())
        table.add_row(Text("conversations", style="dim"), Text(told))
        for one in stats.turns:
            told = f"{one.done:,} of {one.total:,} vectors of what was said by {one.embedder}"
            table.add_row(Text("", style="dim"), Text(told))
    return table
