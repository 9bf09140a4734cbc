"""The OpenAPI 3.1 document, made from the same declarations that are served."""

from collections.abc import Mapping, Sequence
from typing import Any

from kinmem.web import VERSION
from kinmem.web.rest.declaration import Endpoint
from kinmem.web.rest.shapes import COMPONENTS, ID_CHARACTERS, JSON, KEY_CHARACTERS, described
from kinmem.web.rest.streams import ENDPOINT, LINES

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
