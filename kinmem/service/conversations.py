"""Service: turns in, notes out."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Unpack

from kinmem.service.components import Parts, Time
from kinmem.service.views import MOST_LISTED
from kinmem.turns import Circumstances, Happening, Message, Observed, Session
from kinmem.validation import checked_count


class Conversations(Parts):
    """What is said is kept, shortened and learned from."""

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
        """Keep one thing said, durably; learn from it later. A prompt is answered with notes,
        unless `tell` is false.

        `event` is prompt, answer, tool (its name in `tool`, the call's id in `part`) or summary (a
        client's own of what it drops); `known` are speaker, at, tool, part, client and place,
        which is the folder the session works in. The same said again in one turn is kept once. What
        a sub-agent says (`agent`) is ignored. `again`: a prompt without an id was perhaps told
        before it was answered, too.
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
        """Keep a whole turn that is over: prompt, tool outputs (tool, text, id), answer."""
        said = partial(self.observe, at=at, client=client, place=place)
        asked = said("prompt", session, turn, prompt, speaker=speaker, tell=False)
        turn = asked.turn or turn or self._conversation.nameless(session, answer)
        for number, output in enumerate(tools, start=1):
            name, part = output.get("tool"), output.get("id") or str(number)
            text = output.get("text", "")
            said("tool", session, turn, text, tool=name, part=part)
        answered = said("answer", session, turn, answer)
        return asked if asked.turn else answered

    def opening(self, session: str, *, place: str | None = None) -> str:
        """What a session is told at its start, ready to be put before it; empty: nothing."""
        return self._conversation.opening(session, place=place)

    def compacted(self, session: str) -> None:
        """A client has compacted its context: what it was told there may be told again."""
        self._conversation.compacted(session)

    def context(self, session: str | None = None, *, exact: bool = True) -> str:
        """The conversation as a model can be given it: summaries, then the latest turns.

        The latest session if none is named; empty for an unknown one. With `exact` tool results are
        reduced as far as the settings say; without, the text only grows until the next summary.
        """
        if session is None:
            latest = self.store.turns.sessions(1)
            session = latest[0].name if latest else ""
        return self._compact.context(session, exact=exact)

    def sessions(self, limit: int = 50) -> list[Session]:
        """The conversations observed, the latest first."""
        return self.store.turns.sessions(checked_count(limit, "limit", 1, MOST_LISTED))

    def turns(self, session: str) -> list[Message]:
        """All that was said in a session, in order."""
        return self.store.turns.messages(session)

    def parked(self) -> list[Message]:
        """What could not be learned from after three tries; see retry."""
        return self.store.turns.parked()

    def retry(self) -> int:
        """Let the worker try again what is parked or waits for its next try; how many messages."""
        found = self.store.turns.retry()
        self._background.wake()
        return found
