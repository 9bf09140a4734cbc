"""Versions of what kinmem runs on."""

import platform
from importlib.metadata import PackageNotFoundError, version

from kinmem import __version__

PACKAGES = ("mcp", "apsw", "sqlite-vec", "onnxruntime", "tokenizers", "numpy")


def versions() -> dict[str, str]:
    """By name, kinmem's own first."""
    own = {"kinmem": __version__, "Python": platform.python_version()}
    return own | {name: installed(name) or "missing" for name in PACKAGES}


def installed(name: str) -> str | None:
    """A package's version, None if it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
