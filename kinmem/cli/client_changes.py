"""What `kinmem install` changes in the files of a client, and how it is shown."""

import difflib
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from kinmem import install as installer
from kinmem.cli.command_context import CommandContext
from kinmem.install import ADVICE, FileChange
from kinmem.install.clients import started_by
from kinmem.settings.loading import DEFAULT_HOME


def change(
    context: CommandContext, client: str, *, write: bool, remove: bool, project: str | None
) -> None:
    """Show the changes that connect the client with kinmem, or with `remove` take kinmem out; make
    them if `write`."""
    folder = Path(project).absolute() if project else None
    home = Path.home()
    if remove:
        changes = installer.plan_removal(client, home, folder)
    else:
        settings = context.settings()
        memory = settings.home if settings.home != Path(DEFAULT_HOME).expanduser() else None
        changes = installer.plan(client, home, folder, started_by(), settings.general.kin, memory)
    if write:
        installer.write(changes)
    context.tell(
        _rows(changes, written=write), *_shown(changes, client, write=write, remove=remove)
    )


def _rows(changes: list[FileChange], *, written: bool) -> list[dict[str, Any]]:
    return [
        {"file": str(one.path), "before": one.before, "after": one.after, "written": written}
        for one in changes
    ]


def _shown(
    changes: list[FileChange], client: str, *, write: bool, remove: bool
) -> list[RenderableType]:
    if not changes:
        return [Text(f"Nothing to change: {client} is as it should be.")]
    shown: list[RenderableType] = []
    for one in changes:
        lines = difflib.unified_diff(
            (one.before or "").splitlines(),
            (one.after or "").splitlines(),
            fromfile=str(one.path) if one.before is not None else "(no such file)",
            tofile=str(one.path) if one.after is not None else "(deleted)",
            lineterm="",
        )
        shown += [Text(line, style=_colour(line)) for line in lines]
    if not write:
        wanted = "--remove --write takes kinmem out" if remove else "--write does it"
        return [*shown, Text(f"Nothing was changed yet: {wanted}.", style="bold")]
    if remove:
        return [*shown, Text("Done; nothing of kinmem is left there.", style="bold")]
    told = "Done; the files as they were lie beside them (.before-kinmem)."
    return [*shown, Text(f"{told} {ADVICE[client]}", style="bold")]


def _colour(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
