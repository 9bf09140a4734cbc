"""Service: turns in, notes out, and the work that is otherwise done in the background."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Unpack

from kinmem.conversation.observe import NAME_BYTES, held_part
from kinmem.models import Memory, Progress
from kinmem.models.turns import Circumstances, Happening, Message, Observed, Run, Session
from kinmem.service.components import Components
from kinmem.store.base import Store
from kinmem.text import clean
from kinmem.upkeep.steps import chosen
from kinmem.validation import MOST_LISTED, Time, checked_count, checked_key, checked_text


class Conversations:
    """Stores, shortens and learns from what is said."""

    def __init__(self, store: Store, components: Components) -> None:
        self._store = store
        self._conversation = components.conversation
        self._learn = components.learn
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
        trusted: bool = True,
        **known: Unpack[Circumstances],
    ) -> Observed:
        """Store one message durably; learning from it comes later. For a prompt, return notes
        unless `tell` is False.

        `event` is prompt, answer, tool (its name in `tool`, the call's id in `part`) or summary (a
        client's own summary of what it drops). `known` may have speaker, at, tool, part, client and
        place, which is the folder the session works in. The same message again in one turn is
        stored once. Messages of a sub-agent (`agent`) are ignored. `again` says that a prompt
        without an id may have been reported before its answer as well. Not `trusted` is what a
        program hands over: if a prompt reads like an order to an assistant, it is kept as the
        output of a tool and gets no notes, since nobody knows that a person has said it.
        """
        if agent:
            return Observed("ignored", reason="said by a sub-agent")
        if event == "prompt" and self._is_held(text, trusted=trusted):
            event = "tool"
            known |= {"speaker": None, "tool": "observe", "part": held_part(text)}
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
        idempotency_key: str | None = None,
        speaker: str | None = None,
        at: Time | None = None,
        tools: Iterable[Mapping[str, str]] = (),
        client: str | None = None,
        place: str | None = None,
        trusted: bool = True,
    ) -> Observed:
        """Store a whole turn that is over: prompt, tool outputs (tool, text, id) and answer.

        A turn is stored once. Which one it is, its id says (`turn`), else the `idempotency_key`.
        Not `trusted` is what a model hands over: if its prompt reads like an order to an assistant,
        it is kept as the output of a tool, since nobody knows that a person has said it.
        """
        key = None if idempotency_key is None else checked_key(idempotency_key)
        if turn is None and key is not None:
            turn = f"key:{key}"
        observe = partial(self.observe, at=at, client=client, place=place)
        if self._is_held(prompt, trusted=trusted):
            part = held_part(prompt)
            asked = observe("tool", session, turn, prompt, tool="record_turn", part=part)
        else:
            asked = observe("prompt", session, turn, prompt, speaker=speaker, tell=False)
        turn = asked.turn or turn or self._conversation.nameless(session, answer)
        for number, output in enumerate(tools, start=1):
            name, part = output.get("tool"), output.get("id") or str(number)
            text = output.get("text", "")
            observe("tool", session, turn, text, tool=name, part=part)
        answered = observe("answer", session, turn, answer)
        return asked if asked.turn else answered

    def _is_held(self, prompt: str, *, trusted: bool) -> bool:
        return not trusted and self._learn.why_held({"content": prompt}) is not None

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
        else:
            session = session_name(session)
        return self._compact.context(session, exact=exact)

    def sessions(self, limit: int = 50) -> list[Session]:
        """Return the observed conversations, the latest first."""
        return self._store.turns.sessions(checked_count(limit, "limit", 1, MOST_LISTED))

    def turns(self, session: str) -> list[Message]:
        """Return all messages of a session, in order."""
        return self._store.turns.messages(session_name(session))

    def became(self, session: str) -> Mapping[str, list[Memory]]:
        """Return by turn the memories that were learned from it, in any state."""
        turns = self._store.turns.became(session_name(session))
        known = self._store.memories({id for ids in turns.values() for id in ids})
        return {turn: [known[id] for id in ids if id in known] for turn, ids in turns.items()}

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


def session_name(name: str) -> str:
    """Return the name of a session as it is stored."""
    return " ".join(clean(checked_text(name, "session"), "session", NAME_BYTES).split())


class Care:
    """Sleep, summaries and vectors on request, and the reports of what was done."""

    def __init__(self, store: Store, components: Components) -> None:
        self._store = store
        self._cycle = components.cycle
        self._indexing = components.indexing
        self._renewal = components.renewal
        self._background = components.background
        self._long_calls = components.long_calls

    def sleep(
        self,
        steps: Iterable[str] = (),
        *,
        dry_run: bool = False,
        compress: bool | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Do the background work now, all steps or those named (upkeep/steps), and return what was
        done.

        A dry run counts what would be done and changes nothing. `compress` merges without a model.
        """
        names = chosen(steps)
        self._background.await_ready()
        if not dry_run:
            self._store.flush_use()
        with self._long_calls.one():
            return self._cycle.sleep(
                names,
                dry_run=dry_run,
                compress=compress,
                stopping=lambda: self._background.closing,
                progress=progress,
            )

    def sleep_if_due(self) -> Run | None:
        """Learn what waits, and finish the sleep cycle if one is due."""
        self._background.await_ready()
        return self._cycle.sleep_if_due(lambda: self._background.closing)

    def runs(self, limit: int = 20) -> list[Run]:
        """Return the reports of background work, the latest first."""
        return self._store.jobs.runs(checked_count(limit, "limit", 1, MOST_LISTED))

    def summarize(self, ids: Iterable[str] = (), progress: Progress | None = None) -> int:
        """Make new summaries of these memories of the Kin, or of all that lack one if none is
        named. Returns how many were made."""
        with self._long_calls.one():
            return self._renewal.of_summaries(ids, progress)

    def reembed(self, progress: Progress | None = None) -> int:
        """Make the missing vectors of the configured embedder now, and return how many were made.

        Raises ModelError if the embedder fails. What was done stays done; another call continues.
        """
        with self._long_calls.one():
            return self._indexing.all(progress)

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until the background work is done: vectors made, duplicates among them settled.

        Returns False if it is not done after `timeout` seconds, or cannot be (the embedder fails).
        """
        return self._background.settle(timeout)
