"""Versions of what kinmem runs on."""

import platform
from importlib.metadata import PackageNotFoundError, version

from kinmem import __version__

PACKAGES = ("apsw", "sqlite-vec", "mcp", "onnxruntime")


def versions() -> dict[str, str]:
    """By name; a package that is not installed says so."""
    return {
        "kinmem": __version__,
        "Python": platform.python_version(),
        **{name: installed(name) for name in PACKAGES},
    }


def installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
