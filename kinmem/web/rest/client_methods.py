"""The methods of a client that are one request, or the same request page by page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kinmem.knowledge.connections import Picture
from kinmem.models import Answer, Memory, Page
from kinmem.models.turns import Observed
from kinmem.service import Stats
from kinmem.service.changes import Changes, ChangesView
from kinmem.service.conversations import Care, Conversations
from kinmem.service.memories import Memories
from kinmem.service.views import Views
from kinmem.undo.undo import Undone
from kinmem.web.rest import conversation_endpoints as talk
from kinmem.web.rest import knowledge_endpoints as knowledge
from kinmem.web.rest import memory_endpoints as memories
from kinmem.web.rest import past_endpoints as past
from kinmem.web.rest import review_endpoints as review
from kinmem.web.rest import upkeep_endpoints as upkeep


@dataclass(frozen=True)
class Remote:
    """A method and its request."""

    local: Callable[..., Any]
    """The method of a local memory, whose arguments it takes; {id} in the path is the first."""
    method: str
    path: str
    answer: Any
    part: str | None = None
    """The field of the answer that is returned; None: all of it."""
    takes_body: bool = False
    """Whether an object is sent even if no argument is given."""
    is_empty_if_unknown: bool = False
    """Whether it is None for an id that is no memory's."""
    is_paged: bool = False
    """Whether the parts of all pages are returned together."""


REMOTE: Mapping[str, Remote] = {
    "recall": Remote(Memories.recall, "POST", "/recall", Answer, takes_body=True),
    "list_memories": Remote(Memories.list_memories, "GET", "/memories", Page),
    "get": Remote(Views.get, "GET", "/memories/{id}", Memory),
    "text": Remote(Views.text, "GET", "/memories/{id}/text", memories.Said, "text"),
    "chunk": Remote(Views.chunk, "GET", "/memories/{id}/chunk", memories.Said, "text"),
    "restore": Remote(Memories.restore, "POST", "/memories/{id}/restore", Memory),
    "confirm": Remote(Memories.confirm, "POST", "/memories/{id}/confirm", Memory),
    "vitals": Remote(
        *(Views.vitals, "GET", "/memories/{id}/vitals", memories.Life, "vitals"),
        is_empty_if_unknown=True,
    ),
    "forecast": Remote(
        *(Views.forecast, "GET", "/memories/{id}/forecast", memories.Future, "forecast"),
        is_empty_if_unknown=True,
    ),
    "similar": Remote(Memories.similar, "GET", "/memories/{id}/similar", memories.Hits, "hits"),
    "left_out": Remote(Memories.left_out, "GET", "/left-out", memories.Hits, "hits"),
    "undo": Remote(Memories.undo, "POST", "/undo", Undone, takes_body=True),
    "as_of": Remote(Views.as_of, "GET", "/as-of", past.Then, "memories", is_paged=True),
    "changes": Remote(ChangesView.changes, "GET", "/changes", Changes),
    "muted": Remote(Memories.muted, "GET", "/muted", review.Muted, "kins"),
    "subjects": Remote(Views.subjects, "GET", "/subjects", knowledge.Names, "names"),
    "entity_names": Remote(Views.entity_names, "GET", "/entities", knowledge.Names, "names"),
    "timeline": Remote(Views.timeline, "GET", "/timeline", Page),
    "graph": Remote(Views.graph, "GET", "/graph", Picture),
    "observe": Remote(Conversations.observe, "POST", "/observe", Observed, takes_body=True),
    "opening": Remote(Conversations.opening, "GET", "/opening", talk.Shown, "text"),
    "context": Remote(Conversations.context, "GET", "/context", talk.Shown, "text"),
    "sessions": Remote(Conversations.sessions, "GET", "/sessions", talk.Sessions, "sessions"),
    "turns": Remote(Conversations.turns, "GET", "/turns", talk.Messages, "messages", is_paged=True),
    "became": Remote(
        Conversations.became, "GET", "/turns/memories", talk.Learned, "memories", is_paged=True
    ),
    "parked": Remote(
        Conversations.parked, "GET", "/turns/parked", talk.Messages, "messages", is_paged=True
    ),
    "retry": Remote(Conversations.retry, "POST", "/turns/retry", talk.Count, "count"),
    "runs": Remote(Care.runs, "GET", "/runs", upkeep.Runs, "runs"),
    "days": Remote(Views.days, "GET", "/days", knowledge.Days, "days"),
    "growth": Remote(Views.growth, "GET", "/growth", upkeep.Growth, "days"),
    "stats": Remote(Views.stats, "GET", "/stats", Stats),
}
# What a person does where the files are: it works on folders, or on a result that is looked at
# before it is carried out. `share`, `is_shared` and `is_done` serve the server's own brake; `stop`
# ends a worker of this machine.
LOCAL_ONLY = frozenset(
    "forget_about scrub export_pages import_pages share is_shared is_done sleep_if_due stop".split()
)
# The most that one page of a listing holds.
PAGE = 200


def joined(parts: list[Any]) -> Any:
    """Return the parts of several pages as one: lists behind each other, mappings by their keys."""
    if not isinstance(parts[0], Mapping):
        return [one for part in parts for one in part]
    whole: dict[Any, Any] = {}
    for part in parts:
        for key, value in part.items():
            known = whole.get(key)
            whole[key] = [*known, *value] if isinstance(known, list) else value
    return whole
