"""A running conversation: each message is stored before anything else, then notes are given for it.
Learning from it is left to the cycle."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from hashlib import blake2b
from typing import Unpack

from kinmem.clock import Clock
from kinmem.conversation.block import strip_blocks
from kinmem.conversation.context import where_it_stood
from kinmem.conversation.notes import SUMMARY_SHARE, Inject
from kinmem.conversation.worth_telling import believed, rules, worth_telling
from kinmem.errors import InvalidInput
from kinmem.models import Answer, Filters, Memory
from kinmem.models.draft import TEXT_BYTES
from kinmem.models.places import place_of, same_place
from kinmem.models.turns import (
    CLIENT,
    ROLE_OF,
    Circumstances,
    Happening,
    Message,
    Observed,
    Snapshot,
)
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.store.memory import fitting_ids, newer_of
from kinmem.text import VISIBLE, clean, storable
from kinmem.validation import Border, checked_subject, checked_time

NAME_BYTES = 256
# Of a longer prompt both ends are searched for: what is wanted comes first or last.
QUERY_CHARACTERS = 2000
# The same words again within this time are the same prompt, reported by another client's hook;
# later, or after an answer, the person has repeated them. Applies only if one of the two has no id.
SAME_PROMPT = timedelta(seconds=10)
# Within this time after its answer a prompt may arrive `again`, from a hook that was late.
REPEATED = timedelta(minutes=5)
# The name that kinmem gives to a turn without a client's id.
NO_ID = re.compile("[0-9a-f]{24}")
# Number of messages that may explain a follow-up (KinBot).
RECENT = 4
# Messages after a prompt that are searched for its answer: tool outputs come before it.
FOLLOWING = 100
# A session whose last message is no older than this is still going on.
GOES_ON = timedelta(minutes=10)
# Seconds for the models that help to find notes for a prompt: a hook waits a second for the answer.
MODEL_SECONDS = 0.8
# No similarity tells that an allergy matters for "plan dinner for Friday". So an opening outside of
# projects asks this, and tells the answers of which the judge is so sure.
BINDING = "Who is allergic to something, must not eat something, or has an illness or a disability?"
BINDS, MOST_BINDING = 0.4, 8
# Number of the latest blocks for which kinmem checks whether their memories still hold. Older
# blocks have been compacted by the client or are no longer read.
CHECKED = 100

Recent = Callable[[], Sequence[Message]]
# Returns a tool's message with a preview instead of a long output.
Spilled = Callable[[Message], Message]
# Finds what fits a prompt, given the prompt, what was said before it, the seconds that models may
# take, and filters for what may be shown where it was asked.
Fitting = Callable[[str, Recent, float, Filters], Answer]


class Conversation:
    """What one Kin hears and is shown in its sessions."""

    def __init__(
        self,
        store: Store,
        inject: Inject,
        spilled: Spilled,
        recall: Fitting,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._turns = store.turns
        self._snapshots = store.snapshots
        self._shown = store.shown
        self._inject = inject
        self._spilled = spilled
        self._recall = recall
        self._settings = settings
        self._clock = clock
        self._border = Border(settings.learn.secrets).when_overheard

    def observe(
        self,
        event: Happening,
        session: str,
        turn: str | None,
        text: str,
        *,
        tell: bool = True,
        again: bool = False,
        **known: Unpack[Circumstances],
    ) -> Observed:
        """Store one message; for a prompt also return notes. See Service.observe."""
        if event not in ROLE_OF:
            raise InvalidInput(f"event {event!r} is none of {', '.join(ROLE_OF)}")
        session = self._name(session, "session")
        kept = self._fit_to_keep(text)
        if kept is None:
            return Observed("ignored", reason="nothing is left of it to keep")
        now = self._clock()
        zone = self._settings.general.zone
        said_at = checked_time(known.get("at"), "at", zone, now=now) or now
        message = Message(
            session=session,
            turn=self._name(turn, "turn") if turn else "",
            role=ROLE_OF[event],
            part=known.get("part", ""),
            text="",
            speaker=checked_subject(known.get("speaker")),
            tool=checked_subject(known.get("tool")),
            client=_sound(known.get("client")),
            place=_sound(known.get("place")),
            said_at=said_at,
        )
        message = self._border.passed(message)
        message = replace(message, text=kept, part=message.part[:NAME_BYTES])
        return self._stored(replace(message, turn=self._turn_of(message, again)), tell)

    def opening(self, session: str, *, place: str | None = None) -> str:
        """Return what a session is shown at its start: pinned and important memories, and the last
        summary.

        Until something is said in the session, the same opening is returned again, since a caller
        that asks twice has not received it: a hook gives up on a slow server and asks again in its
        own process.
        """
        session = self._name(session, "session")
        if not self._settings.inject.inject or not self._settings.inject.opening_tokens:
            return ""
        if unheard := self._unheard(session):
            return unheard
        before = self._shown.of(session, "").memories.keys()
        last = self._standing(session, place)
        allowed = self._allowed(place)
        room = self._settings.inject.opening_tokens
        memories = worth_telling(self._store, allowed, room, partial(self._binding, allowed))
        newer = self._newer(memories, allowed)
        known = {one.id for one in believed(self._store, list(newer.values()))}
        newer = {id: one for id, one in newer.items() if one.id in known}
        told = self._inject.opening(session, memories, last, newer)
        after = self._shown.of(session, "").memories.keys()
        self._store.count_use(after - before, self._clock())
        return told or self._unheard(session)  # the slow server has stored it meanwhile

    def _unheard(self, session: str) -> str:
        """Return the opening of a session in which nothing has been said yet."""
        if self._turns.latest(session, "user") is not None:
            return ""
        return "\n".join(self._shown.of(session, "", latest=1).texts)

    def _allowed(self, folder: str | None) -> Filters:
        """Return which memories may be shown to somebody who works in a folder.

        Outside of projects, memories of a project are left out. If the folder is not known, all may
        be shown.
        """
        if not folder:
            return Filters()
        project = place_of(folder)
        if project is None:
            return Filters(here=(), only_here=True)
        same = (one for one in self._store.places() if same_place(one, project))
        return Filters(here=tuple({project, *same}), only_here=True)

    def _newer(self, memories: Iterable[Memory], allowed: Filters) -> dict[str, Memory]:
        """Return by id of a memory that may be out of date the newer one, if that may be shown as
        well: what was said about another project puts nothing in doubt here."""
        found: dict[str, Memory] = {}
        left = {memory.id for memory in memories}
        while left:
            newer = newer_of(self._store, self._store.decisions.conflicts(), left)
            fitting = fitting_ids(self._store, allowed, {one.id for one in newer.values()})
            found |= {id: one for id, one in newer.items() if one.id in fitting}
            left = fitting - found.keys()
        return found

    def _standing(self, session: str, place: str | None) -> Snapshot | None:
        """Return the last summary, completed by what was said since.

        A summary of the session itself is left out if its client made it, since it is still in its
        context. The latest turns are not added to it either.
        """
        last = self._snapshots.last(place)
        if last is None or last.session == session:
            return None if last and last.model == CLIENT else last
        after = self._turns.messages(last.session, uncompacted=True)
        limit = int(SUMMARY_SHARE * self._settings.inject.opening_tokens)
        return replace(last, summary=where_it_stood(last, after, limit))

    def compacted(self, session: str) -> None:
        """Note that the client has compacted its context, so that nothing shown before is in it any
        more."""
        self._shown.forget(self._name(session, "session"))

    def _name(self, value: str, what: str) -> str:
        """Return the name of a session or turn as it is stored."""
        return self._border.passed(" ".join(clean(value, what, NAME_BYTES).split()), what)

    def _fit_to_keep(self, text: str) -> str | None:
        """Remove kinmem's own notes, private parts and secrets; None if nothing is left."""
        if not isinstance(text, str):
            raise InvalidInput("text must be text")
        if not VISIBLE.search(text):
            return None
        kept = strip_blocks(self._border.passed(storable(text)))
        return _ends(kept.strip()) if VISIBLE.search(kept) else None

    def recent(self, session: str | None = None) -> list[Message]:
        """Return the last messages of a session, in order. Without a name, of the only session that
        goes on.

        If several go on, nothing is returned, since it is not known which is meant.
        """
        if session is None:
            now = self._clock()
            spoken = [one for one in self._turns.sessions(2) if now - one.last_at <= GOES_ON]
            session = spoken[0].name if len(spoken) == 1 else None
        last = self._turns.latest(session, "user") if session else None
        if last is None:
            return []
        return [*self._turns.before(last, RECENT), last, *self._turns.after(last, RECENT)]

    def _before(self, prompt: Message) -> list[Message]:
        """Return what was said before a stored prompt."""
        stored = self._turns.latest(prompt.session, "user")
        return self._turns.before(stored, RECENT) if stored else []

    def nameless(self, session: str, answer: str) -> str:
        """Return a name for a turn that has none and whose prompt was not kept."""
        last = self._turns.latest(session, "user")
        return _digest(session, answer, str(last.id if last else 0), "no prompt")

    def _stored(self, message: Message, tell: bool) -> Observed:
        message = self._spilled(message) if message.role == "tool" else message
        (new,) = self._turns.add([message])
        if not new and self._is_another(message):
            message = replace(message, part=_digest(message.text))
            (new,) = self._turns.add([message])
        if message.role == "system":
            self._summed_up(message)
            if not self._has_begun_anew(message.session):
                self.compacted(message.session)
        notes = self._notes(message) if tell and message.role == "user" else ""
        return Observed("stored" if new else "known", message.turn, notes)

    def _summed_up(self, message: Message) -> None:
        """Store a client's summary as one of the session's.

        It covers everything said so far, but replaces only its own message, because our summaries
        may hold what it leaves out.
        """
        stored = self._turns.stored(message)
        if stored is None or stored.snapshot is not None:
            return
        made = Snapshot(
            session=stored.session,
            summary=stored.text,
            model=CLIENT,
            first=stored.id,
            last=stored.id,
            seen=stored.id,
            turns=0,
            created_at=stored.said_at,
        )
        self._snapshots.compact(made, [stored.id])

    def _is_another(self, message: Message) -> bool:
        """Return whether a client that does not number answers and outputs has sent a second
        one."""
        if message.role == "user" or message.part:
            return False
        last = self._turns.latest(message.session, message.role)
        return last is not None and last.turn == message.turn and last.text != message.text

    def _notes(self, message: Message) -> str:
        """Return the notes for a prompt; the same again if they were given already."""
        if not self._settings.inject.inject:
            return ""
        session = message.session
        if texts := self._shown.of(session, message.turn).texts:
            return "\n".join(texts)
        told = self._store.memories(self._shown.versions(session, latest=CHECKED))
        recent = partial(self._before, message)
        allowed = self._allowed(message.place)
        answer = self._recall(_query(message.text), recent, MODEL_SECONDS, allowed)
        answer = replace(
            answer,
            hits=[hit for hit in answer.hits if not _is_of(hit.memory, message)],
            touched=tuple(hit for hit in answer.touched if not _is_of(hit.memory, message)),
        )
        ruling = () if told else rules(self._store, allowed)
        ruling = [rule for rule in ruling if not _is_of(rule, message)]
        found = () if answer.of_past else (*answer.hits, *answer.touched)
        shown = [*ruling, *told.values(), *(hit.memory for hit in found)]
        newer = self._newer(shown, allowed)
        newer = {id: one for id, one in newer.items() if not _is_of(one, message)}
        notes = self._inject.for_prompt(
            session, message.turn, answer, told, ruling, allowed.here, newer
        )
        if notes:
            used = self._shown.of(session, message.turn).memories
            self._store.count_use(used, self._clock())  # being shown counts as use
            return notes
        return "\n".join(self._shown.of(session, message.turn).texts)  # given meanwhile

    def _binding(self, allowed: Filters) -> list[Memory]:
        """Return what whoever plans for these people has to know, as far as the judge is sure;
        nothing in a project, where nobody plans a dinner."""
        if allowed.here:
            return []
        hits = self._recall(BINDING, list, MODEL_SECONDS, allowed).hits
        sure = [hit.memory for hit in hits if not hit.weak and (hit.reasons.judge or 0.0) >= BINDS]
        return believed(self._store, sure[:MOST_BINDING])

    def _has_begun_anew(self, session: str) -> bool:
        """Return whether an opening was shown last: Claude Code sends its summary after the
        opening."""
        openings = self._shown.of(session, "", latest=1).texts
        return bool(openings) and self._shown.of(session, latest=1).texts == openings

    def _turn_of(self, message: Message, again: bool) -> str:
        """Return the turn that a message belongs to. An answer belongs to its prompt's turn, by the
        client's id for it, or else to the last turn.

        A different text with a prompt's id begins another turn, which later messages with that id
        join.
        """
        last = self._turns.latest(message.session, "user")
        id = message.turn
        if message.role == "user":
            if last and self._is_same(message, last, again):
                return last.turn
            if not id:
                return _digest(message.session, message.text, str(last.id if last else 0))
            known = self._turns.stored(message)
            return id if known is None or _alike(known, message) else _revised(id, message.text)
        if last is None:
            return id or _digest(message.session, message.text)
        if not id or last.turn.startswith(_revised(id)):
            return last.turn
        if NO_ID.fullmatch(id) or not NO_ID.fullmatch(last.turn):
            return id
        prompt = self._turns.stored(replace(message, role="user", part=""))
        return id if prompt else last.turn

    def _is_same(self, prompt: Message, last: Message, again: bool) -> bool:
        """Return whether the last prompt is reported once more, if not both have an id."""
        if prompt.turn and not NO_ID.fullmatch(last.turn) or not _alike(prompt, last):
            return False
        following = self._turns.after(last, FOLLOWING)
        answer = next((one for one in following if one.role == "assistant"), None)
        if again:
            return answer is None or abs(prompt.said_at - answer.said_at) <= REPEATED
        return answer is None and abs(prompt.said_at - last.said_at) <= SAME_PROMPT


def _ends(text: str) -> str:
    """Return the text of a message; of one above TEXT_BYTES its head and its tail."""
    data = text.encode("utf-8")
    if len(data) <= TEXT_BYTES:
        return text
    half = (TEXT_BYTES - 100) // 2
    head, tail = (part.decode("utf-8", "ignore") for part in (data[:half], data[-half:]))
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters left out …]\n{tail}"


def _sound(name: str | None) -> str | None:
    return None if name is None else storable(name)


def _is_of(memory: Memory, prompt: Message) -> bool:
    """Return whether it was learned from this prompt: the worker may have been faster than the
    hook, and whoever has just said it needs no note of it."""
    return memory.turn_id == prompt.turn and memory.session == prompt.session


def _alike(one: Message, other: Message) -> bool:
    return one.text.split() == other.text.split()


def _revised(id: str, text: str = "") -> str:
    """Return the name of the turn in which a client's id stands for another text; without a text,
    its prefix."""
    return f"{id[: NAME_BYTES // 2]}~{_digest(text)[:8] if text else ''}"


def _query(text: str) -> str:
    if len(text) <= QUERY_CHARACTERS:
        return text
    half = QUERY_CHARACTERS // 2
    return f"{text[:half]} {text[-half:]}"


def held_part(prompt: str) -> str:
    """Return the part under which a prompt is kept as the output of a tool. Each has its own: of
    two with the same in one turn, the second would count as known already."""
    return f"prompt-{_digest(prompt)[:8]}"


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()
