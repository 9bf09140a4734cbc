"""Ask a model a dozen small questions for each prompt, and count the answers that will do.

    python scripts/evaluate_prompts.py --model ollama/llama3.1
    python scripts/evaluate_prompts.py --model local:qwen3 extract

The cases are scripts/prompt_cases/<prompt>.json: what is put in, what an answer must and must not
hold, and an example of a good one. Run it before and after the wording of a prompt is changed.
Exits with 1 if less than --least of the cases pass, with 2 if no model is named.
"""

import argparse
import importlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from kinmem.errors import KinmemError, ModelError
from kinmem.learn.ask import ask
from kinmem.llm.base import ChatModel
from kinmem.llm.prompts import read, render
from kinmem.llm.rerankers import ChatReranker
from kinmem.models import Memory
from kinmem.models.turns import Message
from kinmem.recall.expand import imagined, variations
from kinmem.recall.question import rewritten
from kinmem.settings import load
from kinmem.wiring.open_memory import chat_model

CASES = Path(__file__).parent / "prompt_cases"
SAID = datetime(2026, 6, 15, 12, tzinfo=UTC)
"""A Monday."""
HELPS = 0.7
"""Score of a memory that holds an answer or a part of it (prompts/rerank.md)."""

Case = Mapping[str, Any]
Answer = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Ask a model small questions for each prompt.")
    parser.add_argument("prompts", nargs="*", help="only these prompts, e.g. extract")
    parser.add_argument("--model", help="as in KINMEM_MODEL, which is the default")
    parser.add_argument("--least", type=float, default=0.75, help="share that must pass (0.75)")
    options = parser.parse_args(arguments)
    try:
        settings = load()
        name = options.model or settings.model.default
        if name is None:
            print("no model: name one with --model or KINMEM_MODEL", file=sys.stderr)
            return 2
        model = chat_model(name, settings)
    except KinmemError as error:
        print(error, file=sys.stderr)
        return 2
    passed = total = 0
    for path in sorted(CASES.glob("*.json")):
        if not options.prompts or path.stem in options.prompts:
            cases = json.loads(path.read_text(encoding="utf-8"))
            good = sum(_reported(path.stem, case, model) for case in cases)
            print(f"{path.stem}: {good} of {len(cases)} passed with {name}", flush=True)
            passed, total = passed + good, total + len(cases)
    return 0 if passed >= options.least * total else 1


def _reported(prompt: str, case: Case, model: ChatModel) -> bool:
    """Whether the case passes; a line for one that does not."""
    try:
        faults = faults_of(answer_to(prompt, case, model), case["expect"])
    except ModelError as error:
        faults = [str(error)]
    if faults:
        print(f"  failed: {case['id']}: {'; '.join(faults)}", flush=True)
    return not faults


TODAY = "Sunday, 2026-11-22"
"""Later than all that the cases tell of."""


def answer_to(prompt: str, case: Case, model: ChatModel) -> Answer:
    """What kinmem makes of the model's answer. Raises ModelError."""
    if prompt in ASKED:
        return ASKED[prompt](case, model)
    module, _, kind = read(prompt).shape.rpartition(".")
    shape: type[BaseModel] = getattr(importlib.import_module(module), kind)
    values = {"today": TODAY} if "today" in read(prompt).placeholders else {}
    values |= {
        key: value if isinstance(value, int) else _text(value)
        for key, value in case["values"].items()
    }
    return model.answer(render(prompt, **values), shape).model_dump(mode="json")


def faults_of(answer: Answer, expect: Mapping[str, Any]) -> list[str]:
    """What is wrong with it. Patterns are searched in the fields of each item, or of the answer.

    count: how many items, from and to; some: each of these fits some item; none: these fit no item.
    """
    only, *more = answer.values()
    items: list[Answer] = only if isinstance(only, list) and not more else [answer]
    least, most = expect.get("count", (0, sys.maxsize))
    faults = [] if least <= len(items) <= most else [f"{len(items)} items"]
    for wanted in expect.get("some", ()):
        if not any(_fits(item, wanted) for item in items):
            faults.append(f"nothing fits {wanted}")
    for unwanted in expect.get("none", ()):
        if any(_fits(item, unwanted) for item in items):
            faults.append(f"something fits {unwanted}")
    return faults


def _fits(item: Answer, patterns: Mapping[str, str]) -> bool:
    return all(re.search(pattern, _text(item.get(key))) for key, pattern in patterns.items())


def _text(value: Any) -> str:
    """Text as it is, a list one a line, anything else as JSON."""
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _extracted(case: Case, model: ChatModel) -> Answer:
    turn, before = (_messages(case.get(key, ()), key) for key in ("turn", "before"))
    known = [_memory(number, text) for number, text in enumerate(case.get("known", ()), start=1)]
    return {"items": [asdict(note) for note in ask(model, turn, before, known, UTC)]}


def _rewritten(case: Case, model: ChatModel) -> Answer:
    before = _messages(case["before"], "before")
    return {"question": rewritten(case["question"], before, model, TODAY)}


def _varied(case: Case, model: ChatModel) -> Answer:
    found = variations(case["question"], case["subjects"], model, TODAY)
    return {"items": [{"question": one} for one in found]}


def _imagined(case: Case, model: ChatModel) -> Answer:
    return {"answer": imagined(case["question"], model, TODAY)}


def _reranked(case: Case, model: ChatModel) -> Answer:
    """order: numbers of the memories, best first; answers: of those that hold one, rising."""
    scores = ChatReranker(model).scores(case["question"], case["memories"])
    numbers = range(1, len(scores) + 1)
    order = sorted(numbers, key=lambda number: -scores[number - 1])
    answers = [number for number in numbers if scores[number - 1] >= HELPS]
    return {"order": " ".join(map(str, order)), "answers": " ".join(map(str, answers))}


ASKED: Mapping[str, Callable[[Case, ChatModel], Answer]] = {
    "extract": _extracted,
    "rewrite": _rewritten,
    "vary": _varied,
    "imagine": _imagined,
    "rerank": _reranked,
}
"""Prompts that are asked through the code which uses them; the others need their shape alone."""


def _messages(told: Sequence[Mapping[str, Any]], turn: str) -> list[Message]:
    return [
        Message(
            session="s",
            turn=turn,
            role=one.get("role", "user"),
            speaker=one.get("who"),
            text=one["text"],
            said_at=SAID,
        )
        for one in told
    ]


def _memory(number: int, text: str) -> Memory:
    return Memory(
        id=f"known-{number}",
        kin="default",
        scope="private",
        content=text,
        category="fact",
        content_hash="",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        content_updated_at=SAID,
    )


if __name__ == "__main__":
    sys.exit(main())
