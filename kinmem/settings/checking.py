"""What was set, as the type that was declared and within its bounds.

pydantic is loaded for what has to be more than a text; see declare.py.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from kinmem.errors import ConfigError, InvalidInput
from kinmem.settings.declare import Knob
from kinmem.settings.sections import Provider

TEXTS = (str, str | None)


def checked(knob: Knob, value: Any) -> Any:
    """The value of a setting. Raises ConfigError."""
    if knob.kind not in TEXTS or not isinstance(value, str):
        value = _converted(value, knob.kind, knob.bounds, knob.variable)
    try:
        if knob.check:
            knob.check(value)
    except InvalidInput as error:
        raise ConfigError(f"{knob.variable}: {error}") from error
    return value


def checked_providers(tables: Mapping[str, Any]) -> Mapping[str, Provider]:
    """The [providers.<id>] tables. Raises ConfigError."""
    providers: Mapping[str, Provider] = {}
    if tables:
        providers = _converted(tables, dict[str, Provider], {}, "providers")
    return providers


def _converted(value: Any, kind: Any, bounds: Mapping[str, float], name: str) -> Any:
    from pydantic import Field, TypeAdapter, ValidationError

    try:
        return TypeAdapter(Annotated[kind, Field(**bounds)]).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, (name, *first["loc"])))
        raise ConfigError(f"{where}: {first['msg'].replace('Input should', 'it must')}") from error
