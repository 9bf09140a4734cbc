"""Which modules are mutated, and which tests have to notice: the nearest ones first.

A row names whole files of tests, or folders; a mutant counts as killed when one test of its row
fails. `tests/test_mutants.py` keeps the rows true.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]

SERVICE = ("tests/test_use.py", "tests/test_service.py")
RANKING = (
    "tests/recall/test_neighbours.py",
    "tests/recall/test_worth.py",
    "tests/recall/test_lines.py",
    "tests/recall/test_evidence.py",
    "tests/recall/test_fuse.py",
    "tests/recall/test_weigh.py",
    "tests/recall/test_trim.py",
)
RULES = ("tests/test_records.py",)
LEARN = (
    "tests/learn/test_deeds.py",
    "tests/learn/test_reconcile.py",
    "tests/learn/test_memorize.py",
    "tests/learn/test_from_turns.py",
)

TESTS: dict[str, tuple[str, ...]] = {
    "kinmem/recall/fuse.py": (*RANKING, "tests/test_service.py"),
    "kinmem/recall/profiles.py": (*RANKING, "tests/test_service.py"),
    "kinmem/recall/weigh.py": (*RANKING, "tests/test_service.py"),
    "kinmem/recall/trim.py": (*RANKING, "tests/test_service.py"),
    "kinmem/recall/confidence.py": (*RANKING, "tests/recall/test_confidence.py"),
    "kinmem/recall/superseded.py": (
        *RANKING,
        "tests/recall/test_former.py",
        "tests/learn/test_certainty.py",
        "tests/learn/test_now_and_then.py",
    ),
    "kinmem/recall/excerpt.py": (
        *RANKING,
        "tests/test_service.py",
        "tests/documents/test_documents.py",
    ),
    "kinmem/recall/pipeline.py": (
        "tests/recall/test_former.py",
        "tests/recall/test_judged.py",
        "tests/llm/test_judges.py",
        *SERVICE,
    ),
    "kinmem/recall/conversation.py": (*RANKING, "tests/test_transcript.py", *SERVICE),
    "kinmem/learn/reconcile.py": (*LEARN, "tests/learn/test_certainty.py", *SERVICE),
    "kinmem/learn/apply.py": (*LEARN, *SERVICE),
    "kinmem/learn/compare.py": (
        *LEARN,
        *SERVICE,
        "tests/test_places.py",
        "tests/learn/test_compare.py",
        "tests/learn/test_judged.py",
    ),
    "kinmem/service/memories.py": (
        *SERVICE,
        "tests/test_places.py",
        "tests/test_undo.py",
        "tests/test_others_words.py",
    ),
    "kinmem/service/storing.py": (
        *SERVICE,
        "tests/test_places.py",
        "tests/documents/test_documents.py",
        "tests/test_links.py",
        "tests/test_idempotency.py",
        "tests/test_others_words.py",
    ),
    "kinmem/service/conversations.py": (
        *SERVICE,
        "tests/test_conversation.py",
        "tests/upkeep/test_outbox.py",
        "tests/conversation/test_context.py",
        "tests/upkeep/test_sleep.py",
        "tests/upkeep/test_summarize.py",
    ),
    "kinmem/service/components.py": (
        *SERVICE,
        "tests/test_places.py",
        "tests/test_undo.py",
        "tests/upkeep/test_summarize.py",
    ),
    "kinmem/service/views.py": (
        *SERVICE,
        "tests/test_knowledge.py",
        "tests/test_changes.py",
        "tests/test_tools.py",
    ),
    "kinmem/upkeep/background.py": (
        "tests/upkeep/test_outbox.py",
        "tests/learn/test_from_turns.py",
    ),
    "kinmem/upkeep/pipeline.py": (
        "tests/upkeep/test_sleep.py",
        "tests/upkeep/test_calendar.py",
        "tests/upkeep/test_outbox.py",
    ),
    "kinmem/upkeep/consolidate.py": (
        "tests/upkeep/test_join.py",
        "tests/upkeep/test_consolidate.py",
        "tests/test_places.py",
    ),
    "kinmem/models/retention.py": (
        "tests/life/test_retention.py",
        "tests/life/test_priority.py",
        "tests/life/test_tiers.py",
        "tests/life/test_forecast.py",
        "tests/upkeep/test_retain.py",
    ),
}

CORE = frozenset(
    f"kinmem/{name}.py"
    for name in """
    recall/fuse recall/profiles recall/weigh recall/trim recall/confidence recall/superseded
    recall/excerpt learn/reconcile learn/apply learn/compare service/memories service/storing
    service/conversations service/views service/components
    upkeep/background upkeep/pipeline upkeep/consolidate models/retention
    """.split()
)
"""What the share that has to be killed is about."""

EQUIVALENT: dict[tuple[str, str], str] = {}
"""Lines whose mutants nobody can notice, with the reason; they are left out of the sample."""


def files_of(module: str) -> list[str]:
    """The rules for any module, then the files of the module's row, each once."""
    return list(dict.fromkeys((*RULES, *TESTS[module])))
