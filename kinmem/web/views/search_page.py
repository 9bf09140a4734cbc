"""Search: what recall finds for a question, and every factor of each score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kinmem.models import Hit
from kinmem.web.view import Answer, Asked, Shown, View

FEW, MANY = 10, 50
LEFT_OUT = 5
Kind = Literal["added", "times", "informs"]
KINDS: dict[str, Kind] = {"+": "added", "x": "times"}


class Factor(NamedTuple):
    """One part of a score."""

    name: str
    """`why.<name>` of the catalogue."""
    kind: Kind
    value: float
    share: float
    """How long its bar is, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with its reasons."""

    hit: Hit
    factors: Sequence[Factor]


def show(asked: Asked) -> Answer:
    question = asked.given("q")
    if question is None:
        return Shown("search.html", {"question": "", "answer": None})
    is_long = asked.given("more") is not None
    answer = asked.service.recall(question, limit=MANY if is_long else FEW)
    found = [Found(hit, list(_factors(hit))) for hit in answer.hits]
    return Shown(
        "search.html",
        {
            "question": question,
            "answer": answer,
            "sure": [one for one in found if not one.hit.weak],
            "weak": [one for one in found if one.hit.weak],
            "left_out": asked.service.left_out(question, LEFT_OUT),
            "has_more": not is_long and len(found) >= FEW,
        },
    )


def _factors(hit: Hit) -> Iterator[Factor]:
    """Yield the parts of the score in order; bars of what is added compare with each other."""
    labels = hit.why
    most = max((abs(value) for label, value in labels.items() if label[0] == "+"), default=0.0)
    for label, value in labels.items():
        kind: Kind = KINDS.get(label[0], "informs")
        name = label if kind == "informs" else label[1:]
        whole = most if kind == "added" else 1.0
        share = min(1.0, abs(value) / whole) if whole else 0.0
        yield Factor(name.replace(" ", "_"), kind, value, share)


VIEW = View("search", "/search", show)
