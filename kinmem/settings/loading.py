"""Loading of settings: flags, the environment and config.toml become the settings in force.

Precedence, highest first: flag, environment, [kin.<name>] of config.toml, the rest of config.toml,
default. The file is $KINMEM_HOME/config.toml; its keys are the names of the variables.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from kinmem.errors import ConfigError, InvalidInput
from kinmem.settings.memory_settings import (
    BackupSettings,
    CompactSettings,
    InjectSettings,
    LearnSettings,
    LifeSettings,
    RecallSettings,
    UpkeepSettings,
)
from kinmem.settings.server_settings import (
    KIN_NAME,
    EmbeddingSettings,
    GeneralSettings,
    ModelSettings,
    ServerSettings,
)
from kinmem.settings.trust import refuse_others

HOME_VARIABLE, DEFAULT_HOME = "KINMEM_HOME", "~/.kinmem"


@dataclass(frozen=True)
class Knob:
    """One declared setting, for tables and checks."""

    section: str
    name: str
    kind: Any
    """The type of its value."""
    default: Any
    variable: str
    description: str
    check: Callable[[str], object] | None
    bounds: Mapping[str, float]


@dataclass(frozen=True)
class Provider:
    """One [providers.<id>] table of config.toml."""

    __pydantic_config__ = {"extra": "forbid"}
    type: str
    base_url: str | None = None
    api_key_env: str | None = None


@dataclass(frozen=True)
class Settings:
    """All sections, and the origin of each value."""

    home: Path
    general: GeneralSettings = GeneralSettings()
    server: ServerSettings = ServerSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    model: ModelSettings = ModelSettings()
    learn: LearnSettings = LearnSettings()
    recall: RecallSettings = RecallSettings()
    inject: InjectSettings = InjectSettings()
    compact: CompactSettings = CompactSettings()
    upkeep: UpkeepSettings = UpkeepSettings()
    backup: BackupSettings = BackupSettings()
    life: LifeSettings = LifeSettings()
    providers: Mapping[str, Provider] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    """Variable -> flag, environment, config.toml [kin.x] or config.toml; no entry for a default."""


@cache
def knobs() -> Sequence[Knob]:
    """Return every setting in order of declaration."""
    return tuple(
        Knob(section.name, item.name, item.type, item.default, **item.metadata)
        for section in fields(Settings)
        if is_dataclass(section.type)
        for item in fields(section.type)
    )


RANKING_VARIABLES = frozenset(
    """MEMORY_RRF_K MEMORY_FTS_BOOST MEMORY_SUBJECT_BOOST MEMORY_CATEGORY_BOOST
    MEMORY_TEMPORAL_DECAY_LAMBDA MEMORY_TEMPORAL_DECAY_FLOOR MEMORY_RECENCY_BOOST""".split()
)


def unread(settings: Settings, reads: frozenset[str]) -> list[str]:
    """Return the ranking variables that are set without effect, since the profile in force reads
    only `reads`."""
    return sorted(v for v in settings.origins if v in RANKING_VARIABLES and v not in reads)


def table() -> str:
    """Return the settings as a Markdown table for docs/settings.md."""
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    lines.append(
        f"| `{HOME_VARIABLE}` | `{DEFAULT_HOME}` | Folder that holds everything kinmem stores. |"
    )
    for knob in knobs():
        default = "unset" if knob.default is None or knob.default == "" else f"`{knob.default}`"
        lines.append(f"| `{knob.variable}` | {default} | {knob.description} |")
    return "\n".join(lines)


DEFAULTS = Settings(Path(DEFAULT_HOME))

# An origin and the values that it sets.
Layer = tuple[str, Mapping[str, Any]]
# Read by benchmarks/, which is not part of the package.
BENCH_VARIABLE = "KINMEM_BENCH_DATA"
# Names in older documentation of the seeds, which counted messages -> the names that count turns.
OUTDATED: Mapping[str, str] = {
    "COMPACTING_BATCH_SIZE": "COMPACTING_BATCH_TURNS",
    "COMPACTING_MIN_KEEP_MESSAGES": "COMPACTING_MIN_KEEP_TURNS",
}
# Settings of earlier versions that have no effect any more. A file that still sets them stays
# valid.
REMOVED = frozenset({"KINMEM_ENTITY_BOOST"})
# Values of earlier versions -> those that mean the same.
FORMER: Mapping[tuple[str, str], str] = {("KINMEM_SECRETS", "allow"): "keep"}
SHARED_PREFIXES = ("MEMORY_", "COMPACTING_", "TOOL_", "OBSERVATION_", "HISTORY_")
# KinBot's spelling of the settings that a Kin may make for itself.
KINBOTS: Mapping[str, str] = {
    "turnThreshold": "turn_threshold",
    "messageThreshold": "message_threshold",
    "compactingModel": "compacting_model",
    "compactingProviderId": "compacting_provider",
}
TEXTS = (str, str | None)


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Load the settings in force. `flags` maps variables to values; they take precedence, and None
    values count as absent.

    Raises ConfigError for an unknown name, an unreadable file, a value out of bounds, or a home that
    others own or may write.
    """
    environment = dict(os.environ if environment is None else environment)
    flags = {name: value for name, value in _filled(flags or {}).items() if value is not None}
    place = flags.get(HOME_VARIABLE) or environment.get(HOME_VARIABLE, "").strip() or DEFAULT_HOME
    home = Path(str(place)).expanduser().absolute()
    refuse_others(home)
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
    if KIN_NAME.fullmatch(kin):
        refuse_others(home, f"kins/{kin}.db")
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
    """Return what the layer sets; a blank text counts as unset."""
    return {
        name: value for name, value in layer.items() if not isinstance(value, str) or value.strip()
    }


def _winner(variable: str, layers: Sequence[Layer]) -> str:
    for _, layer in reversed(layers):
        if variable in layer:
            return str(layer[variable])
    return DEFAULTS.general.kin


def _merged(layers: Sequence[Layer], known: Iterable[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Merge the layers: each variable gets the value and the origin of the last layer that sets
    it."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers:
        refuse_unknown(layer, known, origin, all_names=True)
        values |= layer
        origins |= dict.fromkeys(layer, origin)
    for name in (HOME_VARIABLE, *REMOVED):
        origins.pop(name, None)
    return values, origins


def _sections(knobs: Iterable[Knob], values: Mapping[str, Any]) -> dict[str, Any]:
    """Build the sections in which something is set."""
    found: dict[str, dict[str, Any]] = {}
    for knob in knobs:
        if knob.variable in values:
            found.setdefault(knob.section, {})[knob.name] = checked(knob, values[knob.variable])
    return {name: replace(getattr(DEFAULTS, name), **given) for name, given in found.items()}


def refuse_unknown(
    names: Iterable[str], known: Iterable[str], where: str, *, all_names: bool = False
) -> None:
    """Raise ConfigError for a name that nothing reads.

    In the environment, unknown names with kinmem's own prefix are refused. The seeds' prefixes
    belong to other programs as well, so there only near misses are. With `all_names` every name
    must be known.
    """
    valid = {*known, HOME_VARIABLE, BENCH_VARIABLE}
    for name in names:
        if name in OUTDATED:
            raise ConfigError(
                f"{where} sets {name}, which counts messages; kinmem counts turns: a turn is what"
                f" a person says and everything until they speak again. Set {OUTDATED[name]}"
            )
        if name in valid or name in REMOVED:
            continue
        if all_names or name.startswith("KINMEM_") or _is_near_miss(name, valid):
            raise _unknown(name, valid, where)


def _unknown(name: str, valid: set[str], where: str) -> ConfigError:
    from difflib import get_close_matches  # late, as every prompt may load the settings

    (nearest,) = get_close_matches(name.upper(), valid, n=1, cutoff=0.0)
    return ConfigError(f"{where} sets {name}, which kinmem does not know; did you mean {nearest}?")


def _is_near_miss(name: str, valid: set[str]) -> bool:
    """Return whether the name is within two letters (Levenshtein) of a known name."""
    if not name.startswith(SHARED_PREFIXES):
        return False
    # Imported late: it takes 45 ms, and few environments set a name with a shared prefix.
    from rapidfuzz.distance import Levenshtein

    return any(Levenshtein.distance(name, other, score_cutoff=2) <= 2 for other in valid)


def read_file(path: Path) -> dict[str, Any]:
    """Return what the file says, or nothing if there is no file. Raises ConfigError."""
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
    import tomllib  # late: 5 ms, needed only if there is a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(f"{path} cannot be read: {error}; correct it or move it away")


def table_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Take a table of tables out of the document; empty if there is none. Raises ConfigError."""
    table = document.pop(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"config.toml: {name} must be tables, written [{name}.<name>]")
    return table


def lines_of_kin(kins: Mapping[str, Any], kin: str) -> Mapping[str, Any]:
    """Return what a Kin's table sets, by variable. Raises ConfigError."""
    lines = kins[kin]
    if not isinstance(lines, dict):
        raise ConfigError(f"config.toml: write [kin.{kin}] and its settings below it")
    if "KINMEM_KIN" in lines:
        raise ConfigError(
            f"config.toml: [kin.{kin}] sets KINMEM_KIN, but is chosen by it; remove it"
        )
    return _spelled_out(lines)


def _spelled_out(lines: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replace the seeds' names for a Kin's own settings by the variables they stand for."""
    variables = {KINBOTS.get(name, name): value for name, value in lines.items()}
    provider, model = (
        variables.pop("compacting_provider", None),
        variables.pop("compacting_model", None),
    )
    if model is not None:
        variables["COMPACTING_MODEL"] = f"{provider}:{model}" if provider else model
    elif provider is not None:
        raise ConfigError("config.toml: compacting_provider needs compacting_model beside it")
    if "message_threshold" in variables:
        raise ConfigError(
            "config.toml: message_threshold counts messages; kinmem counts turns. Set turn_threshold"
        )
    if "turn_threshold" in variables:
        variables["KINMEM_TURN_THRESHOLD"] = variables.pop("turn_threshold")
    return variables


def checked(knob: Knob, value: Any) -> Any:
    """Return the checked value of a setting. Raises ConfigError."""
    if isinstance(value, str):
        value = FORMER.get((knob.variable, value), value)
    if knob.kind not in TEXTS or not isinstance(value, str):
        value = _converted(value, knob.kind, knob.bounds, knob.variable)
    try:
        if knob.check:
            knob.check(value)
    except InvalidInput as error:
        raise ConfigError(f"{knob.variable}: {error}") from error
    return value


def checked_providers(tables: Mapping[str, Any]) -> Mapping[str, Provider]:
    """Return the checked [providers.<id>] tables. Raises ConfigError."""
    providers: Mapping[str, Provider] = {}
    if tables:
        providers = _converted(tables, dict[str, Provider], {}, "providers")
    return providers


def _converted(value: Any, kind: Any, bounds: Mapping[str, float], name: str) -> Any:
    # Late: takes 40-80 ms, and values that are texts, as hooks have them, do without.
    from pydantic import Field, TypeAdapter, ValidationError

    try:
        return TypeAdapter(Annotated[kind, Field(**bounds)]).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, (name, *first["loc"])))
        raise ConfigError(f"{where}: {_plainly(first['msg'])}") from error


# pydantic's words -> plain ones, without how it has tried to read the value.
PLAIN_WORDS = (
    ("Input should", "it must"),
    ("a valid integer", "a whole number"),
    ("a valid number", "a number"),
    ("a valid boolean", "on or off, true or false, 1 or 0"),
)


def _plainly(told: str) -> str:
    for said, plain in PLAIN_WORDS:
        told = told.replace(said, plain)
    return told.partition(", unable to")[0]
