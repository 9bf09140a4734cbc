"""The numbers of every embedder mean the same to recall and to injection."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from kinmem.conversation.worth_telling import fitting
from kinmem.llm.base import Purpose
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.llm.vectors import UNRELATED, calibrated
from kinmem.models import Answer, Vectors
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_memory import chat_models

FACTS = [
    ("Our production database runs in Frankfurt", "Where does the production database run?"),
    ("My sister Ines is allergic to walnuts", "What is my sister Ines allergic to?"),
    ("The team retro is on Thursdays at 15:00", "When is the team retro?"),
    ("The boiler was installed by Hallam & Sons", "Who installed the boiler?"),
    ("The office dog is called Semaphore", "What is the office dog called?"),
    ("Invoices are paid within thirty days", "Within how many days are invoices paid?"),
    ("The spare key hangs behind the shed", "Where does the spare key hang?"),
    ("I get migraines from flickering light", "What gives me migraines?"),
]
APART = 0.75


class Narrow(BuiltinEmbedder):
    """All texts look alike to it: cosines of the built-in model, squeezed to between 0.75 and 1."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "narrow"
        memories, questions = (self.embed(UNRELATED, purpose=one) for one in ("memory", "question"))
        self.calibration = calibrated(memories, questions)

    @property
    def dimension(self) -> int:
        return 385

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        made = BuiltinEmbedder.embed(_BUILTIN, texts, purpose=purpose, deadline=deadline)
        common = np.full((len(texts), 1), np.sqrt(APART), np.float32)
        return np.hstack([np.sqrt(1 - APART) * made, common]).astype(np.float32)


_BUILTIN = BuiltinEmbedder()


@pytest.fixture
def narrow(home: Path) -> Service:
    settings = load({"KINMEM_KIN": "bob", "KINMEM_HOME": home})
    return Service(SqliteStore(home, "bob"), [Narrow()], settings, models=chat_models(settings))


def ask_all(service: Service) -> list[Answer]:
    service.memorize_many(statement for statement, _ in FACTS)
    assert service.settle(60)
    return [service.recall(question) for _, question in FACTS]


def test_a_model_with_a_narrow_scale_answers_as_the_built_in_one(
    service: Service, narrow: Service
) -> None:
    with narrow:
        for ours, theirs in zip(ask_all(service), ask_all(narrow), strict=True):
            assert not theirs.abstained
            assert theirs.hits[0].memory.content == ours.hits[0].memory.content
            assert theirs.hits[0].score == pytest.approx(ours.hits[0].score, abs=0.15)
            assert theirs.hits[0].confidence == pytest.approx(ours.hits[0].confidence, abs=0.2)
            assert bool(fitting(theirs)) is bool(fitting(ours))


def test_a_threshold_of_seven_tenths_mutes_neither_recall_nor_injection(
    service_of: Callable[..., Service],
) -> None:
    service = service_of("ana", MEMORY_SIMILARITY_THRESHOLD=0.7)

    for (statement, _), answer in zip(FACTS, ask_all(service), strict=True):
        assert answer.hits[0].memory.content == statement
        assert statement in [hit.memory.content for hit in fitting(answer)]


def test_a_threshold_of_seven_tenths_does_not_mute_the_notes_beside_a_prompt(
    service_of: Callable[..., Service],
) -> None:
    service = service_of("ana", MEMORY_SIMILARITY_THRESHOLD=0.7)
    ask_all(service)

    for at, (statement, question) in enumerate(FACTS):
        assert statement in service.observe("prompt", f"session {at}", "1", question).notes


def test_what_only_the_threshold_keeps_out_is_weak(service_of: Callable[..., Service]) -> None:
    service = service_of("ana", MEMORY_SIMILARITY_THRESHOLD=0.7)
    service.memorize("The user cycles to campus along the canal")

    answer = service.recall("how do I get to the university?")

    assert [hit.weak for hit in answer.hits] == [True]
    assert fitting(answer) == []
