"""Candidates, memories and hits as tests of ranking need them: only what matters is named."""

from datetime import UTC, datetime
from typing import Any

from kinmem.language.same.lexemes import content_hash
from kinmem.models import Candidate, Found, Hit, Memory, Reasons, Scored

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
NEUTRAL = Candidate(
    id="a",
    content="text",
    source_context=None,
    category="fact",
    subject=None,
    speaker="assistant",
    kin="ana",
    scope="private",
    state="active",
    importance=None,
    confidence=1.0,
    trust=0.8,
    evidence=0.0,
    recalled_count=0,
    said_at=NOW.isoformat(),
    content_updated_at=NOW.isoformat(),
    recalled_at=None,
)
"""Nothing speaks for it, and nothing against it."""


def candidate(id: str = "a", content: str = "text", **fields: Any) -> Candidate:
    return NEUTRAL._replace(id=id, content=content, **fields)


def scored(one: Candidate, score: float, **reasons: float) -> Scored:
    return Scored(one, score, Reasons(**{"meaning": score, **reasons}))


def found(
    candidates: list[Candidate],
    cosines: dict[str, list[float]] | None = None,
    matches: dict[str, float] | None = None,
    **fields: Any,
) -> Found:
    near = cosines or {}
    nearest = sorted(near, key=lambda id: -max(near[id]))
    return Found(candidates, near, nearest, matches or {}, **fields)


def memory(id: str = "a", content: str = "text", **fields: Any) -> Memory:
    fields = {"kin": "ana", "scope": "private", "category": "fact", **fields}
    at = {"created_at": NOW, "content_updated_at": NOW}
    return Memory(id=id, content=content, content_hash=content_hash(content), **{**at, **fields})


def hit(
    id: str = "a", content: str = "text", *, sure: float = 0.5, weak: bool = False, **fields: Any
) -> Hit:
    return Hit(memory(id, content, **fields), 0.5, Reasons(0.5), confidence=sure, weak=weak)
