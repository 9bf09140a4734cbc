"""What requests and answers look like: a query or body with the headers that an endpoint honours;
the service's own types as JSON, described for OpenAPI, written, and read back.

A dataclass or named tuple is an object with the names of its fields; a field that is None is left
out. A time is ISO 8601. A mapping whose keys are no texts is a list of {key, value}.
"""

import json
import re
import types
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Set
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import date, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import ValidationError
from starlette.requests import Request

from kinmem.conversation.sanitize import disarmed
from kinmem.errors import InvalidInput, TooLarge
from kinmem.http.refusals import call_in_short
from kinmem.models import Memory
from kinmem.models.draft import client_name
from kinmem.web.rest.declaration import Asked, Endpoint

JSON = "application/json"
ETAG = re.compile(r'"([0-9]{1,15})"')
ID_CHARACTERS = 100
KEY_CHARACTERS = 255


class Malformed(InvalidInput):
    """A request that is not as its description says."""


class NotJson(Malformed):
    """A body that does not say that it is JSON."""


async def body_of(request: Request, endpoint: Endpoint) -> bytes:
    """Return the body. Raises TooLarge as soon as it is, NotJson for one that is something else."""
    body = bytearray()
    async for block in request.stream():
        body += block
        if len(body) > endpoint.body_bytes:
            raise TooLarge("the request", len(body), endpoint.body_bytes)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if endpoint.has_body and kind != JSON:
        raise NotJson(f"the body has to be {JSON}")
    if body and not endpoint.has_body:
        raise Malformed(f"{endpoint.method} {endpoint.path} takes no body")
    return bytes(body)


def asked_for(request: Request, endpoint: Endpoint, body: bytes) -> Asked | None:
    """Return what is asked for. Raises Malformed."""
    model = endpoint.asked
    if model is None or endpoint.has_body:
        unknown = set(request.query_params)
        if unknown:
            raise Malformed(f"{endpoint.method} {endpoint.path} takes no query")
    if model is None:
        return None
    try:
        if endpoint.has_body:
            _refuse_repeated_names(body)
            return model.model_validate_json(body, strict=True)
        return model.model_validate(_query(request, model))
    except ValidationError as error:
        raise Malformed(call_in_short(error, list(model.model_fields), model)) from None


def _refuse_repeated_names(body: bytes) -> None:
    """Raise Malformed if an object of the body has a name twice: one of the values would be lost.
    What is no JSON is left to the model."""
    with suppress(ValueError, RecursionError):
        json.loads(body, object_pairs_hook=_once_each)


def _once_each(pairs: list[tuple[str, Any]]) -> None:
    names = Counter(name for name, _ in pairs)
    if len(names) < len(pairs):
        ((name, _),) = names.most_common(1)
        raise Malformed(f"{name[:ID_CHARACTERS]} is given more than once")


def _query(request: Request, model: type[Asked]) -> Mapping[str, Any]:
    """Return the query. A name may be repeated if its field is a list."""
    given: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        field = model.model_fields.get(name)
        if field is not None and _is_list(field.annotation):
            given.setdefault(name, []).append(value)
        elif name in given:
            raise Malformed(f"{name} is given more than once")
        else:
            given[name] = value
    return given


def _is_list(annotation: Any) -> bool:
    kinds = (annotation, *get_args(annotation))
    return any(get_origin(kind) in (tuple, list) for kind in kinds)


def version_of(request: Request, endpoint: Endpoint) -> int | None:
    """Return the version that If-Match names; None for none, or for any."""
    text = request.headers.get("if-match")
    if text is None or text == "*" or endpoint.method == "GET":
        return None
    if not endpoint.is_guarded:
        raise Malformed(f"{endpoint.method} {endpoint.path} cannot honour If-Match")
    found = ETAG.fullmatch(text.strip())
    if found is None:
        raise Malformed('If-Match has to be one ETag, such as "3"')
    return int(found[1])


def key_of(request: Request, endpoint: Endpoint) -> str | None:
    """Return the idempotency key. Refused where a repetition could not be recognised, rather than
    forgotten."""
    key = request.headers.get("idempotency-key")
    if key is None or endpoint.method in ("GET", "PUT", "DELETE"):
        return None
    if not endpoint.takes_key:
        raise Malformed(f"{endpoint.method} {endpoint.path} cannot honour Idempotency-Key")
    with suppress(UnicodeDecodeError):  # headers come as Latin-1, and keys may be sent as UTF-8
        key = key.encode("latin-1").decode("utf-8")
    if not 0 < len(key) <= KEY_CHARACTERS:
        raise Malformed(f"Idempotency-Key must have 1 to {KEY_CHARACTERS} characters")
    return key


def client_of(request: Request) -> str | None:
    """Return the program that calls, by its own name."""
    return client_name(request.headers.get("user-agent", ""))


def id_of(parameters: Mapping[str, Any]) -> str:
    """Return what stands for {id}. Raises Malformed."""
    id = str(parameters.get("id", ""))
    if len(id) > ID_CHARACTERS:
        raise Malformed(f"an id has at most {ID_CHARACTERS} characters")
    return id


def allowed(endpoints: Collection[Endpoint]) -> str:
    """Return the methods of a path, as the header Allow lists them."""
    methods = {endpoint.method for endpoint in endpoints}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


SCALARS: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Path: {"type": "string"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    Any: {},
}
COMPONENTS = "#/components/schemas/"
HELD = ("content", "title", "subject", "source_context")


def written(value: Any, kind: Any = Any) -> Any:
    """Return a value, declared to be of that kind, as JSON can hold it."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Memory) and value.is_held:
        value = _defused(value)
    if is_record(type(value)):
        parts = ((name, hint, getattr(value, name)) for name, hint in _fields(value))
        return {name: written(part, hint) for name, hint, part in parts if part is not None}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        if is_record(next(iter(get_args(kind)), None)):
            return [{"key": written(key), "value": written(part)} for key, part in value.items()]
        return {str(key): written(part) for key, part in value.items()}
    if isinstance(value, Set):
        return sorted(map(written, value))
    return list(map(written, value)) if isinstance(value, Collection) else str(value)


def read(kind: Any, value: Any) -> Any:
    """Return what `written` has made of a value of that kind."""
    origin, inner = get_origin(kind), get_args(kind)
    if value is None or kind is Any or origin is Literal:
        return value
    if origin in (Union, types.UnionType):
        return read(next(one for one in inner if one is not type(None)), value)
    if is_record(kind):
        hints, needed = _hints(kind), _needed(kind)
        given = {name: read(hints[name], part) for name, part in value.items()}
        return kind(**dict.fromkeys(needed - given.keys()), **given)
    if kind in (date, datetime):
        return kind.fromisoformat(value)
    if is_mapping(origin):
        key, part = inner
        if isinstance(value, Mapping):
            return {read(key, name): read(part, one) for name, one in value.items()}
        return {read(key, one["key"]): read(part, one["value"]) for one in value}
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[1:] == (...,) else inner
        return tuple(read(one, part) for one, part in zip(kinds, value, strict=True))
    if origin is not None:
        parts = [read(inner[0], part) for part in value]
        return frozenset(parts) if issubclass(origin, Set) else parts
    return kind(value)


def described(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a kind; `known` collects the records that it refers to, by name."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in SCALARS:
        return dict(SCALARS[kind])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return described(next(one for one in inner if one is not type(None)), known)
    if is_record(kind):
        return _reference(kind, known)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    if is_mapping(origin):
        key, part = inner
        if not is_record(key):
            return {"type": "object", "additionalProperties": described(part, known)}
        pair = {"key": described(key, known), "value": described(part, known)}
        return {"type": "array", "items": {"type": "object", "properties": pair}}
    if origin is tuple and len(set(inner)) == 1:
        size = {"minItems": len(inner), "maxItems": len(inner)}
        return {"type": "array", "items": described(inner[0], known), **size}
    if origin is tuple and inner[1:] != (...,):
        return {"type": "array", "prefixItems": [described(one, known) for one in inner]}
    if origin is not None:
        return {"type": "array", "items": described(inner[0], known)}
    raise TypeError(f"no schema is known for {kind}")


def _reference(kind: type, known: dict[str, Any]) -> dict[str, Any]:
    name = _name(kind)
    if name not in known:
        known[name] = {}  # it may refer to itself
        hints = _hints(kind)
        known[name] = {
            "type": "object",
            "description": " ".join((kind.__doc__ or "").split()),
            "properties": {one: described(hint, known) for one, hint in hints.items()},
            "required": [one for one, hint in hints.items() if not _may_be_none(hint)],
            "additionalProperties": False,
        }
    return {"$ref": COMPONENTS + name}


def _name(kind: type) -> str:
    """Return the name of a record; of two kinds of the same name each has that of its module."""
    module = kind.__module__.rpartition(".")[2]
    return kind.__name__ if module == "record" else f"{kind.__name__}_{module}"


def _may_be_none(hint: Any) -> bool:
    return hint is Any or type(None) in get_args(hint)


def is_record(kind: Any) -> bool:
    """Return whether values of that kind are objects: dataclasses and named tuples."""
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))


def is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _fields(value: Any) -> Collection[tuple[str, Any]]:
    kind: Any = type(value)
    return _hints(kind).items()


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    """Return the fields that a record is made from, in their order."""
    hints = get_type_hints(kind)
    if is_dataclass(kind):
        return {field.name: hints[field.name] for field in fields(kind) if field.init}
    return hints


@cache
def _needed(kind: Any) -> frozenset[str]:
    """Return the fields without a default."""
    if is_dataclass(kind):
        without = (MISSING, MISSING)
        return frozenset(
            field.name
            for field in fields(kind)
            if field.init and (field.default, field.default_factory) == without
        )
    return frozenset(_hints(kind)) - frozenset(kind._field_defaults)


def _defused(memory: Memory) -> Memory:
    """Return a memory that is held back as one may look at it: it opens and begins nothing."""
    shown: dict[str, Any] = {
        name: disarmed(text) for name in HELD if (text := getattr(memory, name)) is not None
    }
    return replace(memory, **shown, manual_tags=tuple(map(disarmed, memory.manual_tags)))
