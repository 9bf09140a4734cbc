"""The tools' answers: small flat models with the names on the wire. Fields that are None are left
out. The command line answers with them as well, so this module loads no mcp."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AliasGenerator, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

from kinmem.clock import age_in_words, moment
from kinmem.conversation.sanitize import disarmed, inert_values
from kinmem.models.places import name_of, same_place
from kinmem.text import cut

if TYPE_CHECKING:
    from kinmem import models
    from kinmem.knowledge import Connection
    from kinmem.models.turns import Observed, Run
    from kinmem.service import Service

LINKED_CHARACTERS = 80
MOST_LINKED = 20
# Characters of a memory that list_memories shows; kinmem://memories/{id} shows all of it.
LISTED_CHARACTERS = 2000
# Characters of a memory that review_memories shows.
REVIEWED_CHARACTERS = 600
# Most characters of a document that kinmem://memories/{id} shows whole; of a longer one its chunks
# can be read.
FULL_CHARACTERS = 64 * 1024

GOING_ON = (
    "The upkeep is not done yet and goes on in the background. Nothing has to be waited for; the"
    " resource kinmem://stats tells its last run."
)
ABSTAINED = "Nothing remembered answers this for sure; weak memories are the nearest."
NOTHING = "Nothing remembered fits; other words or fewer filters may find more."


def _plain(number: float | None) -> float | None:
    """Return 7 rather than 7.0."""
    return int(number) if number is not None and number == int(number) else number


class Answer(BaseModel):
    """The answer of a tool. Fields that are None are left out."""

    model_config = ConfigDict(populate_by_name=True)

    def sent(self) -> dict[str, Any]:
        """Return the answer as it is sent."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Wire(Answer):
    """An answer with texts that are stored: data, whatever they say."""

    model_config = ConfigDict(
        populate_by_name=True, alias_generator=AliasGenerator(serialization_alias=to_camel)
    )

    def sent(self) -> dict[str, Any]:
        sent: dict[str, Any] = inert_values(as_json(self))
        return sent


class Linked(Wire):
    """What a memory is connected with, and what it is to it."""

    id: str
    relation: str
    content: Annotated[str, Field(description="how the other begins")]
    weight: float | None = None
    confidence: float | None = None
    automatic: bool | None = None
    undecided: Annotated[str | None, Field(description="why a person has to decide")] = None

    @classmethod
    def of(cls, connection: "Connection") -> Self:
        begins = cut(connection.memory.content, LINKED_CHARACTERS)
        automatic, sure = connection.is_automatic, connection.confidence
        if connection.undecided is not None:
            sure = None  # the reason says it in words
        return cls(
            id=connection.memory.id,
            relation=connection.relation,
            content=begins,
            weight=round(connection.weight, 2) if automatic else None,
            confidence=None if sure is None or not automatic else round(sure, 2),
            automatic=automatic or None,
            undecided=connection.undecided,
        )


class Memory(Wire):
    """One memory. A long one comes as an excerpt, marked truncated, instead of its content."""

    id: str
    title: str | None = None
    summary: str | None = None
    content: str | None = None
    excerpt: str | None = None
    truncated: bool | None = None
    chunk: Annotated[int | None, Field(description="of a document: where the excerpt is")] = None
    chunks: int | None = None
    place: Annotated[
        str | None, Field(description="the project it holds in; of a chunk its headings and page")
    ] = None
    elsewhere: Annotated[bool | None, Field(description="not the project at hand")] = None
    category: str
    subject: str | None = None
    importance: Annotated[float | None, PlainSerializer(_plain, return_type=float)] = None
    scope: str
    author_kin_name: Annotated[str | None, Field(description="another Kin, who shared it")] = None
    unconfirmed: Annotated[
        bool | None, Field(description="another Kin says so, and no person has confirmed it")
    ] = None
    channel: Annotated[str | None, Field(description="how it came in, if not by a tool call")] = (
        None
    )
    trust: Annotated[float | None, Field(description="0 to 1, if not as for a tool call")] = None
    source_context: str | None = None
    occurred_at: str | None = None
    age: Annotated[str, Field(description="since it was stored or its content edited")]
    state: str
    valid_until: Annotated[str | None, Field(description="it was so, or is so, until then")] = None
    newer: Annotated[
        str | None, Field(description="id of a newer memory that may have replaced it")
    ] = None
    tags: list[str] | None = None
    pinned: bool | None = None
    priority: Annotated[float | None, Field(description="as it was set")] = None
    expires: str | None = None
    version: int | None = None
    links: list[Linked] | None = None
    weak: Annotated[
        bool | None, Field(description="below the bar: shares something, hardly answers")
    ] = None
    confidence: Annotated[float | None, Field(description="that it answers, 0 to 1")] = None
    source: Annotated[
        str | None, Field(description="conversation: said there, and no memory; id is the turn's")
    ] = None
    session: str | None = None
    speaker: str | None = None
    score: float | None = None
    why: dict[str, float | str] | None = None

    @classmethod
    def brief(cls, memory: "models.Memory", service: "Service", excerpt: str | None = None) -> Self:
        """Return as much as a reader of many memories needs."""
        zone = service.settings.general.zone
        if memory.is_document and excerpt is None:
            excerpt = memory.content
        if memory.is_held:
            memory, excerpt = _defused(memory), excerpt and disarmed(excerpt)
        return cls(
            id=memory.id,
            title=memory.title,
            chunks=memory.metadata.get("parts"),
            content=memory.content if excerpt is None else None,
            excerpt=excerpt,
            truncated=None if excerpt is None else True,
            category=memory.category,
            subject=memory.subject,
            importance=memory.importance,
            scope=memory.scope,
            place=None if memory.place is None else name_of(memory.place),
            elsewhere=_is_elsewhere(memory, service) or None,
            author_kin_name=memory.kin if memory.kin != service.kin else None,
            unconfirmed=is_unconfirmed(memory, service) or None,
            channel=memory.channel if memory.channel != "explicit" else None,
            trust=None if memory.channel == "explicit" else memory.trust,
            source_context=memory.source_context,
            occurred_at=stamp(memory.occurred_at, zone),
            age=age_in_words(memory.content_updated_at, service.clock()),
            state=memory.state,
            valid_until=stamp(memory.valid_to, zone),
            tags=list(memory.tags) or None,
        )._of_turn(memory, zone)

    def _of_turn(self, memory: "models.Memory", zone: tzinfo) -> Self:
        """Add who said it, where and when, if it is a turn rather than a memory."""
        if memory.source == "conversation":
            self.source, self.session, self.speaker = memory.source, memory.session, memory.speaker
            self.occurred_at = moment(memory.said_at, zone)
        return self

    @classmethod
    def listed(cls, memory: "models.Memory", service: "Service") -> Self:
        """Return what is needed to tidy up; a very long content is cut."""
        long = len(memory.content) > LISTED_CHARACTERS and not memory.is_document
        excerpt = memory.content[:LISTED_CHARACTERS] + "…" if long else None
        view = cls.brief(memory, service, excerpt)
        view.pinned = (memory.pinned and not view.unconfirmed) or None
        view.expires = stamp(memory.expires_at, service.settings.general.zone)
        return view

    @classmethod
    def whole(cls, memory: "models.Memory", service: "Service") -> Self:
        """Return everything that a caller may change, with the version to change it from."""
        view = cls.listed(memory, service)
        if not (memory.is_document or memory.is_held):
            view.content, view.excerpt, view.truncated = memory.content, None, None
        view.summary = service.store.summaries.of([memory.id]).get(memory.id)
        view.version = memory.version
        view.newer = service.newer(memory.id).get(memory.id)
        view.priority = memory.set_priority
        view.links = linked(memory, service)
        return view

    @classmethod
    def full(cls, memory: "models.Memory", service: "Service") -> Self:
        """Return the same with all of the text, unless it is a document longer than most readers
        can take."""
        if memory.source == "conversation" or memory.is_held:
            return cls.brief(memory, service)
        view = cls.whole(memory, service)
        if memory.metadata.get("characters", 0) <= FULL_CHARACTERS:
            text = service.store.documents.readable(memory.id)
            view.content, view.excerpt, view.truncated = text, None, None
        return view


class Recalled(Wire):
    memories: list[Memory]
    degraded: Annotated[
        list[str] | None,
        Field(
            description="what was missing: embedding (words only), pending (some lack vectors),"
            " damage (left out), or the stage of a model that failed or was late"
        ),
    ] = None
    asked: Annotated[
        str | None, Field(description="what was searched for, a follow-up made whole")
    ] = None
    abstained: Annotated[
        bool | None, Field(description="nothing stored is likely to answer: all are weak, or none")
    ] = None
    note: str | None = None

    @classmethod
    def of(cls, answer: "models.Answer", service: "Service", explain: bool) -> Self:
        summaries = service.store.summaries.of([hit.memory.id for hit in answer.hits])

        def told(hit: "models.Hit") -> Memory:
            view = _hit_view(hit, service, explain)
            view.summary = summaries.get(view.id)
            return view

        return cls(
            memories=[told(hit) for hit in answer.hits],
            degraded=list(answer.degraded) or None,
            asked=answer.asked,
            abstained=answer.abstained or None,
            note=(ABSTAINED if answer.hits else NOTHING) if answer.abstained else None,
        )


def _hit_view(hit: "models.Hit", service: "Service", explain: bool) -> Memory:
    view = Memory.brief(hit.memory, service, hit.excerpt)
    view.newer = hit.newer
    if hit.part is not None:
        view.chunk, view.chunks, view.place = hit.part.number, hit.part.of, hit.part.place or None
    view.weak = hit.weak or None
    if explain or hit.weak:
        view.confidence = round(hit.confidence, 2)
    if explain:
        view.score, view.why = None if hit.is_fetched else hit.score, dict(hit.why)
        if hit.memory.place is not None and view.chunk is None:
            view.place = hit.memory.place
        view.links = None if hit.is_turn else linked(hit.memory, service)
    return view


def is_unconfirmed(memory: "models.Memory", service: "Service") -> bool:
    """Return whether another Kin shares it and nobody has confirmed it."""
    return memory.kin != service.kin and memory.id not in service.store.others.confirmed()


def _defused(memory: "models.Memory") -> "models.Memory":
    """Return a memory that is held back as one may look at it: it opens and begins nothing."""
    shown: dict[str, Any] = {
        name: disarmed(text)
        for name in ("content", "title", "subject", "source_context")
        if (text := getattr(memory, name)) is not None
    }
    return replace(memory, **shown, manual_tags=tuple(map(disarmed, memory.manual_tags)))


def _is_elsewhere(memory: "models.Memory", service: "Service") -> bool:
    """Return whether it holds in another project than the current one, if that is known."""
    place, here = memory.place, service.here
    return place is not None and here is not None and not same_place(place, here)


def linked(memory: "models.Memory", service: "Service") -> list[Linked] | None:
    """Return the connections of a memory; None if there are none."""
    connections = service.links(memory.id).get(memory.id, [])
    return [Linked.of(connection) for connection in connections[:MOST_LINKED]] or None


class MemorizedItem(Wire):
    """What became of one thing: created, duplicate_of, merged_into, superseded (what it
    contradicts, or it itself, is so no longer), conflict (somebody has to decide) or refused."""

    status: str | None = None
    id: Annotated[str | None, Field(description="where it stands now")] = None
    duplicate_of: str | None = None
    merged_into: str | None = None
    supersedes: list[str] | None = None
    conflicts: list[str] | None = None
    reason: str | None = None
    category: str | None = None
    importance: Annotated[float | None, PlainSerializer(_plain, return_type=float)] = None

    @classmethod
    def of(cls, stored: "models.Stored") -> Self:
        return cls(
            status=stored.status,
            id=stored.id,
            duplicate_of=stored.id if stored.status == "duplicate_of" else None,
            merged_into=stored.id if stored.status == "merged_into" else None,
            supersedes=list(stored.supersedes) or None,
            conflicts=list(stored.conflicts) or None,
            reason=stored.reason,
            category=stored.category,
            importance=stored.importance,
        )


class Memorized(MemorizedItem):
    """The one thing, or for a batch its items in order."""

    items: list[MemorizedItem] | None = None


class Forgotten(Wire):
    id: str
    status: str
    restorable_until: str | None = None
    backups_left: list[str] | None = None
    """Backups that may still have what was erased."""
    still_said_by: Annotated[
        dict[str, str] | None, Field(description="what stays and says nearly the same, by id")
    ] = None

    @classmethod
    def of(cls, forgotten: "models.Forgotten", service: "Service") -> Self:
        zone = service.settings.general.zone
        known = service.store.memories(forgotten.still_said_by)
        still = {id: cut(one.content, LINKED_CHARACTERS) for id, one in known.items()}
        until = stamp(forgotten.restorable_until, zone)
        left = left_in_backups(forgotten.backups)
        return cls(
            id=forgotten.id,
            status=forgotten.status,
            restorable_until=until,
            backups_left=left or None,
            still_said_by=still or None,
        )


def left_in_backups(reached: "models.ErasedFromBackups") -> list[str]:
    """Say which backups may still have what was erased."""
    left = [f"{path} (cannot be reached from here)" for path in reached.unreached]
    if reached.later:
        left.append(f"{reached.later} in the home, until the next sleep cycle")
    return left


def mark_doubtful(views: "Sequence[Memory]", service: "Service") -> None:
    """Add to each memory that may be out of date the id of the newer one."""
    newer = service.newer(*(view.id for view in views))
    for view in views:
        view.newer = newer.get(view.id)


class Listed(Wire):
    memories: list[Memory]
    next_cursor: str | None = None

    @classmethod
    def of(cls, page: "models.Page", service: "Service") -> Self:
        views = [Memory.listed(memory, service) for memory in page.memories]
        summaries = service.store.summaries.of([view.id for view in views])
        for view in views:
            view.summary = summaries.get(view.id)
        mark_doubtful(views, service)
        return cls(memories=views, next_cursor=page.next_cursor)


class Issue(Wire):
    id: Annotated[str, Field(description="for apply and refuse")]
    type: str
    memory_ids: list[str]
    texts: Annotated[
        dict[str, str] | None, Field(description="by memory id, the earlier first")
    ] = None
    description: str
    suggestion: str
    suggested_content: str | None = None
    answers: Annotated[dict[str, str], Field(description="what each would do")]


class SettledIssue(Wire):
    issue: str
    kept: str | None = None
    changed: Annotated[dict[str, str], Field(description="memory id: what became of it")]
    undo: Annotated[str | None, Field(description="command that takes it back")] = None


class Reviewed(Wire):
    issues: list[Issue]
    summary: str
    settled: Annotated[
        list[SettledIssue] | None, Field(description="what was done first, by apply and refuse")
    ] = None
    degraded: Annotated[
        list[str] | None, Field(description="review_model: it failed; rules alone answered")
    ] = None

    @classmethod
    def of(cls, review: "models.Review", service: "Service") -> Self:
        known = service.store.memories({id for one in review.issues for id in one.memory_ids})
        texts = {
            id: cut(memory.content, REVIEWED_CHARACTERS)
            for id, memory in known.items()
            if not (memory.is_held or memory.holds_back)
        }
        issues = [
            Issue(
                id=issue.id,
                type=issue.type,
                memory_ids=list(issue.memory_ids),
                texts={id: texts[id] for id in issue.memory_ids if id in texts} or None,
                description=issue.description,
                suggestion=issue.suggestion,
                suggested_content=issue.suggested_content,
                answers=dict(issue.answers),
            )
            for issue in review.issues
        ]
        settled = [
            SettledIssue(
                issue=issue.issue,
                kept=issue.kept,
                changed=dict(issue.changed),
                undo=f'kinmem undo "{issue.batch}"' if issue.batch else None,
            )
            for issue in review.settled
        ]
        degraded = list(review.degraded) or None
        summary = review.summary
        return cls(issues=issues, summary=summary, settled=settled or None, degraded=degraded)


class Addition(Answer):
    """What a hook adds to a prompt, as Claude Code names it."""

    hookEventName: str = "UserPromptSubmit"
    additionalContext: str


class HookOutput(Answer):
    """Empty, or the notes for a prompt: the answer of a hook."""

    hookSpecificOutput: Addition | None = None

    @classmethod
    def telling(cls, notes: str) -> Self:
        return cls(hookSpecificOutput=Addition(additionalContext=notes) if notes else None)


class Recorded(Wire):
    """stored, or known if all of it was there already; ignored if there is nothing to keep."""

    status: str
    turn_id: str | None = None
    reason: str | None = None

    @classmethod
    def of(cls, observed: "Observed") -> Self:
        turn, reason = observed.turn or None, observed.reason or None
        return cls(status=observed.status, turn_id=turn, reason=reason)


class SleptStep(Wire):
    step: str
    seconds: float
    counts: Annotated[dict[str, int] | None, Field(description="what it did")] = None
    would: Annotated[dict[str, int] | None, Field(description="in a dry run instead")] = None

    @classmethod
    def of(cls, run: "Run", step: str) -> Self:
        counts = dict(run.counted(step)) or None
        done = {"would": counts} if run.is_dry else {"counts": counts}
        return cls(step=step, seconds=round(run.seconds[step], 3), **done)


class Slept(Wire):
    """What each step did, or in a dry run would do; and what went wrong."""

    started_at: str
    dry_run: bool | None = None
    steps: list[SleptStep]
    problems: list[str] | None = None
    going_on: Annotated[str | None, Field(description="it takes longer than a call may")] = None

    @classmethod
    def of(cls, run: "Run", zone: tzinfo) -> Self:
        return cls(
            started_at=moment(run.started_at, zone),
            dry_run=run.is_dry or None,
            steps=[SleptStep.of(run, step) for step in run.seconds],
            problems=list(run.problems) or None,
        )

    @classmethod
    def later(cls, service: "Service") -> Self:
        """Return the answer for a run that has not ended yet."""
        return cls(
            started_at=moment(service.clock(), service.settings.general.zone),
            steps=[],
            going_on=GOING_ON,
        )


def stamp(when: datetime | None, zone: tzinfo) -> str | None:
    """Format a time as ISO 8601 in the zone; a local midnight is written as its date."""
    if when is None:
        return None
    local = when.astimezone(zone)
    if local.time().replace(tzinfo=None) == local.time().min:
        return local.date().isoformat()
    return moment(when, zone)


def as_json(answer: Wire) -> dict[str, Any]:
    """Return the answer as programs get it from the command line, every character as stored."""
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)
