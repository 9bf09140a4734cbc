"""Which modules are mutated, and which tests have to notice: the nearest ones first.

A row names whole files of tests, or folders; a mutant counts as killed when one test of its row
fails. `tests/test_mutants.py` keeps the rows true.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]

SERVICE = "tests/test_service.py"
RANKING = (
    "tests/recall/test_fuse.py",
    "tests/recall/test_weigh.py",
    "tests/recall/test_trim.py",
)
RECALL = (
    "tests/recall/test_former.py",
    "tests/recall/test_standing.py",
    SERVICE,
    "tests/recall/test_models.py",
    "tests/recall/test_judged.py",
    "tests/recall/test_confidence.py",
)
LEARN = (
    "tests/learn/test_reconcile.py",
    "tests/learn/test_certainty.py",
    SERVICE,
    "tests/learn/test_memorize.py",
    "tests/learn/test_judged.py",
    "tests/learn/test_from_turns.py",
)

TESTS: dict[str, tuple[str, ...]] = {
    "kinmem/recall/fuse.py": (*RANKING, *RECALL),
    "kinmem/recall/weigh.py": (*RANKING, "tests/test_places.py", *RECALL),
    "kinmem/recall/trim.py": (*RANKING, "tests/test_places.py", *RECALL),
    "kinmem/recall/confidence.py": ("tests/recall/test_confidence.py", *RANKING, *RECALL),
    "kinmem/recall/superseded.py": (*RANKING, *RECALL, "tests/learn/test_certainty.py"),
    "kinmem/recall/excerpt.py": (*RANKING, *RECALL, "tests/documents/test_documents.py"),
    "kinmem/recall/answer_cache.py": (*RANKING, "tests/recall/test_models.py", *RECALL),
    "kinmem/recall/conversation.py": (*RANKING, "tests/test_transcript.py", *RECALL),
    "kinmem/learn/reconcile.py": (*LEARN, "tests/test_same.py"),
    "kinmem/learn/apply.py": (*LEARN, "tests/test_same.py"),
    "kinmem/learn/verdicts.py": (*LEARN, "tests/test_same.py"),
    "kinmem/service/memories.py": (
        SERVICE,
        "tests/test_places.py",
        "tests/documents/test_documents.py",
    ),
    "kinmem/service/conversations.py": (
        SERVICE,
        "tests/test_conversation.py",
        "tests/test_notes.py",
    ),
    "kinmem/service/care.py": (SERVICE, "tests/test_undo.py", "tests/upkeep/test_sleep.py"),
    "kinmem/service/views.py": (SERVICE, "tests/test_knowledge.py"),
    "kinmem/upkeep/outbox.py": ("tests/upkeep/test_outbox.py", "tests/learn/test_from_turns.py"),
    "kinmem/upkeep/join.py": ("tests/upkeep/test_join.py",),
    "kinmem/retention.py": ("tests/test_retention.py", "tests/upkeep/test_retain.py"),
}


def test_files(module: str) -> list[str]:
    """The files of the module's row, in its order and each once."""
    return list(dict.fromkeys(TESTS[module]))
