"""Every knob, declared once: its variable, default, bounds and one sentence.

The README's table, `kinmem config` and the checks follow from these lines. Order of origin:
flag > environment > [kin.<name>] of config.toml > config.toml > default. The file is
$KINMEM_HOME/config.toml; its keys are the variables' names.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kinmem.errors import ConfigError, InvalidInput
from kinmem.models import ConflictMode, Mode

KIN_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
# Windows opens a device instead of a file under these names, whatever the extension.
DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(10)}
)


def kin_name(name: str) -> str:
    """The name, if a Kin may be called so. Raises InvalidInput; a name is also a file's name."""
    if not KIN_NAME.fullmatch(name) or name in DEVICES:
        raise InvalidInput(
            f"{name!r} cannot name a Kin: use 1-64 of a-z, 0-9, - and _, a letter or digit at both ends"
        )
    return name


def setting(variable: str, default: Any, description: str, **bounds: Any) -> Any:
    """A field of a section: the environment variable that sets it, and what it is for."""
    return Field(
        default=default,
        description=description,
        json_schema_extra={"variable": variable},
        **bounds,
    )


class Section(BaseModel):
    """Settings that one part of kinmem reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GeneralSettings(Section):
    kin: str = setting("KINMEM_KIN", "default", "Whose memory this process serves.")
    tz: str = setting(
        "KINMEM_TZ",
        "",
        "Zone in which times without one are read and shown, e.g. Europe/Berlin; empty: the system's.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = setting(
        "KINMEM_LOG_LEVEL",
        "WARNING",
        "How much is logged to stderr; INFO and above never hold contents.",
    )
    purge_days: int = setting(
        "KINMEM_PURGE_DAYS",
        90,
        "Days for which a forgotten memory can be restored.",
        ge=0,
        le=36500,
    )

    @field_validator("kin")
    @classmethod
    def _kin(cls, name: str) -> str:
        return kin_name(name)

    @field_validator("tz")
    @classmethod
    def _tz(cls, name: str) -> str:
        if name:
            try:
                ZoneInfo(name)
            except (ZoneInfoNotFoundError, ValueError, OSError) as error:
                raise ValueError(
                    f"no time zone is called {name!r}; use a name such as Europe/Berlin"
                ) from error
        return name

    @cached_property
    def zone(self) -> tzinfo:
        """The zone of `tz`; the system's if none is named, UTC if the system has none."""
        if self.tz:
            return ZoneInfo(self.tz)
        return _system_zone()


class ServerSettings(Section):
    transport: Literal["stdio", "http", "sse", "streamable-http"] = setting(
        "KINMEM_TRANSPORT",
        "stdio",
        "How clients reach the server; http, sse and streamable-http start the same server for both HTTP transports.",
    )
    host: str = setting(
        "KINMEM_HOST", "127.0.0.1", "Address for HTTP; any but a loopback one needs a token."
    )
    port: int = setting("KINMEM_PORT", 8765, "Port for HTTP; 0 takes a free one.", ge=0, le=65535)
    allowed_hosts: str = setting(
        "KINMEM_ALLOWED_HOSTS",
        "",
        "More host names that HTTP requests may carry in Host and Origin, separated by commas.",
    )
    tools: str = setting(
        "KINMEM_TOOLS",
        "",
        "Sets of tools that are listed besides the six, separated by commas: turns (record_turn).",
    )

    @field_validator("tools")
    @classmethod
    def _tools(cls, names: str) -> str:
        for name in filter(None, map(str.strip, names.split(","))):
            if name not in TOOL_SETS:
                raise ValueError(f"no set of tools is called {name!r}; there is: turns")
        return names

    @property
    def tool_sets(self) -> frozenset[str]:
        """The names in `tools`."""
        return frozenset(filter(None, map(str.strip, self.tools.split(","))))


TOOL_SETS = ("turns",)


class EmbeddingSettings(Section):
    model: str | None = setting(
        "MEMORY_EMBEDDING_MODEL",
        None,
        "Embedding model, e.g. text-embedding-3-small, ollama/nomic-embed-text or providerId:modelId; unset: the built-in one.",
    )
    dimension: int | None = setting(
        "MEMORY_EMBEDDING_DIMENSION",
        None,
        "Width to ask of models that offer several; unset: the model's own.",
        ge=8,
        le=4096,
    )
    deadline: float = setting(
        "KINMEM_EMBEDDING_DEADLINE",
        10.0,
        "Seconds in which an embedding call must be done, retries included.",
        gt=0,
        le=600,
    )


class ModelSettings(Section):
    """Which chat model is asked for what. Unset ones are never asked."""

    default: str | None = setting(
        "KINMEM_MODEL",
        None,
        "Chat model for extraction, summaries and review where they name none, e.g. gpt-4.1-mini, ollama/llama3.1 or providerId:modelId; unset: rules do without.",
    )
    extraction: str | None = setting(
        "MEMORY_EXTRACTION_MODEL",
        None,
        "Model that reads memories out of each turn; unset: KINMEM_MODEL, off: rules.",
    )
    compacting: str | None = setting(
        "COMPACTING_MODEL",
        None,
        "Model that summarises old turns; unset: KINMEM_MODEL, off: the telling sentences are kept.",
    )
    consolidation: str | None = setting(
        "MEMORY_CONSOLIDATION_MODEL",
        None,
        "Model that merges similar memories; unset: they are not merged by a model.",
    )
    review: str | None = setting(
        "KINMEM_REVIEW_MODEL",
        None,
        "Model that review_memories asks as well; unset: KINMEM_MODEL, off: rules.",
    )
    deadline: float = setting(
        "KINMEM_MODEL_DEADLINE",
        60.0,
        "Seconds in which a chat model must have answered, retries included.",
        gt=0,
        le=3600,
    )

    def named(
        self, use: Literal["extraction", "compacting", "consolidation", "review"]
    ) -> str | None:
        """The model for that use; None: rules. Only consolidation does not fall back."""
        name: str | None = getattr(self, use)
        if name is None and use != "consolidation":
            name = self.default
        return None if name is None or name.casefold() in SWITCHED_OFF else name


SWITCHED_OFF = ("off", "0", "false", "none", "rules")


class LearnSettings(Section):
    learn: bool = setting(
        "KINMEM_LEARN",
        True,
        "Whether memories are learned from turns; those observed meanwhile are only stored.",
    )
    conflict_mode: ConflictMode = setting(
        "KINMEM_CONFLICT_MODE",
        "temporal",
        "What becomes of statements that cannot both be so: temporal (the later one holds), use_new, keep_existing, merge, ask.",
    )
    secrets: Literal["refuse", "redact", "allow"] = setting(
        "KINMEM_SECRETS",
        "refuse",
        "What memorize and update_memory do with keys and tokens; in observed turns they are always redacted.",
    )
    duplicate_similarity: float | None = setting(
        "KINMEM_DUPLICATE_SIMILARITY",
        None,
        "Cosine from which two texts may be the same statement; unset: calibrated for the embedder (0.9 for the built-in).",
        ge=0.5,
        le=1,
    )


class CompactSettings(Section):
    batch_turns: int = setting(
        "COMPACTING_BATCH_TURNS",
        10,
        "Oldest turns that one summary stands for.",
        ge=1,
        le=1000,
    )
    min_keep_turns: int = setting(
        "COMPACTING_MIN_KEEP_TURNS",
        15,
        "Turns that stay as they were said; more than this and a batch, and the batch is summarised.",
        ge=1,
        le=10000,
    )
    turn_threshold: int | None = setting(
        "KINMEM_TURN_THRESHOLD",
        None,
        "Turns above which the oldest are summarised, split as the two settings before; unset: their sum.",
        ge=2,
        le=11000,
    )
    max_snapshots: int = setting(
        "COMPACTING_MAX_SNAPSHOTS",
        10,
        "Summaries of one conversation; beyond them the two oldest become one.",
        ge=1,
        le=1000,
    )
    threshold_percent: int = setting(
        "COMPACTING_THRESHOLD_PERCENT",
        75,
        "Share of KINMEM_CONTEXT_WINDOW above which turns are summarised however few they are; 0 switches it off.",
        ge=0,
        le=100,
    )
    context_window: int = setting(
        "KINMEM_CONTEXT_WINDOW",
        200000,
        "Tokens that the conversation's model reads.",
        ge=1000,
        le=100000000,
    )
    keep_last: int = setting(
        "TOOL_RESULT_MASK_KEEP_LAST",
        2,
        "Latest groups of tool calls whose results stay whole in the context.",
        ge=0,
        le=1000,
    )
    window: int = setting(
        "OBSERVATION_COMPACTION_WINDOW",
        10,
        "Groups of tool calls before those whose results are cut; still older ones become one line. 0 switches both off.",
        ge=0,
        le=1000,
    )
    max_chars: int = setting(
        "OBSERVATION_MAX_CHARS",
        200,
        "Characters that are left of a result that is cut.",
        ge=0,
        le=100000,
    )
    history_tokens: int = setting(
        "HISTORY_TOKEN_BUDGET",
        0,
        "Tokens of a context at most; the oldest messages go first. 0: no limit.",
        ge=0,
        le=100000000,
    )
    spill_threshold: int = setting(
        "TOOL_OUTPUT_SPILL_THRESHOLD",
        10000,
        "Bytes from which a tool's output goes to a file and a preview stays; 0 switches it off.",
        ge=0,
        le=1000000000,
    )
    preview_lines: int = setting(
        "TOOL_OUTPUT_PREVIEW_LINES",
        200,
        "Lines of the preview, 4,000 characters at most.",
        ge=0,
        le=100000,
    )
    ttl_hours: float = setting(
        "TOOL_OUTPUT_TTL_HOURS",
        24,
        "Hours after which such a file is deleted; 0: never.",
        ge=0,
        le=1000000,
    )


class InjectSettings(Section):
    inject: bool = setting(
        "KINMEM_INJECT",
        True,
        "Whether hooks answer a prompt with the memories that fit it.",
    )
    token_budget: int = setting(
        "MEMORY_TOKEN_BUDGET",
        0,
        "Estimated tokens of the memories that one turn is given; 0: no limit but MEMORY_MAX_RELEVANT.",
        ge=0,
        le=1000000,
    )
    linger_minutes: float = setting(
        "KINMEM_LINGER_MINUTES",
        10,
        "Minutes without a hook after which the worker ends that a hook starts where no server runs.",
        ge=0,
        le=1440,
    )
    opening_tokens: int = setting(
        "KINMEM_OPENING_TOKENS",
        1500,
        "Estimated tokens of what a session is given at its start; 0 gives nothing.",
        ge=0,
        le=1000000,
    )


class UpkeepSettings(Section):
    consolidation_similarity: float = setting(
        "MEMORY_CONSOLIDATION_SIMILARITY",
        0.85,
        "Cosine from which MEMORY_CONSOLIDATION_MODEL is asked whether to merge.",
        ge=0,
        le=1,
    )
    consolidation_max: int = setting(
        "MEMORY_CONSOLIDATION_MAX_GEN",
        5,
        "Memories that consolidation makes in one run; 0 switches it off.",
        ge=0,
        le=1000,
    )
    compress: bool = setting(
        "KINMEM_COMPRESS",
        False,
        "Whether similar memories are merged without a model, by their unique sentences.",
    )
    compress_similarity: float = setting(
        "KINMEM_COMPRESS_SIMILARITY",
        0.88,
        "Cosine from which KINMEM_COMPRESS merges.",
        ge=0,
        le=1,
    )


class RecallSettings(Section):
    max_relevant: int = setting(
        "MEMORY_MAX_RELEVANT",
        10,
        "Memories that recall returns at most when it is not told a limit.",
        ge=1,
        le=20,
    )
    profile: Mode = setting(
        "MEMORY_RANKING_PROFILE", "relevance", "How hits are ranked; recall's `mode` overrides it."
    )
    fusion: Literal["score", "rrf"] | None = setting(
        "MEMORY_FUSION",
        None,
        "How words and meaning are joined: score or rrf; unset: as the profile says.",
    )
    similarity_threshold: float | None = setting(
        "MEMORY_SIMILARITY_THRESHOLD",
        None,
        "Cosine below which meaning alone finds nothing; unset: calibrated for the embedder.",
        ge=0,
        le=1,
    )
    rrf_k: int = setting(
        "MEMORY_RRF_K",
        60,
        "Smoothing of rank fusion; higher lets low ranks count for more.",
        ge=1,
        le=10000,
    )
    fts_boost: float = setting(
        "MEMORY_FTS_BOOST", 1.2, "Weight of words against meaning in rank fusion.", ge=0, le=100
    )
    subject_boost: float = setting(
        "MEMORY_SUBJECT_BOOST",
        1.3,
        "Factor for memories whose subject the question names; 1 switches it off.",
        ge=0,
        le=100,
    )
    category_boost: float = setting(
        "MEMORY_CATEGORY_BOOST",
        1.25,
        "Factor for memories of a category that the question asks for; 1 switches it off.",
        ge=0,
        le=100,
    )
    decay_lambda: float = setting(
        "MEMORY_TEMPORAL_DECAY_LAMBDA",
        0.01,
        "How fast scores fall with age, a day; 0 switches it off.",
        ge=0,
        le=100,
    )
    decay_floor: float = setting(
        "MEMORY_TEMPORAL_DECAY_FLOOR", 0.7, "What age leaves of a score at least.", ge=0, le=1
    )
    recency_boost: bool = setting(
        "MEMORY_RECENCY_BOOST",
        True,
        "Whether memories of the last day, week and month score 1.5, 1.25 and 1.1 times as much.",
    )
    adaptive_k: bool = setting(
        "MEMORY_ADAPTIVE_K", True, "Whether results that fall far behind the best are left out."
    )
    adaptive_k_min_score_ratio: float = setting(
        "MEMORY_ADAPTIVE_K_MIN_SCORE_RATIO",
        0.3,
        "Share of the best score that a result needs.",
        ge=0,
        le=1,
    )
    tokens: int = setting(
        "KINMEM_RECALL_TOKENS",
        6000,
        "Estimated tokens that one answer of recall holds at most; long memories are excerpted.",
        ge=200,
        le=200000,
    )


class Provider(Section):
    """One [providers.<id>] table of config.toml."""

    type: str
    base_url: str | None = None
    api_key_env: str | None = None


class Settings(BaseModel):
    """All sections, and where each value came from."""

    model_config = ConfigDict(frozen=True)

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
    providers: Mapping[str, Provider] = {}
    origins: Mapping[str, str] = {}
    """Variable -> flag, environment, config.toml [kin.x], config.toml; absent: default."""


HOME_VARIABLE = "KINMEM_HOME"
BENCH_VARIABLE = "KINMEM_BENCH_DATA"  # read by benchmarks/, which is not part of the package
DEFAULT_HOME = "~/.kinmem"

# Names of the seeds' documentation that this version does not read yet.
NOT_YET = frozenset(
    """MEMORY_MULTI_QUERY_MODEL MEMORY_HYDE_MODEL MEMORY_RERANK_MODEL
    MEMORY_CONTEXTUAL_REWRITE_MODEL MEMORY_CONTEXTUAL_REWRITE_THRESHOLD""".split()
)
# Names of the seeds' older documentation, which counted messages.
OUTDATED: Mapping[str, str] = {
    "COMPACTING_BATCH_SIZE": "COMPACTING_BATCH_TURNS",
    "COMPACTING_MIN_KEEP_MESSAGES": "COMPACTING_MIN_KEEP_TURNS",
}
SHARED_PREFIXES = ("MEMORY_", "COMPACTING_", "TOOL_", "OBSERVATION_", "HISTORY_")


@dataclass(frozen=True)
class Knob:
    """One setting as declared, for tables and checks."""

    section: str
    name: str
    variable: str
    default: Any
    description: str
    section_class: type[Section] = field(repr=False)


def knobs() -> Iterator[Knob]:
    """Every setting in the order of declaration."""
    for section, info in Settings.model_fields.items():
        cls = info.annotation
        if isinstance(cls, type) and issubclass(cls, Section):
            for name, declared in cls.model_fields.items():
                extra = declared.json_schema_extra
                assert isinstance(extra, dict)
                yield Knob(
                    section,
                    name,
                    str(extra["variable"]),
                    declared.default,
                    declared.description or "",
                    cls,
                )


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings in force. `flags` maps variables to values and wins over everything; None values count as absent.

    Raises ConfigError for an unknown name, an unreadable file or a value out of bounds.
    """
    environment = os.environ if environment is None else environment
    flags = {name: value for name, value in (flags or {}).items() if value is not None}
    home = (
        Path(str(flags.get(HOME_VARIABLE) or environment.get(HOME_VARIABLE) or DEFAULT_HOME))
        .expanduser()
        .absolute()
    )
    document = _read_file(home / "config.toml")
    providers, kins = _table(document, "providers"), _table(document, "kin")
    known = {knob.variable: knob for knob in knobs()}
    _refuse_unknown(environment, known, "the environment")
    layers: list[tuple[str, Mapping[str, Any]]] = [
        ("config.toml", document),
        ("environment", _present(environment, known)),
        ("flag", flags),
    ]
    kin = _winner("KINMEM_KIN", layers)
    if kin in kins:
        layers.insert(1, (f"config.toml [kin.{kin}]", _of_kin(kins, kin)))
    values: dict[str, dict[str, Any]] = {}
    origins = {}
    for origin, layer in layers:
        _refuse_unknown(layer, known, origin, all_names=True)
        for variable, value in layer.items():
            origins[variable] = origin
            if variable in known:
                knob = known[variable]
                values.setdefault(knob.section, {})[knob.name] = value
    origins.pop(HOME_VARIABLE, None)
    return _build(home, values, providers, origins)


def unread(settings: Settings, reads: frozenset[str]) -> list[str]:
    """Variables that are set but have no effect: the ranking profile does not read them, or this version.

    `reads` are the ranking variables that the profile in force reads.
    """
    ignored = [v for v in settings.origins if v in RANKING_VARIABLES and v not in reads]
    return sorted(ignored) + sorted(v for v in settings.origins if v in NOT_YET)


RANKING_VARIABLES = frozenset(
    """MEMORY_RRF_K MEMORY_FTS_BOOST MEMORY_SUBJECT_BOOST MEMORY_CATEGORY_BOOST
    MEMORY_TEMPORAL_DECAY_LAMBDA MEMORY_TEMPORAL_DECAY_FLOOR MEMORY_RECENCY_BOOST""".split()
)


def table() -> str:
    """The settings as a Markdown table, for the README."""
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    lines.append(
        f"| `{HOME_VARIABLE}` | `{DEFAULT_HOME}` | Folder that holds everything kinmem stores. |"
    )
    for knob in knobs():
        default = "unset" if knob.default is None or knob.default == "" else f"`{knob.default}`"
        lines.append(f"| `{knob.variable}` | {default} | {knob.description} |")
    return "\n".join(lines)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; correct it or move it away") from error


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A table of tables, taken out of the document; empty if it has none."""
    table = document.pop(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"config.toml: {name} must be tables, written [{name}.<name>]")
    return table


def _of_kin(kins: Mapping[str, Any], kin: str) -> Mapping[str, Any]:
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
    told = dict(lines)
    provider, model = told.pop("compacting_provider", None), told.pop("compacting_model", None)
    if model is not None:
        told["COMPACTING_MODEL"] = f"{provider}:{model}" if provider else model
    elif provider is not None:
        raise ConfigError("config.toml: compacting_provider needs compacting_model beside it")
    if "turn_threshold" in told:
        told["KINMEM_TURN_THRESHOLD"] = told.pop("turn_threshold")
    return told


def _present(environment: Mapping[str, str], known: Mapping[str, Knob]) -> dict[str, str]:
    """What the environment sets; an empty value is as good as none."""
    return {name: environment[name] for name in [*known, *NOT_YET] if environment.get(name)}


def _winner(variable: str, layers: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    for _, layer in reversed(layers):
        if variable in layer:
            return str(layer[variable])
    return str(GeneralSettings().kin)


def _refuse_unknown(
    names: Mapping[str, Any], known: Mapping[str, Knob], where: str, *, all_names: bool = False
) -> None:
    """Our own prefix is ours alone; the seeds' prefixes are other programs' too, so only near misses count."""
    valid = set(known) | NOT_YET | {HOME_VARIABLE, BENCH_VARIABLE}
    for name in names:
        if name in OUTDATED:
            raise ConfigError(
                f"{where} sets {name}, which counts messages; kinmem counts turns: a turn is what"
                f" a person says and everything until they speak again. Set {OUTDATED[name]}"
            )
        if name in valid:
            continue
        if all_names or name.startswith("KINMEM_") or _is_near_miss(name, valid):
            nearest = difflib.get_close_matches(name, valid, n=1, cutoff=0.0)[0]
            raise ConfigError(
                f"{where} sets {name}, which kinmem does not know; did you mean {nearest}?"
            )


def _is_near_miss(name: str, valid: set[str]) -> bool:
    """Within two letters of a known name (Levenshtein). rapidfuzz is loaded only when a prefix is shared."""
    if not name.startswith(SHARED_PREFIXES):
        return False
    from rapidfuzz.distance import Levenshtein  # late: 45 ms that most starts need not pay

    return any(Levenshtein.distance(name, other, score_cutoff=2) <= 2 for other in valid)


def _build(
    home: Path,
    values: Mapping[str, Mapping[str, Any]],
    providers: Mapping[str, Any],
    origins: Mapping[str, str],
) -> Settings:
    try:
        return Settings(home=home, **values, providers=providers, origins=origins)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ConfigError(f"{_named(first['loc'])}: {first['msg']}") from error
    except InvalidInput as error:
        raise ConfigError(f"KINMEM_KIN: {error}") from error


def _named(location: tuple[int | str, ...]) -> str:
    for knob in knobs():
        if location[:2] == (knob.section, knob.name):
            return knob.variable
    return ".".join(map(str, location))


def _system_zone() -> tzinfo:
    """The system's zone by name where it can be learned, so that summer time follows the date."""
    name = os.environ.get("TZ", "").removeprefix(":")
    try:
        if name:
            return ZoneInfo(name)
        target = os.path.realpath("/etc/localtime")
        return ZoneInfo(target.split("zoneinfo/", 1)[1])
    except (ZoneInfoNotFoundError, ValueError, OSError, IndexError):
        return UTC
