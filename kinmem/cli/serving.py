"""serve and demo: kinmem as an MCP server."""

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command

app = typer.Typer()
PANEL = "Serve"


@command(app, rich_help_panel=PANEL)
def serve(
    here: Here,
    transport: take.Transport = None,
    host: take.Host = None,
    port: take.Port = None,
) -> None:
    """Serve MCP, over stdio unless told otherwise."""
    start(here, transport, host, port)


@command(app, rich_help_panel=PANEL)
def demo(here: Here, keep: take.Keep = False) -> None:
    """Watch two assistants remember, share, correct and forget, through the real server."""
    from kinmem.cli.demo import play
    from kinmem.errors import InvalidInput

    if here.json:
        raise InvalidInput("the demo is told for people to read; leave out --json")
    play(keep=keep)


def start(
    here: Here, transport: str | None = None, host: str | None = None, port: int | None = None
) -> None:
    """Serve until a signal or the client ends it."""
    from kinmem.serving import serve as run

    run(here.settings(KINMEM_TRANSPORT=transport, KINMEM_HOST=host, KINMEM_PORT=port))
