"""Chat models of the providers that litellm knows."""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from kinmem.errors import ModelError, Unusable
from kinmem.llm.base import Shape
from kinmem.llm.deadline import Deadline
from kinmem.llm.litellm_client import LitellmClient
from kinmem.llm.reply import Unfit, fitted, schema_of
from kinmem.text import estimated_tokens

logger = logging.getLogger(__name__)

# Most bytes of one answer, thinking included. The longest that current models write is about a
# quarter of it.
LARGEST = 2 * 1024 * 1024
# Characters of a reply of the wrong shape that the model is shown again.
QUOTED = 20_000
# Context sizes to request. Ollama cuts off the beginning of a prompt that exceeds its window, which
# is 4,096 by default. Each change of size makes it load the model again, so there are few sizes.
OLLAMA_WINDOWS = (8_192, 16_384, 32_768, 65_536, 131_072)
# Tokens of the context window reserved for the answer.
ROOM = 4_096

# Comes first because it is always the same: providers charge less for a cached beginning.
FORMAT = """\
Answer with one JSON value that fits this schema, and with nothing else:
{schema}

"""

MEND = """\
That answer cannot be used: {fault}.
Answer once more, with the whole JSON value that fits the schema and with nothing else."""

# Matches the complaint of a provider that does not support the response format.
OF_FORMAT = re.compile(r"response.?format|json.?schema|json.?object|schema", re.IGNORECASE)

Messages = list[dict[str, str]]


class LitellmChat:
    """Implements ChatModel for a model by litellm's name, e.g. ollama/llama3.1.

    Without `api_base` and `api_key` litellm takes the provider's own from the environment. Each
    request is tried at most `attempts` times. After three failures in a row the provider is not
    asked for a while (see Breaker); a useless answer does not count as a failure.
    """

    def __init__(
        self,
        model: str,
        *,
        name: str | None = None,
        api_base: str | None = None,
        api_key: str | None = None,
        deadline_seconds: float = 60.0,
        attempts: int = 2,
    ) -> None:
        """`name` is what the user calls the model. Raises ConfigError for a compromised litellm."""
        self.name = name or model
        self._model = model
        self._formats: list[str] | None = None
        """Formats not refused yet, the strictest first; None: not known yet."""
        self._client = LitellmClient(
            self.name,
            "completion",
            {"model": model, "api_base": api_base, "api_key": api_key},
            wanted="answer",
            advice="check the model's name, and that it reads texts of this length",
            seconds=deadline_seconds,
            attempts=attempts,
            largest=LARGEST,
        )

    def warm(self) -> None:
        """Import litellm, which takes seconds. Asks the provider nothing."""
        self._client.warm()

    def answer(self, prompt: str, shape: type[Shape], *, deadline: float | None = None) -> Shape:
        """See ChatModel. `deadline` defaults to `deadline_seconds`."""
        return self._client.go(deadline, lambda limit: self._answer(prompt, shape, limit))

    def _answer(self, prompt: str, shape: type[Shape], limit: Deadline) -> Shape:
        question = _message("user", FORMAT.format(schema=schema_of(shape)) + prompt)
        reply = self._reply([question], shape, limit)
        try:
            return fitted(reply, shape)
        except Unfit as unfit:
            fault = str(unfit)
        logger.info("%s is asked to mend its answer, which is no %s", self.name, shape.__name__)
        again = [_message("assistant", reply[:QUOTED]), _message("user", MEND.format(fault=fault))]
        mended = self._reply([question, *again], shape, limit)
        try:
            return fitted(mended, shape)
        except Unfit:
            raise Unusable(
                f"{self.name} gave an answer that is no {shape.__name__}, also when told what was"
                " wrong; a larger model may do better"
            ) from None

    def _reply(self, messages: Messages, shape: type[BaseModel], limit: Deadline) -> str:
        """Return the text of the reply. Raises Unusable if it is empty, cut short, or a refusal."""
        answer = self._formatted(messages, shape, limit)
        text, end, refusal = _reply_parts(answer)
        if refusal or end == "content_filter":
            raise Unusable(f"{self.name} refused to answer")
        if end == "length":
            raise Unusable(f"{self.name} broke off at its limit; name a model that writes more")
        if not text.strip():
            raise Unusable(f"{self.name} gave an empty answer")
        return text

    def _formatted(self, messages: Messages, shape: type[BaseModel], limit: Deadline) -> Any:
        """Ask for the answer in the strictest format that the provider accepts, and remember that
        format."""
        if self._formats is None:
            schemas = self._client.takes_schemas(limit)
            self._formats = ["json_schema", "json_object"] if schemas else ["json_object"]
        while True:
            formats = self._formats
            try:
                return self._client.ask(
                    limit,
                    messages=messages,
                    temperature=0,
                    **_format(formats[0] if formats else None, shape),
                    **_window(self._model, messages),
                )
            except ModelError as error:
                if not formats or error.retry or not OF_FORMAT.search(str(error)):
                    raise
                self._formats = formats[1:]


def _format(kind: str | None, shape: type[BaseModel]) -> dict[str, Any]:
    """Return the response format.

    It is not strict, which would make every field of the shape required.
    """
    if kind is None:
        return {}
    if kind == "json_object":
        return {"response_format": {"type": kind}}
    schema = {"name": shape.__name__, "schema": json.loads(schema_of(shape)), "strict": False}
    return {"response_format": {"type": kind, "json_schema": schema}}


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _reply_parts(answer: Any) -> tuple[str, str, str]:
    """Return the text, the reason why it ended, and the refusal, if any."""
    try:
        choice = answer.choices[0]
        message = choice.message
        apart = getattr(message, "provider_specific_fields", None) or {}
        refusal = apart.get("refusal") or getattr(message, "refusal", None)
        return str(message.content or ""), str(choice.finish_reason), str(refusal or "")
    except (AttributeError, IndexError, TypeError):
        return "", "", ""


def _window(model: str, messages: Messages) -> Mapping[str, int]:
    """Return the context size to request. Only Ollama needs to be told."""
    if not model.startswith(("ollama/", "ollama_chat/")):
        return {}
    needed = ROOM + sum(estimated_tokens(message["content"]) for message in messages)
    last = OLLAMA_WINDOWS[-1]
    return {"num_ctx": next((size for size in OLLAMA_WINDOWS if size >= needed), last)}
