"""All sections together: what every part of kinmem is given, and the table that people read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kinmem.settings.conversation_settings import CompactSettings, InjectSettings
from kinmem.settings.declare import Knob, knobs_of
from kinmem.settings.memory_settings import (
    LearnSettings,
    LifeSettings,
    RecallSettings,
    UpkeepSettings,
)
from kinmem.settings.server_settings import (
    EmbeddingSettings,
    GeneralSettings,
    ModelSettings,
    ServerSettings,
)

HOME_VARIABLE, DEFAULT_HOME = "KINMEM_HOME", "~/.kinmem"


@dataclass(frozen=True)
class Provider:
    """One [providers.<id>] table of config.toml."""

    __pydantic_config__ = {"extra": "forbid"}
    type: str
    base_url: str | None = None
    api_key_env: str | None = None


@dataclass(frozen=True)
class Settings:
    """All sections, and where each value came from."""

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
    life: LifeSettings = LifeSettings()
    providers: Mapping[str, Provider] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    """Variable -> flag, environment, config.toml [kin.x], config.toml; absent: default."""


def knobs() -> Iterator[Knob]:
    """Every setting in the order of declaration."""
    return knobs_of(Settings)


RANKING_VARIABLES = frozenset(
    """MEMORY_RRF_K MEMORY_FTS_BOOST MEMORY_SUBJECT_BOOST MEMORY_CATEGORY_BOOST
    MEMORY_TEMPORAL_DECAY_LAMBDA MEMORY_TEMPORAL_DECAY_FLOOR MEMORY_RECENCY_BOOST""".split()
)


def unread(settings: Settings, reads: frozenset[str]) -> list[str]:
    """Ranking variables that are set but have no effect, since the profile in force reads only
    `reads` of them."""
    return sorted(v for v in settings.origins if v in RANKING_VARIABLES and v not in reads)


def table() -> str:
    """The settings as a Markdown table, for docs/settings.md."""
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    lines.append(
        f"| `{HOME_VARIABLE}` | `{DEFAULT_HOME}` | Folder that holds everything kinmem stores. |"
    )
    for knob in knobs():
        default = "unset" if knob.default is None or knob.default == "" else f"`{knob.default}`"
        lines.append(f"| `{knob.variable}` | {default} | {knob.description} |")
    return "\n".join(lines)
