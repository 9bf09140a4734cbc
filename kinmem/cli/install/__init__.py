"""`kinmem install CLIENT`: adds hooks and server to a client's configuration, and removes them
again.

plan and plan_removal only return what would change; write does it. Everything that is not kinmem's
keeps its order and layout.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from kinmem.cli.install import config_files, json_config
from kinmem.cli.install.clients import ADVICE, CLIENTS, Entry, Wish, entries
from kinmem.cli.install.config_files import TOKEN, FileChange, backup_of, content, write
from kinmem.errors import ConfigError

__all__ = ["ADVICE", "CLIENTS", "FileChange", "plan", "plan_removal", "tokens_in", "write"]


def plan(
    client: str,
    home: Path,
    project: Path | None,
    command: Sequence[str],
    kin: str = "default",
    memory: Path | None = None,
    url: str | None = None,
    token: str = "",
) -> list[FileChange]:
    """Return the changes after which the client uses kinmem; nothing if it does already.

    With `project`, only in that project; None: wherever this user works. `command` starts kinmem
    without arguments, best as an absolute path, since clients may have another PATH. `memory` is
    the folder of the memories; None: the default. With `url` the client uses the server there, and
    sends it the token. Raises InvalidInput for an unknown client,
    ConfigError for a file that cannot be changed.
    """
    return _changes(client, Wish(home, project, command, kin, memory, url, token), _with)


def plan_removal(client: str, home: Path, project: Path | None) -> list[FileChange]:
    """Return the changes that remove everything of kinmem, whoever added it.

    A file that nobody has changed since is restored byte by byte.
    """
    return _changes(client, Wish(home, project, ["kinmem"], "default"), _without)


def tokens_in(client: str, home: Path, project: Path | None) -> set[str]:
    """Return the tokens for HTTP in the client's files."""
    paths = {entry.path for entry in entries(client, Wish(home, project, ["kinmem"], "default"))}
    return {token for path in paths for token in TOKEN.findall(content(path) or "")}


def _changes(
    client: str, wish: Wish, edited: Callable[[Path, str | None, list[Entry]], str | None]
) -> list[FileChange]:
    wanted = entries(client, wish)
    changes = []
    for path in dict.fromkeys(entry.path for entry in wanted):
        own = [entry for entry in wanted if entry.path == path]
        before = content(path)
        try:
            after = edited(path, before, own)
            has_ours = before is not None and _cleared(before, own) != before
        except ValueError as error:
            raise ConfigError(
                f"{path} is left as it is: {error}; correct it, or add kinmem there by hand"
            ) from error
        if after != before:
            changes.append(FileChange(path, before, after, wish.project or wish.home, has_ours))
    return changes


def _with(path: Path, before: str | None, wanted: list[Entry]) -> str:
    if path.suffix == ".toml":
        return config_files.with_entries(before or "", wanted)
    return json_config.with_entries(before or "", wanted)


def _without(path: Path, before: str | None, wanted: list[Entry]) -> str | None:
    """Return the file as it was before kinmem if only kinmem has changed it since, else what is
    left of it."""
    if before is None:
        return None
    left = _cleared(before, wanted)
    original = content(backup_of(path))
    if left == before or original is None or _cleared(original, wanted) != original:
        return left
    is_untouched = _cleared(_with(path, original, wanted), wanted) == left
    return original if is_untouched else left


def _cleared(text: str, wanted: list[Entry]) -> str | None:
    if wanted[0].path.suffix == ".toml":
        return config_files.without_entries(text, wanted)
    return json_config.without_entries(text, wanted)
