"""Writes of every kind in random order, through Service, as people and agents make them."""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path

import numpy as np

from kinmem.errors import InvalidInput, KinmemError, MemoryNotFound
from kinmem.language import Window, pieces
from kinmem.llm.base import Calibration, Purpose
from kinmem.models import Memory, Vectors
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock
from tests.store.soundness import everything

NAMES = "Ada Ben Cleo Dan Eva Finn Gus Hana".split()
TOWNS = "Bern Graz Oslo Porto Riga Turin Vigo York".split()
THINGS = "amber birch cedar dune ember fjord glade heath islet jetty knoll lagoon".split()
LONG = (
    "Ada keeps the old collection of her aunt in the cellar of the brick house by the lake in Bern"
)
"""What is said so with one more sentence is merged."""
WIDTH = 64


class WordEmbedder:
    """Implements Embedder: texts are near each other by the words they share; loads nothing."""

    name, dimension, ready = "words", WIDTH, True
    calibration = Calibration(noise=0.3, duplicate=0.95, near=0.6)

    def warm(self) -> None:
        """Nothing to load."""

    def window(self, limit: int, overlap: int = 0) -> Window:
        return Window(limit, limit, len, overlap)

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        return pieces(text, self.window(limit, overlap))

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        rows = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row += _direction(word)
        rows[:, 0] += 1e-3
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _direction(word: str) -> Vectors:
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
    return np.asarray(np.random.default_rng(seed).standard_normal(WIDTH), np.float32)


def opened(home: Path, clock: MovableClock, kin: str = "ana", **settings: object) -> Service:
    """A memory in which nothing happens by itself."""
    given = {"KINMEM_KIN": kin, "KINMEM_HOME": home, "MEMORY_ADAPTIVE_K": False}
    loaded = load({**given, **settings}, environment={})
    store = SqliteStore(home, kin, clock)
    return Service(store, [WordEmbedder()], loaded, clock=clock, resident=False)


class Writer:
    """Does one random thing after the other."""

    def __init__(self, service: Service, clock: MovableClock, seed: int) -> None:
        self.service = service
        self.clock = clock
        self.chance = random.Random(seed)
        self._turns = 0

    def write(self, *, also: Sequence[Callable[[], object]] = ()) -> str:
        """One thing, by name; what is refused, as impossible as it is, has changed nothing."""
        self.clock.advance(minutes=1)
        known: list[tuple[Callable[[], object], float]] = [
            (self.memorize, 6),
            (self.memorize_many, 2),
            (self.update, 6),
            (self.move, 2),
            (self.archive, 1),
            (self.link, 2),
            (self.document, 1),
            (self.expire, 0.7),
            (self.forget, 2),
            (self.restore, 2),
            (self.learn, 0.7),
            (self.settle, 0.7),
            (self.compress, 0.7),
            (self.review, 0.2),  # the slowest by far: it looks at all pairs
            *((one, 2) for one in also),
        ]
        (deed,) = self.chance.choices(*zip(*known, strict=True))
        with suppress(InvalidInput, MemoryNotFound):
            deed()
        return deed.__name__

    def statement(self) -> str:
        name, town, thing = map(self.chance.choice, (NAMES, TOWNS, THINGS))
        return self.chance.choice(
            (
                f"{name} lives in {town}",
                f"{name} moved to {town}",
                f"{name} keeps the {thing} in {town}",
                f"{name} likes {thing}",
                f"{name} does not like {thing} any more",
                f"The {thing} of {name} is number {self.chance.randrange(100)}",
                f"{LONG}. There is {thing} in it.",
            )
        )

    def some(self) -> Memory:
        return self.chance.choice([m for m in everything(self.service.store) if m.kin == "ana"])

    def memorize(self) -> None:
        scope = self.chance.choice(("private", "private", "shared"))
        self.service.memorize(
            self.statement(), scope=scope, importance=self.chance.choice((None, 3, 8))
        )

    def memorize_many(self) -> None:
        self.service.memorize_many(self.statement() for _ in range(self.chance.randint(2, 5)))

    def update(self) -> None:
        changes = {
            "content": self.statement(),
            "importance": self.chance.randint(1, 10),
            "subject": self.chance.choice((None, *NAMES)),
            "tags": self.chance.sample(THINGS, 2),
            "pinned": self.chance.random() < 0.5,
            "category": self.chance.choice(("fact", "preference", "plan")),
            "source_context": self.statement(),
            "expires": self.chance.choice((None, "90d", self.clock() + timedelta(minutes=2))),
            "priority": self.chance.choice((None, 0.2, 0.9)),
            "occurred_at": self.chance.choice((None, self.clock() - timedelta(days=3))),
        }
        names = self.chance.sample(sorted(changes), self.chance.choice((1, 1, 2)))
        self.service.update_memory(self.some().id, **{name: changes[name] for name in names})

    def move(self) -> None:
        memory = self.some()
        scope = "private" if memory.scope == "shared" else "shared"
        also = {"content": self.statement()} if self.chance.random() < 0.3 else {}
        self.service.update_memory(memory.id, scope=scope, **also)

    def archive(self) -> None:
        self.service.update_memory(self.some().id, archived=self.chance.random() < 0.7)

    def link(self) -> None:
        relation = self.chance.choice(("related_to", "part_of", "follows", None))
        asked = [{"id": self.some().id, "relation": relation}]
        self.service.update_memory(self.some().id, links=asked)

    def document(self) -> None:
        """A new one, or another version of one."""
        said = "\n\n".join(self.statement() for _ in range(self.chance.randint(1, 40)))
        self.service.add_document(said, source_ref=self.chance.choice(("plan.md", "diary.md")))

    def expire(self) -> None:
        self.service.sleep(["expire"])

    def forget(self) -> None:
        self.service.forget(self.some().id)

    def restore(self) -> None:
        self.service.restore(self.some().id)

    def erase(self) -> None:
        self.service.forget(self.some().id, erase=True)

    def learn(self) -> None:
        self._turns += 1
        said = f"Remember that {self.statement()}. I prefer {self.chance.choice(THINGS)}."
        self.service.observe("prompt", "talk", f"turn {self._turns}", said)
        self.service.observe("answer", "talk", f"turn {self._turns}", "Noted.")
        self.service.sleep(["learn"])

    def settle(self) -> None:
        self.service.sleep(["embed"])

    def compress(self) -> None:
        self.service.sleep(["consolidate"], compress=True)

    def review(self) -> None:
        found = self.service.review_memories()
        if found.issues:
            self.service.review_memories(apply=[self.chance.choice(found.issues).id])

    def undo(self) -> None:
        with suppress(KinmemError):
            self.service.undo(cascade=self.chance.random() < 0.5)

    def redo(self) -> None:
        writes = [event.write for event in self.service.history(limit=10) if event.reverts]
        if writes:
            with suppress(KinmemError):
                self.service.undo(self.chance.choice(writes))
