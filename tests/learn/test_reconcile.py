"""What becomes of a new memory beside those near it: the table is the specification."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kinmem.language.same.lexemes import content_hash
from kinmem.language.same.similarity import Ladder
from kinmem.learn.apply import effects_of
from kinmem.learn.reconcile import (
    Flag,
    Keep,
    Merge,
    Outdated,
    Replace,
    may_be_compared,
    reconcile,
)
from kinmem.llm.base import Relation
from kinmem.llm.naming import Naming
from kinmem.llm.relating import Change, Judged
from kinmem.models import Memory, State
from tests.tables import each

LADDER = Ladder(duplicate=0.9, near=0.85)
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
MARCH, MAY = datetime(2026, 3, 5, tzinfo=UTC), datetime(2026, 5, 8, tzinfo=UTC)


def memory(content, number=1, **fields):
    """The older, the smaller its number."""
    at = NOW - timedelta(days=10 - number)
    known = {"kin": "ana", "scope": "private", "category": "fact"} | fields
    return Memory(
        id=f"{number}",
        content=content,
        content_hash=content_hash(content),
        created_at=at,
        content_updated_at=at,
        **known,
    )


def verdict(known, new, cosine=0.88, mode="temporal", updates=None):
    return reconcile(new, [(known, cosine)], LADDER, mode, NOW, updates)


def named(verdict):
    return type(verdict).__name__


LYON, ROME = memory("Anna lives in Lyon"), memory("Anna lives in Rome", 2)


@each(
    ("known", "new", "cosine", "expected"),
    [
        pytest.param("Anna lives in Lyon", "anna lives in Lyon.", 1.0, "Skip", id="the same text"),
        pytest.param("I have 2 old bikes", "I have two old bikes", 0.95, "Skip", id="reworded"),
        pytest.param("I have 2 old bikes", "I have two old bikes", 0.5, "Keep", id="too far away"),
        pytest.param(
            "I own a cat and a parrot, and I cook.", "I own a cat.", 0.87, "Skip", id="contained"
        ),
        pytest.param(
            "I own a cat.", "I own a cat and a parrot, and I cook.", 0.87, "Merge", id="says more"
        ),
        pytest.param("In winter, I ski a lot.", "I ski a lot.", 0.99, "Keep", id="restricted"),
        pytest.param(
            "Ben keeps bees in the garden behind the house.",
            "Ben keeps bees and sells honey on the market.",
            0.87,
            "Keep",
            id="each says more",
        ),
        pytest.param("I like Lyon", "I like Rome", 0.7, "Keep", id="both may be so"),
        pytest.param("Anna lives in Lyon", "Anna lives in Rome", 0.7, "Replace", id="other value"),
        pytest.param("Anna lives in Lyon", "Anna lives in Rome", 0.3, "Keep", id="unrelated"),
        pytest.param("I drink coffee", "I no longer drink coffee", 0.8, "Replace", id="no longer"),
        pytest.param("I live in Porto", "I moved to Berlin", 0.7, "Flag", id="moved to"),
        pytest.param(
            "Our team lead is Priya", "Actually our team lead is Eva", 0.7, "Replace", id="actually"
        ),
        pytest.param(
            "Deploys happen on Fridays",
            "Deploys happen on Mondays instead of Fridays",
            0.9,
            "Replace",
            id="instead of",
        ),
        pytest.param(
            "Die Besprechung ist um 9 Uhr",
            "Die Besprechung ist ab jetzt um 10 Uhr",
            0.9,
            "Replace",
            id="from now on, in German",
        ),
        pytest.param("My dentist is Dr Weber", "My dentist is Ana Klein", 0.8, "Keep", id="doubt"),
        pytest.param(
            "Anna lives in Lyon and has two dogs",
            "Anna lives in Rome",
            0.8,
            "Flag",
            id="the known one says more besides",
        ),
        pytest.param("Ticket 412 is open", "Ticket 413 is open", 0.95, "Keep", id="two tickets"),
        pytest.param("note number 3", "note number 4", 0.95, "Keep", id="no statement"),
        pytest.param(
            "A man is standing on a pier",
            "A man is sitting on a pier",
            0.9,
            "Keep",
            id="may be two men",
        ),
    ],
)
def test_texts_decide_what_becomes_of_a_statement(known, new, cosine, expected):
    assert named(verdict(memory(known), memory(new, 2), cosine)) == expected


@each(
    ("known", "new", "expected"),
    [
        pytest.param({"subject": "Ben"}, {"subject": "ben"}, "Skip", id="same subject"),
        pytest.param({"subject": "Ben"}, {}, "Skip", id="subject left out"),
        pytest.param({}, {"subject": "Ben"}, "Keep", id="subject made known"),
        pytest.param({"speaker": "Ben"}, {"speaker": "Eva"}, "Keep", id="other speaker"),
        pytest.param({}, {"speaker": "user"}, "Skip", id="the user is who always speaks"),
        pytest.param({"speaker": "Ben"}, {"speaker": "user"}, "Keep", id="somebody by name"),
        pytest.param({}, {"occurred_at": MAY}, "Keep", id="other occasion"),
        pytest.param(
            {"occurred_at": MAY, "session": "s"},
            {"occurred_at": MAY + timedelta(hours=1), "session": "s"},
            "Skip",
            id="one talk",
        ),
        pytest.param({"expires_at": NOW + timedelta(1)}, {}, "Keep", id="the known one ends"),
        pytest.param({"scope": "shared", "kin": "bob"}, {}, "Skip", id="shared by another"),
    ],
)
def test_the_same_text_is_known_only_of_the_same_occasion(known, new, expected):
    text = "Ben likes green tea"

    assert named(verdict(memory(text, **known), memory(text, 2, **new), 1.0)) == expected


@each(
    ("known", "new", "expected"),
    [
        pytest.param({"pinned": True}, {}, "Flag", id="pinned"),
        pytest.param({"scope": "shared", "kin": "bob"}, {}, "Flag", id="another Kin's"),
        pytest.param({"scope": "shared"}, {}, "Flag", id="own shared against private"),
        pytest.param({"subject": "Anna M"}, {"subject": "Anna K"}, "Keep", id="other subject"),
        pytest.param({"speaker": "Ben"}, {"speaker": "Eva"}, "Flag", id="two speakers, no subject"),
        pytest.param(
            {"speaker": "Ben", "subject": "Anna"},
            {"speaker": "Eva", "subject": "anna"},
            "Replace",
            id="two speakers, one subject",
        ),
        pytest.param({}, {"occurred_at": NOW + timedelta(days=9)}, "Flag", id="still to come"),
        pytest.param({"occurred_at": MARCH}, {"occurred_at": MAY}, "Replace", id="later"),
        pytest.param({"occurred_at": MAY}, {"occurred_at": MARCH}, "Outdated", id="earlier"),
        pytest.param({}, {"occurred_at": MARCH}, "Outdated", id="arrived late"),
        pytest.param(
            {"occurred_at": MAY + timedelta(hours=9)},
            {"occurred_at": MAY},
            "Replace",
            id="of the same day, at an unknown hour",
        ),
        pytest.param({"state": State.SUPERSEDED}, {}, "Flag", id="not in force"),
    ],
)
def test_what_contradicts_gives_way_only_where_that_is_safe(known, new, expected):
    found = verdict(
        memory("Anna lives in Lyon", **known), memory("Anna lives in Rome", 2, **new), 0.8
    )

    assert named(found) == expected


def test_what_two_people_say_of_themselves_does_not_clash():
    mine, hers = memory("I live in Lyon", speaker="Ben"), memory("I live in Rome", 2, speaker="Eva")

    assert verdict(mine, hers) == Keep()


@each(
    ("mode", "late", "expected"),
    [
        ("temporal", False, Replace),
        ("temporal", True, Outdated),
        ("use_new", False, Replace),
        ("use_new", True, Replace),
        ("keep_existing", False, Outdated),
        ("keep_existing", True, Outdated),
        ("ask", False, Flag),
        ("ask", True, Flag),
        ("merge", False, Merge),
        ("merge", True, Merge),
    ],
)
def test_the_mode_decides_who_holds(mode, late, expected):
    new = replace(ROME, occurred_at=MARCH) if late else ROME

    assert type(verdict(LYON, new, 0.8, mode)) is expected


@pytest.mark.parametrize(
    ("known_at", "new_at", "is_later"),
    [
        pytest.param(MARCH, MAY, False, id="the new one"),
        pytest.param(MAY, MARCH, True, id="the known one"),
        pytest.param(MAY, MAY, False, id="of one moment the new one"),
        pytest.param(MAY + timedelta(hours=9), MAY, False, id="of one day without an hour"),
        pytest.param(
            MAY + timedelta(hours=9), MAY + timedelta(hours=8), True, id="of one day with hours"
        ),
    ],
)
def test_in_doubt_the_later_of_two_is_known(known_at, new_at, is_later):
    known, new = replace(LYON, occurred_at=known_at), replace(ROME, occurred_at=new_at)

    found = verdict(known, new, 0.8, "ask")

    assert [doubt.is_later for doubt in found.doubts] == [is_later]


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (MAY, "Until 2026-05-08: Anna lives in Lyon. Since then: Anna lives in Rome."),
        (
            datetime(2026, 3, 1, tzinfo=UTC),
            "Until 2026-03-05: Anna lives in Rome. Since then: Anna lives in Lyon.",
        ),
    ],
)
def test_a_merge_of_contradictions_tells_when_each_was_so(at, text):
    found = verdict(replace(LYON, occurred_at=MARCH), replace(ROME, occurred_at=at), 0.8, "merge")

    assert isinstance(found, Merge)
    assert found.content == text


def test_a_third_statement_goes_behind_a_merged_one():
    merged = memory(
        "Until 2026-03-05: Anna lives in Lyon. Since then: Anna lives in Rome.", occurred_at=MARCH
    )
    new = memory("Anna lives in Oslo", 2, occurred_at=MAY)

    found = verdict(merged, new, 0.8, "merge", updates="1")

    assert found.content == f"{merged.content} Since 2026-05-08: Anna lives in Oslo."


@pytest.mark.parametrize(
    "order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=str
)
def test_the_mode_merge_tells_in_the_order_of_time(order, service_of):
    ana = service_of("ana", KINMEM_CONFLICT_MODE="merge", KINMEM_TZ="UTC")
    told = [("Leeds", "2025-01-10"), ("Porto", "2025-03-10"), ("Bristol", "2025-06-10")]
    for place, day in (told[at] for at in order):
        ana.memorize(f"I live in {place} now", occurred_at=day)

    def lived(day):
        return [hit.memory.content for hit in ana.recall("where do I live?", as_of=day).hits]

    assert lived(None) == [
        "Until 2025-03-10: I live in Leeds now. Since then: I live in Porto now."
        " Since 2025-06-10: I live in Bristol now."
    ]
    assert lived("2025-02-01") == ["I live in Leeds now."]
    assert lived("2025-04-01") == ["I live in Porto now."]
    assert lived("2025-12-01") == ["I live in Bristol now."]


def test_the_mode_merge_joins_what_is_near():
    known, new = memory("I ski a lot."), memory("In winter, I ski a lot.", 2)

    found = verdict(known, new, 0.87, "merge")

    assert found == Merge(known, f"{known.content} {new.content}", found.reason)
    assert verdict(known, new, 0.87) == Keep()


def test_where_a_judge_has_said_nothing_nothing_ends():
    unsaid = Judged({}, frozenset(), {}, {})

    found = reconcile(ROME, [(LYON, 0.88)], LADDER, "temporal", NOW, judged=unsaid)
    alone = reconcile(ROME, [(LYON, 0.88)], LADDER, "temporal", NOW)

    assert (named(found), named(alone)) == ("Flag", "Replace")


def test_an_update_that_is_known_needs_no_likeness():
    found = verdict(
        memory("The office is upstairs"), memory("Everybody sits below", 2), 0.1, updates="1"
    )

    assert (named(found), found.kind) == ("Replace", "update")


def test_all_that_is_outdated_gives_way_and_none_is_compared_with_itself():
    olders = [(memory("Anna lives in Lyon", 1), 0.8), (memory("Anna lives in Oslo", 2), 0.7)]
    new = memory("Anna lives in Rome", 3)

    found = reconcile(new, [(new, 1.0), *olders], LADDER, "temporal", NOW)

    assert isinstance(found, Replace)
    assert [known.id for known in found.outdated] == ["1", "2"]


def test_what_is_known_is_skipped_before_anything_else_is_looked_at():
    others = [(memory("Anna lives in Oslo", 1), 0.99), (memory("Anna lives in Rome", 2), 0.98)]

    assert (
        named(reconcile(memory("Anna lives in Rome", 3), others, LADDER, "temporal", NOW)) == "Skip"
    )


@pytest.mark.parametrize(
    ("known", "new", "kind"),
    [
        pytest.param({}, "Anna lives in Rome", "contradiction", id="nothing is known"),
        pytest.param({}, "Anna lives in Rome now", "update", id="it says so"),
        pytest.param({"occurred_at": MARCH}, "Anna lives in Rome", "temporal", id="both dated"),
    ],
)
def test_the_kind_tells_why(known, new, kind):
    later = memory(new, 2, occurred_at=MAY if known else None)

    assert verdict(memory("Anna lives in Lyon", **known), later, 0.8).kind == kind


def test_validity_ends_where_the_other_begins():
    known, new = replace(LYON, occurred_at=MARCH), replace(ROME, occurred_at=MAY)

    done = effects_of(verdict(known, new), new, None, "temporal", Naming())
    late = effects_of(verdict(new, known), known, None, "temporal", Naming())

    assert done.changes[0].fields == {
        "state": State.SUPERSEDED,
        "superseded_by": new.id,
        "valid_to": MAY,
    }
    assert late.memory == replace(known, state=State.SUPERSEDED, superseded_by=new.id, valid_to=MAY)
    assert (done.outcome.supersedes, late.outcome.supersedes) == ((known.id,), ())


def test_each_doubt_has_its_own_chance():
    ward, choir = memory("I work on ward 7", 1), memory("The choir has a group for singers", 2)
    new = memory("They put me in the lab for good", 3)
    adds = Relation(0.01, 0.1, 0.01, 0.8, 0.08)
    changed = {"1": Change(0.9, is_of_talk=True), "2": Change(0.3, is_of_talk=True)}
    judged = Judged({"1": adds, "2": adds}, frozenset(), {}, changed)

    found = reconcile(new, [(ward, 0.5), (choir, 0.4)], LADDER, "temporal", NOW, None, judged)

    assert [(doubt.known.id, doubt.reason.partition("(")[2][:4]) for doubt in found.doubts] == [
        ("1", "0.90"),
        ("2", "0.30"),
    ]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        pytest.param({}, True, id="about one thing"),
        pytest.param({"kin": "bob"}, False, id="what another Kin says"),
        pytest.param({"subject": "Ben"}, False, id="about somebody else"),
        pytest.param({"kin": "bob", "subject": "Ben"}, False, id="neither"),
    ],
)
def test_only_ones_own_about_the_same_is_worth_a_judge(known, expected):
    new = memory("She lives in Rome", 2, subject="Anna")

    assert (
        may_be_compared(memory("She lives in Lyon", **{"subject": "Anna"} | known), new) is expected
    )
