"""Where something was learned: the project that a session works in.

A place is the folder of a git repository, as its real path: the root of the main working tree, so
that the worktrees of one repository are one place, whatever folder below them somebody works in.
Its name is that of the folder. The path and not the address of the remote is what tells two places
apart: it is there from the first commit on, differs between forks, and needs no git to be run. A
repository that was moved keeps its memories: see `same_place`.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

GIT = ".git"
FREE = ("event", "activity")
"""Categories that no place binds: what happened may be told elsewhere, with its place named."""
POINTER_BYTES = 4096
"""Of the file that a worktree has in place of a folder."""

_working_in: ContextVar[str | None] = ContextVar("kinmem_place", default=None)


@contextmanager
def working_in(place: str | None) -> Iterator[None]:
    """What is done inside, also on worker threads it starts, is done in this place."""
    token = _working_in.set(place)
    try:
        yield
    finally:
        _working_in.reset(token)


def worked_in() -> str | None:
    """The place that the client has named whose call is worked on; None: it named none."""
    return _working_in.get()


def place_of(folder: str | None) -> str | None:
    """The place that a folder belongs to; None outside of repositories.

    The home folder and the root of the file system are nobody's project, though some keep their
    settings in a repository there.
    """
    if not folder or not Path(folder).is_absolute():
        return None
    try:
        start = Path(folder).resolve()
        home = Path.home().resolve()
        for root in (start, *start.parents):
            if (root / GIT).exists():
                main = _main_tree(root)
                return None if main == home or main == Path(main.anchor) else str(main)
    except (OSError, ValueError, RuntimeError):
        pass  # not to be read, or no home
    return None


def at_hand() -> str | None:
    """The place of the folder that this process was started in."""
    try:
        return place_of(str(Path.cwd()))
    except OSError:  # it is gone
        return None


def _main_tree(root: Path) -> Path:
    """The root of the main working tree; a submodule is a repository of its own."""
    pointer = root / GIT
    if pointer.is_dir():
        return root
    kind, _, target = pointer.read_text(encoding="utf-8")[:POINTER_BYTES].partition(":")
    if kind != "gitdir":
        return root
    private = (root / target.strip()).resolve()
    shared = private / "commondir"
    if not shared.is_file():
        return root
    common = (private / shared.read_text(encoding="utf-8")[:POINTER_BYTES].strip()).resolve()
    return common.parent if common.name == GIT else common


def name_of(place: str) -> str:
    """What people call it: the last part of its path."""
    return place.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".git") or place


def same_place(stored: str, here: str) -> bool:
    """Whether both are one project: one path, or one name where the older folder is gone, because
    somebody has moved it."""
    if stored == here:
        return True
    return name_of(stored) == name_of(here) and not Path(stored).is_dir()


def named(wanted: str, known: Iterable[str]) -> tuple[str, ...]:
    """Which of the known places are meant by a name, a path, or a folder inside of one."""
    is_path = wanted in (os.curdir, os.pardir) or any(sep in wanted for sep in "/\\")
    if not is_path:
        name = wanted.casefold()
        return tuple(place for place in known if name_of(place).casefold() == name)
    path = str(Path(wanted).expanduser().absolute())
    here = place_of(path) or path
    return tuple(place for place in known if same_place(place, here))


def meant(wanted: str, known: Iterable[str]) -> str | None:
    """The place that a caller names for something new: one that is known, else a folder in one."""
    if found := named(wanted, known):
        return found[0]
    path = Path(wanted).expanduser().absolute()
    return place_of(str(path)) if path.is_dir() else None
