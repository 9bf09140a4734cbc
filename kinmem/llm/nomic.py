"""Nomic's embeddings, which litellm does not know and which are not of OpenAI's shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """As litellm's answers are."""

    data: list[dict[str, Any]]


def embedding(
    client: Any,
    *,
    model: str,
    input: Sequence[str],
    api_base: str,
    api_key: str,
    task_type: str,
    dimensions: int | None = None,
) -> Answer:
    """Asked as litellm's function of that name is; `client` is one of httpx, and keeps the limits.

    Raises whatever httpx raises, and KeyError or ValueError for an answer that is none.
    """
    name = model.removeprefix("nomic/")
    body: dict[str, Any] = {"model": name, "texts": list(input), "task_type": task_type}
    if dimensions is not None:
        body["dimensionality"] = dimensions
    answer = client.post(
        f"{api_base}/embedding/text", json=body, headers={"Authorization": f"Bearer {api_key}"}
    )
    if answer.status_code >= 400:
        raise ValueError(answer.text)
    rows = answer.json()["embeddings"]
    return Answer([{"index": place, "embedding": row} for place, row in enumerate(rows)])
