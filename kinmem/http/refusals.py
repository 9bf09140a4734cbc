"""What a caller is told who is refused: over HTTP a status and one object in the body, with the
codes that the tools and the command line use; of invalid arguments, in the caller's own terms, what
was meant."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from starlette.responses import JSONResponse
from typing_extensions import get_type_hints, is_typeddict

from kinmem.conversation.sanitize import inert
from kinmem.errors import (
    ConfigError,
    EntityNotFound,
    InvalidInput,
    KinmemError,
    LaterChange,
    MemoryNotFound,
    ModelError,
    Overloaded,
    StoreError,
    TooLarge,
    TooManyShared,
    VersionConflict,
)
from kinmem.http.tokens import Bearer

# The first class that fits counts.
STATUSES: Mapping[type[KinmemError], int] = {
    TooLarge: 413,
    InvalidInput: 422,
    MemoryNotFound: 404,
    EntityNotFound: 404,
    VersionConflict: 409,
    LaterChange: 409,
    TooManyShared: 429,
    Overloaded: 503,
    ModelError: 502,
    ConfigError: 503,
}
# Seconds after which another try is worth it, if nobody knows better.
SOON = 1


def refusal(
    status: int,
    code: str,
    message: str,
    *,
    retry: bool = False,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the answer to a request that is refused."""
    error = {"code": code, "message": inert(message), "retry": retry}
    return JSONResponse({"error": error}, status, headers)


def refusal_of(error: KinmemError) -> JSONResponse:
    """Return the answer to a request that has failed with this error."""
    seconds = getattr(error, "seconds", SOON if error.retry else None)
    headers = None if seconds is None else {"Retry-After": str(seconds)}
    return refusal(_status(error), error.code, str(error), retry=error.retry, headers=headers)


def told_of(error: KinmemError) -> dict[str, object]:
    """Return the error as a line of a stream tells it."""
    return {"code": error.code, "message": inert(str(error)), "retry": error.retry}


def forbidden(bearer: Bearer, scope: str) -> JSONResponse:
    """Return the answer to a token that may not do what is asked."""
    told = (
        f"this takes a token of scope {scope}, this one has {bearer.scope}; a person can run"
        f" kinmem token add {bearer.kin} --scope {scope}"
    )
    challenge = {"WWW-Authenticate": 'Bearer realm="kinmem", error="insufficient_scope"'}
    return refusal(403, "forbidden", told, headers=challenge)


def _status(error: KinmemError) -> int:
    if isinstance(error, StoreError):
        return 503 if error.retry else 500
    return next((code for kind, code in STATUSES.items() if isinstance(error, kind)), 500)


# Most faults of one call to report.
MOST_TOLD = 3
# Faults of one call that are looked at, and characters of a name that are compared.
MOST_READ = 50
MOST_COMPARED = 1000
# Similarity from which a name may be a misspelling of another.
ALIKE = 0.6
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
# Other names that people and models use for an argument. The first argument of the tool whose list
# has the name is the one that was meant.
OTHER_WORDS: Mapping[str, Sequence[str]] = {
    "memory_id": ("id", "memory", "memoryid", "uuid", "key"),
    "id": ("memory_id", "memory", "to", "target"),
    "content": ("text", "memory", "body", "fact", "statement", "note", "value", "message", "data"),
    "items": ("memories", "facts", "notes", "contents", "statements"),
    "query": ("question", "q", "text", "search", "prompt", "keywords", "input", "topic"),
    "limit": ("k", "n", "top_k", "topk", "count", "max", "max_results", "size", "page_size", "num"),
    "cursor": ("page", "offset", "next", "skip", "start", "nextcursor", "after", "token"),
    "since": ("from", "start", "start_date", "begin", "min_date", "newer_than"),
    "until": ("to", "end", "end_date", "before", "max_date", "older_than"),
    "as_of": ("at", "date", "on", "time", "valid_at"),
    "occurredAt": ("date", "time", "at", "when", "timestamp", "happened_at", "event_date"),
    "expires": ("ttl", "expiry", "expires_at", "valid_until", "expiration"),
    "sourceContext": ("source", "context", "origin", "reason", "provenance"),
    "category": ("type", "kind", "class"),
    "subject": ("entity", "name", "about", "who", "person", "user", "user_id", "topic", "query"),
    "importance": ("weight", "rating", "score", "severity"),
    "scope": ("visibility", "shared", "private", "public"),
    "tags": ("labels", "keywords", "topics"),
    "sort": ("order", "order_by", "sort_by", "by"),
    "state": ("status",),
    "mode": ("profile", "ranking", "ranking_profile", "strategy"),
    "explain": ("why", "verbose", "debug", "details"),
    "include_archived": ("archived", "all", "archive"),
    "erase": ("permanent", "permanently", "hard", "purge", "force", "delete", "for_good"),
    "relation": ("type", "kind", "relationship", "label"),
    "links": ("link", "related", "relations", "edges"),
    "if_version": ("version", "expected_version", "etag"),
    "apply": ("issues", "issue", "issue_ids", "accept", "ids", "id", "resolve", "fix"),
    "refuse": ("dismiss", "ignore", "reject", "skip"),
    "keep": ("winner", "memory_id"),
    "session": ("session_id", "conversation", "conversation_id", "thread", "thread_id", "chat"),
    "prompt": ("user", "text", "question", "input", "message", "content", "user_message"),
    "answer": ("assistant", "response", "reply", "output", "assistant_message", "completion"),
    "tool_outputs": ("tools", "tool_results", "tool_calls", "outputs"),
    "tool": ("name", "tool_name", "function"),
    "text": ("output", "result", "content", "value"),
    "name": ("entity", "query", "subject", "id", "who", "of", "person", "topic"),
    "to": ("target", "other", "until", "destination"),
    "day": ("date", "when", "month", "year", "on", "time", "period"),
    "steps": ("only", "tasks", "names"),
    "dry_run": ("preview", "simulate", "check", "test"),
}
# Arguments that take objects, which nobody writes as a text.
MANY = ("items", "links", "tool_outputs")
# By the beginning of pydantic's error types.
KINDS = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "dict": "an object",
}
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


# What becomes of the other items of a batch.
NONE_STORED = "none of the items was stored"


def in_short(error: ValidationError, names: Sequence[str], shape: Any = None) -> str:
    """Describe what is wrong in one sentence that repeats no values.

    `names` are the valid arguments; `shape` is the model they belong to, which also gives the names
    inside of objects.
    """
    problems = error.errors(include_url=False)[:MOST_READ]
    meant = {_meant(problem, _names_at(problem, names, shape)) for problem in problems}
    # Pydantic counts no item that has a fault of its own.
    inside = {problem["loc"][:end] for problem in problems for end in range(len(problem["loc"]))}
    sentences = [
        _sentence(problem, _names_at(problem, names, shape))
        for problem in problems
        if not (problem["type"].startswith("missing") and problem["loc"] in meant)
        and not (problem["type"] == "too_short" and problem["loc"] in inside)
    ]
    return "; ".join(sentences[:MOST_TOLD])


def call_in_short(error: ValidationError, names: Sequence[str], shape: Any) -> str:
    """Describe the same of a call, and what becomes of the other items of a batch."""
    is_of_item = any(one["loc"][:1] == ("items",) and len(one["loc"]) > 1 for one in error.errors())
    told = in_short(error, names, shape)
    return f"{told}; {NONE_STORED}" if is_of_item else told


def nearest(word: str, names: Iterable[str], value: Any = None) -> str | None:
    """Return the name that this word most likely stands for, if any. A text as its value was not
    meant for an argument of many."""
    names = list(names)
    fitting = [name for name in names if not isinstance(value, str) or name not in MANY]
    return _nearest(word, fitting) or _nearest(word, names)


def _nearest(word: str, names: Iterable[str]) -> str | None:
    plain = {_plain(name): name for name in names}
    given = _plain(word[:MOST_COMPARED])
    if given in plain:
        return plain[given]
    for name in plain.values():
        if given in map(_plain, OTHER_WORDS.get(name, ())):
            return name
    alike = difflib.get_close_matches(given, plain, n=1, cutoff=ALIKE)
    return plain[alike[0]] if alike else None


def _meant(problem: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the location that an unknown argument was meant for; empty for any other problem."""
    if problem["type"] not in UNKNOWN:
        return ()
    *above, last = problem["loc"]
    return (*above, nearest(str(last), names, problem["input"]))


def _sentence(problem: Any, names: Sequence[str]) -> str:
    where, kind, context = _place(problem["loc"]), problem["type"], problem.get("ctx", {})
    if kind.startswith("missing"):
        return f"{where} is missing"
    if kind in UNKNOWN:
        return _unknown(problem, names)
    if kind in ("literal_error", "enum"):
        return f"{where} must be one of {context['expected']}"
    if kind.endswith(("too_short", "too_long")):
        return f"{where} must have {_length(kind, context)}"
    for sign, words in BOUNDS.items():
        if sign in context:
            return f"{where} must be {words} {_figure(context[sign])}"
    wanted = KINDS.get(kind.partition("_")[0])
    if wanted:
        return f"{where} must be {wanted}, not {_given(problem['input'])}"
    return f"{where} {problem['msg']}".replace(" Input should", " must").strip()


def _length(kind: str, context: Mapping[str, Any]) -> str:
    most = "at least" if kind.endswith("too_short") else "at most"
    count = context.get("min_length", context.get("max_length"))
    one = "character" if kind.startswith("string") else "item"
    return f"{most} {count} {one if count == 1 else one + 's'}"


def _figure(bound: Any) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


def _unknown(problem: Any, names: Sequence[str]) -> str:
    place = _place(problem["loc"])
    named = place if len(place) <= 60 else f"{place[:60]}…"
    meant = nearest(str(problem["loc"][-1]), names, problem["input"])
    if meant is None:
        return f"there is no argument {named!r}; there are {', '.join(names)}"
    return f"there is no argument {named!r}; did you mean {meant!r}?"


def _place(loc: Sequence[str | int]) -> str:
    """Return the location within the arguments: items[0].content."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return "".join(parts).lstrip(".")


def _given(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case None:
            return "null"
        case _:
            return "that"


def _names_at(problem: Any, names: Sequence[str], shape: Any) -> Sequence[str]:
    """Return the valid names at the location of the problem; an object in a list has names of its
    own."""
    if len(problem["loc"]) < 2 or not (isinstance(shape, type) and issubclass(shape, BaseModel)):
        return names
    fields = {field.alias or name: field for name, field in shape.model_fields.items()}
    field = fields.get(str(problem["loc"][0]))
    annotation = field.annotation if field else None
    for part in get_args(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return list(part.model_fields)
    inner = object_in(annotation)
    return _keys(inner) if inner else names


def object_in(annotation: Any) -> Any:
    """Return the typed dictionary somewhere in an annotation."""
    if is_typeddict(annotation):
        return annotation
    inner = (object_in(part) for part in get_args(annotation) if get_origin(annotation))
    return next(filter(None, inner), None)


def _keys(shape: Any) -> list[str]:
    """Return the keys of a typed dictionary as they are sent."""
    hints = get_type_hints(shape, include_extras=True)
    return [_alias(hint) or name for name, hint in hints.items()]


def _alias(hint: Any) -> str | None:
    aliases = (part.alias for part in get_args(hint) if isinstance(part, FieldInfo))
    return next(aliases, None)


def _plain(word: str) -> str:
    """Drop case, dashes and underscores."""
    return "".join(sign for sign in word.casefold() if sign.isalnum())
