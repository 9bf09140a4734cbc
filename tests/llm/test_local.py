"""Models that run here: from a folder, from the hub, or not at all."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinmem.errors import ModelError
from kinmem.llm.builtin import FOLDER, BuiltinEmbedder
from kinmem.llm.local_embedder import LocalEmbedder
from kinmem.llm.local_model import DEFAULT
from kinmem.llm.local_reranker import LocalReranker
from kinmem.service import Service

onnx = pytest.importorskip("onnx")
TEXTS = ["The cat sat on the mat.", "Ana is allergic to peanuts."]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "coffee", "ana", "likes", "query", "train"]


def tokenizer_in(folder: Path) -> None:
    """Splits at spaces and knows WORDS."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    marks = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def model_in(folder: Path, table: Any, *, scores: bool = False) -> Path:
    """Looks each token up in a table; with `scores` gives one number, the sum of all."""
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True, exist_ok=True)
    values = np.asarray(table, np.float32)
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, None])
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    made = helper.make_tensor_value_info("tokens", TensorProto.FLOAT, None)
    if scores:
        nodes.append(helper.make_node("ReduceSum", ["tokens", "axes"], ["logits"], keepdims=0))
        made = helper.make_tensor_value_info("logits", TensorProto.FLOAT, None)
    kept = [numpy_helper.from_array(values, "table")]
    kept.append(numpy_helper.from_array(np.array([1], np.int64), "axes"))
    graph = helper.make_graph(nodes, "tiny", [ids], [made], kept)
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), folder / "model.onnx")
    tokenizer_in(folder)
    return folder


@pytest.fixture
def table() -> Any:
    return np.random.default_rng(1).normal(size=(len(WORDS), 16))


def test_the_built_in_model_by_its_folder_gives_the_same_vectors() -> None:
    local, builtin = LocalEmbedder(f"local:{FOLDER}"), BuiltinEmbedder()

    assert (local.embed(TEXTS) * builtin.embed(TEXTS)).sum(1) == pytest.approx([1, 1], abs=1e-5)
    assert local.dimension == builtin.dimension
    assert local.calibration.noise == pytest.approx(builtin.calibration.noise, abs=0.05)
    assert local.calibration.near == pytest.approx(builtin.calibration.near, abs=0.05)


def test_it_answers_questions_in_a_service(service_of: Callable[..., Service]) -> None:
    service = service_of("ana", MEMORY_EMBEDDING_MODEL=f"local:{FOLDER}")
    service.memorize_many(TEXTS)
    assert service.settle(60)

    answer = service.recall("Where is the kitten?")

    assert answer.hits[0].memory.content == TEXTS[0]
    assert answer.degraded == ()
    assert [one.embedder for one in service.stats().embedders] == [f"local/{FOLDER.name}"]


@pytest.mark.parametrize(("by_first", "token"), [(True, "[CLS]"), (False, None)])
def test_the_folder_says_how_tokens_become_a_vector(
    tmp_path: Path, table: Any, by_first: bool, token: str | None
) -> None:
    folder = model_in(tmp_path / "tiny", table)
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": by_first}
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))

    (vector,) = LocalEmbedder(f"local:{folder}").embed(["ana likes tea"])

    rows = [2, 6, 7, 4, 3]
    wanted = table[2] if token else table[rows].mean(0)
    assert vector == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-5)


def test_questions_are_marked_where_the_model_was_trained_so(tmp_path: Path, table: Any) -> None:
    folder = model_in(tmp_path / "tiny", table)
    prompts = {"prompts": {"query": "query ", "passage": ""}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    embedder = LocalEmbedder(f"local:{folder}")

    asked = embedder.embed(["tea"], purpose="question")
    assert asked == pytest.approx(embedder.embed(["query tea"]), abs=1e-6)
    assert asked != pytest.approx(embedder.embed(["tea"]), abs=1e-3)


def test_a_long_text_is_cut_to_what_the_model_reads(tmp_path: Path, table: Any) -> None:
    folder = model_in(tmp_path / "tiny", table)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 8}')
    embedder = LocalEmbedder(f"local:{folder}")
    embedder.warm()

    parts = embedder.pieces("ana likes tea. " * 4, 800)

    assert len(parts) > 1
    assert embedder.embed(["tea " * 500]).shape == (1, 16)


def test_a_model_of_another_width_under_the_same_name_is_refused(
    tmp_path: Path, table: Any
) -> None:
    folder = model_in(tmp_path / "tiny", table)

    with pytest.raises(ModelError, match="16 numbers instead of 8"):
        LocalEmbedder(f"local:{folder}", width=8).embed(["tea"])


def test_numbers_that_are_none_are_refused(tmp_path: Path, table: Any) -> None:
    folder = model_in(tmp_path / "tiny", table * math.nan)

    with pytest.raises(ModelError, match="not numbers"):
        LocalEmbedder(f"local:{folder}").embed(["tea"])


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def broken(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(b"nothing of that kind") and None


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (without("model.onnx"), "export the model to ONNX"),
        (without("tokenizer.json"), "has no tokenizer.json"),
        (broken("model.onnx"), "cannot be loaded"),
        (broken("tokenizer.json"), "cannot be loaded"),
        (broken("config.json"), "cannot be loaded"),
        (shutil.rmtree, "there is no folder"),
    ],
    ids=["no model", "no tokenizer", "broken model", "broken tokenizer", "broken config", "gone"],
)
def test_a_folder_that_will_not_do_is_named(
    tmp_path: Path, table: Any, harm: Callable[[Path], None], told: str
) -> None:
    folder = model_in(tmp_path / "tiny", table)
    harm(folder)

    with pytest.raises(ModelError, match=told) as failure:
        LocalEmbedder(f"local:{folder}").embed(["tea"])

    assert str(folder) in str(failure.value)


def test_a_model_that_is_nowhere_leaves_the_words(
    service_of: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    service = service_of("ana", MEMORY_EMBEDDING_MODEL="local")
    service.memorize_many(TEXTS)

    answer = service.recall("Is Ana allergic to peanuts?")

    assert answer.hits[0].memory.content == TEXTS[1]
    assert "embedding" in answer.degraded or "pending" in answer.degraded
    with pytest.raises(ModelError, match=f"{DEFAULT}.*name a folder"):
        LocalEmbedder("local").embed(["tea"])


def test_a_cross_encoder_scores_question_and_text_together(tmp_path: Path) -> None:
    weights = np.zeros((len(WORDS), 1))
    weights[4] = 3.0  # tea
    folder = model_in(tmp_path / "cross", weights, scores=True)

    scores = LocalReranker(f"local:{folder}").scores("ana likes", ["tea", "coffee", "tea tea"])

    assert scores == pytest.approx([1 / (1 + math.exp(-3)), 0.5, 1 / (1 + math.exp(-6))])


def test_a_model_that_is_no_cross_encoder_is_a_fault(tmp_path: Path, table: Any) -> None:
    folder = model_in(tmp_path / "tiny", table)

    with pytest.raises(ModelError, match="no score"):
        LocalReranker(f"local:{folder}").scores("ana", ["tea"])


def test_it_reranks_in_a_service(tmp_path: Path, service_of: Callable[..., Service]) -> None:
    weights = np.zeros((len(WORDS), 1))
    weights[5] = 3.0  # coffee
    folder = model_in(tmp_path / "cross", weights, scores=True)
    service = service_of("ana", MEMORY_RERANK_MODEL=f"local:{folder}", MEMORY_ADAPTIVE_K=False)
    service.memorize_many(["ana likes tea", "ana likes coffee"])
    assert service.settle(60)

    answer = service.recall("what does ana like, tea?")

    assert [hit.memory.content for hit in answer.hits] == ["ana likes coffee", "ana likes tea"]
    assert answer.degraded == ()
