"""Each provider of the documentation is asked in its own way, and nobody gets another's key."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinmem.errors import ConfigError, ModelError
from kinmem.learn.findings import Findings
from kinmem.llm.base import Embedder
from kinmem.llm.providers import PROVIDERS, provider_of
from kinmem.settings import load
from kinmem.wiring.open_memory import chat_model, chat_models, embedders
from tests.llm import provider_shapes as shapes
from tests.llm.conftest import TYPES_BUILT
from tests.llm.model_server import ModelServer
from tests.llm.provider_shapes import Rows, ShapedProvider
from tests.tables import each

pytestmark = [pytest.mark.usefixtures("litellm_imported", "no_keys"), *TYPES_BUILT]

KEY = "sk-of-this-provider-only"
FOREIGN = "sk-for-openai-and-nobody-else"
ASKED = ["Where does Ana live?", "Who is Tom?"]


@dataclass(frozen=True)
class Case:
    """One model of one provider: how it is configured, asked, and how it answers."""

    name: str
    key: str
    address: str
    """The variable of that name is set to the double, with `tail`."""
    tail: str
    path: str
    width: int
    shape: Callable[[Rows], dict[str, Any]]
    said: Mapping[str, Any]
    """What the request for memories says beside the texts."""
    questions: Mapping[str, Any] | None = None
    """The same for questions, where it differs."""
    texts: str = "input"
    opening: tuple[str, str] = ("", "")
    dimension: tuple[str, int] | None = None
    """How another width is asked for; None: it cannot be."""


def case(name: str, *args: Any, **fields: Any) -> Any:
    return pytest.param(Case(name, *args, **fields), id=name)


V1 = ("/v1", "/v1/embeddings")
NOMIC_TEXTS = ("search_document: ", "search_query: ")
SEARCHED = (
    {"input_type": "search_document", "embedding_types": ["float"]},
    {"input_type": "search_query", "embedding_types": ["float"]},
)


def of_openai(model: str, width: int, name: str | None = None, **fields: Any) -> Any:
    own = model.removeprefix("openai:")
    key, address = "OPENAI_API_KEY", "OPENAI_BASE_URL"
    return case(name or model, key, address, *V1, width, shapes.openai, {"model": own}, **fields)


def of_cohere(model: str, width: int, **fields: Any) -> Any:
    memories, questions = ({"model": model, **said} for said in SEARCHED)
    return case(
        f"cohere:{model}",
        "COHERE_API_KEY",
        "COHERE_API_BASE",
        "/v2",
        "/v2/embed",
        width,
        shapes.cohere,
        memories,
        questions,
        texts="texts",
        **fields,
    )


CASES = [
    of_openai("text-embedding-3-small", 1536, dimension=("dimensions", 256)),
    of_openai("openai:text-embedding-3-large", 3072, dimension=("dimensions", 1024)),
    of_openai("text-embedding-ada-002", 1536),
    case(
        "voyage:voyage-3.5",
        "VOYAGE_API_KEY",
        "VOYAGE_API_BASE",
        *V1,
        1024,
        shapes.voyage,
        {"model": "voyage-3.5", "input_type": "document"},
        {"model": "voyage-3.5", "input_type": "query"},
        dimension=("output_dimension", 512),
    ),
    case(
        "jina:jina-embeddings-v3",
        "JINA_AI_API_KEY",
        "JINA_AI_API_BASE",
        *V1,
        1024,
        shapes.voyage,
        {"model": "jina-embeddings-v3", "task": "retrieval.passage"},
        {"model": "jina-embeddings-v3", "task": "retrieval.query"},
        dimension=("dimensions", 256),
    ),
    case(
        "jina_ai/jina-embeddings-v2-base-en",
        "JINA_API_KEY",
        "JINA_AI_API_BASE",
        *V1,
        768,
        shapes.voyage,
        {"model": "jina-embeddings-v2-base-en"},
    ),
    case(
        "nomic:nomic-embed-text-v1.5",
        "NOMIC_API_KEY",
        "NOMIC_API_BASE",
        "/v1",
        "/v1/embedding/text",
        768,
        shapes.nomic,
        {"model": "nomic-embed-text-v1.5", "task_type": "search_document"},
        {"model": "nomic-embed-text-v1.5", "task_type": "search_query"},
        texts="texts",
        dimension=("dimensionality", 256),
    ),
    case(
        "mistral:mistral-embed",
        "MISTRAL_API_KEY",
        "MISTRAL_API_BASE",
        *V1,
        1024,
        shapes.mistral,
        {"model": "mistral-embed"},
    ),
    case(
        "deepseek:some-embedding",
        "DEEPSEEK_API_KEY",
        "DEEPSEEK_API_BASE",
        *V1,
        768,
        shapes.openai,
        {"model": "some-embedding"},
    ),
    of_cohere("embed-english-v3.0", 1024),
    of_cohere("embed-multilingual-v3.0", 1024),
    of_cohere("embed-v4.0", 1536, dimension=("output_dimension", 256)),
    case(
        "together:BAAI/bge-large-en-v1.5",
        "TOGETHER_API_KEY",
        "TOGETHER_AI_API_BASE",
        *V1,
        1024,
        shapes.together,
        {"model": "BAAI/bge-large-en-v1.5"},
    ),
    case(
        "fireworks:nomic-ai/nomic-embed-text-v1.5",
        "FIREWORKS_API_KEY",
        "FIREWORKS_API_BASE",
        "/inference/v1",
        "/inference/v1/embeddings",
        768,
        shapes.openai,
        {"model": "nomic-ai/nomic-embed-text-v1.5"},
        opening=NOMIC_TEXTS,
        dimension=("dimensions", 256),
    ),
    case(
        "ollama/nomic-embed-text",
        "",
        "OLLAMA_API_BASE",
        "",
        "/api/embed",
        768,
        shapes.ollama,
        {"model": "nomic-embed-text"},
        opening=NOMIC_TEXTS,
    ),
    case(
        "ollama:bge-m3:latest",
        "",
        "OLLAMA_API_BASE",
        "",
        "/api/embed",
        1024,
        shapes.ollama,
        {"model": "bge-m3:latest"},
    ),
    case(
        "ollama:bge-m3",
        "OLLAMA_API_KEY",
        "OLLAMA_API_BASE",
        "",
        "/v1/embeddings",
        1024,
        shapes.openai,
        {"model": "bge-m3"},
    ),
    case(
        "openrouter:openai/text-embedding-3-small",
        "OPENROUTER_API_KEY",
        "OPENROUTER_API_BASE",
        "/api/v1",
        "/api/v1/embeddings",
        1536,
        shapes.openrouter,
        {"model": "openai/text-embedding-3-small"},
        dimension=("dimensions", 256),
    ),
    case(
        "xai/some-embedding",
        "XAI_API_KEY",
        "XAI_API_BASE",
        *V1,
        768,
        shapes.openai,
        {"model": "some-embedding"},
    ),
]


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """But OpenAI's, which whoever is asked in its manner is always in danger of getting."""
    for provider in PROVIDERS:
        for name in (*provider.keys, *provider.addresses):
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", FOREIGN)


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Any]:
    def of(config: str = "", **values: Any) -> Any:
        (tmp_path / "config.toml").write_text(config, encoding="utf-8")
        return load({"KINMEM_HOME": tmp_path, **values}, environment={})

    return of


@pytest.fixture
def double(request: pytest.FixtureRequest) -> Iterator[ShapedProvider]:
    """The provider of `case`, which answers with vectors of the width it is asked for."""
    one: Case = request.getfixturevalue("case")

    def say(body: dict[str, Any]) -> dict[str, Any]:
        width = body.get(one.dimension[0], one.width) if one.dimension else one.width
        texts = body[one.texts]
        rows = [[float(len(text)), 1.0] + [0.0] * (width - 2) for text in texts]
        return one.shape(rows)

    with ShapedProvider(say) as double:
        yield double


Opened = Callable[..., Embedder]


@pytest.fixture
def opened(
    case: Case, double: ShapedProvider, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Opened:
    monkeypatch.setenv(case.address, double.address + case.tail)
    if case.key:
        monkeypatch.setenv(case.key, KEY)

    def open_with(**values: Any) -> Embedder:
        return embedders(settings(MEMORY_EMBEDDING_MODEL=case.name, **values))[0]

    return open_with


@pytest.mark.parametrize("case", CASES)
def test_each_provider_is_asked_and_read_in_its_own_way(
    case: Case, double: ShapedProvider, opened: Opened
) -> None:
    embedder = opened()

    told = embedder.embed(ASKED)
    embedder.embed(ASKED, purpose="question")

    assert double.paths == [case.path] * 2
    memories, questions = double.bodies
    assert memories == {**case.said, case.texts: [case.opening[0] + text for text in ASKED]}
    asked = {case.texts: [case.opening[1] + text for text in ASKED]}
    assert questions == {**(case.questions or case.said), **asked}
    sent = [head.get("authorization") for head in double.headers]
    assert sent == ([f"Bearer {KEY}"] if case.key else [None]) * 2
    assert told.shape == (2, case.width)
    np.testing.assert_allclose(np.linalg.norm(told, axis=1), 1.0, atol=1e-6)
    assert told[0][0] > 0 and embedder.dimension == case.width


@pytest.mark.parametrize("case", CASES)
def test_an_address_may_be_the_whole_one(
    case: Case, double: ShapedProvider, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(case.address, double.address + case.path)

    opened().embed(ASKED)

    assert double.paths == [case.path]


@pytest.mark.parametrize("case", [one for one in CASES if one.id.startswith("ollama")])
@pytest.mark.parametrize("tail", ["/v1", "/v1/", "/"])
def test_ollamas_address_may_be_that_for_openais_clients(
    case: Case, tail: str, double: ShapedProvider, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(case.address, double.address + tail)

    opened().embed(ASKED)

    assert double.paths == [case.path]


@pytest.mark.parametrize("case", CASES)
def test_another_width_is_asked_for_where_that_can_be(
    case: Case, double: ShapedProvider, opened: Opened
) -> None:
    wanted = case.dimension[1] if case.dimension else case.width
    embedder = opened(MEMORY_EMBEDDING_DIMENSION=wanted)

    assert embedder.embed(ASKED).shape == (2, wanted)

    (body,) = double.bodies
    said = dict([case.dimension]) if case.dimension else {}
    assert {key: value for key, value in body.items() if key not in case.said} == {
        case.texts: [case.opening[0] + text for text in ASKED],
        **said,
    }


KNOWN_WIDTHS = [one for one in CASES if "some-embedding" not in one.id]


@pytest.mark.parametrize("case", KNOWN_WIDTHS)
def test_the_width_of_a_known_model_is_known_while_its_provider_is_away(
    case: Case, double: ShapedProvider, opened: Opened
) -> None:
    assert opened().dimension == case.width
    assert double.bodies == []


@pytest.mark.parametrize("case", [one for one in CASES if one.id.startswith("cohere:embed-eng")])
def test_a_width_that_a_model_cannot_have_is_refused(case: Case, opened: Opened) -> None:
    with pytest.raises(ConfigError, match=r"is 1536, but vectors of .*v3\.0 have 1024"):
        opened(MEMORY_EMBEDDING_DIMENSION=1536)


@pytest.mark.parametrize("case", [one for one in CASES if one.id.startswith(("cohere", "jina:"))])
def test_no_text_becomes_a_picture(case: Case, double: ShapedProvider, opened: Opened) -> None:
    opened().embed(["data:image/png;base64,QUJD"])

    assert double.bodies[0][case.texts] == [" data:image/png;base64,QUJD"]


NEEDING = [
    one
    for one in CASES
    if one.values[0].key and one.values[0].key != "OLLAMA_API_KEY"  # only if it asks for one
]


@pytest.mark.parametrize("case", NEEDING)
def test_a_missing_key_is_named_and_nobody_is_asked(
    case: Case, double: ShapedProvider, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(case.key)
    provider, _ = provider_of(case.name) or pytest.fail()

    with pytest.raises(ConfigError, match=f"{provider.keys[0]} is not set"):
        opened()

    assert double.bodies == []


@pytest.mark.parametrize("case", NEEDING[3:])
def test_an_address_of_ones_own_gets_no_key_that_is_not_named_for_it(
    case: Case, double: ShapedProvider, settings: Any
) -> None:
    provider, model = provider_of(case.name) or pytest.fail()
    table = f'[providers.mine]\ntype = "{provider.id}"\nbase_url = "{double.address}{case.tail}"'

    embedders(settings(table, MEMORY_EMBEDDING_MODEL=f"mine:{model}"))[0].embed(ASKED)

    assert [head["authorization"] for head in double.headers] == ["Bearer none"]
    assert double.paths == [case.path]


def test_a_provider_that_only_litellm_knows_does_not_get_openais_key(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client falls back on OPENAI_API_KEY where the provider's own key is not set."""
    with ModelServer() as server:
        monkeypatch.setenv("NEBIUS_API_BASE", server.base("ok"))
        monkeypatch.delenv("NEBIUS_API_KEY", raising=False)
        embedder = embedders(settings(MEMORY_EMBEDDING_MODEL="nebius/m"))[0]

        with pytest.raises(ModelError, match="OPENAI_API_KEY is not for it"):
            embedder.embed(ASKED)

        assert server.bodies == []


@each(
    ("name", "id", "model"),
    [
        ("text-embedding-3-small", "openai", "text-embedding-3-small"),
        ("openai/text-embedding-3-small", "openai", "text-embedding-3-small"),
        ("openai:text-embedding-3-small", "openai", "text-embedding-3-small"),
        ("gpt-4.1-mini", "openai", "gpt-4.1-mini"),
        ("o4-mini", "openai", "o4-mini"),
        ("embed-english-v3.0", "cohere", "embed-english-v3.0"),
        ("rerank-v3.5", "cohere", "rerank-v3.5"),
        ("rerank-2.5-lite", "voyage", "rerank-2.5-lite"),
        ("jina_ai/jina-embeddings-v3", "jina", "jina-embeddings-v3"),
        ("jina/jina-embeddings-v3", "jina", "jina-embeddings-v3"),
        ("together:together_ai/BAAI/bge-m3", "together", "BAAI/bge-m3"),
        ("ollama:llama3:8b", "ollama", "llama3:8b"),
        ("ollama/llama3:8b", "ollama", "llama3:8b"),
        ("openrouter/deepseek/deepseek-r1:free", "openrouter", "deepseek/deepseek-r1:free"),
        ("llama3:8b", None, None),
        ("anthropic/claude-opus-4", None, None),
        ("openai-like/m", None, None),
    ],
)
def test_a_name_says_whose_model_it_is(name: str, id: str | None, model: str | None) -> None:
    found = provider_of(name)

    assert (found and (found[0].id, found[1])) == (id and (id, model))


def test_vectors_keep_their_name_however_the_model_is_spelled(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spellings = ["text-embedding-3-small", "openai:text-embedding-3-small"]
    spelled = [settings(MEMORY_EMBEDDING_MODEL=name) for name in spellings]
    seeds = {"MEMORY_EMBEDDING_DIMENSION": 1536, "MEMORY_EMBEDDING_MODEL": spellings[0]}

    names = {embedders(one)[0].name for one in [*spelled, settings(**seeds)]}

    assert names == {"openai/text-embedding-3-small"}


def test_a_table_of_the_settings_wins_over_a_provider_of_its_name(settings: Any) -> None:
    with ModelServer() as server:
        table = f'[providers.mistral]\ntype = "openai"\nbase_url = "{server.base("ok")}"'
        chat = settings(table, MEMORY_EMBEDDING_MODEL="mistral:m")

        embedders(chat)[0].embed(["a"])

        assert server.bodies[0]["model"] == "m"
        assert server.headers[0]["authorization"] == "Bearer none"


CHATS = [
    ("gpt-4.1-mini", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ("mistral:mistral-small-latest", "MISTRAL_API_KEY", "MISTRAL_API_BASE"),
    ("deepseek:deepseek-chat", "DEEPSEEK_API_KEY", "DEEPSEEK_API_BASE"),
    ("xai:grok-4", "XAI_API_KEY", "XAI_API_BASE"),
    ("together:a/b", "TOGETHER_API_KEY", "TOGETHER_AI_API_BASE"),
    ("fireworks:accounts/a/models/b", "FIREWORKS_API_KEY", "FIREWORKS_API_BASE"),
    ("openrouter:openai/gpt-4.1-mini", "OPENROUTER_API_KEY", "OPENROUTER_API_BASE"),
]


@pytest.mark.parametrize("tail", ["", "/chat/completions"])
@pytest.mark.parametrize(("name", "key", "address"), CHATS)
def test_the_same_names_work_for_chat(
    name: str, key: str, address: str, tail: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as server:
        monkeypatch.setenv(address, server.base("ok") + tail)
        monkeypatch.setenv(key, KEY)

        assert chat_model(name, settings()).answer("What was said?", Findings).items

        assert server.bodies[0]["model"] == name.partition(":")[2] or name
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("name", ["gpt-4.1-mini", "mistral:m", "cohere/command-a"])
def test_a_missing_key_of_a_chat_model_is_named(
    name: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")

    with pytest.raises(ConfigError, match="_API_KEY is not set"):
        chat_model(name, settings())


def test_a_missing_key_of_a_cross_encoder_is_named(settings: Any) -> None:
    with pytest.raises(ConfigError, match="COHERE_API_KEY is not set"):
        chat_models(settings(MEMORY_RERANK_MODEL="cohere/rerank-v3.5"))
    assert "COHERE_API_KEY" not in os.environ
