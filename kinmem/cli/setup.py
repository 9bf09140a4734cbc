"""kin, token, config, reembed: who is there, who may come in, what is set."""

from typing import TYPE_CHECKING

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command, without_command
from kinmem.errors import InvalidInput

if TYPE_CHECKING:
    from kinmem.service import Stats

PANEL = "Look after"
ENOUGH = 0.99
"""Share of its vectors from which the configured embedder answers (recall/search.py)."""
app = typer.Typer()
kins = typer.Typer(help="The Kins that have a memory here; alone it lists them.")
tokens = typer.Typer(help="Who may come in over HTTP, as which Kin; alone it lists the tokens.")


@command(kins, "list")
def kin_list(here: Here) -> None:
    """Every Kin with a memory under the home folder, and how much it holds."""
    from kinmem.cli.kins import kins_under
    from kinmem.cli.tables import kin_table

    settings = here.settings()
    found = list(kins_under(settings))
    here.tell({"home": str(settings.home), "kins": found}, kin_table(found, settings))


@command(kins, "current")
def kin_current(here: Here) -> None:
    """Whose memory the commands use, and what says so."""
    from rich.text import Text

    settings = here.settings()
    kin, origin = settings.general.kin, settings.origins.get("KINMEM_KIN", "default")
    here.tell({"kin": kin, "origin": origin}, Text(f"{kin} ({origin})"))


@command(tokens, "add")
def token_add(
    here: Here, name: take.KinName, note: take.Label = None, days: take.Days = None
) -> None:
    """Make a token for a Kin. It is shown once."""
    from rich.text import Text

    from kinmem.tokens import Tokens

    token = Tokens(here.settings().home).add(name, note, days)
    if not here.json:
        typer.echo("Shown once. Clients send it as: Authorization: Bearer TOKEN", err=True)
    here.tell({"token": token, "kin": name}, Text(token, no_wrap=True, overflow="ignore"))


@command(tokens, "list")
def token_list(here: Here) -> None:
    """The tokens that were made, without their secrets."""
    from kinmem.cli.tables import token_rows, token_table
    from kinmem.tokens import Tokens

    rows = token_rows(Tokens(here.settings().home).tokens())
    here.tell({"tokens": rows}, token_table(rows))


@command(tokens, "revoke")
def token_revoke(here: Here, token_id: take.TokenId) -> None:
    """Close a token for good, at once for running servers too."""
    from kinmem.cli.tables import token_rows, token_table
    from kinmem.tokens import Tokens

    rows = token_rows([Tokens(here.settings().home).revoke(token_id)])
    here.tell(rows[0], token_table(rows))


without_command(kins, kin_list)
without_command(tokens, token_list)


@command(app, rich_help_panel=PANEL)
def config(here: Here, changed: take.Changed = False) -> None:
    """Every setting, its value and where that comes from."""
    from kinmem.cli.tables import setting_rows, setting_table, without_effect

    settings = here.settings()
    rows = list(setting_rows(settings, here.home is not None))
    if changed:
        rows = [row for row in rows if row["origin"] != "default"]
    unread = without_effect(settings)
    here.tell({"settings": rows, "unread": unread}, *setting_table(rows, unread, settings))


@command(app, rich_help_panel=PANEL)
def reembed(here: Here, drop: take.Drop = None) -> None:
    """Give every memory a vector of the configured embedder. Can be stopped and taken up again."""
    from rich.text import Text

    from kinmem.cli.progress import bar

    with here.memory() as memory:
        if drop is not None:
            _check_drop(drop, memory.stats())
            memory.store.retire(drop)
            here.tell({"dropped": drop}, Text(f"The vectors of {drop} are gone."))
            return
        try:
            with bar() as progress:
                made = memory.reembed(progress)
        except KeyboardInterrupt:
            typer.echo("Stopped. What is made stays; kinmem reembed goes on from there.", err=True)
            raise
        embedder = memory.stats().embedder
    here.tell({"made": made, "embedder": embedder}, Text(f"{made:,} vectors made by {embedder}."))


def _check_drop(drop: str, stats: "Stats") -> None:
    """Nobody's vectors go while they answer, unless the configured embedder is to begin anew."""
    done = {one.embedder: one.share for one in stats.embedders}
    if drop not in done:
        told = f"there are no vectors of {drop!r}, only of {', '.join(done) or 'nobody'}"
        raise InvalidInput(told)
    if drop != stats.embedder and done.get(stats.embedder, 0.0) < ENOUGH and done[drop]:
        raise InvalidInput(
            f"the vectors of {drop} still answer: {stats.embedder} has made"
            f" {done.get(stats.embedder, 0.0):.0%} of its own; run kinmem reembed first"
        )
