"""The judge in the package as a network that learns on: its 8-bit matrices, multiplied out.

What rounding to 8 bits took away does not come back; training on for a few steps makes up for it.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer

from scripts.judge.e5 import Base
from scripts.judge.examples import LABELS
from scripts.judge.export import LAYER
from scripts.judge.network import Judge

PLACES = 512


def shipped(folder: Path, layers: int) -> tuple[Judge, Tokenizer]:
    """What export.py wrote, with four heads; that of names is trained anew each time."""
    weights = _weights(folder / "judge.onnx")
    scales = np.load(folder / "scales.npy")[:, None]
    words = np.load(folder / "words.npy").astype(np.float32) * scales
    judge = Judge(_base(weights, words, layers))
    for head in LABELS:
        for part in (1, 3):
            name = f"heads.{head}.{part}"
            dense = judge.heads[head][part]  # type: ignore[index]
            dense.weight.data = torch.tensor(weights[f"{name}.weight"])
            dense.bias.data = torch.tensor(weights[f"{name}.bias"])
    return judge, Tokenizer.from_file(str(folder / "tokenizer.json"))


def _base(weights: dict[str, np.ndarray], words: np.ndarray, layers: int) -> Base:
    """The file holds positions and kind as one sum."""
    positions = np.zeros((PLACES, words.shape[1]), np.float32)
    positions[: len(weights["positions"])] = weights["positions"]
    norm = {part: weights[f"norm.{part}"] for part in ("weight", "bias")}
    found = [dict(_layer(weights, layer)) for layer in range(layers)]
    return Base(None, words, positions, np.zeros(words.shape[1], np.float32), norm, found)


def _layer(weights: dict[str, np.ndarray], layer: int) -> Iterator[tuple[str, np.ndarray]]:
    for ours, theirs in LAYER.items():
        for part in ("weight", "bias"):
            yield f"{ours}.{part}", weights[f"encoder.layer.{layer}.{theirs}.{part}"]


def _weights(path: Path) -> dict[str, np.ndarray]:
    """By the names they were written under; matrices as (outputs, inputs)."""
    kept = {one.name: numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}
    found = {name: values for name, values in kept.items() if values.dtype == np.float32}
    for name, values in kept.items():
        if name.endswith("_quantized"):
            of = name.removesuffix("_quantized")
            less = kept[of + "_zero_point"].astype(np.float32)
            found[of] = ((values.astype(np.float32) - less) * kept[of + "_scale"]).T.copy()
    return found
