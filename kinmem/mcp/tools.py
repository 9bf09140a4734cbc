"""The tools as a model sees them: names, types, and what each is for. No logic.

Docstrings and parameters cost every session: under 280 characters each, 6,000 for the six that are
always listed. They have the words of people who ask; benchmarks/tool_choice.py counts how many of
their requests lead to the right tool. `observe` is never listed: hooks call it, a model cannot.
"""

from collections.abc import Collection
from typing import Annotated, Literal, Required

from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, with_config
from typing_extensions import TypedDict, Unpack

from kinmem.conversation.sanitize import ESCAPED, restored
from kinmem.errors import InvalidInput
from kinmem.hooks.dialects import is_users
from kinmem.http.lanes import UnderWay, Unhurried, answered
from kinmem.mcp.calls import Call
from kinmem.mcp.knowledge_answers import Explored, Timeline
from kinmem.mcp.strict_tool import StrictTool, closed, tool, without_nulls
from kinmem.mcp.tool_answers import (
    Forgotten,
    HookOutput,
    Listed,
    Memorized,
    MemorizedItem,
    Memory,
    Recalled,
    Recorded,
    Reviewed,
    Slept,
)
from kinmem.models import Category, Mode, Note, Progress, Scope, State
from kinmem.models.draft import is_document
from kinmem.models.record import Relation
from kinmem.models.turns import Happening
from kinmem.upkeep.steps import StepName
from kinmem.validation import MOST_LINKS

under_way = UnderWay()
"""What takes long to store, for whoever sends it again."""
SLEEP_SECONDS = 40.0
"""After which a call of sleep is answered; clients give up after 60."""

Tags = tuple[str, ...]
Importance = Annotated[float, Field(ge=1, le=10, description="1 mundane to 10 critical")]
SourceContext = Annotated[
    str | None, Field(alias="sourceContext", description="where it was learned")
]
OccurredAt = Annotated[str | None, Field(alias="occurredAt", description="date it happened")]
Expires = Annotated[str, Field(description="date, 30d or in 3 days")]
Priority = Annotated[float, Field(ge=0, le=1)]
Since = Annotated[str, Field(description="date or yesterday")]
Place = Annotated[str, Field(description="project")]
MemoryId = Annotated[str, Field(max_length=100), WithJsonSchema({"type": "string"})]
AnyCategory = Annotated[Category, WithJsonSchema({"type": "string"})]
"""To ask for, without the list of all, which costs a hundred characters each time."""
StateName = Annotated[State, WithJsonSchema({"type": "string", "enum": [*State]})]


class Where(TypedDict, total=False):
    """Which memories are meant; what is left out restricts nothing."""

    category: AnyCategory
    subject: str
    scope: Scope
    tags: Tags
    since: Since
    until: str
    place: Place


class Details(TypedDict, total=False):
    """What may be said of a memory besides its content."""

    subject: Annotated[str | None, Field(description="whom or what it is about")]
    importance: Importance | None
    scope: Annotated[Scope, Field(description="shared: all Kins read it")]
    source_context: SourceContext
    occurred_at: OccurredAt
    expires: Expires | None


@with_config(ConfigDict(extra="forbid"))
class LinkTo(TypedDict, total=False):
    """Another memory, and what this one is to it."""

    id: Required[str]
    relation: Relation | None


Links = Annotated[
    list[LinkTo],
    Field(max_length=MOST_LINKS),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "object", "required": ["id"]},
            "description": "{id, relation: part_of, references...}; null unlinks",
        }
    ),
]


class NewDetails(Details, total=False):
    """The same of a memory that is made."""

    category: Annotated[Category, Field(description="left out: judged by the content")]
    tags: Tags


@with_config(ConfigDict(extra="forbid"))
class Item(NewDetails, total=False):
    """One of a batch."""

    content: Required[str]


class Changes(Details, total=False):
    """What update_memory may change."""

    content: str
    category: AnyCategory
    tags: Tags | None
    pinned: Annotated[bool, Field(description="never fades")]
    priority: Priority | None
    archived: Annotated[bool, Field(description="kept, but not recalled")]
    links: Links


Items = Annotated[
    list[Annotated[Item, BeforeValidator(without_nulls)]],
    Field(min_length=1, max_length=100),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "object", "required": ["content"]},
            "description": "instead: up to 100 objects with these fields",
        }
    ),
]


def recall(
    call: Call,
    query: str,
    limit: Annotated[int, Field(ge=1, le=20)] | None = None,
    as_of: Annotated[str, Field(description="what was valid then")] | None = None,
    mode: Annotated[Mode, Field(description="ranking")] | None = None,
    include_archived: bool = False,
    explain: Annotated[bool, Field(description="add score and why")] = False,
    **where: Unpack[Where],
) -> Recalled:
    """Search memory by meaning and words, best first. Call it before answering about the user,
    people, projects or anything mentioned earlier: what did I say, who was it, when, how do I like
    it, why did we decide, do you know, have we talked about it, remind me."""
    answer = call.service.recall(
        query, limit=limit, mode=mode, as_of=as_of, include_archived=include_archived, **where
    )
    return Recalled.of(answer, call.service, explain)


def memorize(
    call: Call,
    content: Annotated[str, Field(description="one self-contained statement")] | None = None,
    items: Items | None = None,
    **details: Unpack[NewDetails],
) -> Memorized:
    """Store a lasting fact, preference, decision or piece of knowledge. Call it on: remember
    this, please note, save it, keep in mind, for the record, from now on, never, next time, by the
    way. Known ones are not stored twice. Private unless shared."""
    if (content is None) == (items is None) or (items and details):
        raise InvalidInput(
            "give either content with its details, or items that each have their own"
        )
    service, key, client = call.service, call.idempotency_key, call.client

    def store(progress: Progress | None = None) -> Memorized:
        if count := sum(one.get("scope") == "shared" for one in [details, *(items or ())]):
            service.share(count)
        if content is None:
            notes = [Note(**item, client=client) for item in items or ()]
            stored = service.memorize_many(notes, progress=progress)
            return Memorized(items=[MemorizedItem.of(one) for one in stored])
        note = {**details, "client": client}
        return Memorized.of(
            service.memorize(content, idempotency_key=key, progress=progress, **note)
        )

    if content is not None and not is_document(content):
        return store()
    what = (key, content, repr(items), repr(details))
    return answered(
        under_way.result(service, what, Memorized, store, call.progress(), call.is_heard)
    )


def update_memory(
    call: Call, memory_id: MemoryId, if_version: int | None = None, **changes: Unpack[Changes]
) -> Memory:
    """Correct or reclassify one of your memories when something you stored has changed, moved or
    was noted wrong: it is this now, not that; not any more; add this to it; mark it. What is not
    named stays. null clears subject, tags, expires. if_version guards against concurrent
    changes."""
    service = call.service
    if changes.get("scope") == "shared" or service.is_shared(memory_id):
        service.share(1)
    if ESCAPED in str(changes):
        changes = restored(changes, service.get(memory_id))
    return Memory.whole(service.update_memory(memory_id, if_version=if_version, **changes), service)


def forget(
    call: Call,
    memory_id: MemoryId,
    erase: Annotated[bool, Field(description="for good, cannot be restored")] = False,
) -> Forgotten:
    """Take one of your memories out of use when the user no longer wants it kept: forget what I
    told you, delete, remove, drop, erase, wipe, bin, throw away, get rid of it. It can be restored
    for a while, unless erased for good."""
    forgotten = call.service.forget(memory_id, erase=erase)
    return Forgotten.of(forgotten, call.service)


def list_memories(
    call: Call,
    state: StateName | None = None,
    sort: Literal["newest", "oldest", "importance", "used"] = "newest",
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: Annotated[str, Field(description="nextCursor")] | None = None,
    **where: Unpack[Where],
) -> Listed:
    """Page through everything that is stored: show all memories, an overview, the whole
    collection, the full list of notes, all entries of a project, the archive, the newest or oldest.
    To find something particular use recall."""
    page = call.service.list_memories(state=state, sort=sort, limit=limit, cursor=cursor, **where)
    return Listed.of(page, call.service)


def review_memories(
    call: Call,
    subject: str | None = None,
    scope: Scope | None = None,
    apply: Annotated[Tags, Field(description="ids of issues to settle")] | None = None,
    refuse: Annotated[Tags, Field(description="not to be raised again")] | None = None,
    keep: Annotated[str, Field(description="memory that stays")] | None = None,
) -> Reviewed:
    """Check what is stored: find contradictions, duplicates to merge, stale, quarantined and
    cluttering memories, what is outdated, no longer needed, in there twice or says the same. Clean
    up, sort out, settle which is right. Changes nothing but what apply and refuse name."""
    review = call.service.review_memories(
        subject=subject,
        scope=scope,
        apply=apply or (),
        refuse=refuse or (),
        keep=keep,
        releases=False,
        progress=call.progress(),
    )
    return Reviewed.of(review, call.service)


def observe(
    call: Call,
    event: Happening,
    session: str,
    prompt_id: str | None = None,
    text: str = "",
    speaker: str | None = None,
    at: str | None = None,
    tool: str | None = None,
    call_id: str | None = None,
    cwd: str | None = None,
    agent_id: str | None = None,
    agent_type: str | None = None,
    source: str | None = None,
) -> HookOutput:
    """For hooks: keep a prompt, answer, tool output or compact summary; a prompt gets notes."""
    internal = agent_type == "" or bool(_filled(agent_id))
    internal = internal or (event == "prompt" and not is_users(text, _filled(source)))
    observed = call.service.observe(
        event,
        session,
        _filled(prompt_id),
        text,
        speaker=_filled(speaker),
        at=_filled(at),
        tool=_filled(tool),
        part=_filled(call_id) or "",
        client=call.client,
        place=_filled(cwd) or call.service.root,
        agent="internal" if internal else None,
        trusted=False,  # whoever can name the tool can call it: also a model that was told of it
    )
    return HookOutput.telling(observed.notes)


def _filled(value: str | None) -> str | None:
    """None for what a client's hook had nothing to fill in for: "" or "${prompt_id}"."""
    if not value or (value.startswith("${") and value.endswith("}")):
        return None
    return value


@with_config(ConfigDict(extra="forbid"))
class ToolOutput(TypedDict, total=False):
    """What a tool gave in a turn."""

    tool: Required[str]
    text: Required[str]
    id: str


def record_turn(
    call: Call,
    session: Annotated[str, Field(description="which conversation")],
    prompt: Annotated[str, Field(description="what was asked or said")],
    answer: str = "",
    turn_id: Annotated[str, Field(description="the same again is kept once")] | None = None,
    speaker: Annotated[str, Field(description="who spoke, if not the user")] | None = None,
    at: Annotated[str, Field(description="ISO time, if not now")] | None = None,
    tool_outputs: list[ToolOutput] | None = None,
) -> Recorded:
    """Keep a finished turn of a conversation; kinmem learns from it in the background."""
    observed = call.service.record_turn(
        session,
        prompt,
        answer,
        turn=turn_id,
        idempotency_key=call.idempotency_key,
        speaker=speaker,
        at=at,
        tools=[{name: str(part) for name, part in output.items()} for output in tool_outputs or ()],
        client=call.client,
        place=call.service.root,
        trusted=False,
    )
    return Recorded.of(observed)


def explore(
    call: Call,
    name: Annotated[str, Field(description="an entity or a subject")],
    depth: Annotated[int, Field(ge=1, le=2)] = 1,
    to: Annotated[str, Field(description="also how it leads to this one")] | None = None,
) -> Explored:
    """What is known about somebody or something: relations to others, aliases, latest memories."""
    return Explored.of(*call.service.explore(name, depth=depth, to=to), call.service)


def timeline(
    call: Call,
    subject: Annotated[str, Field(description="whom or what it is about")] | None = None,
    day: Annotated[str, Field(description="date, month, year or yesterday")] | None = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: Annotated[str, Field(description="nextCursor")] | None = None,
) -> Timeline:
    """What happened, in order: about a subject, on a day, or both. Shows what was so before, with
    until when."""
    page = call.service.timeline(subject, day, limit=limit, cursor=cursor)
    return Timeline.of(page, call.service)


def sleep(
    call: Call,
    steps: Annotated[list[StepName], Field(description="all of them if none is named")]
    | None = None,
    dry_run: Annotated[bool, Field(description="only count what would be done")] = False,
) -> Slept:
    """Do the upkeep of the memory now: learn, expire, tag, link, merge, let fade, tidy up. It runs
    by itself from time to time; call it when somebody asks for it."""
    service = call.service
    work = Unhurried(
        lambda progress: service.sleep(steps or (), dry_run=dry_run, progress=progress)
    )
    run = work.within(SLEEP_SECONDS, call.progress())
    return Slept.of(run, service.settings.general.zone) if run else Slept.later(service)


def _hints(*, reads: bool = False, destroys: bool = False) -> ToolAnnotations:
    """Every tool may be repeated without harm, and none reaches beyond the memory."""
    return ToolAnnotations(
        read_only_hint=reads, destructive_hint=destroys, idempotent_hint=True, open_world_hint=False
    )


def tools(sets: Collection[str] = (), *, strict: bool = False) -> list[StrictTool]:
    """The six, always the same, in this order; then those of the sets that were asked for.

    `strict`: with schemas that name every argument as required.
    """
    listed = [
        tool(recall, "Recall memories", _hints(reads=True), always_load=True),
        tool(memorize, "Memorize", _hints(), always_load=True),
        tool(update_memory, "Update a memory", _hints(destroys=True)),
        tool(forget, "Forget a memory", _hints(destroys=True)),
        tool(list_memories, "List memories", _hints(reads=True)),
        tool(review_memories, "Review memories", _hints(destroys=True)),
    ]
    if "turns" in sets:
        listed.append(tool(record_turn, "Record a turn", _hints()))
    if "knowledge" in sets:
        listed.append(tool(explore, "Explore", _hints(reads=True)))
        listed.append(tool(timeline, "Timeline", _hints(reads=True)))
    if "upkeep" in sets:
        listed.append(tool(sleep, "Sleep", _hints(destroys=True)))
    if strict:
        listed = [closed(one) for one in listed]
    return [*listed, tool(observe, "Observe", _hints(), listed=False)]
