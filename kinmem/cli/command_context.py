"""What every command begins with: whose memory, where it is, how to answer, which ids are meant;
and how a command is declared, as a function whose parameters are options, with those of all."""

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from rich.console import RenderableType

from kinmem.cli.terminal import json_text, one_line, say
from kinmem.errors import InvalidInput
from kinmem.models import LIVE, TURN, Page, State
from kinmem.settings import KIN_NAME, Settings, load
from kinmem.upkeep.steps import NAMES

if TYPE_CHECKING:
    from kinmem.service import Service


@dataclass(frozen=True)
class CommandContext:
    """The options that may stand before or after every command."""

    kin: str | None = None
    home: str | None = None
    json: bool = False

    def settings(self, **flags: Any) -> Settings:
        """Return the settings in force. `flags` maps variables to values from the command line."""

        settings = load({"KINMEM_KIN": self.kin, "KINMEM_HOME": self.home, **flags})
        level = settings.general.log_level
        logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
        return settings

    @contextmanager
    def memory(
        self, *, resident: bool = True, may_be_new: bool = False, is_brief: bool = True
    ) -> "Iterator[Service]":
        """Open the Kin's memory, and close it when the command is done.

        Unless `resident`, no model is loaded and no background work is done. Unless the Kin
        `may_be_new`, a name that may be mistyped is refused; see _refuse_unknown. For `is_brief`,
        see open_store.
        """
        from kinmem.wiring.open_memory import open_service  # late: 0.5 s, and help needs none

        settings = self.settings()
        if not may_be_new:
            self._refuse_unknown(settings)
        with open_service(settings, resident=resident, is_brief=is_brief) as service:
            yield service

    @contextmanager
    def changing(self, *, resident: bool = True, may_be_new: bool = False) -> "Iterator[Service]":
        """Open the Kin's memory for a command that changes it, and note what it has changed, so
        that an undo without a name takes back nothing else; see `last_change`. Room is reserved for
        forgetting on a disk that is full one day."""
        with self.memory(resident=resident, may_be_new=may_be_new) as service:
            first = _latest_write(service) + 1
            yield service
            service.store.making_room(lambda: note_change(service, first))
            service.store.reserve_room(begin=True)

    def _refuse_unknown(self, settings: Settings) -> None:
        """Raise InvalidInput if the Kin has no memories and either its name is nearly that of one
        who has, or there is nothing for it to read: looking makes no Kin. Otherwise it reads what
        others share, and a note on stderr says that it is new."""
        kin, known = settings.general.kin, kin_names(settings)
        if not known or kin in known:
            return
        told = no_such_kin(kin, known)
        if near_kins(kin, known) or not self._is_anything_shared(known[0]):
            raise InvalidInput(f"{told}; kinmem memorize --kin {kin} makes it")
        typer.echo(f"note: {told}", err=True)

    def _is_anything_shared(self, reader: str) -> bool:
        with CommandContext(reader, self.home).memory(resident=False) as service:
            return bool(service.list_memories(scope="shared", limit=1).memories)

    def require_own_file(self) -> None:
        """Raise InvalidInput if the Kin has nothing of its own, since its name may be mistyped."""
        settings = self.settings()
        known = kin_names(settings)
        if settings.general.kin not in known:
            raise InvalidInput(no_such_kin(settings.general.kin, known))

    def tell(self, value: Any, *shown: RenderableType) -> None:
        """Print the answer: the value as JSON, or `shown` for people."""
        if self.json:
            typer.echo(json_text(value))
        else:
            say(*shown)


NAMED = 10
"""Kins that a message names."""
DIGITS = re.compile(r"\d+")
ALIKE = 0.75
"""Likeness of a name from which it may be the one that was meant."""
FIRST_CHANGE, LAST_CHANGE = "first write of a command", "last write of a command"
"""Marks: of the last command that was to change something. It changed nothing if the first is
higher."""


def near_kins(kin: str, known: Sequence[str]) -> list[str]:
    """Return the names that may have been meant. Another number is another Kin: dev1, dev2."""
    letters = DIGITS.sub("", kin)
    return [
        name
        for name in get_close_matches(kin, known, cutoff=ALIKE)
        if DIGITS.sub("", name) != letters
    ]


def no_such_kin(kin: str, known: Sequence[str]) -> str:
    """Say that a Kin has nothing of its own, and which was meant, else which there are."""
    told = f"{kin} has no memories of its own yet"
    those = f"those who have: {', '.join(known[:NAMED])}"
    if near := near_kins(kin, known):
        return f"{told}; did you mean {' or '.join(near)}? ({those})"
    return f"{told}; {those}" if known else told


def _latest_write(service: "Service") -> int:
    return max((line.write for line in service.store.past.writes(1)), default=0)


def note_change(service: "Service", first: int = 1) -> None:
    """Note that a command has made the writes from `first` on."""
    service.store.jobs.set_mark(FIRST_CHANGE, first)
    service.store.jobs.set_mark(LAST_CHANGE, _latest_write(service))


def last_change(service: "Service") -> tuple[int, int]:
    """Return the first and the last write that an undo without a name may take back."""
    jobs = service.store.jobs
    return jobs.mark(FIRST_CHANGE), jobs.mark(LAST_CHANGE)


def kin_names(settings: Settings) -> list[str]:
    """Return the Kins that have memories in the home, or in the database, by name."""
    if settings.general.store:
        from kinmem.wiring.open_home import kins_on_the_server  # late, as open_service above

        return kins_on_the_server(settings)
    files = (settings.home / "kins").glob("*.db")
    return sorted(file.stem for file in files if KIN_NAME.fullmatch(file.stem))


PAGE = 200
# A uuid7 begins with its time, which memories of one minute share. Its end is random.
SHORT = 8
WHOLE = 36


def whole_page(memory: "Service", *, every: bool, limit: int = PAGE, **asked: Any) -> Page:
    """Return one page of list_memories, or with `every` all pages from its cursor on as one."""
    if not every:
        return memory.list_memories(limit=limit, **asked)
    found = []
    cursor = asked.pop("cursor", None)
    while True:
        page = memory.list_memories(limit=PAGE, cursor=cursor, **asked)
        found += page.memories
        cursor = page.next_cursor
        if cursor is None:
            return Page(found)


def short_id(id: str) -> str:
    """Return the end of an id, which is enough to tell thousands of memories apart."""
    return id[-SHORT:]


def full_id(memory: "Service", typed: str) -> str:
    """Return the id that was meant. An ending that no memory has is returned as it is, to be
    refused.

    Raises InvalidInput if several visible memories have this ending.
    """
    ending = typed.strip().lower()
    if ending.startswith(TURN):
        return ending
    if not SHORT <= len(ending) < WHOLE:
        return ending
    states = (None, *(state for state in State if state not in LIVE))
    pages = (whole_page(memory, every=True, state=state) for state in states)
    found = {one.id for page in pages for one in page.memories if one.id.endswith(ending)}
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} memories end with {ending!r}; give the whole id")
    return found.pop() if found else ending


# Number of memories whose ids are offered.
NEWEST = 100
Complete = Callable[[typer.Context, list[str], str], list[Any]]


def among(*values: str) -> Complete:
    """Offer the values that begin with what was typed."""

    def complete(ctx: typer.Context, args: list[str], incomplete: str) -> list[Any]:
        return [value for value in values if value.startswith(incomplete)]

    return complete


def from_memory(offered: Callable[[CommandContext], Iterable[Any]]) -> Complete:
    """Offer values from the memory that the command line selects; nothing if it cannot be read."""

    def complete(ctx: typer.Context, args: list[str], incomplete: str) -> list[Any]:
        found: list[Any] = []
        with suppress(Exception):  # a suggestion is not worth an error
            found = [
                value
                for value in offered(_context_typed(ctx))
                if (value if isinstance(value, str) else value[0]).startswith(incomplete)
            ]
        return found

    return complete


def _context_typed(ctx: typer.Context) -> CommandContext:
    """Build the context from the options typed so far, before or after the command."""
    typed = [one.params for one in (ctx, ctx.parent) if one is not None]
    given = {
        name: next((params[name] for params in typed if params.get(name)), None)
        for name in ("kin", "home")
    }
    return CommandContext(given["kin"], given["home"])


def _memory(context: CommandContext) -> "AbstractContextManager[Service]":
    """Open the memory if it exists: none is created for a suggestion."""
    if not context.settings().home.is_dir():
        raise FileNotFoundError
    return context.memory(resident=False, may_be_new=True)


def kins(context: CommandContext) -> Iterable[str]:
    return kin_names(context.settings())


def ids(context: CommandContext) -> Iterable[tuple[str, str]]:
    """Return the newest ids, each with what the memory says."""
    with _memory(context) as memory:
        newest = memory.list_memories(limit=NEWEST).memories
    return [(short_id(one.id), one_line(one.content, 60)) for one in newest]


def subjects(context: CommandContext) -> Iterable[str]:
    with _memory(context) as memory:
        return memory.subjects("", NEWEST)


def sessions(context: CommandContext) -> Iterable[str]:
    with _memory(context) as memory:
        return [one.name for one in memory.sessions(NEWEST)]


def steps(context: CommandContext) -> Iterable[str]:
    return NAMES


def option(
    names: str,
    metavar: str,
    help: str,
    least: int | None = None,
    offer: Complete | None = None,
) -> Any:
    """Declare an option with a value: option("--limit -n", "N", "Most results."). `offer` gives
    values for shell completion."""
    return typer.Option(
        *names.split(),
        metavar=metavar,
        help=help,
        show_default=False,
        min=least,
        autocompletion=offer,
    )


def flag(names: str, help: str) -> Any:
    """Declare an option without a value."""
    return typer.Option(*names.split(), metavar="", help=help, show_default=False)


KINS = from_memory(kins)

Kin = Annotated[
    str | None,
    option(
        "--kin", "NAME", "Whose memory to use; by default KINMEM_KIN, else default.", offer=KINS
    ),
]
Home = Annotated[
    str | None,
    option("--home", "FOLDER", "Folder of the memories; by default KINMEM_HOME, else ~/.kinmem."),
]
Json = Annotated[bool, flag("--json", "Answer in JSON.")]


CONTEXT = inspect.Parameter(
    "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
)


def command(
    app: typer.Typer, name: str | None = None, **display: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a command: a function of its context and options. --kin, --home and --json are
    added.

    `**rest: Unpack[Keys]` stands for one option for each key, which is passed only if it was given.
    """

    def declare(body: Callable[..., None]) -> Callable[..., None]:
        def run(ctx: typer.Context, **given: Any) -> None:
            everywhere = {name: given.pop(name) for name in ("kin", "home", "as_json")}
            absent = [name for name in shared if given[name] in (None, [])]
            for name in absent:
                del given[name]
            body(context_of(ctx, **everywhere), **given)

        own, shared = _options_of(body)
        parameters = [CONTEXT, *own, *EVERYWHERE]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__name__, run.__doc__ = body.__name__, body.__doc__
        app.command(name, **display)(run)
        return body

    return declare


def _options_of(body: Callable[..., None]) -> tuple[list[inspect.Parameter], list[str]]:
    """Return the options of a command, and the names of those that stand in its `**rest`."""
    *own, last = list(inspect.signature(body).parameters.values())[1:] or [CONTEXT]
    if last is CONTEXT:
        return [], []
    if last.kind is not last.VAR_KEYWORD:
        return [*own, last], []
    (keys,) = get_args(last.annotation)
    hints = get_type_hints(keys, include_extras=True)
    return [*own, *(_option(name, hint, None) for name, hint in hints.items())], list(hints)


def without_command(app: typer.Typer, body: Callable[[CommandContext], None]) -> None:
    """Run `body` when the group is called without one of its commands."""

    @app.callback(invoke_without_command=True)
    def alone(
        ctx: typer.Context,
        kin: Kin = None,
        home: Home = None,
        as_json: Json = False,
    ) -> None:
        ctx.find_root().obj = context = context_of(ctx, kin, home, as_json)
        if ctx.invoked_subcommand is None:
            body(context)


def context_of(
    ctx: typer.Context, kin: str | None, home: str | None, as_json: bool
) -> CommandContext:
    """Merge the options: those after the command take precedence over those before it."""
    before: CommandContext = ctx.find_root().obj or CommandContext()
    return CommandContext(kin or before.kin, home or before.home, as_json or before.json)


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


EVERYWHERE = (
    _option("kin", Kin, None),
    _option("home", Home, None),
    _option("as_json", Json, False),
)
