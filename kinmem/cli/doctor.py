"""doctor."""

import typer

app = typer.Typer()
