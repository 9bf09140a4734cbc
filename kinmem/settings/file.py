"""config.toml: settings under their variables' names, [providers.<id>] and [kin.<name>] tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinmem.errors import ConfigError

KINBOTS: Mapping[str, str] = {
    "turnThreshold": "turn_threshold",
    "messageThreshold": "message_threshold",
    "compactingModel": "compacting_model",
    "compactingProviderId": "compacting_provider",
}
"""KinBot's own spelling of what a Kin may set for itself."""


def read_file(path: Path) -> dict[str, Any]:
    """What it says, nothing if there is none. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        raise ConfigError(
            f"{path} cannot be read: {path.parent} is no folder;"
            " KINMEM_HOME, or --home, names one, which may be new"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    import tomllib  # late: 5 ms that only those pay who have a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(f"{path} cannot be read: {error}; correct it or move it away")


def table_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A table of tables, taken out of the document; empty if it has none."""
    table = document.pop(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"config.toml: {name} must be tables, written [{name}.<name>]")
    return table


def lines_of_kin(kins: Mapping[str, Any], kin: str) -> Mapping[str, Any]:
    """What a Kin's table sets, by variable. Raises ConfigError."""
    lines = kins[kin]
    if not isinstance(lines, dict):
        raise ConfigError(f"config.toml: write [kin.{kin}] and its settings below it")
    if "KINMEM_KIN" in lines:
        raise ConfigError(
            f"config.toml: [kin.{kin}] sets KINMEM_KIN, but is chosen by it; remove it"
        )
    return _spelled_out(lines)


def _spelled_out(lines: Mapping[str, Any]) -> Mapping[str, Any]:
    """The seeds' names for what a Kin may set for itself, as the variables they stand for."""
    told = {KINBOTS.get(name, name): value for name, value in lines.items()}
    provider, model = told.pop("compacting_provider", None), told.pop("compacting_model", None)
    if model is not None:
        told["COMPACTING_MODEL"] = f"{provider}:{model}" if provider else model
    elif provider is not None:
        raise ConfigError("config.toml: compacting_provider needs compacting_model beside it")
    if "message_threshold" in told:
        raise ConfigError(
            "config.toml: message_threshold counts messages; kinmem counts turns. Set turn_threshold"
        )
    if "turn_threshold" in told:
        told["KINMEM_TURN_THRESHOLD"] = told.pop("turn_threshold")
    return told
