"""Trains the head that tells whom and what a text names, on the finished encoder.

The encoder stays as it is: training/names is too small to teach it, and the other heads rest on it.
The head reads each piece of a word as READ know it; its tags are those of kinmem/llm/naming.py.
"""

import json
import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from kinmem.language.relations import TIMES
from kinmem.llm.builtin import BuiltinJudge
from kinmem.llm.naming import TAGS, TYPES, Span, words_of
from scripts.judge.examples import FOLDER, VALIDATION
from scripts.judge.export import READ
from scripts.judge.network import WIDTH, Judge

INNER = 192
DROPPED = 0.3
EPOCHS = 6
SIZE = 256
"""Pieces in a batch."""
RATE = 1.5e-3
CAPITALS = frozenset({"en", "fr", "es", "it", "pt"})
"""Languages in which a capital within a sentence makes a name."""
OVERHEARD = 800
LONGEST = 140
"""Characters of a text from elsewhere."""
RUN = re.compile(r"[A-ZÀ-Þ][\w-]*(?: [A-ZÀ-Þ][\w-]*)*")
TOLD = 32
"""Texts that the encoder reads at once."""
HELD = 5
"""Every fifth line of a batch is for validation."""
SWAPPED = 2
"""How often a text is told again with names of other lines."""
PADDING = 1
CHANCES = (0.0, 0.5, 0.7, 0.8, 0.9)
"""From which a name counts, in the table; SURE in naming.py is one of them."""


@dataclass(frozen=True)
class Text:
    text: str
    names: tuple[tuple[Span, str], ...]
    language: str
    weight: float = 1.0


def texts() -> tuple[list[Text], list[Text]]:
    """What is trained on, and what is not."""
    trained, held = list[Text](), list[Text]()
    for path in sorted((FOLDER / "names").glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            told = json.loads(line)
            found = tuple(_placed(told["text"], told["names"]))
            one = Text(told["text"], found, told.get("lang", "en"))
            (held if number % HELD == HELD - 1 else trained).append(one)
    return trained, held


def _placed(text: str, names: Sequence[dict[str, str]]) -> Iterator[tuple[Span, str]]:
    """Where each name stands; one that is told twice stands twice."""
    taken = 0
    for one in sorted(names, key=lambda one: text.find(one["name"])):
        start = max(text.find(one["name"], taken), text.find(one["name"]))
        if start >= 0:
            taken = start + len(one["name"])
            yield (start, taken), one["type"]


def overheard(chance: random.Random) -> list[Text]:
    """Texts of other heads, where capitals tell what is a name, not of what type.

    Not of languages that write nouns with capitals, or nothing. Where a capital says little, at the
    beginning of a sentence and in abbreviations, the type is DOUBTFUL.
    """
    told = dict[str, Text]()
    for language, text in _other_texts():
        if language in CAPITALS and 20 < len(text) < LONGEST:
            told.setdefault(text, Text(text, tuple(_capitals(text)), language, 0.5))
    known = list(told.values())
    return chance.sample(known, min(OVERHEARD, len(known)))


def _other_texts() -> Iterator[tuple[str, str]]:
    for folder, parts in (("cards", ("memory", "replaces")), ("pairs", ("old", "new"))):
        for path in sorted((FOLDER / folder).glob("*.jsonl")):
            if path.stem in VALIDATION:
                continue
            for line in path.read_text(encoding="utf-8").splitlines():
                told = json.loads(line)
                for part in parts:
                    for text in [told[part]] if isinstance(told[part], str) else told[part]:
                        yield told.get("lang", "en"), text


ANY, DOUBTFUL = "any", "doubtful"
"""Instead of a type: a name of any type; nothing is known."""


def _capitals(text: str) -> Iterator[tuple[Span, str]]:
    for run in RUN.finditer(text):
        first = run[0].split()[0]
        before = text[: run.start()].rstrip()
        if run[0] == "I" or first.casefold() in TIMES:
            continue
        begins = not before or not before[-1].isalnum() and before[-1] != ","
        yield run.span(), DOUBTFUL if begins or run[0].isupper() else ANY


def lowered(one: Text) -> Text | None:
    """As somebody writes it who uses no capitals; None if that is the same."""
    small = one.text.lower()
    same = small == one.text or len(small) != len(one.text)
    return None if same else replace(one, text=small, weight=0.7 * one.weight)


def _told_again(known: Sequence[Text], chance: random.Random) -> Iterator[Text]:
    """Each text, without capitals, and with other names of the same types and kind of writing."""
    others = {
        (type, writing == "zh"): list(names)
        for writing, types in json.loads(
            (FOLDER / "names" / "known.json").read_text("utf-8")
        ).items()
        for type, names in types.items()
    }
    for one in known:
        for (start, end), type in one.names:
            others.setdefault((type, one.language == "zh"), []).append(one.text[start:end])
    yield from _as_well(known)
    for one in known:
        for number in range(SWAPPED if one.names else 0):
            swapped = _swapped(one, others, chance)
            yield (lowered(swapped) or swapped) if number == 0 else swapped


def _as_well(known: Sequence[Text]) -> Iterator[Text]:
    for one in known:
        yield one
        if small := lowered(one):
            yield small


def _swapped(one: Text, others: dict[tuple[str, bool], list[str]], chance: random.Random) -> Text:
    text, at, names = "", 0, []
    for (start, end), type in sorted(one.names):
        text += one.text[at:start]
        name = chance.choice(others[type, one.language == "zh"])
        names.append(((len(text), len(text) + len(name)), type))
        text, at = text + name, end
    return replace(one, text=text + one.text[at:], names=tuple(names), weight=0.5)


def tags(text: str, offsets: Sequence[Span], names: Sequence[tuple[Span, str]]) -> list[int]:
    """For each piece the row of ALLOWED for its word; -1 for those that are no part of a word."""
    belongs, words = words_of(text, offsets)
    of_words = [0] * len(words)
    for (start, end), type in names:
        inside = False
        for at, (first, last) in enumerate(words):
            if 2 * (min(last, end) - max(first, start)) > last - first:
                of_words[at] = TAG[type] + inside
                inside = True
    return [of_words[word] if word >= 0 else -1 for word in belongs]


TAG = {type: 1 + 2 * at for at, type in enumerate(TYPES)}
TAG |= {ANY: len(TAGS), DOUBTFUL: len(TAGS) + 2}
ALLOWED = torch.zeros(len(TAGS) + 4, len(TAGS), dtype=torch.bool)
"""Which tags a piece may have: a certain one, any beginning, any inside, all, all."""
ALLOWED[: len(TAGS)] = torch.eye(len(TAGS))
ALLOWED[len(TAGS), 1::2] = ALLOWED[len(TAGS) + 1, 2::2] = ALLOWED[len(TAGS) + 2 :] = True


class Names(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Linear(len(READ) * WIDTH, INNER)
        self.tags = nn.Linear(INNER, len(TAGS))
        self.drop = nn.Dropout(DROPPED)

    def forward(self, known: Tensor) -> Tensor:
        logits: Tensor = self.tags(self.drop(functional.gelu(self.wide(self.drop(known)))))
        return logits


def train_names(judge: Judge, tokenizer: Tokenizer, known: Sequence[Text], seed: int) -> Names:
    """Takes a few minutes on one core."""
    torch.manual_seed(seed)
    chance = random.Random(seed)
    told = [*_told_again(known, chance), *_as_well(overheard(chance))]
    read, wanted, weights = [], list[int](), list[float]()
    for one, (states, offsets) in zip(told, _states(judge, tokenizer, told), strict=True):
        found = tags(one.text, offsets, one.names)
        kept = [at for at, tag in enumerate(found) if tag >= 0]
        read.append(states[kept])
        wanted += [found[at] for at in kept]
        weights += [one.weight] * len(kept)
    return _fitted(torch.cat(read), torch.tensor(wanted), torch.tensor(weights))


def _states(
    judge: Judge, tokenizer: Tokenizer, told: Sequence[Text]
) -> list[tuple[Tensor, list[Span]]]:
    """Of each text what the encoder knows of its pieces, and where they stand."""
    judge.eval()
    found: dict[int, tuple[Tensor, list[Span]]] = {}
    order = sorted(range(len(told)), key=lambda at: len(told[at].text))
    for first in range(0, len(order), TOLD):
        part = order[first : first + TOLD]
        read = [tokenizer.encode(told[at].text) for at in part]
        longest = max(len(one.ids) for one in read)
        ids = [one.ids + [PADDING] * (longest - len(one.ids)) for one in read]
        present = [[1.0] * len(one.ids) + [0.0] * (longest - len(one.ids)) for one in read]
        with torch.no_grad():
            states = judge.states(torch.tensor(ids), torch.tensor(present))
        known = torch.cat([states[layer] for layer in READ], 2)
        for at, one, row in zip(part, read, known, strict=True):
            found[at] = row[: len(one.ids)].clone(), one.offsets
    return [found[at] for at in range(len(told))]


def _fitted(read: Tensor, wanted: Tensor, weights: Tensor) -> Names:
    """The states are brought to one scale for training; the first layer takes that over."""
    mean, scale = read.mean(0), read.std(0) + 1e-5
    read.sub_(mean).div_(scale)
    head = Names()
    optimiser = torch.optim.AdamW(head.parameters(), weight_decay=0.05)
    steps, step = EPOCHS * (len(read) // SIZE), 0
    for _ in range(EPOCHS):
        order = torch.randperm(len(read))
        for first in range(0, len(read) - SIZE + 1, SIZE):
            for group in optimiser.param_groups:
                group["lr"] = RATE * (1 - step / steps)
            at = order[first : first + SIZE]
            chances = head(read[at]).log_softmax(1)
            each = -chances.masked_fill(~ALLOWED[wanted[at]], -math.inf).logsumexp(1)
            optimiser.zero_grad()
            (each * weights[at]).mean().backward()
            optimiser.step()
            step += 1
    with torch.no_grad():
        head.wide.weight.div_(scale)
        head.wide.bias.sub_(head.wide.weight @ mean)
    return head.eval()


def weights_of(head: Names) -> dict[str, np.ndarray]:
    """By the names that export.py reads."""
    return {f"names.{name}": value.numpy() for name, value in head.state_dict().items()}


def table(held: Sequence[Text], judge: BuiltinJudge) -> str:
    """How well the shipped judge names, in Markdown: as it is written, and without capitals."""
    lines = ["| names | sure | texts | precision | recall | type right |", "| --- " * 6 + "|"]
    small = [one for one in map(lowered, held) if one]
    for title, known in (("as written", held), ("no capitals", small)):
        for sure in CHANCES:
            named = right = typed = 0
            for one in known:
                wanted = dict(one.names)
                for _, found in judge.found(one.text, sure=sure):
                    named += len(found)
                    right += sum(span in wanted for span, _, _ in found)
                    typed += sum(wanted.get(span) == type for span, type, _ in found)
            total = sum(len(one.names) for one in known)
            shares = (right / max(1, named), right / total, typed / max(1, right))
            told = " | ".join(f"{share:.3f}" for share in shares)
            lines.append(f"| {title} | {sure} | {len(known)} | {told} |")
    return "\n".join(lines)
