"""Service: conversations: turns in, notes out."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Unpack

from kinmem.models.turns import Circumstances, Happening, Message, Observed, Session
from kinmem.service.components import Components
from kinmem.store.base import Store
from kinmem.validation import MOST_LISTED, Time, checked_count


class Conversations:
    """Stores, shortens and learns from what is said."""

    def __init__(self, store: Store, components: Components) -> None:
        self._store = store
        self._conversation = components.conversation
        self._compact = components.compact
        self._background = components.background

    def observe(
        self,
        event: Happening,
        session: str,
        turn: str | None = None,
        text: str = "",
        *,
        agent: str | None = None,
        tell: bool = True,
        again: bool = False,
        **known: Unpack[Circumstances],
    ) -> Observed:
        """Store one message durably; learning from it comes later. For a prompt, return notes
        unless `tell` is False.

        `event` is prompt, answer, tool (its name in `tool`, the call's id in `part`) or summary (a
        client's own summary of what it drops). `known` may have speaker, at, tool, part, client and
        place, which is the folder the session works in. The same message again in one turn is
        stored once. Messages of a sub-agent (`agent`) are ignored. `again` says that a prompt
        without an id may have been reported before its answer as well.
        """
        if agent:
            return Observed("ignored", reason="said by a sub-agent")
        observed = self._conversation.observe(
            event, session, turn, text, tell=tell, again=again, **known
        )
        if observed.status == "stored":
            self._background.wake()
        return observed

    def record_turn(
        self,
        session: str,
        prompt: str,
        answer: str = "",
        *,
        turn: str | None = None,
        speaker: str | None = None,
        at: Time | None = None,
        tools: Iterable[Mapping[str, str]] = (),
        client: str | None = None,
        place: str | None = None,
    ) -> Observed:
        """Store a whole turn that is over: prompt, tool outputs (tool, text, id) and answer."""
        observe = partial(self.observe, at=at, client=client, place=place)
        asked = observe("prompt", session, turn, prompt, speaker=speaker, tell=False)
        turn = asked.turn or turn or self._conversation.nameless(session, answer)
        for number, output in enumerate(tools, start=1):
            name, part = output.get("tool"), output.get("id") or str(number)
            text = output.get("text", "")
            observe("tool", session, turn, text, tool=name, part=part)
        answered = observe("answer", session, turn, answer)
        return asked if asked.turn else answered

    def opening(self, session: str, *, place: str | None = None) -> str:
        """Return what to show a session at its start, ready to be inserted; empty if nothing."""
        return self._conversation.opening(session, place=place)

    def compacted(self, session: str) -> None:
        """Note that a client has compacted its context, so that memories may be shown there
        again."""
        self._conversation.compacted(session)

    def context(self, session: str | None = None, *, exact: bool = True) -> str:
        """Return the conversation as a model can be given it: summaries, then the latest turns.

        `session` defaults to the latest one; empty for an unknown one. With `exact`, tool results
        are reduced as far as the settings say; without it the text only grows until the next
        summary.
        """
        if session is None:
            latest = self._store.turns.sessions(1)
            session = latest[0].name if latest else ""
        return self._compact.context(session, exact=exact)

    def sessions(self, limit: int = 50) -> list[Session]:
        """Return the observed conversations, the latest first."""
        return self._store.turns.sessions(checked_count(limit, "limit", 1, MOST_LISTED))

    def turns(self, session: str) -> list[Message]:
        """Return all messages of a session, in order."""
        return self._store.turns.messages(session)

    def parked(self) -> list[Message]:
        """Return the messages that could not be learned from after three tries; see retry."""
        return self._store.turns.parked()

    def retry(self) -> int:
        """Let the worker try again what is parked or waits for its next try.

        Returns the number of messages.
        """
        count = self._store.turns.retry()
        self._background.wake()
        return count
