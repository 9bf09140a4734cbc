"""The client for the providers that litellm knows, which keeps their faults out of kinmem.

The embedder and the chat model share it. litellm is loaded late, with its side effects switched
off; each request has a deadline and a size limit; transient errors are retried; a provider that is
down is left alone for a while; and nothing that may be a key is shown or logged.
"""

import atexit
import importlib
import logging
import os
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from kinmem.errors import ConfigError, ModelError, Unusable
from kinmem.llm.deadline import LARGEST, Breaker, Deadline, Exchange, Once, current, within
from kinmem.text import storable


@dataclass(frozen=True)
class NomicAnswer:
    """An answer in the form of litellm's."""

    data: list[dict[str, Any]]


def nomic_embedding(
    client: Any,
    *,
    model: str,
    input: Sequence[str],
    api_base: str,
    api_key: str,
    task_type: str,
    dimensions: int | None = None,
) -> NomicAnswer:
    """Ask Nomic for vectors in the manner of litellm's function. `client` is an httpx client that
    keeps the limits.

    Raises whatever httpx raises, and KeyError or ValueError for an answer that is not one.
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
    return NomicAnswer([{"index": place, "embedding": row} for place, row in enumerate(rows)])


Result = TypeVar("Result")
# Releases that stole credentials (24 March 2026).
COMPROMISED = ("1.82.7", "1.82.8")
# Seconds. The pause before try n+1 is random, up to FIRST_PAUSE * 2**n (full jitter).
FIRST_PAUSE = 0.5
# Seconds without an answer that count against the provider rather than the caller. A question asks
# several models and may leave its last one too little time. A quarter of a model's longest time is
# enough as well.
EVIDENCE = 1.0
# The timeout given to litellm, in seconds. The transport enforces the true deadline.
TOO_LONG = 600.0
# Python's switch interval while litellm is imported, in seconds: a tenth of the default. The import
# takes three seconds; 95 of 100 recalls meanwhile took 23-36 ms, against 51-74 ms without this, and
# 7-27 ms before and after.
SHARE = 0.0005
ADVICE = {
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
# The sentence for people in an answer of OpenAI's shape, as litellm quotes it.
MESSAGE = re.compile(r"""["']message["']: *(["'])(?P<text>.+?)\1 *[,}]""")
# Recognises a key error: Gemini and others answer 400 where they mean 401.
OF_KEY = re.compile(r"api.?key|unauthor|authenti|credential|permission", re.IGNORECASE)


class LitellmClient:
    """Asks one model. After three failures in a row it is not asked for a while (see Breaker)."""

    def __init__(
        self,
        name: str,
        function: str,
        request: dict[str, Any],
        *,
        wanted: str,
        advice: str,
        seconds: float,
        attempts: int,
        largest: int = LARGEST,
    ) -> None:
        """`function` names the function of litellm to call with `request`; `wanted` and `advice` go
        into error messages.

        Raises ConfigError if the installed litellm is one of the compromised releases.
        """
        _refuse_compromised()
        self.name = name
        self._function = function
        self._request = request
        self._wanted = wanted
        self._advice = {**ADVICE, 400: advice}
        self._seconds = seconds
        self._attempts = attempts
        self._largest = largest
        self._breaker = Breaker(name)

    @property
    def ready(self) -> bool:
        return _litellm.made

    def warm(self) -> None:
        """Import litellm, which takes seconds. Asks the provider nothing."""
        with suppress(ModelError):  # the next request reports the reason
            _litellm.get()

    def go(self, deadline: float | None, work: Callable[[Deadline], Result]) -> Result:
        """Return what `work` returns within `deadline` seconds, or the model's own limit if that is
        less.

        Without a deadline the caller is in no hurry: litellm is imported first, and the time starts
        after that. Raises ModelError if the work is not done in time, or while the breaker is open.
        """
        if deadline is None:
            self.warm()
        seconds = self._seconds if deadline is None else min(deadline, self._seconds)
        self._breaker.admit(seconds)
        limit = Deadline(seconds)
        try:
            result = within(limit, f"asking {self.name}", lambda: work(limit))
        except ModelError as failure:
            self._note(failure, limit, seconds)
            raise
        self._breaker.succeeded()
        return result

    def _note(self, failure: ModelError, limit: Deadline, seconds: float) -> None:
        """Record what the failure says about the provider."""
        if isinstance(failure, Unusable) or isinstance(failure, _Refused) and failure.of_text:
            self._breaker.succeeded()
        elif not self.ready:
            pass  # the provider was never asked
        elif limit.left:
            self._breaker.failed(str(failure))
        elif seconds >= min(EVIDENCE, self._seconds / 4):
            self._breaker.failed(str(failure), seconds)

    def ask(self, limit: Deadline, **request: Any) -> Any:
        """Return litellm's answer.

        Retries transient errors unless the pause would outlast the deadline.
        """
        litellm = _litellm.get(limit)
        _introduce(self._request["model"], self._function, litellm)
        for number in range(self._attempts):
            key, of_numbers = self._request.get("api_key"), self._function == "embedding"
            exchange = Exchange(limit, self._largest, key, of_numbers)
            try:
                return self._ask_once(litellm, exchange, request)
            except _Refused as refused:
                pause = max(exchange.retry_after or 0.0, random.uniform(0, FIRST_PAUSE * 2**number))
                last = number + 1 == self._attempts
                if last or not refused.may_pass or pause >= limit.left:
                    raise
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def takes_schemas(self, limit: Deadline) -> bool:
        """Return whether the model is known to support a JSON schema for its answer."""
        litellm = _litellm.get(limit)
        if self._request["model"].startswith(("ollama/", "ollama_chat/")):
            return False  # litellm would ask Ollama, outside of our limits
        try:
            return bool(litellm.supports_response_schema(model=self._request["model"]))
        except Exception:  # litellm raises this for models that it does not know
            return False

    def _ask_once(self, litellm: Any, exchange: Exchange, request: dict[str, Any]) -> Any:
        current.set(exchange)
        ask = _function(litellm, self._function, self._request["model"])
        try:
            return ask(**self._request, **request)
        except Exception as error:  # litellm passes on whatever the providers' clients raise
            if not exchange.deadline.left:
                raise exchange.deadline.missed(f"asking {self.name}") from None
            why = self._explain(exchange, error)
            # "from None" keeps the original's text and its request's headers out of logs.
            raise _Refused(f"{self.name} gave no {self._wanted}: {why}", exchange) from None

    def _explain(self, exchange: Exchange, error: Exception) -> str:
        key = self._request.get("api_key")
        if exchange.problem:
            return exchange.problem
        if not exchange.sent:
            return f"litellm does not ask it: {scrubbed(str(error), key)}"
        if exchange.status is None:
            return f"it cannot be reached: {exchange.failure}; check the address and the network"
        if exchange.status < 400:
            return "its answer cannot be read; check that the address is an API of this kind"
        wait = f", and asks to wait {exchange.retry_after:g} s" if exchange.retry_after else ""
        advice = self._advice.get(exchange.status, "try again later")
        return f"HTTP {exchange.status}{wait}; {advice}. It says: {scrubbed(str(error), key)}"


class _Refused(ModelError):
    """The provider gave no answer."""

    def __init__(self, text: str, exchange: Exchange) -> None:
        status = exchange.status
        passing = status is None or status in (408, 409, 425, 429) or status >= 500
        self.may_pass = exchange.sent and exchange.problem is None and passing
        of_key = status == 400 and OF_KEY.search(text) is not None
        self.of_text = status in (400, 413, 422) and not of_key
        # A redirect, an unknown key or an unknown model means that a setting is wrong.
        self.retry = status is None or (status >= 300 and not self.of_text)
        super().__init__(text)


def scrubbed(text: str, key: object = None) -> str:
    """Return the message in one line of at most 200 characters, without anything that may be a
    key."""
    message = MESSAGE.search(text)
    text = storable((message["text"] if message else text)[:2000])
    keys = [value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))]
    for secret in filter(None, [key, *keys]):
        if len(str(secret)) >= 6:
            text = text.replace(str(secret), "[key]")
    first, *_ = SECRET.sub("[key]", text).splitlines() or [""]
    return first[:200]


def _refuse_compromised() -> None:
    try:
        installed = version("litellm")
    except PackageNotFoundError:
        return  # the import will report that
    if installed in COMPROMISED:
        raise ConfigError(
            f"litellm {installed} was published by an attacker and steals credentials; uninstall"
            " it, change every key this machine knew, and install a later release"
        )


def _tamed() -> Any:
    """Import litellm and switch off its retries, prints, downloads and .env files for the whole
    process."""
    os.environ.setdefault("DEFAULT_MAX_RETRIES", "0")  # litellm reads max_retries=0 as unset
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    shares = sys.getswitchinterval()
    sys.setswitchinterval(SHARE)
    try:
        litellm: Any = importlib.import_module("litellm")
        httpx: Any = importlib.import_module("httpx")
        # Late, as these: it loads httpx.
        from kinmem.llm.transport import GuardedTransport, refuse_booleans
    except ImportError as error:
        raise ModelError(
            f"litellm cannot be imported ({error}); reinstall kinmem with its dependencies"
        ) from error
    finally:
        sys.setswitchinterval(shares)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.turn_off_message_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).disabled = True  # it logs the providers' answers
    # This warning would print a line for each number of an answer that is not a number. Such
    # answers are refused anyway.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    # litellm builds its types on first use, and pydantic then warns on stderr of how they are
    # written.
    warnings.filterwarnings("ignore", "Items? '.+' on TypedDict class", UserWarning)
    transport = GuardedTransport()
    atexit.register(transport.close)
    litellm.sync_transport = transport  # for the clients that litellm creates itself
    hooks = {"response": [refuse_booleans]}
    # The HTTP client that litellm passes to OpenAI's library.
    litellm.client_session = httpx.Client(transport=transport, event_hooks=hooks)
    return litellm


def _function(litellm: Any, name: str, model: str) -> Callable[..., Any]:
    """Return litellm's function of that name, or our own for a provider that litellm does not
    know."""
    if name == "embedding" and model.startswith("nomic/"):
        return partial(nomic_embedding, litellm.client_session)
    options = {"timeout": TOO_LONG, "max_retries": 0, "drop_params": True}
    return partial(getattr(litellm, name), **options)


def _introduce(model: str, function: str, litellm: Any) -> None:
    """Register an Ollama model that litellm does not know, which it would otherwise look up on
    localhost, wherever the model runs."""
    if model.startswith(("ollama/", "ollama_chat/")):
        free = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
        mode = "embedding" if function == "embedding" else "chat"
        litellm.model_cost.setdefault(model, {"litellm_provider": "ollama", "mode": mode, **free})


_litellm = Once("importing litellm", _tamed)
