"""A chat model behind OpenAI's API that answers as a test says, or fails in every way seen.

    with ModelServer() as server:
        server.base("ok")      # says what `replies` says: an object, or the text itself
        server.base("hang")    # any name in TALKING or SHARED

Requests for embeddings are answered as FaultProvider does. Runs on loopback.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.llm.fault_provider import MODES, FaultProvider, Reply, error

Replies = Callable[[str], Any]
"""From the whole prompt to what is said: text as it stands, anything else as JSON."""

# Nobody's words are in it but the turn's own first message.
GOOD: dict[str, Any] = {
    "items": [
        {
            "action": "add",
            "content": "Ana drinks green tea every morning",
            "category": "preference",
            "subject": "Ana",
            "importance": 6,
            "confidence": 0.9,
            "sourceContext": "Ana told how she starts the day.",
            "speaker": "Ana",
            "turn": ["m1"],
            "updates": None,
            "entities": [{"name": "Ana", "type": "person"}],
            "occurredAt": None,
        }
    ]
}
NOT_JSON = "I am sorry, but there is nothing {that} I could [write] down."
REMEMBER = re.compile(
    r"(?i)(?:remember|memori[sz]e|store|note|save)(?: that|:)? +([^\"\\\n.]{5,200})"
)


class ModelServer(FaultProvider):
    """Runs while its `with` block does. `hits` counts the requests of each mode."""

    def __init__(self, replies: Replies = lambda prompt: GOOD) -> None:
        super().__init__()
        self.replies = replies

    @property
    def prompts(self) -> list[str]:
        """All that each request said, in order."""
        return [_prompt(body) for body in self.bodies]

    def answer(self, mode: str, reply: Reply, body: dict[str, Any]) -> None:
        if "input" in body:
            super().answer(mode, reply, body)
        elif mode in TALKING:
            TALKING[mode](self, reply, _prompt(body))
        elif mode == "no-formats":
            self._without_formats(reply, body)
        else:
            MODES[mode](reply, [])

    def _without_formats(self, reply: Reply, body: dict[str, Any]) -> None:
        """Answers whoever asks for no format."""
        if "response_format" in body:
            kind = body["response_format"]["type"]
            reply.send(400, error(f"response_format {kind} is not supported"))
        else:
            say(reply, self.replies(_prompt(body)))


def say(reply: Reply, said: Any, end: str = "stop", **message: Any) -> None:
    """One answer in OpenAI's shape."""
    text = said if isinstance(said, str) or said is None else json.dumps(said)
    told = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": told, "finish_reason": end}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    reply.send(200, {**head, "choices": [choice], "usage": usage})


def changed(**fields: Any) -> dict[str, Any]:
    """The good reply with other values in its finding."""
    return {"items": [{**GOOD["items"][0], **fields}]}


def _prompt(body: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in body.get("messages", []))


def _mended(server: ModelServer, reply: Reply, prompt: str) -> None:
    """Nonsense at first, then what was asked for."""
    say(reply, NOT_JSON if server.hits["mended"] % 2 else server.replies(prompt))


def _failing_once(server: ModelServer, reply: Reply, prompt: str) -> None:
    if server.hits["500then"] % 2:
        reply.send(500, error("boom"))
    else:
        say(reply, server.replies(prompt))


def _gullible(server: ModelServer, reply: Reply, prompt: str) -> None:
    """Does what any text in the prompt tells it to, and says that the user wanted it."""
    data = prompt.split("The turn:", 1)[-1].split("What is known already", 1)[0]
    obeyed = [match[1].strip() for match in REMEMBER.finditer(data)]
    items = [
        {**GOOD["items"][0], "content": text, "importance": 10, "confidence": 1, "speaker": "user"}
        for text in obeyed
    ]
    say(reply, {"items": items})


def _fence(server: ModelServer, reply: Reply, prompt: str) -> None:
    say(reply, f"Here you are:\n```json\n{json.dumps(server.replies(prompt))}\n```\nAnything else?")


def _think(server: ModelServer, reply: Reply, prompt: str) -> None:
    draft = json.dumps(changed(content="only a thought"))
    say(reply, f"<think>Maybe {draft}?</think>\n{json.dumps(server.replies(prompt))}")


TALKING: dict[str, Callable[[ModelServer, Reply, str], None]] = {
    "ok": lambda server, reply, prompt: say(reply, server.replies(prompt)),
    "500then": _failing_once,
    "fenced": _fence,
    "thinking": _think,
    "mended": _mended,
    "gullible": _gullible,
    "prose": lambda server, reply, prompt: say(reply, NOT_JSON),
    "wrong-shape": lambda server, reply, prompt: say(reply, {"items": [{"content": [LOUD]}]}),
    "wrong-ids": lambda server, reply, prompt: say(
        reply, changed(turn=["m99", "0191"], updates="k99", speaker="Nobody", action="update")
    ),
    "nan": lambda server, reply, prompt: say(
        reply, json.dumps(changed(importance=float("nan"), confidence=float("inf")))
    ),
    "truncated": lambda server, reply, prompt: say(reply, json.dumps(GOOD)[:-30], "length"),
    "filtered": lambda server, reply, prompt: say(reply, "", "content_filter"),
    "refused": lambda server, reply, prompt: say(reply, None, refusal=LOUD),
    "empty": lambda server, reply, prompt: say(reply, ""),
    "nothing": lambda server, reply, prompt: say(reply, None),
    "no-choices": lambda server, reply, prompt: reply.send(200, {"id": "1", "choices": []}),
    "huge": lambda server, reply, prompt: say(reply, "x" * 3_000_000),
}
LOUD = "LOUDSECRETWORDS"
"""Stands in replies that no error and no log may repeat."""
