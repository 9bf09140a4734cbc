"""A Kin's memory on disk, and models that say what a test wants them to."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
import uuid_utils

from kinmem.clock import Clock
from kinmem.language.same.lexemes import content_hash
from kinmem.llm.base import ChatModel, Embedder, chunks_of
from kinmem.models import Chunks, Draft, Filters, Memory, State, Vectors
from kinmem.service import Service
from kinmem.store.base import Store
from kinmem.upkeep.consolidate import consolidate
from kinmem.upkeep.merge import compress
from kinmem.wiring.open_memory import embedders

OF_AN_ASSISTANT = {
    "channel": "extraction",
    "speaker": "assistant",
    "category": "fact",
    "scope": "private",
}
"""What a memory of the bench is, unless it says otherwise: what people tell never fades."""


@dataclass
class Bench:
    """One Kin's service, taken apart."""

    service: Service
    store: Store
    embedder: Embedder
    clock: Clock

    def keep(self, content: str, **fields: Any) -> str:
        """Store one memory as it is, compared with nothing; its id."""
        return self.store.add([self.draft(content, **fields)])[0]

    def draft(self, content: str, vectors: Vectors | None = None, **fields: Any) -> Draft:
        """One memory, embedded if it has no vector yet."""
        now = self.clock()
        tags, at = fields.pop("tags", ()), fields.pop("occurred_at", None)
        moment = datetime.fromisoformat(at) if at else None
        memory = Memory(
            id=str(uuid_utils.uuid7()),
            kin=self.store.kin,
            content=content,
            content_hash=content_hash(content),
            manual_tags=tags,
            occurred_at=moment and moment.replace(tzinfo=UTC),
            created_at=now,
            content_updated_at=now,
            **{**OF_AN_ASSISTANT, **fields},
        )
        texts = chunks_of(content, self.embedder)
        vectors = self.embedder.embed(texts) if vectors is None else vectors
        return Draft(memory, Chunks(texts, vectors, self.embedder.name))

    def compress(self) -> Counter[str]:
        """What became of the groups."""
        counts: Counter[str] = Counter()
        compress(self.store, self.embedder, self.service.settings, self.clock, counts)
        return counts

    def consolidate(self, model: ChatModel, counts: Counter[str] | None = None) -> Counter[str]:
        """What became of the groups, added to `counts`."""
        counts = Counter() if counts is None else counts
        settings = self.service.settings
        consolidate(self.store, self.embedder, model, settings, self.clock, counts)
        return counts

    def live(self) -> list[Memory]:
        return self.store.page(Filters(), "oldest", 200).memories

    def state(self, id: str) -> State:
        return self.store.get(id).state


@pytest.fixture
def bench_of(service_of: Callable[..., Service], clock: Clock) -> Callable[..., Bench]:
    """Opens a Kin for which half the meaning in common is close enough, unless set otherwise.

    Nothing happens in the background, so that the steps can be taken one by one.
    """

    def open_for(kin: str = "ana", **settings: object) -> Bench:
        near = {"MEMORY_CONSOLIDATION_SIMILARITY": 0.5, "KINMEM_COMPRESS_SIMILARITY": 0.5}
        service = service_of(kin, resident=False, **{**near, **settings})
        embedder = embedders(service.settings)[0]
        embedder.warm()
        return Bench(service, service.store, embedder, clock)

    return open_for


@pytest.fixture
def bench(bench_of: Callable[..., Bench]) -> Bench:
    return bench_of()


def shown(prompt: str) -> list[dict[str, Any]]:
    """The memories in a prompt, as the model sees them."""
    return [json.loads(line) for line in re.findall(r"^\{\".*\}$", prompt, re.MULTILINE)]


def all_of_it(prompt: str) -> dict[str, Any]:
    """A model that merges whatever it is shown, and keeps every word."""
    told = [one for one in shown(prompt) if "text" in one]
    return {
        "abort": False,
        "content": "\n".join(dict.fromkeys(one["text"] for one in told)),
        "category": "fact",
        "subject": told[0]["subject"],
        "importance": 1,
        "superseded": [],
    }
