"""Keys and passwords in what is exported or imported."""

from typing import Any

from kinmem.errors import InvalidInput
from kinmem.language import content_hash
from kinmem.learn.screen import Secrets, without_secrets_in

# Names under which records hold what somebody wrote, at any depth.
WRITTEN = frozenset(
    {
        *("content", "subject", "source_context", "title", "description", "source_ref"),
        *("manual_tags", "auto_tags", "metadata", "text", "summary", "reason", "problem"),
        *("evidence", "alias", "name"),
    }
)


class HasSecret(Exception):
    """A record holds a secret, and may not be passed on."""


def without_secrets(values: dict[str, Any], secrets: Secrets) -> dict[str, Any]:
    """Return a record without its secrets; the same object if there are none.

    Raises HasSecret if secrets are refused, or if a document has one: its chunks would no longer
    stand where they say.
    """
    if secrets == "allow":
        return values
    try:
        left: dict[str, Any] = _walked(values, secrets, within=False)
    except InvalidInput:
        raise HasSecret from None
    if left is values:
        return values
    if memory := left.get("memory"):
        if left["chunks"] is not None or left["earlier_texts"]:
            raise HasSecret
        memory["content_hash"] = content_hash(memory["content"])
    return left


def _walked(value: Any, secrets: Secrets, *, within: bool) -> Any:
    """Return a value without its secrets; `within` says whether all its texts are what somebody
    wrote."""
    if isinstance(value, str):
        return without_secrets_in(value, "it", secrets) if within else value
    if isinstance(value, dict):
        left = {
            name: _walked(one, secrets, within=within or name in WRITTEN)
            for name, one in value.items()
        }
        return left if any(left[name] is not value[name] for name in left) else value
    if isinstance(value, list):
        parts = [_walked(one, secrets, within=within) for one in value]
        return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    return value
