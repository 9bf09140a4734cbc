"""Places: the project (git repository) in which something was learned.

A place is the real path of a repository's main working tree, so all worktrees of a repository and
all folders below them are one place. Its name is the name of that folder. Places are told apart by
path rather than by the address of the remote, because the path exists from the first commit on,
differs between forks, and can be read without running git. A repository that is moved keeps its
memories: see `same_place`.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Literal

GIT = ".git"
# Categories that are not bound to a place: an event may be recalled in another project, with its
# place named.
FREE = ("event", "activity")
# Letters of a project's name by which a text may mean it.
SHORTEST_NAME = 4
# Bytes to read of the .git file that a worktree has instead of a folder.
POINTER_BYTES = 4096


def place_of(folder: str | None) -> str | None:
    """Return the place that a folder belongs to, or None outside of repositories.

    The home folder and the root of the file system never count as a project, although some people
    keep their settings in a repository there.
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
        pass  # the folder cannot be read, or there is no home folder
    return None


def at_hand() -> str | None:
    """Return the place of the folder that this process was started in."""
    try:
        return place_of(str(Path.cwd()))
    except OSError:  # the folder was deleted
        return None


def _main_tree(root: Path) -> Path:
    """Return the root of the main working tree. A submodule counts as a repository of its own."""
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
    """Return the name people use for the place: the last part of its path."""
    return place.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".git") or place


def same_place(stored: str, here: str) -> bool:
    """Return whether both are one project: the same path, or the same name if the stored folder no
    longer exists because somebody moved it."""
    if stored == here:
        return True
    return name_of(stored) == name_of(here) and not Path(stored).is_dir()


def compare_places(a: str | None, b: str | None) -> Literal["same", "perhaps", "other"]:
    """Return whether what holds in one place can be compared with what holds in the other.

    What holds everywhere (None) shares a place with everything. "perhaps" means that a repository
    may have moved: same name, but at least one folder no longer exists. In doubt keep both
    memories: a memory ends or absorbs another only in the "same" place, a review asks a person
    unless the place is the "other", and only places that are "other" count as several projects.
    """
    if a is None or b is None or a == b:
        return "same"
    return "perhaps" if same_place(a, b) or same_place(b, a) else "other"


def named(wanted: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known places that `wanted` means: a name, a path, or a folder inside a place."""
    is_path = wanted in (os.curdir, os.pardir) or any(sep in wanted for sep in "/\\")
    if not is_path:
        name = wanted.casefold()
        return tuple(place for place in known if name_of(place).casefold() == name)
    path = str(Path(wanted).expanduser().absolute())
    here = place_of(path) or path
    return tuple(place for place in known if same_place(place, here))


def spoken_of(text: str, known: Iterable[str]) -> str | None:
    """Return the place that a text calls by its name; None if it names none, or several.

    A name is a whole word with a capital, a digit or a mark in it, in the text or in the folder's
    name, so that a folder called "website" is not meant by every website.
    """
    found = set()
    for place in known:
        name = name_of(place)
        if len(name) < SHORTEST_NAME:
            continue
        said = re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", text, re.IGNORECASE)
        if said and not (said[0].islower() and name.isalpha() and name.islower()):
            found.add(place)
    return found.pop() if len(found) == 1 else None


def meant(wanted: str, known: Iterable[str]) -> str | None:
    """Return the place a caller names for a new memory: a known place, else that of an existing
    folder."""
    if found := named(wanted, known):
        return found[0]
    path = Path(wanted).expanduser().absolute()
    return place_of(str(path)) if path.is_dir() else None


_working_in: ContextVar[str | None] = ContextVar("kinmem_place", default=None)


@contextmanager
def working_in(place: str | None) -> Iterator[None]:
    """Set the current place for everything done inside the block, worker threads it starts
    included."""
    token = _working_in.set(place)
    try:
        yield
    finally:
        _working_in.reset(token)


def worked_in() -> str | None:
    """Return the place that the client of the current call named, or None if it named none."""
    return _working_in.get()
