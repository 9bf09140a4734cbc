"""Writes kinmem/llm/e5: the words, the tokenizer, the network in 8 bits, judge.json."""

import json
import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]
from tokenizers import Tokenizer

from kinmem.llm.naming import TAGS
from scripts import build_model as bert
from scripts.judge.examples import LABELS, Row

LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "o": "attention.output.dense",
    "n1": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "n2": "output.LayerNorm",
}
OPSET = 17
LONGEST = 160
"""Word pieces that the network has places for."""
TEMPERATURES = np.geomspace(0.5, 3.0, 60)
READ = (2, 4, 6)
"""States of the encoder from which names are read, by the layers behind which they stand: the last
one alone has forgotten much of what a word looks like."""
OWN = re.compile(r"own\.\w+\.(?P<layer>\d+)\.(?P<part>\w+)\.weight")
RANK = 16
"""Of what a head's own layers add to the matrices that all share; their biases and norms are the
shared ones. Of two layers whose every weight had learned, this much answers as many questions (167
of 254 first, 166 so) and needs 0.2 instead of 3.5 MB."""
CORRECTED_FOR = "answers"
"""The head that has layers for itself."""
Weights = Mapping[str, np.ndarray]


def write_words(words: np.ndarray, tokenizer: Tokenizer, folder: Path) -> None:
    """Each row in 8 bits with a scale of its own; words.npy is mapped, not read."""
    scales = np.abs(words).max(1) / 127
    rounded = np.round(words / np.maximum(scales, 1e-9)[:, None]).astype(np.int8)
    np.save(folder / "words.npy", rounded)
    np.save(folder / "scales.npy", scales.astype(np.float32))
    pieces = json.loads(tokenizer.to_str())["model"]["vocab"]
    told = "\n".join(piece for piece, _ in pieces)
    (folder / "pieces.txt").write_text(told, encoding="utf-8", newline="\n")
    np.save(folder / "scores.npy", np.array([score for _, score in pieces]))


def write_network(
    weights: Weights, layers: int, path: Path, heads: Collection[str] = tuple(LABELS)
) -> None:
    """Names are read as well if the weights hold that head."""
    full = path.with_suffix(".fp32.onnx")
    onnx.save(network(weights, layers, heads), full)
    logging.disable(logging.WARNING)  # it recommends a step that changes nothing here
    quantize_dynamic(full, path, per_channel=True, weight_type=QuantType.QInt8)
    logging.disable(logging.NOTSET)
    full.unlink()


def network(weights: Weights, layers: int, heads: Collection[str]) -> onnx.ModelProto:
    """From the vectors of the words of one text to the logits of these heads, and of the tag of
    each piece."""
    graph = bert.Graph()
    zero = graph.integers(0)
    states = encoded(graph, weights, layers)
    hidden = states[-1]
    first = graph.op("Squeeze", graph.op("Gather", hidden, zero, axis=1), graph.integers(1))
    mean = graph.op("ReduceMean", hidden, axes=[1], keepdims=0)
    read = graph.op("Concat", first, mean, axis=1)
    made = {}
    for head in heads:
        graph.op("Squeeze", _head(graph, weights, head, read), zero, output=head)
        made[head] = [len(LABELS[head])]
    if "names.wide.weight" in weights:
        known = graph.op("Concat", *(states[layer] for layer in READ), axis=2)
        wide = bert.gelu(graph, bert.dense(graph, weights, "names.wide", known))
        graph.op("Squeeze", bert.dense(graph, weights, "names.tags", wide), zero, output="names")
        made["names"] = ["t", len(TAGS)]
    return _model(graph, made)


def encoded(graph: bert.Graph, weights: Weights, layers: int) -> list[str]:
    """From the vectors of words to what each layer makes of them, with an axis of one text; the
    first is what goes into the layers."""
    zero, one = graph.integers(0), graph.integers(1)
    length = graph.op("Slice", graph.op("Shape", "words"), zero, one)
    where = graph.constant("positions", weights["positions"][:LONGEST] + weights["kind"])
    hidden = graph.op("Add", "words", graph.op("Slice", where, zero, length, zero))
    hidden = graph.op("Unsqueeze", bert.normed(graph, weights, "norm", hidden), zero)
    named, states = _named(weights, layers), [hidden]
    for layer in range(layers):
        name = f"encoder.layer.{layer}."
        hidden = bert.attention(graph, named, name + "attention.", hidden, graph.number(0.0))
        hidden = bert.feed_forward(graph, named, name, hidden)
        states.append(hidden)
    return states


def _named(weights: Weights, layers: int) -> dict[str, np.ndarray]:
    """The layers by BERT's names, with the corrections of one head that has layers for itself."""
    named = {
        f"encoder.layer.{layer}.{theirs}.{part}": weights[f"layers.{layer}.{ours}.{part}"]
        for layer in range(layers)
        for ours, theirs in LAYER.items()
        for part in ("weight", "bias")
    }
    for name, matrix in weights.items():
        known = OWN.match(name)
        if known and matrix.ndim == 2:
            layer, ours = layers - _own(weights) + int(known["layer"]), known["part"]
            more = matrix - weights[f"layers.{layer}.{ours}.weight"]
            below = f"encoder.layer.{layer}.{LAYER[ours]}"
            named[f"{below}.down"], named[f"{below}.up"] = _small(more)
    return named


def _own(weights: Weights) -> int:
    """How many layers a head has for itself."""
    return len({known["layer"] for name in weights if (known := OWN.match(name))})


def _small(difference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two matrices of rank RANK whose product is nearest to this one (outputs, inputs), turned."""
    up, sizes, down = np.linalg.svd(difference, full_matrices=False)
    each = np.sqrt(sizes[:RANK])
    return down[:RANK].T * each, (up[:, :RANK] * each).T


def _head(graph: bert.Graph, weights: Weights, head: str, read: str) -> str:
    wide = bert.dense(graph, weights, f"heads.{head}.1", read)
    return bert.dense(graph, weights, f"heads.{head}.3", bert.gelu(graph, wide))


def _model(graph: bert.Graph, outputs: Mapping[str, Sequence[int | str]]) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info("words", TensorProto.FLOAT, ["t", bert.WIDTH])]
    if any(bert.CORRECTED in node.input for node in graph.nodes):
        inputs.append(helper.make_tensor_value_info(bert.CORRECTED, TensorProto.FLOAT, []))
    logits = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in outputs.items()
    ]
    made = helper.make_graph(graph.nodes, "judge", inputs, logits, list(graph.constants.values()))
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def write_labels(temperatures: Mapping[str, float], folder: Path) -> None:
    told: dict[str, Any] = {"labels": LABELS, "temperatures": temperatures, "names": TAGS}
    told["corrected"] = CORRECTED_FOR
    (folder / "judge.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def temperatures(folder: Path) -> dict[str, float]:
    """Of each head, as they were written."""
    told = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
    return dict(told["temperatures"])


def fitted(logits: Callable[[Row], np.ndarray], rows: Sequence[Row]) -> dict[str, float]:
    """For each head the temperature under which its validation rows are likeliest."""
    found = {}
    for head in {row.head: None for row in rows}:
        of_head = [row for row in rows if row.head == head]
        scores = np.array([logits(row) for row in of_head])
        wanted = np.array([row.label for row in of_head])
        found[head] = round(float(min(TEMPERATURES, key=lambda t: _loss(scores / t, wanted))), 3)
    return found


def _loss(logits: np.ndarray, wanted: np.ndarray) -> float:
    """Cross-entropy, the mean of the rows."""
    highest = logits.max(1, keepdims=True)
    total = np.log(np.exp(logits - highest).sum(1)) + highest[:, 0]
    return float((total - logits[np.arange(len(wanted)), wanted]).mean())
