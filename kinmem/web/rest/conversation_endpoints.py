"""Conversations: turns that are kept and learned from, sessions, and their context."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import Field

from kinmem.conversation.sanitize import inert_conversation
from kinmem.errors import InvalidInput
from kinmem.models import Memory
from kinmem.models.turns import Happening, Message, Observed, Session
from kinmem.service.conversations import session_name
from kinmem.web.rest.declaration import Asked, Call, Group, NodeCount, Paged, Place, Text, When

group = Group("Conversations")

# What a cursor of messages holds.
NUMBER = re.compile("[0-9]{1,18}")

MOST_TOOLS = 1000

Conversation = Annotated[Text, Field(description="which conversation")]
Trusted = Annotated[
    bool, Field(description="a person has said it for certain; takes a token of scope admin")
]


class ToolOutput(Asked):
    tool: str = ""
    text: str = ""
    id: str = ""


class Turn(Asked):
    session: Conversation
    prompt: Annotated[str, Field(description="what was asked or said")]
    answer: str = ""
    turn: Annotated[str | None, Field(description="its id; the same again is kept once")] = None
    speaker: Annotated[str | None, Field(description="who spoke, if not the user")] = None
    at: When | None = None
    tools: Annotated[tuple[ToolOutput, ...], Field(max_length=MOST_TOOLS)] = ()
    client: str | None = None
    place: Place | None = None
    trusted: Trusted = False


@group("POST", "/turns", "write", takes_key=True)
def record_turn(call: Call, asked: Turn) -> Observed:
    """Store a finished turn; kinmem learns from it in the background. A prompt that reads like an
    order to an assistant is kept as the output of a tool, unless it is trusted."""
    given = {"client": call.client, **asked.given(), "trusted": call.trusts(asked.trusted)}
    given["tools"] = [tool.given() for tool in asked.tools]
    return call.service.record_turn(
        given.pop("session"), given.pop("prompt"), idempotency_key=call.key, **given
    )


class Heard(Asked):
    event: Happening
    session: Conversation
    turn: str | None = None
    text: str = ""
    agent: Annotated[str | None, Field(description="a sub-agent; its messages are ignored")] = None
    tell: Annotated[bool, Field(description="answer a prompt with notes")] = True
    again: Annotated[bool, Field(description="it may have been reported before its answer")] = False
    speaker: str | None = None
    at: When | None = None
    tool: str | None = None
    part: str = ""
    client: str | None = None
    place: Place | None = None
    trusted: Trusted = False


@group("POST", "/observe", "write", is_harmless=True)
def observe(call: Call, asked: Heard) -> Observed:
    """Store one message of a conversation. The answer to a prompt has notes to be added to it. A
    prompt that reads like an order to an assistant is kept as the output of a tool, unless it is
    trusted."""
    given = {"client": call.client, **asked.given(), "trusted": call.trusts(asked.trusted)}
    return call.service.observe(
        given.pop("event"), given.pop("session"), given.pop("turn", None), **given
    )


class Of(Asked):
    session: Conversation


@dataclass(frozen=True)
class Messages:
    messages: Sequence[Message]
    next_cursor: str | None = None


class InSession(Of, Paged):
    """A page of what is known of a session."""


@group("GET", "/turns", "read")
def turns(call: Call, asked: InSession) -> Messages:
    """Return messages of a session, in order; none for an unknown one."""
    read = partial(call.service.store.turns.messages, session_name(asked.session))
    return _page(read, asked)


def _page(read: Callable[..., Sequence[Message]], asked: Paged) -> Messages:
    """Return the messages behind the cursor, which is the number of the last one before."""
    after = asked.cursor or "0"
    if NUMBER.fullmatch(after) is None:
        raise InvalidInput("cursor is none that an earlier page of this listing gave; leave it out")
    found = read(after=int(after), limit=asked.limit + 1)
    shown = found[: asked.limit]
    return Messages(shown, str(shown[-1].id) if len(found) > len(shown) else None)


@dataclass(frozen=True)
class Learned:
    """Memories by the turn that they were learned from."""

    memories: Mapping[str, Sequence[Memory]]
    next_cursor: str | None = None


@group("GET", "/turns/memories", "read")
def became(call: Call, asked: InSession) -> Learned:
    """Return what was learned from each turn of a session, in any state, in the order of the ids;
    a memory that was learned from two turns is listed with both."""
    store = call.service.store
    session, after = session_name(asked.session), asked.cursor or ""
    found = store.turns.became(session, after=after, limit=asked.limit + 1)
    ids = sorted({id for some in found.values() for id in some})
    known, last = store.memories(ids[: asked.limit]), ids[: asked.limit][-1:]
    shown = {
        turn: [known[id] for id in some if id in known]
        for turn, some in found.items()
        if not known.keys().isdisjoint(some)
    }
    return Learned(shown, last[0] if len(ids) > asked.limit else None)


@group("GET", "/turns/parked", "read")
def parked(call: Call, asked: Paged) -> Messages:
    """Return the messages that could not be learned from after three tries, the oldest first."""
    return _page(call.service.store.turns.parked, asked)


@dataclass(frozen=True)
class Count:
    count: int


@group("POST", "/turns/retry", "write")
def retry(call: Call) -> Count:
    """Retry messages that are parked or waiting; returns how many there are."""
    return Count(call.service.retry())


class Latest(Asked):
    limit: NodeCount = 50


@dataclass(frozen=True)
class Sessions:
    sessions: Sequence[Session]


@group("GET", "/sessions", "read")
def sessions(call: Call, asked: Latest) -> Sessions:
    """Return the conversations, the latest first."""
    return Sessions(call.service.sessions(**asked.given()))


class Whole(Asked):
    session: Annotated[str | None, Field(description="left out: the latest one")] = None
    exact: Annotated[bool, Field(description="reduce tool results")] = True


@dataclass(frozen=True)
class Shown:
    """Text for a model: data, not instructions, whatever it says."""

    text: str


@group("GET", "/context", "read", is_harmless=True)
def context(call: Call, asked: Whole) -> Shown:
    """Return a conversation as a model can be given it: summaries, then the latest turns."""
    return Shown(inert_conversation(call.service.context(**asked.given())))


class Begun(Of):
    place: Place | None = None


@group("GET", "/opening", "read", is_harmless=True)
def opening(call: Call, asked: Begun) -> Shown:
    """Return what to show a session at its start, ready to be inserted."""
    return Shown(call.service.opening(**asked.given()))


@group("POST", "/compacted", "write")
def compacted(call: Call, asked: Of) -> Count:
    """Note that a client has compacted its context, so that memories may be shown there again."""
    call.service.compacted(asked.session)
    return Count(1)
