"""Memories of three days before tests/conversation's now."""

from datetime import UTC, datetime
from typing import Any

from kinmem.models import Memory

WRITTEN = datetime(2026, 6, 12, 12, tzinfo=UTC)


def memory(content: str = "I live in Lyon", **fields: Any) -> Memory:
    whole: dict[str, Any] = {
        "id": content,
        "kin": "ana",
        "scope": "private",
        "category": "fact",
        "content_hash": "",
        "created_at": WRITTEN,
        "content_updated_at": WRITTEN,
        **fields,
    }
    return Memory(content=content, **whole)
