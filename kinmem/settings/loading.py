"""From flags, the environment and config.toml to the settings in force.

Order of origin: flag > environment > [kin.<name>] of config.toml > config.toml > default. The file
is $KINMEM_HOME/config.toml; its keys are the variables' names.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kinmem.settings.checking import checked, checked_providers
from kinmem.settings.declare import Knob
from kinmem.settings.file import lines_of_kin, read_file, table_of
from kinmem.settings.names import HOME_VARIABLE, refuse_unknown
from kinmem.settings.sections import Settings, knobs

DEFAULT_HOME = "~/.kinmem"
DEFAULTS = Settings(Path(DEFAULT_HOME))

Layer = tuple[str, Mapping[str, Any]]
"""An origin and what it sets."""


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings in force. `flags` maps variables to values and wins over everything; None values count as absent.

    Raises ConfigError for an unknown name, an unreadable file or a value out of bounds.
    """
    environment = os.environ if environment is None else environment
    flags = {name: value for name, value in _filled(flags or {}).items() if value is not None}
    place = flags.get(HOME_VARIABLE) or environment.get(HOME_VARIABLE, "").strip() or DEFAULT_HOME
    home = Path(str(place)).expanduser().absolute()
    document = read_file(home / "config.toml")
    providers, kins = table_of(document, "providers"), table_of(document, "kin")
    known = {knob.variable: knob for knob in knobs()}
    refuse_unknown(environment, known, "the environment")
    present = _filled({name: environment[name] for name in known if name in environment})
    layers: list[Layer] = [
        ("config.toml", _filled(document)),
        ("environment", present),
        ("flag", flags),
    ]
    kin = _winner("KINMEM_KIN", layers)
    if kin in kins:
        layers.insert(1, (f"config.toml [kin.{kin}]", _filled(lines_of_kin(kins, kin))))
    values, origins = _merged(layers, known)
    return Settings(
        home=home,
        **_sections(known.values(), values),
        providers=checked_providers(providers),
        origins=origins,
    )


def _filled(layer: Mapping[str, Any]) -> dict[str, Any]:
    """What it sets; a blank text is as good as none."""
    return {
        name: value for name, value in layer.items() if not isinstance(value, str) or value.strip()
    }


def _winner(variable: str, layers: Sequence[Layer]) -> str:
    for _, layer in reversed(layers):
        if variable in layer:
            return str(layer[variable])
    return DEFAULTS.general.kin


def _merged(layers: Sequence[Layer], known: Iterable[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """What each variable is set to, and by which layer: by the last that sets it."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers:
        refuse_unknown(layer, known, origin, all_names=True)
        values |= layer
        origins |= dict.fromkeys(layer, origin)
    origins.pop(HOME_VARIABLE, None)
    return values, origins


def _sections(knobs: Iterable[Knob], values: Mapping[str, Any]) -> dict[str, Any]:
    """The sections in which something is set."""
    found: dict[str, dict[str, Any]] = {}
    for knob in knobs:
        if knob.variable in values:
            found.setdefault(knob.section, {})[knob.name] = checked(knob, values[knob.variable])
    return {name: replace(getattr(DEFAULTS, name), **given) for name, given in found.items()}
