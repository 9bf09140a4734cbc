"""A chat model with scripted answers, for tests and measurements without a server."""

import json
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from pydantic import BaseModel

from kinmem.errors import ModelError, Unusable
from kinmem.llm.base import Shape
from kinmem.llm.reply import Unfit, fitted

# A reply as the model would write it, or the value that it would mean.
Reply = str | BaseModel | dict[str, Any] | list[Any]
Script = Sequence[Reply | Exception] | Callable[[str], Reply]


class ScriptedModel:
    """Implements ChatModel. A list is answered item by item; a function is called with the prompt.

    An exception in the list is raised. At the end of the list, or if a reply has the wrong shape,
    answer raises ModelError; replies are not corrected.
    """

    def __init__(self, script: Script, name: str = "scripted") -> None:
        self.name = name
        self.prompts: list[str] = []
        """The prompts it was given, in order."""
        self._script = script
        self._lock = Lock()

    def answer(self, prompt: str, shape: type[Shape], *, deadline: float | None = None) -> Shape:
        """See ChatModel. It takes no time, so `deadline` is always kept."""
        with self._lock:
            self.prompts.append(prompt)
            number = len(self.prompts)
        reply = self._line(prompt, number)
        try:
            return fitted(reply if isinstance(reply, str) else _written(reply), shape)
        except Unfit as unfit:
            raise Unusable(f"{self.name} gave no {shape.__name__} as answer {number}") from unfit

    def _line(self, prompt: str, number: int) -> Reply:
        if callable(self._script):
            return self._script(prompt)
        if number > len(self._script):
            raise ModelError(
                f"{self.name} has nothing more to say than {len(self._script)} answers"
            )
        line = self._script[number - 1]
        if isinstance(line, Exception):
            raise line
        return line


def _written(reply: BaseModel | dict[str, Any] | list[Any]) -> str:
    if isinstance(reply, BaseModel):
        return reply.model_dump_json(by_alias=True)
    return json.dumps(reply)
