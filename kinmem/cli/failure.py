"""Errors as people and programs read them: one sentence, one exit code."""

import logging
import os
import re

import typer

from kinmem.cli.terminal import json_text, safe
from kinmem.errors import KinmemError

REFUSED = frozenset({"invalid", "too_large", "unreadable", "not_found", "conflict", "refused"})

PLAINLY = (
    (r"Value error, ", ""),
    (r"Input should be a valid integer.*", "it must be a whole number"),
    (r"Input should be a valid number.*", "it must be a number"),
    (r"Input should be greater than or equal to (\S+)", r"it must be at least \1"),
)
"""What typer takes over from pydantic, and how people say it."""

logger = logging.getLogger(__name__)


class Refused(KinmemError):
    """What was asked could be done but should not be."""

    code = "refused"


def report(error: Exception, *, as_json: bool) -> int:
    """Say on stderr what went wrong; the exit code for it."""
    code, message, retry = _told(error)
    if as_json:
        told = {"error": {"code": code, "message": message, "retry": retry}}
        typer.echo(json_text(told), err=True)
    else:
        typer.echo(f"{code}: {safe(message)}", err=True)
    if code == "internal" and os.environ.get("KINMEM_LOG_LEVEL") == "DEBUG":
        logger.error("where it happened", exc_info=error)
    return exit_code(code)


def exit_code(code: str) -> int:
    """The exit code for an error's code; see the table in kinmem.cli."""
    if code == "usage":
        return 2
    return 3 if code in REFUSED else 1


def _told(error: Exception) -> tuple[str, str, bool]:
    if isinstance(error, KinmemError):
        return error.code, str(error), error.retry
    if isinstance(error, typer.TyperException):
        return "usage", _usage(error), False
    if isinstance(error, typer.Abort):
        return "refused", "not confirmed; nothing was changed", False
    said = f"{type(error).__name__}: {error}"
    return (
        "internal",
        f"{said}; KINMEM_LOG_LEVEL=DEBUG shows where, kinmem doctor may know why",
        False,
    )


def _usage(error: typer.TyperException) -> str:
    message = " ".join(error.format_message().split()).rstrip(".")
    for said, meant in PLAINLY:
        message = re.sub(said, meant, message)
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "kinmem"
    end = "" if message.endswith("?") else ";"
    return f"{message}{end} {command} --help lists what it takes"
