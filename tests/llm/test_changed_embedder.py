"""Another embedder is configured: what had vectors is found by them until there are new ones."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from benchmarks.baselines import Remembering
from benchmarks.data import own_set
from benchmarks.reembedding import CHECKPOINTS, Rotated, changed
from kinmem.errors import ModelError, StoreError
from kinmem.llm.base import Embedder, Purpose
from kinmem.llm.builtin import ENGLISH, NAME, BuiltinEmbedder
from kinmem.models import Coverage, Filters, Vectors
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.recall.search import choose
from kinmem.service import Service
from kinmem.settings import Settings, load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_memory import embedders, open_service
from tests.llm import provider_shapes as shapes
from tests.llm.conftest import TYPES_BUILT
from tests.llm.provider_shapes import ShapedProvider
from tests.sweeps import WHOLE

QUESTION = "Which animal does she keep?"
TOLD = "Mina feeds her hamster in the evening."
OTHERS = [f"Invoice {number} was paid by bank transfer." for number in range(3)]
TABLES = """
[providers.a]
type = "openai"
base_url = "{address}/v1"
[providers.b]
type = "openai"
base_url = "{address}/v1"
"""
A, B = "a:m", "b:m"
Open = Callable[..., Service]


class Turning(ShapedProvider):
    """Serves the built-in vectors, rotated; the first `width` numbers of them."""

    def __init__(self) -> None:
        self.width = 384
        self.asked: list[str] = []
        self._rotated = Rotated(BuiltinEmbedder())
        super().__init__(self._reply)

    def _reply(self, body: dict[str, Any]) -> Any:
        self.asked += body["input"]
        return shapes.openai(self._rotated.embed(body["input"])[:, : self.width].tolist())


@pytest.fixture
def provider() -> Iterator[Turning]:
    with Turning() as provider:
        yield provider


@pytest.fixture
def opened(provider: Turning, home: Path, service_of: Open) -> Open:
    """Opens the memory of ana with the embedder named, the built-in one if none is."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(TABLES.format(address=provider.address), encoding="utf-8")

    def open_with(model: str | None, **options: Any) -> Service:
        chosen = {"MEMORY_EMBEDDING_MODEL": model} if model else {}
        # The double's vectors are like the built-in ones, and so is their noise.
        return service_of("ana", **{"MEMORY_SIMILARITY_THRESHOLD": 0.2, **chosen, **options})

    return open_with


def made_by(service: Service) -> dict[str, int]:
    return {one.embedder: one.done for one in service.store.index.coverage()}


def found(service: Service) -> tuple[bool, tuple[str, ...]]:
    """Whether it is found by what it means, and what the answer says of itself.

    By those who would answer now: nothing is done in the background of this service.
    """
    known = embedders(service.settings, service.store.index.coverage())
    for embedder in known:
        embedder.warm()
    recall = Recall(service.store, known, service.settings, service.clock)
    answer = recall(Request(QUESTION, 1, Filters()))
    return [hit.memory.content for hit in answer.hits] == [TOLD], answer.degraded


@pytest.mark.usefixtures("litellm_imported")
class TestOverTheWire:
    """Through litellm to a provider on loopback."""

    pytestmark = TYPES_BUILT

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            pytest.param(None, A, id="from the built-in one"),
            pytest.param(A, None, id="to the built-in one"),
            pytest.param(A, B, id="from one provider to another"),
        ],
    )
    def test_the_old_vectors_answer_until_the_new_ones_are_there(
        self, before: str | None, after: str | None, opened: Open
    ) -> None:
        first = opened(before)
        first.memorize_many([TOLD, *OTHERS])
        assert first.settle(60)
        first.close()
        names = [name or NAME for name in (before, after)]

        with closing(opened(after, resident=False)) as service:
            assert made_by(service) == {names[0]: 4}
            assert found(service) == (True, ())

            assert service.reembed() == 4
            assert made_by(service) == dict.fromkeys(names, 4)
            assert found(service) == (True, ())

    def test_without_its_provider_words_answer_and_the_answer_says_so(
        self, opened: Open, home: Path
    ) -> None:
        first = opened(A)
        first.memorize_many([TOLD, *OTHERS])
        assert first.settle(60)
        first.close()
        (home / "config.toml").write_text(
            '[providers.a]\ntype = "openai"\napi_key_env = "NOT_SET_HERE"\n', encoding="utf-8"
        )

        with closing(opened(None, resident=False)) as service:
            assert found(service) == (False, ("pending",))
            assert service.reembed() == 4
            assert found(service) == (True, ())

    def test_a_provider_that_changes_its_width_is_at_fault(
        self, opened: Open, provider: Turning
    ) -> None:
        first = opened(A)
        first.memorize(TOLD)
        assert first.settle(60)
        first.close()
        provider.width = 100

        with closing(opened(A, resident=False)) as service:
            service.memorize_many(OTHERS)
            with pytest.raises(ModelError, match="vectors of 100 numbers instead of 384"):
                service.reembed()
            assert [(one.dimension, one.done) for one in service.store.index.coverage()] == [
                (384, 1)
            ]
            assert found(service)[1] == ("embedding",)

            provider.width = 384
            assert service.reembed() == 3


def settings_with(home: Path, **variables: object) -> Settings:
    return load({"KINMEM_KIN": "ana", "KINMEM_HOME": home, **variables}, environment={})


@pytest.mark.parametrize(
    ("model", "known", "expected"),
    [
        pytest.param(None, [], [NAME], id="nothing else"),
        pytest.param("ollama/new", [NAME], ["ollama/new", NAME], id="the built-in one"),
        pytest.param(None, [ENGLISH], [NAME, ENGLISH], id="the one that read English only"),
        pytest.param(None, ["ollama/old"], [NAME, "ollama/old"], id="one of before"),
        pytest.param(
            "ollama/new",
            ["ollama/old", "ollama/older"],
            ["ollama/new", "ollama/old", "ollama/older", NAME],
            id="several",
        ),
        pytest.param(None, ["openai/text-embedding-3-small"], [NAME], id="one without its key"),
        pytest.param("ollama/new", ["ollama/new"], ["ollama/new", NAME], id="the same"),
    ],
)
def test_who_has_made_vectors_is_reached_again(
    model: str | None,
    known: Sequence[str],
    expected: Sequence[str],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chosen = {"MEMORY_EMBEDDING_MODEL": model} if model else {}
    coverage = [Coverage(name, 384, 5, 5) for name in known]

    names = [one.name for one in embedders(settings_with(home, **chosen), coverage)]

    assert names == expected


def test_a_width_that_was_asked_for_is_asked_for_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    name = "openai/text-embedding-3-small:256"

    _, former = embedders(settings_with(home), [Coverage(name, 256, 5, 5)])

    assert (former.name, former.dimension) == (name, 256)


class Away:
    """Implements Embedder; its provider is down until it is told otherwise."""

    name, ready, dimension = "away", True, 384
    calibration = BuiltinEmbedder.calibration

    def __init__(self, embedder: Embedder) -> None:
        self._rotated = Rotated(embedder)
        self.pieces = embedder.pieces
        self.window = embedder.window
        self.is_away = True

    def warm(self) -> None:
        """Nothing to load."""

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        if self.is_away:
            raise ModelError("the provider is away")
        return self._rotated.embed(texts)


@pytest.fixture
def two(home: Path) -> Iterator[tuple[Service, Away, Embedder]]:
    """A memory that the built-in embedder has filled, and that is to change to another."""
    old = BuiltinEmbedder()
    settings = settings_with(home)
    with Service(SqliteStore(home, "ana"), [old], settings) as service:
        service.memorize_many(OTHERS)
        assert service.settle(60)
    new = Away(old)
    with Service(SqliteStore(home, "ana"), [new, old], settings) as service:
        yield service, new, old


def test_what_is_new_is_found_by_the_embedder_that_still_answers(
    two: tuple[Service, Away, Embedder],
) -> None:
    service, _, old = two

    service.memorize(TOLD)
    assert not service.settle(60)  # the new embedder is away

    assert service.store.index.is_filled(old.name)
    answer = service.recall(QUESTION, limit=1)
    assert [hit.memory.content for hit in answer.hits] == [TOLD]
    assert answer.degraded == ()


def test_both_have_made_their_vectors_when_the_change_is_done(
    two: tuple[Service, Away, Embedder],
) -> None:
    service, new, old = two
    new.is_away = False

    service.memorize(TOLD)
    assert service.settle(60)

    assert choose([new, old], service.store.index) == (new, True)
    assert service.recall(QUESTION, limit=1).degraded == ()


def rows(width: int, count: int) -> Vectors:
    return np.eye(width, dtype=np.float32)[np.arange(count) % width]


@pytest.mark.usefixtures("judge_off")
def test_the_new_embedder_takes_over_once(home: Path, service_of: Open) -> None:
    """What is memorized afterwards lacks both vectors, and undoes nothing."""
    store = service_of("ana", resident=False).store
    old = BuiltinEmbedder()
    new = Away(old)
    service_of("ana", resident=False).memorize_many(f"Cloud {n} drifts east." for n in range(200))
    store.index.enroll(old.name, 384)
    store.index.fill(old.name, store.index.pending(old.name, 200), rows(384, 200))
    store.index.enroll(new.name, 384)

    def answering(count: int) -> tuple[str, bool]:
        waiting = store.index.pending(new.name, count)
        store.index.fill(new.name, waiting, rows(384, len(waiting)))
        embedder, filled = choose([new, old], store.index)
        return embedder.name, filled

    assert answering(198) == (old.name, True)
    assert answering(1) == (new.name, False)
    service_of("ana", resident=False).memorize_many(f"Bird {n} flies west." for n in range(100))
    assert answering(0) == (new.name, False)
    assert answering(101) == (new.name, True)


def test_vectors_of_another_width_are_not_stored(service_of: Open) -> None:
    service = service_of("ana", resident=False)
    service.memorize_many([TOLD])
    service.store.index.enroll("wide", 384)

    with pytest.raises(StoreError):
        service.store.index.fill("wide", service.store.index.pending("wide", 1), rows(100, 1))
    with pytest.raises(StoreError):
        service.store.index.enroll("wide", 100)
    assert made_by(service) == {"wide": 0}


def test_nothing_is_lost_at_any_point_of_the_change() -> None:
    checkpoints = CHECKPOINTS if WHOLE else (5, 50, 95, 99)
    conversations = [one for found in own_set().values() for one in found]

    table, loss = changed(conversations, checkpoints=checkpoints)

    assert loss <= 0.03
    who = [row[1] for row in table]
    assert who == ["the old one"] * len(checkpoints) + ["the new one"] * 2


@pytest.fixture(scope="module")
def home_without_vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One in which ana has 300 memories."""
    home = tmp_path_factory.mktemp("many") / ".kinmem"
    texts = [TOLD, *(f"Cloud number {n} drifts east." for n in range(299))]
    with open_service(settings_with(home, KINMEM_JUDGE="off"), resident=False) as service:
        service.memorize_many(texts)
    return home


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """One that makes each of their vectors once."""
    return Remembering(BuiltinEmbedder())


@pytest.mark.parametrize(
    ("lacking", "degraded"),
    [
        pytest.param(0, (), id="none"),
        pytest.param(200, ("pending",), id="few, whatever their share"),
        pytest.param(201, ("pending",), id="many"),
    ],
)
def test_vectors_of_a_part_of_many_memories_are_not_used(
    lacking: int,
    degraded: tuple[str, ...],
    home_without_vectors: Path,
    embedder: Embedder,
    home: Path,
) -> None:
    copytree(home_without_vectors, home)
    with open_service(settings_with(home, KINMEM_JUDGE="off"), resident=False) as service:
        embedder.warm()
        service.store.index.enroll(embedder.name, 384)
        waiting = service.store.index.pending(embedder.name, 300 - lacking)
        vectors = embedder.embed([one.text for one in waiting])
        service.store.index.fill(embedder.name, waiting, vectors)

        recall = Recall(service.store, [embedder], service.settings, service.clock)
        answer = recall(Request(QUESTION, 1, Filters()))

    assert answer.degraded == degraded
    assert bool(answer.hits) == (lacking <= 200)
