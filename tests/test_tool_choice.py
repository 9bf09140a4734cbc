"""Whether what the tools say of themselves leads to the right one."""

import os
from typing import Literal

import pytest
from pydantic import BaseModel

from benchmarks.tool_choice import LEAST, chosen, requests
from kinmem.mcp.tools import tools
from kinmem.settings import load
from kinmem.wiring.open_memory import chat_model

MODEL = os.environ.get("KINMEM_MODEL")
"""Read here: no test has settings from outside."""
LEAST_BY_MODEL = 54


class Choice(BaseModel):
    """The tool that a model takes."""

    tool: Literal[
        "recall", "memorize", "update_memory", "forget", "list_memories", "review_memories"
    ]


@pytest.mark.parametrize(("half", "count"), [("held", 60), ("development", 30)])
def test_key_words_of_a_request_lead_to_its_tool(half: str, count: int) -> None:
    asked = requests(half)

    assert len(asked) == count
    assert sum(chosen(request) == tool for request, tool in asked) >= LEAST[half]


def test_each_description_is_short() -> None:
    assert all(len(tool.description or "") < 280 for tool in tools() if tool.listed)


@pytest.mark.live
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not MODEL, reason="KINMEM_MODEL names no model")
def test_a_model_takes_the_tool_that_is_meant() -> None:
    model = chat_model(str(MODEL), load())
    described = "\n".join(f"{tool.name}: {tool.description}" for tool in tools() if tool.listed)
    asked = requests("held")
    wrong = [
        (request, tool, taken.tool)
        for request, tool in asked
        if (taken := model.answer(f"{ASKED}\n\n{described}\n\nRequest: {request}", Choice)).tool
        != tool
    ]

    assert len(wrong) <= len(asked) - LEAST_BY_MODEL, wrong


ASKED = "You are an assistant with these tools. Which one do you call first for the request?"
