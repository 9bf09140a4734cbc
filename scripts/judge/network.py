"""The network that is trained: six layers of E5 over one text or two, and four heads, one of which
has its last layers for itself."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from scripts.judge.e5 import Base
from scripts.judge.examples import LABELS

WIDTH, HEADS, INNER = 384, 12, 1536
DROPPED = 0.1
NONE: Mapping[str, int] = MappingProxyType({})


class Layer(nn.Module):
    """A layer of BERT, with the norm after each half."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.f1, self.f2 = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.n1, self.n2 = (nn.LayerNorm(WIDTH, 1e-12) for _ in range(2))
        self.drop = nn.Dropout(DROPPED)

    def forward(self, hidden: Tensor, present: Tensor) -> Tensor:
        texts, length, _ = hidden.shape
        query, key, value = (
            part(hidden).view(texts, length, HEADS, -1).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        dropped = DROPPED if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=present, dropout_p=dropped
        )
        joined = self.o(mixed.transpose(1, 2).reshape(texts, length, WIDTH))
        hidden = self.n1(hidden + self.drop(joined))
        return self.n2(hidden + self.drop(self.f2(functional.gelu(self.f1(hidden)))))


class Judge(nn.Module):
    """Words stay as they are, so that an embedder can share them; all else learns."""

    def __init__(self, base: Base, own: Mapping[str, int] = NONE) -> None:
        """`own`: how many of the last layers a head has for itself; they begin as those that the
        others share, and only their matrices learn."""
        super().__init__()
        self.words = nn.Embedding.from_pretrained(torch.tensor(base.words), freeze=True)
        self.positions = nn.Parameter(torch.tensor(base.positions))
        self.kind = nn.Parameter(torch.tensor(base.kind))
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.norm.load_state_dict(_tensors(base.norm))
        self.layers = nn.ModuleList(Layer() for _ in base.layers)
        for layer, weights in zip(self.layers, base.layers, strict=True):
            layer.load_state_dict(_tensors(weights))
        self.drop = nn.Dropout(DROPPED)
        self.heads = nn.ModuleDict({head: _head(len(labels)) for head, labels in LABELS.items()})
        self.own = nn.ModuleDict(
            {
                head: nn.ModuleList(map(deepcopy, self.layers[-count:]))
                for head, count in own.items()
            }
        )
        for weight in self.own.parameters():
            weight.requires_grad = weight.ndim == 2

    def forward(self, head: str, ids: Tensor, present: Tensor) -> Tensor:
        """Logits, a row for each text. Ids: (texts, length), int64; `present`: 0 or 1."""
        return self.above(head, self.below(head, ids, present), present)

    def below(self, head: str, ids: Tensor, present: Tensor) -> Tensor:
        """What is known of each piece where the layers end that the head shares with others."""
        return self.states(ids, present)[len(self.layers) - len(self.of(head))]

    def above(self, head: str, hidden: Tensor, present: Tensor) -> Tensor:
        """The logits that the head's own layers and the head make of that. It reads the first state
        of each text and the mean of all, side by side."""
        for layer in self.of(head):
            hidden = layer(hidden, present[:, None, None, :].bool())
        mean = (hidden * present[..., None]).sum(1) / present.sum(1, keepdim=True)
        logits: Tensor = self.heads[head](torch.cat([hidden[:, 0], mean], 1))
        return logits

    def of(self, head: str) -> Sequence[nn.Module]:
        """The layers that the head has for itself."""
        return list(self.own[head]) if head in self.own else []

    def states(self, ids: Tensor, present: Tensor) -> list[Tensor]:
        """What is known of each piece before the first layer and behind each of them."""
        hidden = self.words(ids) + self.positions[: ids.shape[1]] + self.kind
        known = [self.drop(self.norm(hidden))]
        for layer in self.layers:
            known.append(layer(known[-1], present[:, None, None, :].bool()))
        return known


def _head(labels: int) -> nn.Module:
    wide = nn.Linear(2 * WIDTH, WIDTH)
    return nn.Sequential(nn.Dropout(DROPPED), wide, nn.GELU(), nn.Linear(WIDTH, labels))


def _tensors(weights: "dict[str, np.ndarray]") -> dict[str, Tensor]:
    return {name: torch.tensor(values) for name, values in weights.items()}
