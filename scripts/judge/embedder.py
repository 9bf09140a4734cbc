"""Writes kinmem/llm/e5/embedder.onnx: all of E5 in 8 bits, the mean over the words of a text."""

import logging
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]

from scripts import build_model as bert
from scripts.judge.e5 import Base
from scripts.judge.export import OPSET, Weights, encoded

LAYERS = 12


def write_embedder(base: Base, folder: Path) -> None:
    full = folder / "embedder.fp32.onnx"
    onnx.save(network(weights_of(base)), full)
    logging.disable(logging.WARNING)  # it recommends a step that changes nothing here
    quantize_dynamic(full, folder / "embedder.onnx", per_channel=True, weight_type=QuantType.QInt8)
    logging.disable(logging.NOTSET)
    full.unlink()


def weights_of(base: Base) -> Weights:
    """By the names that a trained judge has."""
    found = {"positions": base.positions, "kind": base.kind}
    found |= {f"norm.{part}": value for part, value in base.norm.items()}
    for number, layer in enumerate(base.layers):
        found |= {f"layers.{number}.{name}": value for name, value in layer.items()}
    return found


def network(weights: Weights) -> onnx.ModelProto:
    """From the vectors of the words of one text to its vector, of unit length."""
    graph = bert.Graph()
    hidden = encoded(graph, weights, LAYERS)[-1]
    mean = graph.op("ReduceMean", hidden, axes=[0, 1], keepdims=0)
    length = graph.op("ReduceL2", mean, axes=[0], keepdims=1)
    graph.op("Div", mean, length, output="vector")
    words = helper.make_tensor_value_info("words", TensorProto.FLOAT, ["t", bert.WIDTH])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [bert.WIDTH])
    made = helper.make_graph(
        graph.nodes, "embedder", [words], [vector], list(graph.constants.values())
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model
