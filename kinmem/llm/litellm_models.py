"""Chat models and embedding models of the providers that litellm knows."""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from kinmem.errors import ModelError, Unusable
from kinmem.language import Window, pieces
from kinmem.llm.base import Calibration, Purpose, Shape
from kinmem.llm.deadline import Deadline
from kinmem.llm.litellm_client import LitellmClient
from kinmem.llm.reply import Unfit, fitted, schema_of
from kinmem.models import Vectors
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


# Tokens that OpenAI's models read. A token has at least one character.
WINDOW = 8191

# For models that have not been measured, which so far means all of them.
CAREFUL = Calibration(noise=0.5, duplicate=0.95, near=0.85, measured=False)


@dataclass(frozen=True)
class Manner:
    """How a provider is told the purpose of texts."""

    fields: Mapping[Purpose, Mapping[str, Any]] = field(default_factory=dict)
    """Additional fields of the request."""
    opening: Mapping[Purpose, str] = field(default_factory=dict)
    """What each text begins with."""

    def said(self, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """Return the part of the request that depends on the texts."""
        opening = self.opening.get(purpose, "")
        return {"input": [_text(opening + text) for text in texts], **self.fields.get(purpose, {})}


PLAIN = Manner()


class LitellmEmbedder:
    """Implements Embedder for a model by litellm's name, e.g. ollama/nomic-embed-text.

    Without `api_base` and `api_key` litellm takes the provider's own from the environment. After
    three failures in a row the provider is not asked for a while (see Breaker).
    """

    calibration = CAREFUL

    def __init__(
        self,
        model: str,
        *,
        name: str | None = None,
        dimension: int | None = None,
        width: int | None = None,
        manner: Manner = PLAIN,
        api_base: str | None = None,
        api_key: str | None = None,
        deadline_seconds: float = 10.0,
        batch: int = 64,
        attempts: int = 2,
    ) -> None:
        """`name` is stored beside the vectors. `dimension` is requested from the provider; `width`
        is the known width if none is requested.

        Raises ConfigError if the installed litellm is one of the compromised releases.
        """
        name = name or model
        self.name = f"{name}:{dimension}" if dimension else name
        self._width = dimension or width
        self._manner = manner
        self._batch = batch
        self._client = LitellmClient(
            self.name,
            "embedding",
            {"model": model, "dimensions": dimension, "api_base": api_base, "api_key": api_key},
            wanted="vectors",
            advice="check the model's name and the dimension",
            seconds=deadline_seconds,
            attempts=attempts,
        )

    @property
    def dimension(self) -> int:
        if self._width is None:
            self.embed(["dimension"])
        assert self._width is not None, "embed knows the width once it has answered"
        return self._width

    @property
    def ready(self) -> bool:
        return self._client.ready

    def warm(self) -> None:
        """Import litellm, which takes seconds. Asks the provider nothing."""
        self._client.warm()

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder."""
        return pieces(text, self.window(limit, overlap))

    def window(self, limit: int, overlap: int = 0) -> Window:
        """See Embedder.

        It counts characters, since no token of any tokenizer is shorter than one.
        """
        return Window(min(limit, WINDOW), WINDOW, len, overlap)

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """See Embedder. `deadline` defaults to `deadline_seconds`."""
        import numpy as np  # late, here and below: chat models do without

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        vectors = self._client.go(deadline, lambda limit: self._embed(texts, purpose, limit))
        self._width = vectors.shape[1]
        return vectors

    def _embed(self, texts: Sequence[str], purpose: Purpose, limit: Deadline) -> Vectors:
        import numpy as np

        from kinmem.llm.vectors import unit_rows

        starts = range(0, len(texts), self._batch)
        batches = [self._rows(texts[at : at + self._batch], purpose, limit) for at in starts]
        return unit_rows(np.concatenate(batches), len(texts), self._width, self.name)

    def _rows(self, texts: Sequence[str], purpose: Purpose, limit: Deadline) -> Vectors:
        from kinmem.llm.vectors import unit_rows

        answer = self._client.ask(limit, **self._manner.said(texts, purpose))
        return unit_rows(_in_order(answer), len(texts), self._width, self.name)


def _text(text: str) -> str:
    """Put a space before text that looks like a data: address, which litellm would send to Cohere
    and Jina as a picture."""
    return f" {text}" if text.startswith("data:") else text


def _in_order(answer: Any) -> list[Any]:
    """Return the vectors in the order of the texts, which the provider may number and return in
    another.

    Empty if a number occurs twice or is missing, unless all are 0: then the provider does not
    number.
    """
    try:
        numbers = [int(item["index"]) for item in answer.data]
        if any(numbers) and sorted(numbers) != list(range(len(numbers))):
            return []
        items = sorted(answer.data, key=lambda item: int(item["index"]))
        return [item["embedding"] for item in items]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
