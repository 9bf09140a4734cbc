"""serve and demo: kinmem as an MCP server."""

from typing import Annotated, Literal

import typer

from kinmem.cli.here import Here, command

app = typer.Typer()
PANEL = "Serve"


@command(app, rich_help_panel=PANEL)
def serve(
    here: Here,
    transport: Annotated[
        Literal["stdio", "http", "sse", "streamable-http"] | None,
        typer.Option(
            "--transport",
            help="stdio, for a client that starts kinmem; the others are one HTTP server.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="ADDRESS", help="For HTTP; any but this machine needs a token."
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="For HTTP; 0 takes a free one.")
    ] = None,
) -> None:
    """Serve MCP, over stdio unless told otherwise."""
    start(here, transport, host, port)


@command(app, rich_help_panel=PANEL)
def demo(
    here: Here,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the folder with the two memories.")
    ] = False,
) -> None:
    """Watch two assistants remember, share, correct and forget, through the real server."""
    from kinmem.cli.demo import play

    play(keep=keep)


def start(
    here: Here, transport: str | None = None, host: str | None = None, port: int | None = None
) -> None:
    """Serve until a signal or the client ends it."""
    from kinmem.serving import serve as run

    run(here.settings(KINMEM_TRANSPORT=transport, KINMEM_HOST=host, KINMEM_PORT=port))
