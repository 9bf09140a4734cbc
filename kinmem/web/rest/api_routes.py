"""The routes of /api/v1: each path with its methods, the stream of changes, and the OpenAPI
document, made from the same declarations that are served."""

import json
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from traceback import extract_tb
from typing import Any

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from kinmem.conversation.sanitize import inert_values
from kinmem.errors import InvalidInput, KinmemError, TooLarge, VersionConflict
from kinmem.http.lanes import Lane, Lanes, ServiceFor
from kinmem.http.refusals import forbidden, refusal, refusal_of
from kinmem.http.tokens import KIN_KEY, SCOPE_KEY, Bearer
from kinmem.models import Memory
from kinmem.web import VERSION
from kinmem.web.rest import (
    conversation_endpoints,
    knowledge_and_history_endpoints,
    memory_endpoints,
    upkeep_and_review_endpoints,
)
from kinmem.web.rest.declaration import PREFIX, Call, Endpoint, NotAllowed, NotYet
from kinmem.web.rest.shapes import (
    COMPONENTS,
    ID_CHARACTERS,
    JSON,
    KEY_CHARACTERS,
    Malformed,
    NotJson,
    allowed,
    asked_for,
    body_of,
    client_of,
    described,
    id_of,
    key_of,
    version_of,
    written,
)
from kinmem.web.rest.streams import ENDPOINT, LINES, STREAM, change_stream, transfer_routes

logger = logging.getLogger(__name__)

# Seconds between two looks whether what is waited for has happened.
WAITING_SECONDS = 0.25
GROUPS = (
    memory_endpoints.memories,
    memory_endpoints.documents,
    knowledge_and_history_endpoints.past,
    upkeep_and_review_endpoints.reviews,
    knowledge_and_history_endpoints.knowledge,
    conversation_endpoints.group,
    upkeep_and_review_endpoints.upkeep,
)
ENDPOINTS: Sequence[Endpoint] = tuple(endpoint for group in GROUPS for endpoint in group)

Handler = Callable[[Request], Awaitable[Response]]


def routes(service_for: ServiceFor, lanes: Lanes) -> list[BaseRoute]:
    """Return all routes; each serves the Kin of the request's token."""
    by_path: dict[str, list[Endpoint]] = defaultdict(list)
    for endpoint in ENDPOINTS:
        by_path[endpoint.path].append(endpoint)
    described = json.dumps(openapi(ENDPOINTS)).encode()
    served: dict[str, Handler] = {
        path: _answering(endpoints, service_for, lanes) for path, endpoints in by_path.items()
    }
    served[DESCRIPTION] = _only_get(_described(described))
    served[STREAM] = _only_get(change_stream(service_for, lanes))
    made: list[BaseRoute] = [
        Route(PREFIX + path, _Any(handler)) for path, handler in _specific_first(served)
    ]
    return [*made, Route(PREFIX + "/{rest:path}", _Any(_unknown)), *transfer_routes(service_for)]


def _specific_first(served: dict[str, Handler]) -> list[tuple[str, Handler]]:
    """Order paths so that a name comes before {id} in its place."""
    return sorted(served.items(), key=lambda pair: pair[0].count("{"))


class _Any:
    """A handler for every method: Starlette refuses methods in a form of its own."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        response = await self._handler(Request(scope, receive))
        await response(scope, receive, send)


def _answering(endpoints: Sequence[Endpoint], service_for: ServiceFor, lanes: Lanes) -> Handler:
    methods = {str(endpoint.method): endpoint for endpoint in endpoints}

    async def answer(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        endpoint = methods.get(method)
        if endpoint is None:
            return _wrong_method(request, allowed(endpoints))
        bearer = Bearer(request.scope[KIN_KEY], request.scope[SCOPE_KEY])
        if not bearer.may(endpoint.scope):
            return forbidden(bearer, endpoint.scope)
        try:
            work = await _work(request, endpoint, bearer, service_for)
            lane = lanes.reading if endpoint.scope == "read" else lanes.writing
            return await _patiently(lane, work)
        except KinmemError as error:
            return _failed(error, request)
        except NotAllowed as error:
            return forbidden(bearer, error.scope)
        except ClientDisconnect:
            return refusal(408, "timeout", "the request ended before its body did", retry=True)
        except Exception as error:
            told = "%s %s failed in an unforeseen way: %s"
            logger.error(told, endpoint.method, endpoint.path, _without_text(error))
            return refusal(500, "internal", "it failed in an unforeseen way; the server's log says")

    return answer


async def _patiently(lane: Lane, work: Callable[[], Response]) -> Response:
    """Do the work; while it waits for something, other work has the thread."""
    while True:
        with suppress(NotYet):
            return await lane.run(work)
        await anyio.sleep(WAITING_SECONDS)


async def _work(
    request: Request, endpoint: Endpoint, bearer: Bearer, service_for: ServiceFor
) -> Callable[[], Response]:
    """Return what is to be done on a worker thread. Raises what is wrong with the request."""
    body = await body_of(request, endpoint)
    id, version = id_of(request.path_params), version_of(request, endpoint)
    key, client = key_of(request, endpoint), client_of(request)
    arrived, looks = time.monotonic(), count()

    def work() -> Response:
        asked = asked_for(request, endpoint, body)  # here, since a body may be large
        service = service_for(bearer.kin)
        waited = time.monotonic() - arrived
        call = Call(service, bearer, id, version, key, client, waited, next(looks))
        result = endpoint.do(call) if asked is None else endpoint.do(call, asked)
        sent = written(result)
        if not endpoint.is_harmless:
            sent = inert_values(sent)
        headers = {"ETag": f'"{result.version}"'} if isinstance(result, Memory) else {}
        return JSONResponse(sent, endpoint.status, headers)

    return work


def _without_text(error: BaseException) -> str:
    """Return the kind of an error and where it was raised; its text may repeat a memory."""
    frames = extract_tb(error.__traceback__)
    places = (f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)
    return "\n  ".join((type(error).__name__, *places))


# Names as the tools have them, and as REST has them.
TOOL_NAMES = {"occurredAt": "occurred_at", "sourceContext": "source_context"}


def _failed(error: KinmemError, request: Request) -> Response:
    if isinstance(error, InvalidInput) and error.args and isinstance(error.args[0], str):
        told = error.args[0]
        for name, here in TOOL_NAMES.items():
            told = told.replace(name, here)
        error.args = (told, *error.args[1:])
    if isinstance(error, VersionConflict) and "if-match" in request.headers:
        return refusal(412, error.code, str(error))
    if isinstance(error, NotJson):
        return refusal(415, error.code, str(error))
    if isinstance(error, Malformed):
        return refusal(400, error.code, str(error))
    response = refusal_of(error)
    if isinstance(error, TooLarge):
        response.headers["Connection"] = "close"  # the rest of the body is not read
    return response


def _wrong_method(request: Request, allow: str) -> Response:
    told = f"{request.url.path} takes {allow}"
    return refusal(405, "invalid", told, headers={"Allow": allow})


def _only_get(handler: Handler) -> Handler:
    async def answer(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return _wrong_method(request, "GET, HEAD")
        return await handler(request)

    return answer


def _described(document: bytes) -> Handler:
    async def answer(request: Request) -> Response:
        return Response(document, media_type="application/json")

    return answer


async def _unknown(request: Request) -> Response:
    told = f"there is nothing at this address; {PREFIX}{DESCRIPTION} lists what there is"
    return refusal(404, "not_found", told)


DESCRIPTION = "/openapi.json"
ERROR = {
    "type": "object",
    "description": "Why a request was not done. With `retry` the same may succeed later.",
    "required": ["error"],
    "additionalProperties": False,
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "retry"],
            "additionalProperties": False,
            "properties": {
                "code": {"type": "string", "description": "stable"},
                "message": {"type": "string", "description": "what happened, and what to do"},
                "retry": {"type": "boolean"},
            },
        }
    },
}
FAILURES: Mapping[str, str] = {
    "400": "The request is not as described here.",
    "401": "No token, or one that is not valid.",
    "403": "The token's scope does not reach so far.",
    "404": "No such thing that this Kin may see.",
    "405": "The address takes other methods.",
    "409": "It contradicts what is stored.",
    "412": "Somebody has changed the memory since (If-Match).",
    "413": "Too large.",
    "415": "The body has to be application/json.",
    "422": "As described, but refused; the message says why.",
    "429": "Too much was shared within a minute.",
    "500": "It failed in an unforeseen way; the server's log says where.",
    "502": "The configured model did not answer.",
    "503": "Busy; Retry-After says when to try again.",
}
ID: dict[str, Any] = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": ID_CHARACTERS, "pattern": "^[^/]+$"},
}
IF_MATCH: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "description": "ETag of the memory as it was read",
    "schema": {"type": "string", "pattern": '^(\\*|"[0-9]{1,15}")$'},
}
KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same request with the same key is done once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": KEY_CHARACTERS},
}


def openapi(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the document. Paths are in the order of the endpoints."""
    known: dict[str, Any] = {"Error": ERROR}
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in (*endpoints, ENDPOINT):
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kinmem",
            "version": VERSION,
            "description": "Lasting memory for agents. The token names the Kin and its scope.",
        },
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": known,
        },
    }


def _operation(endpoint: Endpoint, known: dict[str, Any]) -> dict[str, Any]:
    answer = described(endpoint.answer, known)
    kind = LINES if endpoint is ENDPOINT else JSON
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [endpoint.group],
        "summary": endpoint.summary,
        "description": f"Takes a token of scope {endpoint.scope}.",
        "parameters": _parameters(endpoint, known),
        "responses": {
            str(endpoint.status): {"description": "Done.", "content": {kind: {"schema": answer}}},
            **{status: _failure(told) for status, told in FAILURES.items()},
        },
    }
    if endpoint.has_body:
        schema = {"$ref": COMPONENTS + _known(endpoint, known)}
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    return operation


def _failure(told: str) -> dict[str, Any]:
    return {
        "description": told,
        "content": {JSON: {"schema": {"$ref": f"{COMPONENTS}Error"}}},
    }


def _parameters(endpoint: Endpoint, known: dict[str, Any]) -> list[dict[str, Any]]:
    parameters = [ID] if "{id}" in endpoint.path else []
    if endpoint.asked is not None and not endpoint.has_body:
        is_body = f"{endpoint.asked.__name__}_asked" in known  # of another endpoint
        name = _known(endpoint, known)
        schema = known[name] if is_body else known.pop(name)
        required = schema.get("required", [])
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": _some(part)}
            for name, part in schema["properties"].items()
        ]
    parameters += [IF_MATCH] * endpoint.is_guarded + [KEY] * endpoint.takes_key
    return parameters


def _known(endpoint: Endpoint, known: dict[str, Any]) -> str:
    """Note the request's schema and return its name."""
    assert endpoint.asked is not None
    schema = endpoint.asked.model_json_schema(ref_template=COMPONENTS + "{model}_asked")
    known |= {f"{name}_asked": _lean(part) for name, part in schema.pop("$defs", {}).items()}
    name = f"{endpoint.asked.__name__}_asked"
    known[name] = _lean(schema)
    return name


def _some(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a query parameter, which is there or is not, and never null."""
    options = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    if not options:
        return schema
    rest = {name: part for name, part in schema.items() if name != "anyOf"}
    return rest | (options[0] if len(options) == 1 else {"anyOf": options})


def _lean(schema: Any) -> Any:
    """Drop pydantic's titles, and defaults: what is left out is not the same as the default."""
    if isinstance(schema, list):
        return [_lean(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    properties = {name: _lean(part) for name, part in schema.get("properties", {}).items()}
    kept = {
        name: _lean(part)
        for name, part in schema.items()
        if name not in ("title", "default", "properties")
    }
    return kept | ({"properties": properties} if properties else {})
