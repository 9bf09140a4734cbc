"""A memory over HTTP answers as one that is opened here, whatever the arguments.

Every method of Service is called with every argument, one varied at a time, through both: results
and errors are the same. A new method or argument without a value to try fails the test.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest

import kinmem
from kinmem.conversation.sanitize import inert_values
from kinmem.documents.document import Given
from kinmem.errors import KinmemError
from kinmem.http.tokens import Tokens
from kinmem.knowledge import Picture
from kinmem.models import Note
from kinmem.models.turns import Circumstances, Message, Run
from kinmem.service import Service, Stats
from kinmem.store.history import COMPUTED
from kinmem.validation import Where
from kinmem.web.rest.client_methods import LOCAL_ONLY
from tests.rest.conftest import Api
from tests.sweeps import sample

SEEDS: tuple[dict[str, Any], ...] = (
    {"content": "the tea is kept in the cellar", "subject": "tea", "tags": ("kitchen",)},
    {"content": "Clara works at the hospital in Linz", "importance": 8, "speaker": "Ana"},
    {"content": "the hospital in Linz has a garden", "occurred_at": "2026-05-08"},
    {"content": "the well behind the barn is nine metres deep", "category": "fact"},
)
DOCUMENT = "# House\n\nThe roof was mended in May.\n\n## Cellar\n\nThe cellar holds jam.\n"
TEXT = "It was \ud800 written"
LONG = "shelf " * 12_000
STRANGE = (LONG, "", "  ", "é ⟨U+202E⟩ 漢字", TEXT, "a/b?c#d%20", "..", "null", "\x00\x1b[1m")
NUMBERS = (0, -1, 1, 2, 51, 201, 1001, 10**9, 2**63 - 1, 2**70)
TIMES: tuple[Any, ...] = (
    *("2026-05-08", "2026-05", "2026", "yesterday", "someday", "", "2026-05-08T14:30+02:00", TEXT),
    datetime(2026, 5, 8, 14, 30, tzinfo=UTC),
    datetime(2026, 5, 8, 14, 30),
)
# Values by the name of an argument. Those of wrong types are WRONG, for each.
VALUES: Mapping[str, tuple[Any, ...]] = {
    "query": ("tea", "who works in Linz?", *STRANGE),
    "content": ("the kettle is blue", *STRANGE[1:]),
    "memory_id": ("$0", "$1", "$doc", "nothing", "x" * 101, "turn:1", "turn:999", *STRANGE[1:-1]),
    "number": NUMBERS,
    "limit": (None, *NUMBERS),
    "mode": ("recent", "nothing", "", None),
    "place": ("nothing", "/srv/nowhere", "", None, TEXT),
    "session": ("s1", "nothing", *STRANGE),
    "category": ("fact", "nothing", "", None),
    "subject": ("tea", "é", LONG, "", "  ", TEXT, None),
    "scope": ("private", "nothing", "", None),
    "tags": (("kitchen",), ["Kitchen", "kitchen "], (), {"a"}, ("x" * 65,), ("",), (TEXT,), None),
    **dict.fromkeys(("since", "until", "as_of", "occurred_at", "at"), (*TIMES, None)),
    "expires": ("30d", "12h", "2020-01-01", "tomorrow", "", "x", None, TIMES[-2]),
    "day": (*TIMES, None),
    "include_archived": (True, False),
    "state": ("active", "deleted", "nothing", None),
    "tier": ("hot", "warm", "nothing", None),
    "speaker": ("Ana", "nobody", LONG, "", TEXT, None),
    "sort": ("newest", "oldest", "importance", "used", "nothing"),
    "cursor": ("", "x", "eyJ9", "é", "9" * 40, None),
    "importance": (1, 7, 10, 0, 11, -1, 2.5, float("nan"), float("inf"), None),
    "priority": (0, 1, 0.5, 2, -1, float("nan"), None),
    "source_context": ("told at lunch", LONG, "", None),
    "reason": ("because", LONG, "", TEXT, None),
    "batch": ("mine", LONG, "", None),
    "trusted": (True, False),
    "pinned": (True, False),
    "archived": (True, False),
    "links": (
        [{"id": "$1", "relation": "part_of"}],
        [{"id": "$1", "relation": None}],
        [{"id": "nothing"}],
        [{"id": "$0"}],
        [{"id": "$1", "relation": "nothing"}],
        [{"id": "$1", "x": 1}],
        [],
    ),
    "if_version": (1, 0, 99, -1, 10**6, None),
    "idempotency_key": ("a key", "clé 漢字", "", " ", "k" * 256, "a\nb", TEXT, None),
    "items": (
        ["the gate is green", {"content": "the gate is red", "subject": None, "tags": ["gate"]}],
        [{"content": "the fence is old", "category": None, "importance": None, "expires": None}],
        [Note(content="the hedge is high", subject="hedge", expires="30d")],
        [{"content": ""}, {"content": "the pond is small", "importance": 99}],
        [{"content": "the pond is deep", "scope": "nothing"}, "the path is long"],
        [],
        [f"jar {n} holds {n} plums" for n in range(101)],
    ),
    "given": (
        Given(data="# Barn\n\nThe barn is red.", name="barn.md"),
        Given(data=b"\xff\xfe\x00", name="x.bin"),
        Given(data="", title="nothing"),
    ),
    "data": ("# Shed\n\nThe shed is new.", b"# Yard\n\nThe yard is wide.", "", b"\x00\x01"),
    "details": (),
    "erase": (False,),
    "what": (None, 1, 10**12, "nothing", "$0", "", TEXT),
    "last": (1, 3, 0, -1, 10**6),
    "cascade": (False, True),
    "dry_run": (True,),
    "releases": (True, False),
    "write": NUMBERS,
    "prefix": ("", "t", "T", "é", "%", TEXT),
    "name": ("Clara", "Nobody Whoever", "", TEXT),
    "depth": (1, 2, 0, 3, 99),
    "to": ("Linz", "Nobody", None),
    "before": (1, 2, 0, -1, 2**63 - 1, 2**70, None),
    "issue": ("nothing", "", "é/x"),
    "issues": ((), ("nothing",)),
    "apply": ((), ("nothing",)),
    "refuse": ((), ("nothing",)),
    "decide.refuse": (True, False),
    "keep": (None, "$0", "nothing"),
    "kin": ("dora", "carol", "", "no kin", "../x", "b" * 101),
    "event": ("prompt", "answer", "tool", "summary", "nothing"),
    "turn": ("t1", "", None, TEXT, LONG),
    "text": ("where is the tea?", "", " ", TEXT),
    "agent": ("sub", "", None),
    "tell": (True, False),
    "again": (True, False),
    "tool": ("grep", "", None),
    "part": ("p1", ""),
    "client": ("editor", None),
    "prompt": ("I like tea", *STRANGE[1:]),
    "answer": ("noted", "", TEXT),
    "tools": ([{"tool": "grep", "text": "found", "id": "1"}], [{"text": "x"}], [{}], []),
    "exact": (True, False),
    "steps": ((), ("expire",), ["expire", "nothing"]),
    "compress": (None,),
    "ids": ((), ("$0",), ("nothing",)),
    "timeout": (5, 0.5),
    "path": ("$export", "/nowhere/at/all", "$document"),
    "target": ("$new", "/nowhere/at/all", "$document"),
    "progress": (None,),
    "keep_secrets": (False,),
    "memory_ids": (),
    "confidence": (1.0,),
    "title": ("House", "", None),
    "description": ("of the house", "", None),
    "source_ref": ("/srv/house.md", "", None),
    "source": ("upload",),
    "name_of_file": (),
}
# What only kinmem itself says of a note: REST does not take it.
OWN = {
    *("channel", "turns", "model", "entities", "relations", "quarantine", "updates", "confidence"),
    *("client", "session", "source", "only_as_change"),
}
WRONG: tuple[Any, ...] = (None, 5, "text", 1.5, ["x"], {"x": 1}, b"x", True)
# Each method with arguments that are right.
CALLS: Mapping[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "recall": (("where is the tea kept?",), {}),
    "similar": (("$1",), {}),
    "left_out": (("tea",), {}),
    "list_memories": ((), {}),
    "review_memories": ((), {}),
    "decide": (("nothing",), {}),
    "forget": (("$3",), {}),
    "confirm": (("$0",), {}),
    "mute": (("dora",), {}),
    "unmute": (("dora",), {}),
    "muted": ((), {}),
    "restore": (("$3",), {}),
    "undo": ((), {"dry_run": True}),
    "memorize": (("the lamp in the hall flickers",), {}),
    "memorize_many": ((["the stove is hot"],), {}),
    "add_document": (("# Stable\n\nThe stable is dry.",), {}),
    "add": ((Given(data="# Stall\n\nThe stall is dry."),), {}),
    "update_memory": (("$0",), {"pinned": False}),
    "get": (("$0",), {}),
    "text": (("$doc",), {}),
    "chunk": (("$doc", 1), {}),
    "vitals": (("$0",), {}),
    "forecast": (("$0",), {}),
    "newer": (("$0", "$1"), {}),
    "links": (("$0", "$1"), {}),
    "timeline": ((), {}),
    "explore": (("Clara",), {}),
    "entity_names": ((), {}),
    "graph": ((), {}),
    "history": (("$0",), {}),
    "as_of": ((3,), {}),
    "subjects": ((), {}),
    "growth": ((), {}),
    "days": ((), {}),
    "stats": ((), {}),
    "changes": ((), {"since": "0"}),
    "observe": (("prompt", "s1", "t9", "where is the jam?"), {"tell": False}),
    "record_turn": (("s1", "the jam is good", "noted"), {"turn": "t8"}),
    "opening": (("s2",), {}),
    "compacted": (("s1",), {}),
    "context": (("s1",), {}),
    "sessions": ((), {}),
    "turns": (("s1",), {}),
    "became": (("s1",), {}),
    "parked": ((), {}),
    "retry": ((), {}),
    "sleep": ((("expire",),), {}),
    "runs": ((), {}),
    "summarize": ((("$0",),), {}),
    "reembed": ((), {}),
    "settle": ((5,), {}),
    "export": (("$new",), {}),
    "import_": (("$export",), {"dry_run": True}),
    "close": ((), {}),
}


@dataclass
class Side:
    """One of the two memories, and what the names in VALUES stand for there."""

    memory: Service
    folder: Path
    ids: list[str]
    document: str

    def meant(self, value: Any) -> Any:
        """The value with this memory's ids and files in it."""
        if isinstance(value, str) and value.startswith("$"):
            files = {"$export": "all.jsonl", "$document": "notes.txt", "$new": "new.jsonl"}
            if value in files:
                return self.folder / files[value]
            return self.document if value == "$doc" else self.ids[int(value[1:])]
        if isinstance(value, Mapping):
            return {name: self.meant(one) for name, one in value.items()}
        if isinstance(value, list | tuple | set):
            return type(value)(map(self.meant, value))
        return value

    def call(self, case: "Case") -> Any:
        """The outcome in a form that both memories share: a result, or the kind of an error."""
        given, named = self.meant(case.given), self.meant(case.named)
        try:
            return plain(getattr(self.memory, case.method)(*given, **named))
        except KinmemError as error:
            return {"error": type(error).__name__, "code": error.code, "retry": error.retry}
        except (TypeError, ValueError, AttributeError, OverflowError, KeyError) as error:
            return {"mistake": type(error).__name__}


@dataclass(frozen=True)
class Case:
    method: str
    given: tuple[Any, ...]
    named: dict[str, Any]
    is_wrong: bool = False
    """Whether an argument is of a type that it cannot have."""

    def __str__(self) -> str:
        told = [*map(repr, self.given), *(f"{name}={one!r}" for name, one in self.named.items())]
        return f"{self.method}({', '.join(told)})"[:200]


BEHIND_STARS: Mapping[str, tuple[str, ...]] = {
    "recall": (*Where.__annotations__,),
    "list_memories": (*Where.__annotations__,),
    "memorize": (*(field.name for field in fields(Note) if field.name != "content"),),
    "add_document": (*(field.name for field in fields(Given) if field.name != "data"),),
    "observe": (*Circumstances.__annotations__,),
    "update_memory": (
        *("content", "category", "subject", "scope", "importance", "tags", "source_context"),
        *("occurred_at", "pinned", "priority", "expires", "place", "archived", "links"),
    ),
}
"""By method the arguments that its signature does not name."""


def cases_of(memory: Service, method: str) -> Iterator[Case]:
    """A call that is right; then each argument with each of its values, and with wrong types."""
    given, named = CALLS[method]
    yield Case(method, given, named)
    parameters = signature(getattr(memory, method)).parameters
    at = 0
    for name, parameter in parameters.items():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            yield Case(method, (), {})
            yield Case(method, ("$0", "nothing", "", "x" * 300), {})
            continue
        if parameter.kind is Parameter.VAR_KEYWORD:
            for more in BEHIND_STARS[method]:
                if more not in OWN or method in ("observe", "record_turn"):
                    yield from varied(method, more, given, named)
            continue
        is_given = parameter.kind is not Parameter.KEYWORD_ONLY and at < len(given)
        place = at if is_given else None
        takes_none = parameter.default is None
        yield from varied(method, name, given, named, place, takes_none=takes_none)
        at += is_given
    yield Case(method, given, {**named, "nonsense": 1}, is_wrong=True)
    yield Case(method, (*given, 1, 2, 3, 4, 5, 6), named, is_wrong=True)


def varied(
    method: str,
    name: str,
    given: tuple[Any, ...],
    named: dict[str, Any],
    at: int | None = None,
    *,
    takes_none: bool = True,
) -> Iterator[Case]:
    values = [
        one for one in VALUES.get(f"{method}.{name}", VALUES[name]) if one is not None or takes_none
    ]
    right = sample(values, 7)
    wrong = () if method in WRITES or name == "progress" else sample(WRONG, 6)
    for value, is_wrong in [*((one, False) for one in right), *((one, True) for one in wrong)]:
        if at is None:
            yield Case(method, given, {**named, name: value}, is_wrong)
        else:
            yield Case(method, (*given[:at], value, *given[at + 1 :]), named, is_wrong)


# What a wrong type would do to one memory alone, if Python takes it for something else.
WRITES = frozenset(
    """forget confirm mute unmute restore undo memorize memorize_many add_document add update_memory
    observe record_turn compacted retry sleep summarize reembed export import_ decide
    review_memories""".split()
)
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
NAMED = re.compile(r"\b(?:[a-z]+-[0-9a-f]{8}|key-[0-9a-f-]+|[0-9a-f]{10}|[0-9a-f]{24})\b")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")
UNLIKE = COMPUTED | {
    *("client", "cursor", "next_cursor", "parts", "seconds", "backups", "redacted", "reason"),
    "counts",
}
"""Fields that differ from one memory, or one moment, to the next."""


def plain(value: Any) -> Any:
    """A result without what differs between two memories of the same contents."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return MOMENT.sub("TIME", NAMED.sub("NAME", ID.sub("ID", inert_values(value))))
    if isinstance(value, Picture):  # placed by what upkeep has found by then
        return sorted(memory.content for memory in value.memories)
    if isinstance(value, Run) or (isinstance(value, list) and value and isinstance(value[0], Run)):
        return "what was done, and how often, is a matter of time"
    if isinstance(value, Stats):
        return [value.kin, value.embedder]
    if isinstance(value, Message):
        value = replace(value, id=0, learned_at=None, tries=0, due_at=None, snapshot=None)
    if is_dataclass(value):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: plain(one) for name, one in named.items() if name not in UNLIKE}
    if isinstance(value, datetime):
        return "TIME"
    if isinstance(value, float):
        return int(value) if value.is_integer() else "NUMBER"
    if isinstance(value, Mapping):
        kept = {name: one for name, one in value.items() if name not in UNLIKE}
        named = {str(plain(name)): plain(one) for name, one in kept.items()}
        return named if len(named) == len(kept) else sorted(map(str, map(plain, kept.values())))
    if isinstance(value, set | frozenset):
        return sorted(map(str, map(plain, value)))
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, int) else str(value)


def is_same(case: Case, here: Any, there: Any) -> bool:
    """What a wrong type does here is Python's, and nobody's promise: there it is told, or done."""
    is_broken = isinstance(there, dict) and there.get("code") in ("unreachable", "internal")
    return bool(here == there or (case.is_wrong and not is_broken))


@pytest.fixture(scope="module")
def sides(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    token = Tokens(api.server.home).add("cleo", scope="admin")
    home = tmp_path_factory.mktemp("here")
    with (
        kinmem.open("cleo", home=home) as here,
        kinmem.open("cleo", url=api.server.url, token=token) as there,
    ):
        made = []
        for memory, name in ((here, "here"), (there, "there")):
            folder = tmp_path_factory.mktemp(name)
            for kin in ("ana", "bob"):  # what other tests share on the server
                memory.mute(kin)
            ids = [str(memory.memorize(**seed).id) for seed in SEEDS]
            document = memory.add_document(DOCUMENT, name="house.md").id or ""
            memory.record_turn("s1", "I moved to Graz", "noted", turn="t1")
            memory.forget(ids[3])
            memory.settle()
            memory.export(folder / "all.jsonl")
            (folder / "notes.txt").write_text("no export")
            made.append(Side(memory, folder, ids, document))
        yield made[0], made[1]


def test_every_method_is_tried(sides: tuple[Side, Side]) -> None:
    here = sides[0].memory
    methods = {
        name for name in dir(here) if not name.startswith("_") and callable(getattr(here, name))
    }
    assert methods - LOCAL_ONLY - {"clock"} == CALLS.keys()


@pytest.mark.parametrize("method", [name for name in CALLS if name != "close"])
def test_a_method_answers_the_same(sides: tuple[Side, Side], method: str) -> None:
    here, there = sides
    for side in sides if method not in WRITES else ():
        side.memory.settle(30)  # what was said before is learned by then
    unlike = []
    for case in cases_of(here.memory, method):
        outcomes = here.call(case), there.call(case)
        if not is_same(case, *outcomes):
            unlike.append(f"{case}\n   here  {outcomes[0]!s:.600}\n   there {outcomes[1]!s:.600}")
    assert not unlike, "\n".join(unlike)
