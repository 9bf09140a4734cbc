"""The judge in the package as a network that learns on: its 8-bit matrices, multiplied out.

What rounding to 8 bits took away does not come back; training on for a few steps makes up for it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import nn

from scripts.judge.e5 import Base, tokenizer_of
from scripts.judge.examples import LABELS
from scripts.judge.export import CORRECTED_FOR, LAYER
from scripts.judge.network import Judge

LAYERS = 6
"""Of judge.onnx."""
OWN = {CORRECTED_FOR: 2}
"""The last layers of judge.onnx that one head has in a form of its own. Of 254 questions about 22
worlds it puts the answer first for 166, of 80 hard ones about ten talks among the first three for
41; when it shared every layer, and had not learned the circles' questions, 133 and 24. With four
layers it learns its writers rather than questions (162 and 39)."""
PLACES = 512
LEARNED = 0.6
"""How far the weights go from what they were to what they have become. With the batches near-* and
passing-* learned, of 110 changes told in passing, at 10 % of look-alikes asked about, 27 % were
noticed before, 54 after and 48 between; of three older sets (pairs-2, groups-en-3, groups-mixed)
80, 71 and 77."""


def shipped(folder: Path) -> tuple[Judge, Tokenizer]:
    """What export.py wrote, with four heads; that of names is trained anew each time."""
    weights = _weights(folder / "judge.onnx")
    scales = np.load(folder / "scales.npy")[:, None]
    words = np.load(folder / "words.npy").astype(np.float32) * scales
    judge = Judge(_base(weights, words), OWN)
    for head in LABELS:
        for part in (1, 3):
            name = f"heads.{head}.{part}"
            dense = judge.heads[head][part]  # type: ignore[index]
            dense.weight.data = torch.tensor(weights[f"{name}.weight"])
            dense.bias.data = torch.tensor(weights[f"{name}.bias"])
    for layers in judge.own.values():
        _correct(layers, weights)  # type: ignore[arg-type]
    return judge, tokenizer_of(folder)


def _correct(layers: nn.ModuleList, weights: Mapping[str, np.ndarray]) -> None:
    """Add the corrections to the head's own layers. A file from before it had any leaves them as
    the shared ones."""
    for at, layer in enumerate(layers, LAYERS - len(layers)):
        for ours, theirs in LAYER.items():
            name = f"encoder.layer.{at}.{theirs}"
            if f"{name}.up" in weights:
                more = weights[f"{name}.up"] @ weights[f"{name}.down"]
                getattr(layer, ours).weight.data += torch.tensor(more)


def names_of(folder: Path) -> dict[str, np.ndarray]:
    """The weights of the head of names, as they were written."""
    weights = _weights(folder / "judge.onnx")
    return {name: values for name, values in weights.items() if name.startswith("names.")}


def between(former: Mapping[str, torch.Tensor], judge: Judge) -> None:
    """Bring the judge LEARNED of the way from its former weights to those it has: the mean of two
    networks that began as one keeps what each knows."""
    with torch.no_grad():
        for name, value in judge.named_parameters():
            if value.requires_grad:
                value.lerp_(former[name], 1 - LEARNED)


def _base(weights: dict[str, np.ndarray], words: np.ndarray) -> Base:
    """The file holds positions and kind as one sum."""
    positions = np.zeros((PLACES, words.shape[1]), np.float32)
    positions[: len(weights["positions"])] = weights["positions"]
    norm = {part: weights[f"norm.{part}"] for part in ("weight", "bias")}
    found = [dict(_layer(weights, layer)) for layer in range(LAYERS)]
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
