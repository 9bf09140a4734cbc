"""Which model is asked for what follows from the settings, and nobody else is asked."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kinmem.errors import ConfigError, ModelError
from kinmem.learn.findings import Findings
from kinmem.llm.base import ChatModels
from kinmem.settings import load
from kinmem.wiring.open_memory import chat_models, embedders
from tests.llm.model_server import ModelServer

Models = Callable[..., ChatModels]

CONFIG = """
[providers.local]
type = "openai"
base_url = "{base}"
api_key_env = "LOCAL_KEY"
"""


@pytest.fixture
def models(tmp_path: Path) -> Models:
    """The chat models of a home folder, with settings by variable."""

    def of(config: str = "", **settings: Any) -> ChatModels:
        (tmp_path / "config.toml").write_text(config, encoding="utf-8")
        return chat_models(load({"KINMEM_HOME": tmp_path, **settings}, environment={}))

    return of


def names(models: ChatModels) -> list[str | None]:
    uses = (models.extraction, models.compacting, models.consolidation, models.review)
    return [use and use.name for use in uses]


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        pytest.param({}, [None, None, None, None], id="nothing configured"),
        pytest.param({"KINMEM_MODEL": "a"}, ["a", "a", None, "a"], id="a default"),
        pytest.param(
            {"KINMEM_MODEL": "a", "MEMORY_EXTRACTION_MODEL": "off", "KINMEM_REVIEW_MODEL": "b"},
            [None, "a", None, "b"],
            id="one switched off, one of its own",
        ),
        pytest.param(
            {"MEMORY_CONSOLIDATION_MODEL": "ollama/llama3:8b"},
            [None, None, "ollama/llama3:8b", None],
            id="a colon in a name",
        ),
        pytest.param(
            {"MEMORY_CONSOLIDATION_MODEL": "off", "COMPACTING_MODEL": "c"},
            [None, "c", None, None],
            id="summaries only",
        ),
    ],
)
def test_each_use_has_the_model_that_is_set_for_it(
    settings: Mapping[str, str], asked: list[str | None], models: Models
) -> None:
    assert names(models(**settings)) == asked


def test_a_model_that_is_asked_for_several_things_is_one(models: Models) -> None:
    both = models(KINMEM_MODEL="a", MEMORY_CONSOLIDATION_MODEL="a", KINMEM_REVIEW_MODEL="b")

    assert both.extraction is both.compacting is both.consolidation
    assert both.review is not both.extraction


@pytest.mark.filterwarnings("ignore:Items? '.+' on TypedDict class:UserWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_provider_of_the_settings_is_asked_with_its_key(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_KEY", "sk-local")
    with ModelServer() as server:
        config = CONFIG.format(base=server.base("ok"))
        model = models(config, KINMEM_MODEL="local:llama3:8b").extraction
        assert model is not None

        assert model.answer("what was said?", Findings).items
        assert server.bodies[0]["model"] == "llama3:8b"
        assert model.name == "local:llama3:8b"


def test_the_deadline_is_the_settings(models: Models) -> None:
    with ModelServer() as server:
        config = CONFIG.format(base=server.base("hang")).replace('api_key_env = "LOCAL_KEY"\n', "")
        model = models(config, KINMEM_MODEL="local:m", KINMEM_MODEL_DEADLINE=0.2).review
        assert model is not None

        with pytest.raises(ModelError, match="took longer than the 0.2 seconds"):
            model.answer("what was said?", Findings)


@pytest.mark.filterwarnings("ignore:Items? '.+' on TypedDict class:UserWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_server_of_ones_own_needs_no_key_and_gets_none(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    with ModelServer() as server:
        config = CONFIG.format(base=server.base("ok")).replace('api_key_env = "LOCAL_KEY"\n', "")
        model = models(config, KINMEM_MODEL="local:m").extraction
        assert model is not None

        assert model.answer("what was said?", Findings).items
        assert [head["authorization"] for head in server.headers] == ["Bearer none"]


def test_a_key_that_is_not_set_is_told_by_name(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCAL_KEY", raising=False)

    with pytest.raises(ConfigError, match=r"\[providers.local\] takes its key from LOCAL_KEY"):
        models(CONFIG.format(base="http://127.0.0.1:9"), COMPACTING_MODEL="local:m")


def test_all_kins_of_a_process_share_one_embedder(tmp_path: Path) -> None:
    of_each = [
        embedders(load({"KINMEM_HOME": tmp_path, "KINMEM_KIN": kin}, environment={}))
        for kin in ("ana", "ben")
    ]

    assert [id(one) for one in of_each[0]] == [id(one) for one in of_each[1]]
