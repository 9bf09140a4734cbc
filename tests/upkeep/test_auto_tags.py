"""Automatic tags follow from where a memory comes from and what it says, in any language."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kinmem.models import Memory
from kinmem.upkeep.entities_and_tags import MOST, auto_tags, subjects, topics
from tests.tables import each

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
SEED = "This document outlines the quarterly budget analysis for engineering and product teams..."


def tags(content: str, **fields: Any) -> tuple[str, ...]:
    """Where another memory is about all of the same."""
    memory = Memory(
        id="m1",
        kin="ana",
        scope="private",
        content=content,
        category="fact",
        content_hash="",
        created_at=NOW,
        content_updated_at=NOW,
        **{"source": "", **fields},
    )
    return auto_tags(memory, subjects(memory))


def test_the_seeds_example_gives_the_seeds_keywords() -> None:
    assert tags(SEED) == (
        "document",
        "quarterly",
        "budget",
        "analysis",
        "engineering",
        "product",
    )


def test_the_seeds_file_gives_source_and_extension_first_then_the_name() -> None:
    found = tags(
        SEED,
        source="upload",
        title="Q4_Budget_Analysis.pdf",
        metadata={"filename": "Q4_Budget_Analysis.pdf"},
    )

    assert found == ("upload", "pdf", "budget", "analysis", "document", "quarterly")
    assert topics(found) == {"budget", "analysis", "document", "quarterly"}


@each(
    ("content", "fields", "expected"),
    [
        pytest.param("Clara sings.", {"source": "chat"}, ("chat", "clara", "sings"), id="source"),
        pytest.param(
            "Clara sings.",
            {"source": "connector", "metadata": {"provider": "Google Drive"}},
            ("connector", "google-drive", "clara", "sings"),
            id="connector's provider",
        ),
        pytest.param(
            "Clara sings.",
            {"source": "import", "source_ref": "notes/2026/Choir Plans.MD"},
            ("import", "md", "clara", "sings"),
            id="extension of the file it came from",
        ),
        pytest.param(
            "Clara sings.",
            {"source": "tool", "title": "Node.js"},
            ("tool", "node", "clara", "sings"),
            id="a title that is no file's name",
        ),
        pytest.param(
            "Rivers: rivers flow. Every river has banks. Mountains stand.",
            {},
            ("rivers", "flow", "river", "banks"),
            id="two sentences, by frequency and then position",
        ),
        pytest.param("TEA, tea; Tea?", {}, (), id="three letters are too few"),
        pytest.param("«Lisbon», LISBON!", {}, ("lisbon",), id="no marks, no case, once"),
        pytest.param(
            "Mail bob@example.org or see https://example.org/kubernetes/pods about Grafana.",
            {},
            ("mail", "grafana"),
            id="addresses are no words",
        ),
        pytest.param(
            "Follows [[01a1fe36-1a97-74e3-9dd5-e42d446ea491]] on Tuesday.",
            {},
            ("follows",),
            id="neither are ids, nor days of the week",
        ),
        pytest.param("   ", {"source": "chat"}, (), id="no content, no tags"),
    ],
)
def test_tags(content: str, fields: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert tags(content, **fields) == expected


@each(
    ("content", "expected"),
    [
        pytest.param(
            "Meine Schwester wohnt mit ihrer Katze in Hamburg.",
            ("schwester", "wohnt", "katze", "hamburg"),
            id="German",
        ),
        pytest.param(
            "Ma sœur habite à Marseille avec son chat.",
            ("sœur", "habite", "marseille", "chat"),
            id="French",
        ),
        pytest.param(
            "La reunión de presupuesto es con Marta en Madrid.",
            ("reunión", "presupuesto", "marta", "madrid"),
            id="Spanish",
        ),
        pytest.param(
            "Il mio medico lavora nella clinica di Torino.",
            ("medico", "lavora", "clinica", "torino"),
            id="Italian",
        ),
        pytest.param(
            "Ele trabalha com aprendizado de máquina em Lisboa.",
            ("trabalha", "aprendizado", "máquina", "lisboa"),
            id="Portuguese",
        ),
        pytest.param("我每天喝乌龙茶，在北京。", ("乌龙茶", "北京"), id="Chinese"),
        pytest.param("東京の会社でコーヒーを飲む。", ("東京", "会社", "コーヒー"), id="Japanese"),
        pytest.param("서울에서 커피를 마십니다.", ("서울", "커피", "마십니다"), id="Korean"),
        pytest.param("Лаборатория в Москве.", ("лаборатория", "москве"), id="another alphabet"),
        pytest.param("ฉันชอบดื่มชาเขียวทุกวัน", (), id="a script that cannot be cut"),
    ],
)
def test_keywords_of_other_languages(content: str, expected: tuple[str, ...]) -> None:
    assert tags(content) == expected


def test_there_are_never_more_than_six() -> None:
    found = tags(
        "Alpha bravo charlie delta echoes foxtrot.",
        source="upload",
        title="Golf hotel india juliet kilogram.pdf",
    )

    assert len(found) == MOST
    assert found[:2] == ("upload", "pdf")


def test_a_long_text_without_a_full_stop_is_read_from_its_beginning() -> None:
    assert tags("granite " * 200_000) == ("granite",)
