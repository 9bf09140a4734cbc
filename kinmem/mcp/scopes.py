"""Which scope of a token a message of the protocol takes."""

from collections.abc import Mapping
from typing import Any

from kinmem.http.tokens import SCOPES, Scope

TOOL_SCOPES: Mapping[str, Scope] = {
    "recall": "read",
    "list_memories": "read",
    "review_memories": "read",
    "explore": "read",
    "timeline": "read",
    "memorize": "write",
    "update_memory": "write",
    "forget": "write",
    "record_turn": "write",
    "observe": "write",
    "sleep": "admin",
}
# Arguments that take more than their tool does. `erase` cannot be taken back.
ARGUMENT_SCOPES: Mapping[tuple[str, str], Scope] = {
    ("review_memories", "apply"): "write",
    ("review_memories", "refuse"): "write",
    ("forget", "erase"): "admin",
}
# Resources that take read, by how their address begins; others take admin, as kinmem://export.
READABLE = frozenset({"memories", "stats", "entities", "graph", "timeline", "context"})


def needed(method: str, params: Mapping[str, Any]) -> Scope:
    """Return the scope that a message of the protocol takes; admin for an unknown tool."""
    if method == "tools/call":
        name, given = params.get("name"), params.get("arguments")
        wanted = [TOOL_SCOPES.get(str(name), "admin")]
        for (tool, argument), scope in ARGUMENT_SCOPES.items():
            if tool == name and isinstance(given, Mapping) and given.get(argument):
                wanted.append(scope)
        return max(wanted, key=SCOPES.index)
    if method == "resources/read":
        begins = str(params.get("uri")).removeprefix("kinmem://").partition("/")[0]
        return "read" if begins in READABLE else "admin"
    return "read"
