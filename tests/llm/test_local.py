"""Models that run here: from a folder, from the hub, or not at all."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.baselines import Remembering
from kinmem.errors import ConfigError, ModelError
from kinmem.llm.builtin import FOLDER, BuiltinEmbedder
from kinmem.llm.deadline import Once
from kinmem.llm.model_files import DEFAULT
from kinmem.llm.onnx import LocalEmbedder
from kinmem.llm.rerankers import LocalReranker
from kinmem.service import Service
from kinmem.settings import load
from kinmem.wiring.open_memory import chat_models, embedder_named
from tests.sweeps import WHOLE

onnx = pytest.importorskip("onnx")
OWN = Path(__file__).parents[2] / "benchmarks/own/abstention"
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
    (made,) = service.stats().embedders
    assert re.fullmatch(rf"local:{re.escape(str(FOLDER))}#[0-9a-f]{{8}}", made.embedder)


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


def changed(folder: Path, change: Callable[[Any], None]) -> None:
    """The model of a folder, with a change of its graph."""
    model = onnx.load(folder / "model.onnx")
    change(model.graph)
    onnx.save(model, folder / "model.onnx")


def configured(folder: Path, name: str, **settings: Any) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(settings))


def copied(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("model_int8.onnx", "tokenizer.json"):
        shutil.copy(FOLDER / name, folder)
    return folder


def test_the_built_in_model_in_a_folder_reads_as_much_of_a_text(tmp_path: Path) -> None:
    local, texts = LocalEmbedder(f"local:{copied(tmp_path / 'one')}"), ["word " * 300, *TEXTS]

    assert np.array_equal(local.embed(texts), BuiltinEmbedder().embed(texts))
    assert local.pieces(texts[0], 5000) == BuiltinEmbedder().pieces(texts[0], 5000)


@pytest.mark.usefixtures("judge_off")
@pytest.mark.parametrize("notebook", ["beanrow", *(["ferrywatch"] if WHOLE else [])])
def test_recall_is_as_good_as_with_the_built_in_model(
    service_of: Callable[..., Service], notebook: str
) -> None:
    raw = json.loads((OWN / f"{notebook}.json").read_text("utf-8"))
    found = []
    for kin, name in (("ana", None), ("bob", f"local:{FOLDER}")):
        service = service_of(kin, MEMORY_EMBEDDING_MODEL=name)
        stored = [one.id for one in service.memorize_many([doc["text"] for doc in raw["docs"]])]
        assert service.settle(60)
        ids = {memory: doc["id"] for memory, doc in zip(stored, raw["docs"], strict=True)}
        asked = [query for query in raw["queries"] if query["gold"]]
        told = [service.recall(query["text"], limit=10).hits for query in asked]
        right = [
            any(ids.get(hit.memory.id) in query["gold"] for hit in hits)
            for query, hits in zip(asked, told, strict=True)
        ]
        found.append(sum(right) / len(right))
    one_question = 1 / len(asked)  # may fall on the other side of the bar, calibrated as it is
    assert found[1] == pytest.approx(found[0], abs=one_question + 1e-9)


def test_a_benchmark_reads_what_was_measured_of_a_model_once_it_is_loaded(tmp_path: Path) -> None:
    embedder = LocalEmbedder(f"local:{copied(tmp_path / 'one')}")
    known = Remembering(embedder)

    known.embed(["a text"])

    assert known.calibration == embedder.calibration and known.calibration.measured


def test_a_pooled_output_of_another_kind_is_not_taken(tmp_path: Path, table: Any) -> None:
    """Exports of BERT give pooler_output beside the tokens, which means nothing as a text's."""
    folder = model_in(tmp_path / "tiny", table)

    def two_outputs(graph: Any) -> None:
        node = onnx.helper.make_node("ReduceMax", ["tokens"], ["pooler_output"], axes=[1])
        node.attribute.append(onnx.helper.make_attribute("keepdims", 0))
        rename = onnx.helper.make_node("Identity", ["tokens"], ["last_hidden_state"])
        graph.node.extend([node, rename])
        kind = onnx.TensorProto.FLOAT
        pair = [
            onnx.helper.make_tensor_value_info(name, kind, None)
            for name in ("pooler_output", "last_hidden_state")
        ]
        del graph.output[:]
        graph.output.extend(pair)

    changed(folder, two_outputs)

    (vector,) = LocalEmbedder(f"local:{folder}").embed(["tea"])

    wanted = table[[2, 4, 3]].mean(0)
    assert vector == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-5)


def test_a_network_that_wants_a_picture_is_named(tmp_path: Path, table: Any) -> None:
    folder = model_in(tmp_path / "tiny", table)
    picture = onnx.helper.make_tensor_value_info("pixel_values", onnx.TensorProto.FLOAT, [1])
    changed(folder, lambda graph: graph.input.append(picture))

    with pytest.raises(ModelError, match="wants input_ids, pixel_values; known are"):
        LocalEmbedder(f"local:{folder}").embed(["tea"])


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "needs Dense"),
        ("1_Pooling/config.json", {"pooling_mode": "weightedmean"}, "pools by weightedmean"),
        (
            "1_Pooling/config.json",
            {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
            "cls and mean",
        ),
    ],
    ids=["a step more", "another pooling", "two poolings"],
)
def test_what_would_make_other_vectors_is_refused(
    tmp_path: Path, table: Any, name: str, settings: Any, told: str
) -> None:
    folder = model_in(tmp_path / "tiny", table)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(settings))

    with pytest.raises(ModelError, match=f"{told}.*MEMORY_EMBEDDING_MODEL"):
        LocalEmbedder(f"local:{folder}").embed(["tea"])


def test_no_part_of_a_text_is_longer_than_the_model_reads(tmp_path: Path, table: Any) -> None:
    """Before it is loaded as well: what is cut then stays cut."""
    folder = model_in(tmp_path / "tiny", table)
    configured(folder, "sentence_bert_config.json", max_seq_length=8)
    configured(folder, "config_sentence_transformers.json", prompts={"passage": "query tea "})

    parts = LocalEmbedder(f"local:{folder}").pieces("tea " * 40, 800)

    assert max(len(part.split()) for part in parts) == 8 - 2 - 2


def test_folders_of_one_name_are_two_models(tmp_path: Path, table: Any) -> None:
    names = {
        LocalEmbedder(f"local:{model_in(tmp_path / place / 'onnx', table)}").name
        for place in ("one", "two")
    }

    assert len(names) == 2


def test_a_model_put_in_anothers_place_makes_its_own_vectors(
    service_of: Callable[..., Service], tmp_path: Path, table: Any
) -> None:
    """Whether they are as wide or not: vectors of two models do not mix."""
    for kept, weights in ((1, table), (2, table[:, :8]), (3, table[:, 8:])):
        folder = model_in(tmp_path / "tiny", weights)
        with service_of("ana", MEMORY_EMBEDDING_MODEL=f"local:{folder}") as service:
            service.memorize(f"ana likes tea, and {kept} of them")
            assert service.settle(60)

            assert service.recall("ana likes tea?").degraded == ()
            done = [(one.dimension, one.done) for one in service.stats().embedders]
            assert (weights.shape[1], kept) in done
            assert len(done) == kept


def test_the_former_model_answers_until_the_new_one_has_caught_up(
    service_of: Callable[..., Service], tmp_path: Path, table: Any
) -> None:
    with service_of("ana", MEMORY_EMBEDDING_MODEL=f"local:{copied(tmp_path / 'one')}") as service:
        service.memorize_many(TEXTS)
        assert service.settle(60)
    new = model_in(tmp_path / "two", table)
    service = service_of("ana", resident=False, MEMORY_EMBEDDING_MODEL=f"local:{new}")

    answer = service.recall("Where is the kitten?")

    assert answer.hits[0].memory.content == TEXTS[0]
    assert answer.degraded == ()


def test_one_model_serves_all_kins_of_a_process(tmp_path: Path, table: Any) -> None:
    name, settings = f"local:{model_in(tmp_path / 'tiny', table)}", load({}, environment={})

    assert embedder_named(name, settings) is embedder_named(name, settings)
    assert embedder_named("builtin", settings) is embedder_named("builtin", settings)


def test_a_width_that_the_model_does_not_have_is_a_fault(tmp_path: Path, table: Any) -> None:
    name = f"local:{model_in(tmp_path / 'tiny', table)}"
    chosen = load({"MEMORY_EMBEDDING_MODEL": name, "MEMORY_EMBEDDING_DIMENSION": 8}, environment={})

    with pytest.raises(ModelError, match="16 numbers instead of 8"):
        embedder_named(name, chosen).embed(["tea"])


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    with pytest.raises(ModelError, match=r"pip install 'kinmem\[local\]'.*name a folder"):
        LocalEmbedder("local").embed(["tea"])


DOCTOR = """
import sys
from kinmem.cli import doctor, main
doctor.self_test = lambda: iter(())  # it starts a server, which tests/cli/test_doctor.py shows
sys.exit(main(sys.argv[1:]))
"""


def doctor(home: Path, hub: Path, *words: str, **settings: str) -> tuple[int, Any, str]:
    """In a process of its own, with a hub that refuses connections."""
    told = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(hub), "KINMEM_HOME": str(home)}
    ran = subprocess.run(
        [sys.executable, "-c", DOCTOR, "doctor", "--json", *words],
        env={**os.environ, **told, **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )
    checks = {check["name"]: check for check in reversed(json.loads(ran.stdout)["checks"])}
    return ran.returncode, checks, ran.stderr


def test_a_hub_that_is_away_is_told_in_one_line(home: Path, tmp_path: Path) -> None:
    code, checks, noise = doctor(home, tmp_path, "--online", MEMORY_EMBEDDING_MODEL="local")

    assert (code, noise) == (1, "")
    assert re.search(
        f"{DEFAULT}.* hub .*folder.*MEMORY_EMBEDDING_MODEL", checks["embedder"]["told"]
    )
    assert "finds by words" in checks["embedder"]["remedy"]


def test_what_was_downloaded_once_is_loaded_and_nobody_is_asked(home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "hub/models--ana--mini"
    copied(copy / "snapshots" / ("0" * 40) / "onnx")
    (copy / "snapshots" / ("0" * 40) / "onnx/tokenizer.json").rename(
        copy / "snapshots" / ("0" * 40) / "tokenizer.json"
    )
    (copy / "refs").mkdir()
    (copy / "refs/main").write_text("0" * 40)

    code, checks, _ = doctor(home, tmp_path, MEMORY_EMBEDDING_MODEL="local:ana/mini")

    assert code == 0
    assert checks["embedder"]["told"].startswith("local:ana/mini, 384 wide, loaded")


def test_doctor_says_which_cross_encoder_is_loaded(home: Path, tmp_path: Path) -> None:
    folder = model_in(tmp_path / "cross", np.ones((len(WORDS), 1)), scores=True)

    code, checks, _ = doctor(home, tmp_path, MEMORY_RERANK_MODEL=f"local:{folder}")

    assert code == 0
    assert f"local:{folder}#" in checks["re-ranking"]["told"]
    code, checks, _ = doctor(home, tmp_path, MEMORY_RERANK_MODEL=f"local:{folder}/none")
    assert code == 1
    assert f"there is no folder {folder}/none" in checks["re-ranking"]["told"]


@pytest.mark.parametrize(("weight", "score"), [(-1e6, 0.0), (1e6, 1.0)])
def test_a_score_beyond_all_measure_is_a_score(tmp_path: Path, weight: float, score: float) -> None:
    folder = model_in(tmp_path / "cross", np.full((len(WORDS), 1), weight), scores=True)

    assert LocalReranker(f"local:{folder}").scores("ana", ["tea"]) == pytest.approx([score])


def test_a_long_question_leaves_room_for_the_text(tmp_path: Path) -> None:
    weights = np.zeros((len(WORDS), 1))
    weights[[4, 5]] = [[1.0], [100.0]]  # tea, coffee
    folder = model_in(tmp_path / "cross", weights, scores=True)
    configured(folder, "sentence_bert_config.json", max_seq_length=11)

    (score,) = LocalReranker(f"local:{folder}").scores("tea " * 50, ["ana " * 3 + "tea coffee"])

    assert score == pytest.approx(1 / (1 + math.exp(-5)))


@pytest.mark.parametrize(("again", "second"), [(None, "away"), (0.0, "here"), (60.0, "away")])
def test_a_hub_that_was_away_is_asked_once_more(again: float | None, second: str) -> None:
    asked = []

    def ask() -> str:
        asked.append(1)
        if len(asked) == 1:
            raise ModelError("away")
        return "here"

    hub = Once("asking", ask, again)
    with pytest.raises(ModelError, match="away"):
        hub.get()

    if second == "here":
        assert hub.get() == "here"
    else:
        with pytest.raises(ModelError, match="away"):
            hub.get()
        assert len(asked) == 1


def test_a_model_that_takes_all_texts_for_one_is_not_calibrated(tmp_path: Path, table: Any) -> None:
    """Ten words know none of ours; and recall divides by what lies between noise and near."""
    folder = model_in(tmp_path / "tiny", table)
    embedder = LocalEmbedder(f"local:{folder}")
    embedder.warm()

    assert embedder.ready
    assert not embedder.calibration.measured
    assert embedder.calibration.noise < embedder.calibration.near


def test_which_cross_encoder_has_to_be_said() -> None:
    with pytest.raises(ConfigError, match="say which: local:/the/folder"):
        chat_models(load({"MEMORY_RERANK_MODEL": "local"}, environment={}))
