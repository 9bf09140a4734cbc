"""What kinmem does for one Kin, once, for every way in: tools, command line, Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import TracebackType
from typing import Any, Self

from kinmem.background import Background
from kinmem.clock import Clock, utc_now
from kinmem.compact.pipeline import Compact
from kinmem.conversation import Conversation
from kinmem.cycle import Cycle
from kinmem.errors import InvalidInput
from kinmem.inject.pipeline import Inject
from kinmem.learn.from_turns import Learn
from kinmem.learn.memorize import Memorize
from kinmem.learn.prepare import changed_fields
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.chunks import chunks_of
from kinmem.models import (
    LIVE,
    Answer,
    Chunks,
    Coverage,
    Event,
    Filters,
    Forgotten,
    Memory,
    Note,
    Page,
    Progress,
    Review,
    State,
    Stored,
)
from kinmem.outbox import Outbox
from kinmem.recall.pipeline import Recall
from kinmem.recall.recent import RecentAnswers
from kinmem.recall.rewrite import Recent
from kinmem.rules.border import checked_filters
from kinmem.settings import Settings
from kinmem.store.base import Sort, Store
from kinmem.text import clean
from kinmem.turns import Happening, Message, Observed, Run, Session
from kinmem.upkeep.pipeline import Upkeep
from kinmem.upkeep.reviewing import Reviewer
from kinmem.work import Work

QUERY_BYTES = 8 * 1024
BATCH = 100
NO_MODELS = ChatModels()

Time = str | datetime


@dataclass(frozen=True)
class Stats:
    """What a Kin's memory holds and how it is doing."""

    kin: str
    counts: Mapping[str, Mapping[str, int]]
    """By state, scope and category; see Store.counts."""
    embedders: list[Coverage]
    embedder: str
    """The configured one."""
    conversations: Mapping[str, int]
    """See Journal.counts."""
    last_run: Run | None
    """What was done in the background last."""


class Service:
    """One Kin's memory. Every method may be called from any thread.

    Times are aware datetimes or ISO 8601 text, read in KINMEM_TZ. All methods raise InvalidInput
    for arguments that cannot be meant, and StoreError when the database cannot do it.
    Opened by kinmem.open or wiring; close it, or use it in a with statement.
    """

    def __init__(
        self,
        store: Store,
        embedders: Sequence[Embedder],
        settings: Settings,
        *,
        models: ChatModels = NO_MODELS,
        clock: Clock = utc_now,
        patience: float | None = None,
        resident: bool = True,
    ) -> None:
        """`embedders`: the configured one, then those that answer while its vectors are being made.

        `patience` bounds the seconds that a call waits for the embedder to load; None waits.
        Without `resident` nothing is loaded and no background work is done: words answer.
        """
        self.store = store
        self.settings = settings
        self.clock = clock
        self._embedder = embedder = embedders[0]
        self._recall = RecentAnswers(
            Recall(store, embedders, settings, clock, models),
            store,
            clock,
            settings.recall.rewrite_threshold,
        )
        self._memorize = Memorize(store, embedder, settings, clock)
        self._review = Reviewer(store, embedder, models.review, settings, clock)
        self._compact = Compact(store.journal, models.compacting, settings, clock)
        self._conversation = Conversation(
            store,
            Inject(store.journal, settings, clock),
            self._compact,
            self._fitting,
            settings,
            clock,
        )
        learn = Learn(store, embedder, models.extraction, settings, clock)
        cycle = Cycle(
            store.journal,
            Outbox(store, learn, settings, clock),
            self._compact,
            Upkeep(store, embedder, models.consolidation, settings, clock),
            clock,
        )
        self._work = Work(store, embedders, self._memorize, cycle, self._bin_time, clock)
        self._background = Background(
            self._work.prepare,
            lambda: self._work.part(self._background),
            patience,
            resident=resident,
        )
        self._background.start()

    @property
    def kin(self) -> str:
        """Whose memory this is."""
        return self.store.kin

    # the six tools

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        category: str | None = None,
        subject: str | None = None,
        scope: str | None = None,
        tags: Iterable[str] = (),
        since: Time | None = None,
        until: Time | None = None,
        as_of: Time | None = None,
        mode: str | None = None,
        include_archived: bool = False,
        session: str | None = None,
    ) -> Answer:
        """What is remembered about the question, best first; every hit says why it was found.

        `limit` is 1-100, MEMORY_MAX_RELEVANT by default; `mode` names a ranking profile. `session`
        is the conversation that a follow-up belongs to; unset: of the last ten minutes the only
        one. Returned memories count as used.
        """
        query = clean(query, "query", QUERY_BYTES)
        limit = self.settings.recall.max_relevant if limit is None else limit
        if not 1 <= limit <= 100:
            raise InvalidInput(f"limit {limit} is not between 1 and 100")
        filters = checked_filters(
            self.settings.general.zone,
            category=category,
            subject=subject,
            scope=scope,
            tags=tags,
            since=since,
            until=until,
            as_of=as_of,
            include_archived=include_archived,
        )
        self._background.await_ready()
        recent = partial(self._conversation.recent, session)
        answer = self._recall(query, limit, filters, mode, recent)
        self.store.count_use([hit.memory.id for hit in answer.hits], self.clock())
        return answer

    def memorize(self, content: str, **fields: Any) -> Stored:
        """Remember one thing; the fields are those of Note. What is known is not stored twice."""
        self._background.await_ready()
        return self._memorize.one(_note({"content": content, **fields}))

    def memorize_many(self, items: Iterable[Note | Mapping[str, Any] | str]) -> list[Stored]:
        """Remember several things; what became of each, in order.

        They are stored at once, in transactions of 100; their vectors follow in the background (see
        settle) and with them the search for semantic duplicates. An item that cannot be stored is
        refused without harm to the others.
        """
        notes = [_note(item) for item in items]
        stored: list[Stored] = []
        for start in range(0, len(notes), BATCH):
            self._background.wake()
            stored += self._memorize.many(notes[start : start + BATCH])
        self._background.wake()
        return stored

    def update_memory(
        self, memory_id: str, *, if_version: int | None = None, **changes: Any
    ) -> Memory:
        """Change content, category, subject, scope, importance, tags, source_context, occurred_at,
        pinned, expires or archived. None clears what can be empty.

        Raises MemoryNotFound unless this Kin is the author, VersionConflict if somebody changed it
        since `if_version`.
        """
        if not changes:
            raise InvalidInput("nothing to change; name at least one field")
        old = self.store.get(memory_id)
        if old.state == State.DELETED and changes.get("archived") is not False:
            raise InvalidInput(
                f"memory {memory_id} is forgotten; archived=false brings it back first"
            )
        zone, secrets = self.settings.general.zone, self.settings.learn.secrets
        fields = changed_fields(changes, old, self.clock(), zone, secrets)
        chunks = None
        if "content" in fields:
            self._background.await_ready()
            texts = chunks_of(fields["content"], self._embedder)
            chunks = self._memorize.embedded(Chunks(texts))
        return self.store.update(memory_id, fields, chunks=chunks, if_version=if_version)

    def forget(self, memory_id: str, *, erase: bool = False) -> Forgotten:
        """Take it out of use, restorable for KINMEM_PURGE_DAYS; with `erase` remove it for good."""
        if erase:
            self.store.erase(memory_id)
            self._recall.clear()
            return Forgotten(memory_id, "erased")
        memory = self.store.get(memory_id)
        if memory.state != State.DELETED:
            gone = {"state": State.DELETED, "deleted_at": self.clock()}
            memory = self.store.update(memory_id, gone, action="forgotten")
        since = memory.deleted_at or self.clock()
        return Forgotten(memory.id, "forgotten", since + self._bin_time)

    def list_memories(
        self,
        *,
        subject: str | None = None,
        category: str | None = None,
        scope: str | None = None,
        tags: Iterable[str] = (),
        state: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        sort: Sort = "newest",
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """One page of what is visible: live memories unless a state is named. `limit` is 1-200."""
        if not 1 <= limit <= 200:
            raise InvalidInput(f"limit {limit} is not between 1 and 200")
        filters = checked_filters(
            self.settings.general.zone,
            category=category,
            subject=subject,
            scope=scope,
            tags=tags,
            since=since,
            until=until,
            state=state,
        )
        return self.store.page(filters, sort, limit, cursor)

    def review_memories(
        self,
        *,
        subject: str | None = None,
        scope: str | None = None,
        apply: Iterable[str] = (),
        refuse: Iterable[str] = (),
        keep: str | None = None,
        progress: Progress | None = None,
    ) -> Review:
        """Contradictions, duplicates, quarantined, stale, expired and cluttering memories.

        Changes nothing but what `apply` and `refuse` name, by the ids of issues that a review gave:
        those are done as suggested, or never proposed again. `keep` names the memory that stays.
        """
        filters = checked_filters(self.settings.general.zone, subject=subject, scope=scope)
        return self._review(
            filters, apply=tuple(apply), refuse=tuple(refuse), keep=keep, progress=progress
        )

    # conversations

    def observe(
        self,
        event: Happening,
        session: str,
        turn: str | None = None,
        text: str = "",
        *,
        speaker: str | None = None,
        at: Time | None = None,
        tool: str | None = None,
        part: str = "",
        client: str | None = None,
        place: str | None = None,
        agent: str | None = None,
        tell: bool = True,
    ) -> Observed:
        """Keep one thing said, durably; learn from it later. A prompt is answered with notes,
        unless `tell` is false.

        `event` is prompt, answer, tool (its name in `tool`, the call's id in `part`) or summary (a
        client's own of what it drops). The same said again in one turn is kept once. What a
        sub-agent says (`agent`) is ignored. `place` is the folder the session works in.
        """
        if agent:
            return Observed("ignored", reason="said by a sub-agent")
        observed = self._conversation.observe(
            event,
            session,
            turn,
            text,
            speaker=speaker,
            at=at,
            tool=tool,
            part=part,
            client=client,
            place=place,
            tell=tell,
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
    ) -> Observed:
        """Keep a whole turn that is over: prompt, tool outputs (tool, text, id), answer."""
        asked = self.observe(
            "prompt", session, turn, prompt, speaker=speaker, at=at, client=client, tell=False
        )
        turn = asked.turn or turn or self._conversation.nameless(session, answer)
        for number, output in enumerate(tools, start=1):
            name, part = output.get("tool"), output.get("id") or str(number)
            text = output.get("text", "")
            self.observe("tool", session, turn, text, at=at, tool=name, part=part, client=client)
        answered = self.observe("answer", session, turn, answer, at=at, client=client)
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
            latest = self.store.journal.sessions(1)
            session = latest[0].name if latest else ""
        return self._compact.context(session, exact=exact)

    def sessions(self, limit: int = 50) -> list[Session]:
        """The conversations observed, the latest first."""
        return self.store.journal.sessions(limit)

    def turns(self, session: str) -> list[Message]:
        """All that was said in a session, in order."""
        return self.store.journal.messages(session)

    def parked(self) -> list[Message]:
        """What could not be learned from after three tries; see retry."""
        return self.store.journal.parked()

    def retry(self) -> int:
        """Let the worker try again what is parked or waits for its next try; how many messages."""
        found = self.store.journal.retry()
        self._background.wake()
        return found

    def sleep(self, *, compress: bool | None = None) -> Run:
        """Do all background work now and say what was done. `compress`: merge without a model."""
        self._background.await_ready()
        return self._work.sleep(self._background, compress)

    def runs(self, limit: int = 20) -> list[Run]:
        """Reports of what was done in the background, the latest first."""
        return self.store.journal.runs(limit)

    # for people and programs

    def get(self, memory_id: str) -> Memory:
        """A visible memory in whatever state; reading it counts as use."""
        memory = self.store.get(memory_id)
        self.store.count_use([memory.id], self.clock())
        return memory

    def restore(self, memory_id: str) -> Memory:
        """Bring back a forgotten, archived or superseded memory of one's own."""
        if self.store.get(memory_id).state in LIVE:
            return self.store.update(memory_id, {})
        back = {"state": State.ACTIVE, "deleted_at": None, "superseded_by": None, "valid_to": None}
        return self.store.update(memory_id, back, action="restored")

    def history(self, memory_id: str, limit: int = 100) -> list[Event]:
        """What happened to a visible memory, newest first."""
        return self.store.history(memory_id, limit)

    def subjects(self, prefix: str = "", limit: int = 100) -> list[str]:
        """Known subjects that begin with the prefix, most used first."""
        return self.store.subjects(prefix, limit)

    def stats(self) -> Stats:
        """Counts of memories and turns, the state of the vectors, and the last report."""
        journal = self.store.journal
        return Stats(
            self.kin,
            self.store.counts(),
            self.store.coverage(),
            self._embedder.name,
            journal.counts(),
            next(iter(journal.runs(1)), None),
        )

    def reembed(self, progress: Progress | None = None) -> int:
        """Make the vectors of the configured embedder that are missing, now; how many were made.

        Raises ModelError when the embedder fails; what was done stays done, a second call goes on.
        """
        return self._work.reembed(progress)

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until the background work is done: vectors made, duplicates among them settled.

        False if it is not done after `timeout` seconds, or cannot be (the embedder fails).
        """
        return self._background.settle(timeout)

    def close(self) -> None:
        """Stop background work, close the files. What is pending goes on at the next opening."""
        self._background.close()
        self.store.close()

    @property
    def _bin_time(self) -> timedelta:
        return timedelta(days=self.settings.general.purge_days)

    def _fitting(self, query: str, recent: Recent, seconds: float) -> Answer:
        """What a prompt brings to mind; use is counted for what is then told."""
        self._background.await_ready()
        limit = self.settings.recall.max_relevant
        query = query.encode("utf-8", "ignore")[:QUERY_BYTES].decode("utf-8", "ignore")
        return self._recall(query, limit, Filters(), None, recent, seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _note(item: Note | Mapping[str, Any] | str) -> Note:
    if isinstance(item, Note):
        return item
    if isinstance(item, str):
        return Note(content=item)
    try:
        return Note(**item)
    except TypeError as error:
        raise InvalidInput(f"an item of memorize_many: {error}") from error
