"""Embeddings of the providers litellm knows, asked so that no fault of theirs becomes ours."""

import atexit
import importlib
import os
import random
import re
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from kinmem.errors import ConfigError, ModelError
from kinmem.llm.base import Calibration
from kinmem.llm.breaker import Breaker
from kinmem.llm.deadline import Deadline, Once, within
from kinmem.llm.exchange import Exchange, current
from kinmem.llm.pieces import Window, pieces
from kinmem.llm.vectors import unit_rows
from kinmem.models import Vectors

COMPROMISED = ("1.82.7", "1.82.8")
"""Releases that stole credentials (24 March 2026)."""

WINDOW = 8191
"""Tokens that OpenAI's models read; a token has at least one character."""

CAREFUL = Calibration(noise=0.5, duplicate=0.95, near=0.85)
"""For models nobody here has measured: which means all of them, so far."""

FIRST_PAUSE = 0.5
"""Seconds; the pause before try n+1 is anything up to FIRST_PAUSE * 2**n (full jitter)."""

TOO_LONG = 600.0
"""Seconds litellm is told to wait; the transport keeps the true deadline."""

ADVICE = {
    400: "check the model's name and the dimension",
    401: "check its key",
    403: "check its key and what the key may do",
    404: "check the model's name and the address",
    429: "it wants fewer requests, or the account is used up",
}

SECRET = re.compile(
    r"(?i:\bbearer\s+\S+|\bkey\s*[=:]\s*\S+)"
    r"|\b[sp]k-[\w*.-]{6,}"
    r"|\b(?=[\w-]*\d)[\w-]*\w{20,}[\w-]*"  # most others: twenty without a break, one a digit
)
MESSAGE = re.compile(r"""["']message["']: *(["'])(?P<text>.+?)\1 *[,}]""")
"""The sentence for people in an answer of OpenAI's shape, as litellm quotes it."""


class LitellmEmbedder:
    """Implements Embedder for a model by litellm's name, e.g. ollama/nomic-embed-text.

    Without `api_base` and `api_key` litellm takes the provider's own from the environment. Three
    failures in a row close the way to the provider for a while, see Breaker.
    """

    calibration = CAREFUL

    def __init__(
        self,
        model: str,
        *,
        dimension: int | None = None,
        api_base: str | None = None,
        api_key: str | None = None,
        deadline_seconds: float = 10.0,
        batch: int = 64,
        attempts: int = 2,
    ) -> None:
        """Raises ConfigError if the installed litellm is one of the compromised releases."""
        _refuse_compromised()
        self.name = f"{model}:{dimension}" if dimension else model
        self._request = {
            "model": model,
            "dimensions": dimension,
            "api_base": api_base,
            "api_key": api_key,
        }
        self._width = dimension
        self._seconds = deadline_seconds
        self._batch = batch
        self._attempts = attempts
        self._breaker = Breaker(self.name)

    @property
    def dimension(self) -> int:
        if self._width is None:
            self.embed(["dimension"])
        assert self._width is not None, "embed knows the width once it has answered"
        return self._width

    @property
    def ready(self) -> bool:
        return _litellm.made

    def warm(self) -> None:
        """Imports litellm, which takes seconds; asks the provider nothing."""
        with suppress(ModelError):  # embed says why, to whoever asks
            _litellm.get()

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder. Whatever the model's tokenizer, no token is shorter than a character."""
        return pieces(text, Window(min(limit, WINDOW), WINDOW, len, overlap))

    def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> Vectors:
        """See Embedder. Without a deadline of its own the call has `deadline_seconds`."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        limit = Deadline(self._seconds if deadline is None else deadline)
        self._breaker.admit()
        try:
            vectors = within(limit, f"asking {self.name}", lambda: self._embed(texts, limit))
        except ModelError as failure:
            self._breaker.failed(str(failure))
            raise
        self._breaker.succeeded()
        self._width = vectors.shape[1]
        return vectors

    def _embed(self, texts: Sequence[str], limit: Deadline) -> Vectors:
        starts = range(0, len(texts), self._batch)
        batches = [self._tried(list(texts[at : at + self._batch]), limit) for at in starts]
        return unit_rows(np.concatenate(batches), len(texts), self._width, self.name)

    def _tried(self, texts: list[str], limit: Deadline) -> Vectors:
        """One batch. Tries again what may pass, unless the pause would outlast the deadline."""
        litellm = _litellm.get(limit)
        for number in range(self._attempts):
            exchange = Exchange(limit)
            try:
                answer = self._asked(litellm, texts, exchange)
                return unit_rows(_rows(answer), len(texts), self._width, self.name)
            except _Refused as refused:
                pause = max(exchange.retry_after or 0.0, random.uniform(0, FIRST_PAUSE * 2**number))
                last = number + 1 == self._attempts
                if last or not refused.may_pass or pause >= limit.left:
                    raise
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _asked(self, litellm: Any, texts: list[str], exchange: Exchange) -> Any:
        current.set(exchange)
        try:
            return litellm.embedding(
                input=texts, timeout=TOO_LONG, max_retries=0, drop_params=True, **self._request
            )
        except Exception as error:  # litellm passes on whatever its providers' clients raise
            # From None: the original's text and its request's headers are not for a log.
            raise _Refused(self.name, exchange, error, self._request["api_key"]) from None


class _Refused(ModelError):
    """The provider did not answer with vectors."""

    def __init__(self, model: str, exchange: Exchange, error: Exception, key: object) -> None:
        status = exchange.status
        passing = status is None or status in (408, 409, 425, 429) or status >= 500
        self.may_pass = exchange.sent and exchange.problem is None and passing
        super().__init__(f"{model} gave no vectors: {_told(exchange, error, key)}")


def _told(exchange: Exchange, error: Exception, key: object) -> str:
    if exchange.problem:
        return exchange.problem
    if not exchange.sent:
        return f"litellm does not ask it: {scrubbed(str(error), key)}"
    if exchange.status is None:
        return f"it cannot be reached: {exchange.failure}; check the address and the network"
    if exchange.status < 400:
        return "its answer cannot be read; check that the address is an API of this kind"
    wait = f", and asks to wait {exchange.retry_after:g} s" if exchange.retry_after else ""
    advice = ADVICE.get(exchange.status, "try again later")
    return f"HTTP {exchange.status}{wait}; {advice}. It says: {scrubbed(str(error), key)}"


def scrubbed(text: str, key: object = None) -> str:
    """What it says, in a line of 200 characters at most, without anything that may be a key."""
    message = MESSAGE.search(text)
    text = (message["text"] if message else text)[:2000]
    keys = [value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))]
    for secret in filter(None, [key, *keys]):
        if len(str(secret)) >= 6:
            text = text.replace(str(secret), "[key]")
    first, *_ = SECRET.sub("[key]", text).splitlines() or [""]
    return first[:200]


def _rows(answer: Any) -> list[Any]:
    """The vectors in the order of the texts: a provider may number them and answer in another."""
    try:
        items = sorted(answer.data, key=lambda item: int(item["index"]))
        return [item["embedding"] for item in items]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []


def _refuse_compromised() -> None:
    try:
        installed = version("litellm")
    except PackageNotFoundError:
        return  # loading it says so
    if installed in COMPROMISED:
        raise ConfigError(
            f"litellm {installed} was published by an attacker and steals credentials; uninstall"
            " it, change every key this machine knew, and install a later release"
        )


def _tamed() -> Any:
    """litellm, for the whole process without its retries, prints, downloads and .env files."""
    os.environ.setdefault("DEFAULT_MAX_RETRIES", "0")  # it takes max_retries=0 for unset
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    try:
        litellm: Any = importlib.import_module("litellm")
        httpx: Any = importlib.import_module("httpx")
        from kinmem.llm.transport import GuardedTransport
    except ImportError as error:
        raise ModelError(
            f"litellm cannot be imported ({error}); reinstall kinmem with its dependencies"
        ) from error
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.turn_off_message_logging = True
    # One line on stderr for each number of an answer that is not a number; it is refused anyway.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    transport = GuardedTransport()
    atexit.register(transport.close)
    litellm.sync_transport = transport  # of the clients litellm makes itself
    litellm.client_session = httpx.Client(transport=transport)  # what it hands to OpenAI's
    return litellm


_litellm = Once("importing litellm", _tamed)
