"""All sections together: what every part of kinmem is given."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kinmem.settings.compact import CompactSettings
from kinmem.settings.declare import Knob, knobs_of
from kinmem.settings.embedding import EmbeddingSettings
from kinmem.settings.general import GeneralSettings
from kinmem.settings.inject import InjectSettings
from kinmem.settings.learn import LearnSettings
from kinmem.settings.life import LifeSettings
from kinmem.settings.model import ModelSettings
from kinmem.settings.recall import RecallSettings
from kinmem.settings.server import ServerSettings
from kinmem.settings.upkeep import UpkeepSettings


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
