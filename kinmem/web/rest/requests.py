"""Reads a request: its query or body, and the headers that an endpoint honours."""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from starlette.requests import Request

from kinmem.errors import InvalidInput, TooLarge
from kinmem.http.argument_errors import in_short
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
        raise Malformed(in_short(error, list(model.model_fields), model)) from None


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
