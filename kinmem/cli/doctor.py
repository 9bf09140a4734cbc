"""What `kinmem doctor` examines, in order, and how it is shown."""

from collections.abc import Callable, Iterator

from rich.table import Table
from rich.text import Text

from kinmem.cli import installation_checks as checks
from kinmem.cli.command_context import CommandContext
from kinmem.cli.installation_checks import Check
from kinmem.cli.mcp_client import self_test
from kinmem.cli.memory_checks import memory
from kinmem.cli.terminal import one_line
from kinmem.errors import ConfigError

STYLES = {"ok": "green", "warning": "yellow", "error": "red"}


def examined(context: CommandContext, *, online: bool, deep: bool = False) -> Iterator[Check]:
    """Yield all checks in order: those that others depend on come first."""
    yield from _guarded(checks.python)
    yield from _guarded(checks.clock)
    try:
        settings = context.settings()
    except ConfigError as error:
        yield checks.Check("settings", "error", str(error), "correct it; kinmem config shows all")
        return
    yield from _guarded(lambda: checks.settings_read(settings))
    yield from _guarded(lambda: checks.place(settings.home))
    yield from _guarded(lambda: checks.locks(settings))
    yield from _guarded(lambda: checks.access(settings))
    yield from _guarded(checks.model_files)
    yield from _guarded(lambda: checks.models(settings, online=online))
    yield from _guarded(lambda: memory(settings, deep=deep))
    yield from _guarded(self_test)


def _guarded(check: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """Run a check; if the check itself fails, that is a finding too."""
    try:
        yield from check()
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        yield Check(getattr(check, "__name__", "check"), "error", told, "report it with this line")


def check_table(found: list[Check]) -> Table:
    """Return a table with one line per check, its remedy below it."""
    table = Table.grid(padding=(0, 2))
    for check in found:
        status = Text(check.status, style=STYLES[check.status])
        table.add_row(status, Text(check.name), Text(one_line(check.told)))
        if check.remedy:
            table.add_row("", "", Text(f"-> {one_line(check.remedy)}", style="bold"))
    return table
