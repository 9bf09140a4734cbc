"""Answers in the shape of each provider, as its documentation gives them in November 2026."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.llm.fault_provider import MODES, FaultProvider, Reply

Rows = list[list[float]]
Scored = Sequence[tuple[Any, Any]]
"""Index and relevance, as a provider gives them."""


def numbered(rows: Rows) -> list[dict[str, Any]]:
    return [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]


def openai(rows: Rows) -> dict[str, Any]:
    usage = {"prompt_tokens": 2, "total_tokens": 2}
    return {"object": "list", "data": numbered(rows), "model": "m", "usage": usage}


def voyage(rows: Rows) -> dict[str, Any]:
    return {**openai(rows), "usage": {"total_tokens": 2}}


def mistral(rows: Rows) -> dict[str, Any]:
    return {**openai(rows), "id": "b5c7"}


def together(rows: Rows) -> dict[str, Any]:
    return {"object": "list", "model": "m", "data": numbered(rows)}


def openrouter(rows: Rows) -> dict[str, Any]:
    return {**openai(rows), "id": "gen-1", "provider": "OpenAI"}


def cohere(rows: Rows) -> dict[str, Any]:
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 2}}
    return {
        "id": "54910170",
        "embeddings": {"float": rows},
        "texts": ["", ""],
        "meta": meta,
        "response_type": "embeddings_by_type",
    }


def ollama(rows: Rows) -> dict[str, Any]:
    return {
        "model": "m",
        "embeddings": rows,
        "total_duration": 14143917,
        "load_duration": 1019500,
        "prompt_eval_count": 8,
    }


def nomic(rows: Rows) -> dict[str, Any]:
    usage = {"prompt_tokens": 2, "total_tokens": 2}
    return {"embeddings": rows, "model": "m", "usage": usage}


def _results(scored: Scored) -> list[dict[str, Any]]:
    return [{"index": index, "relevance_score": score} for index, score in scored]


def cohere_scores(scored: Scored) -> dict[str, Any]:
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return {"id": "07734bd2", "results": _results(scored), "meta": meta}


def jina_scores(scored: Scored) -> dict[str, Any]:
    return {"model": "m", "usage": {"total_tokens": 815}, "results": _results(scored)}


def voyage_scores(scored: Scored) -> dict[str, Any]:
    usage = {"total_tokens": 26}
    return {"object": "list", "data": _results(scored), "model": "m", "usage": usage}


class ShapedProvider(FaultProvider):
    """Answers whatever is asked with `say`, unless the address or `mode` names a fault."""

    def __init__(self, say: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        super().__init__()
        self._say = say
        self.mode = "ok"

    def answer(self, mode: str, reply: Reply, body: dict[str, Any]) -> None:
        fault = mode if mode in MODES else self.mode
        if fault == "ok":
            reply.send(200, json.dumps(self._say(body)).encode())
        else:
            MODES[fault](reply, body.get("input") or body.get("texts") or [])
