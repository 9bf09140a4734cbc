"""How this very kinmem is started, as a client can do it from anywhere and at any time."""

import json
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kinmem.errors import ConfigError

CACHE_TAG = "CACHEDIR.TAG"
"""The file by which a folder says that it may be emptied; uv's cache has it, wherever it is."""
PIPX_RUN = (".cache", "pipx")
"""Folders in which pipx keeps what it runs in passing; what it installs is in `venvs`."""


def started_by() -> list[str]:
    """The command without arguments. What uvx or pipx runs in passing is started by them again,
    from where they took it.

    Raises ConfigError if kinmem lies in a cache and nobody knows how it came there.
    """
    folder = Path(sys.prefix)
    if not is_in_passing(folder):
        script = Path(sys.executable).parent / "kinmem"
        return [str(script)] if script.exists() else [sys.executable, "-m", "kinmem"]
    runner, option = ("pipx", "--spec") if _is_of_pipx(folder) else ("uvx", "--from")
    program, source = shutil.which(runner), _source()
    if program is None:
        raise ConfigError(
            f"kinmem runs from a cache, {folder}, which may be emptied; install it to stay, with"
            " `uv tool install` or `pipx install`, and run its `kinmem install`"
        )
    words = [program, "run"] if runner == "pipx" else [program]
    return [*words, *([option, source] if source else []), "kinmem"]


def is_in_passing(folder: Path) -> bool:
    """Whether an environment lies in a cache, as those of uvx and `pipx run` do."""
    return _is_of_pipx(folder) or any((one / CACHE_TAG).exists() for one in folder.parents)


def _is_of_pipx(folder: Path) -> bool:
    return folder.parent.name in PIPX_RUN


def _source() -> str | None:
    """What it was installed from, as --from takes it; None for a package index."""
    try:
        told = distribution("kinmem").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return source_of(json.loads(told)) if told else None


def source_of(direct: dict[str, Any]) -> str:
    """The source that a direct_url.json names: https://packaging.python.org/specifications/direct-url"""
    url = str(direct["url"])
    if version_control := direct.get("vcs_info"):
        revision = version_control.get("requested_revision")
        return f"{version_control['vcs']}+{url}{f'@{revision}' if revision else ''}"
    parts = urlsplit(url)
    if parts.scheme != "file":
        return url
    path = unquote(parts.path)
    return path.lstrip("/") if os.name == "nt" else path
