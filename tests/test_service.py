"""What kinmem does, through the highest surface that every way in shares."""

from datetime import datetime

import pytest

from kinmem.errors import InvalidInput, MemoryNotFound, TooLarge, VersionConflict
from kinmem.models import Note, State


def contents(answer):
    return [hit.memory.content for hit in answer.hits]


# recall


def test_a_question_finds_what_shares_no_word_with_it(service):
    service.memorize("Bob is allergic to peanuts")
    service.memorize("The printer is on the second floor")

    assert contents(service.recall("which food would make him sick?"))[0] == (
        "Bob is allergic to peanuts"
    )


def test_a_rare_word_finds_its_memory_whatever_it_means(service):
    service.memorize("The staging host is called zanzibar-7")
    service.memorize("The production host is in Frankfurt")

    assert contents(service.recall("zanzibar"))[0] == "The staging host is called zanzibar-7"


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        pytest.param("我喜欢喝乌龙茶", "乌龙茶", id="a part of a Chinese sentence"),
        pytest.param("The parser is written in C#", "C#", id="C#"),
        pytest.param("Ship it in Go", "Go", id="two letters"),
        pytest.param("Le café ferme à six heures", "cafe", id="accents"),
        pytest.param("Deploys run on k8", "k8 deploys", id="k8"),
        pytest.param("The key is in src/main.py", "src/main.py", id="a path"),
        pytest.param("Caroline's dog is called Rex", "Caroline dog", id="a possessive"),
    ],
)
def test_words_are_found_as_people_write_them(service, stored, asked):
    service.memorize("An unrelated note about the weather in spring")
    service.memorize(stored)

    assert contents(service.recall(asked))[0] == stored


def test_nothing_is_returned_when_nothing_fits(service):
    service.memorize("The office closes at six")

    assert service.recall("qwxz vbnm").hits == []


def test_private_memories_stay_with_their_kin(service_of):
    service_of("ana").memorize("the chest opens with 4711")

    assert service_of("bob").recall("how does the chest open").hits == []


def test_shared_memories_are_found_by_all_and_say_who_shared_them(service_of):
    service_of("ana").memorize("The office closes at six", scope="shared")

    hit = service_of("bob").recall("when does the office close").hits[0]

    assert (hit.memory.content, hit.memory.kin) == ("The office closes at six", "ana")


def test_since_and_until_include_their_days(service):
    for day in ("2026-05-01", "2026-05-02", "2026-05-03"):
        service.memorize(f"Standup notes of {day}", occurred_at=day)

    found = service.recall("standup notes", since="2026-05-02", until="2026-05-02")

    assert contents(found) == ["Standup notes of 2026-05-02"]


@pytest.mark.parametrize(
    "question",
    [
        "what did I say last week?",
        "what happened last week?",
        "what did I note last week about it?",
    ],
)
def test_words_for_a_time_are_a_condition_where_they_are_the_question(service, question):
    service.memorize("We talked about the garden", occurred_at="2026-06-10")
    service.memorize("We talked about the garage", occurred_at="2026-05-20")

    assert contents(service.recall(question)) == ["We talked about the garden"]


def test_words_for_a_time_are_a_hint_where_something_else_is_asked(service):
    service.memorize("Ben repaired the garden fence", occurred_at="2026-05-20")
    service.memorize("Ben painted the garden fence", occurred_at="2026-06-10")

    assert contents(service.recall("Which garden fence was Ben at last week?")) == [
        "Ben painted the garden fence",
        "Ben repaired the garden fence",
    ]


def test_an_expired_memory_is_recalled_no_more(service, clock):
    service.memorize("The guest code is 9911", expires="2d")
    assert service.recall("guest code").hits

    clock.advance(days=3)

    assert service.recall("guest code").hits == []


def test_an_answer_that_was_given_before_ends_with_its_memories(service, clock):
    service.memorize("The parking code is 4471", expires=clock().replace(second=2).isoformat())
    assert service.recall("parking code").hits

    clock.advance(seconds=3)

    assert service.recall("parking code").hits == []


def test_as_of_gives_the_wording_of_that_moment(service, clock):
    id = service.memorize("Dora works at Acme").id
    before = clock()
    clock.advance(days=2)
    service.update_memory(id, content="Dora works at Globex")
    clock.advance(days=2)
    service.update_memory(id, content="Dora works at Initech")

    assert contents(service.recall("where does Dora work", as_of=before)) == ["Dora works at Acme"]
    assert contents(service.recall("where does Dora work")) == ["Dora works at Initech"]


def test_archived_memories_come_back_only_when_asked_for(service):
    stored = service.memorize("The old office was in Mill Street")
    service.update_memory(stored.id, archived=True)

    assert service.recall("old office").hits == []
    assert contents(service.recall("old office", include_archived=True)) == [
        "The old office was in Mill Street"
    ]


@pytest.mark.parametrize(
    "mode",
    [
        "relevance",
        "kinbot",
        "kore",
        "recent",
        "important",
        "historical",
        "comprehensive",
        "balanced",
    ],
)
def test_the_reasons_of_a_hit_add_up_to_its_score(service, mode):

    service.memorize(
        "Ana prefers tea to coffee", subject="Ana", category="preference", importance=9
    )
    service.memorize("The team decided to ship on Fridays", category="decision", importance=3)
    service.memorize("Tea is stored in the kitchen", speaker="Ben")

    hits = service.recall("what tea does Ana prefer?", mode=mode).hits

    assert hits
    for hit in hits:
        assert hit.reasons.total == pytest.approx(hit.score, abs=1e-6)


def test_importance_orders_what_is_equally_relevant(service):
    service.memorize("Backups run at night on server one", importance=2)
    service.memorize("Backups run at night on server two", importance=9)

    assert contents(service.recall("when do backups run?"))[0].endswith("two")


def test_long_memories_are_excerpted_where_the_question_is_answered(service_of):
    service = service_of("ana", KINMEM_RECALL_TOKENS=400)
    filler = "The weather was mild and the meeting went on without a result. " * 60
    service.memorize(f"{filler}The vault combination is kept by Marta. {filler}")

    hit = service.recall("who keeps the vault combination?").hits[0]

    assert hit.excerpt is not None
    assert "Marta" in hit.excerpt
    assert len(hit.excerpt) < 2000


def test_a_long_memory_is_found_by_what_stands_at_its_end(service):
    filler = "The weather was mild and the meeting went on without a result. " * 40
    service.memorize(f"{filler}Marta keeps a parrot named Coco.")
    service.memorize("Nobody here likes rain")

    assert "parrot" in contents(service.recall("which pet bird does she have?"))[0]


# memorize


@pytest.mark.parametrize(
    "again",
    [
        pytest.param("Bob is allergic to peanuts", id="the same text"),
        pytest.param("bob is allergic to  peanuts.", id="case, spaces and a full stop"),
    ],
)
def test_a_known_statement_is_not_stored_twice(service, again):
    first = service.memorize("Bob is allergic to peanuts")

    assert service.memorize(again) == type(first)("duplicate_of", first.id)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"content": "The port is 8081"}, id="a number"),
        pytest.param({"content": "The port is not 8080"}, id="a negation"),
        pytest.param({"content": "The port is 8080", "occurred_at": "2026-01-01"}, id="a date"),
        pytest.param({"content": "The port is 8080", "subject": "staging"}, id="a subject"),
        pytest.param({"content": "The port is 8080", "speaker": "Ben"}, id="a speaker"),
    ],
)
def test_what_differs_in_one_thing_is_kept_apart(service, other):
    first = service.memorize("The port is 8080")

    stored = service.memorize(**other)

    assert stored.status in ("created", "superseded", "conflict")
    assert stored.id != first.id


def test_others_private_memories_do_not_make_a_duplicate(service_of):
    service_of("ana").memorize("The merger is planned for May")

    assert service_of("bob").memorize("The merger is planned for May").status == "created"


RUNS = "The production database runs on host db7."
HANDBOOK = "# Runbook\n\n" + "\n\n".join(
    f"Step {n}: the nightly export writes partition {n} to the archive." for n in range(1, 40)
)


def told_alone(service, text):
    return service.memorize(text).id


def told_in_a_batch(service, text):
    [stored] = service.memorize_many([text])
    assert service.settle(60)
    return stored.id


def added_as_a_file(service, text):
    return service.add_document(text, name="runbook.md").id


@pytest.mark.parametrize(
    ("shared", "own", "tell"),
    [
        pytest.param(RUNS, RUNS, told_alone, id="the same"),
        pytest.param(RUNS, "the production database runs on host db7", told_alone, id="nearly"),
        pytest.param(RUNS, RUNS, told_in_a_batch, id="in a batch"),
        pytest.param(RUNS, "The production database, it runs on host db7.", told_in_a_batch,
                     id="nearly, in a batch"),
        pytest.param(HANDBOOK, HANDBOOK, added_as_a_file, id="as a file"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("change", ["edits", "forgets", "erases", "hides"])
def test_what_one_tells_is_ones_own_whatever_others_share(service_of, shared, own, tell, change):
    mal, bob = service_of("mal"), service_of("bob")
    share = mal.add_document if tell is added_as_a_file else mal.memorize
    theirs = share(shared, scope="shared").id
    assert mal.settle(60)

    mine = tell(bob, own)
    bob.sleep()
    if change == "edits":
        mal.update_memory(theirs, content="The production database runs on host evil.example.")
    elif change == "hides":
        mal.update_memory(theirs, scope="private")
    else:
        mal.forget(theirs, erase=change == "erases")

    assert mine != theirs
    memory = bob.get(mine)
    assert (memory.kin, memory.state) == ("bob", "active")
    asked = "what does the nightly export write?" if shared is HANDBOOK else "which host runs it?"
    assert mine in {hit.memory.id for hit in bob.recall(asked).hits}


def test_what_two_kins_say_is_found_once_as_ones_own(service_of):
    mal, bob, eve = service_of("mal"), service_of("bob"), service_of("eve")
    mal.memorize(RUNS, scope="shared")
    told = bob.memorize(RUNS, scope="shared")

    assert told.status == "created"
    assert "mal" in told.reason
    assert [hit.memory.id for hit in bob.recall("which host runs it?").hits] == [told.id]
    assert len(eve.recall("which host runs it?").hits) == 1


def test_what_each_says_of_himself_is_not_the_same(service_of):
    mal, bob = service_of("mal"), service_of("bob")
    mal.memorize("I live in Rome.", scope="shared")
    bob.memorize("I live in Rome.")

    assert len(bob.recall("who lives in Rome?").hits) == 2


def test_a_review_never_asks_to_give_up_ones_own_for_what_another_shares(service_of):
    service_of("mal").memorize(RUNS, scope="shared")
    bob = service_of("bob")
    bob.memorize(RUNS)

    assert [issue.type for issue in bob.review_memories().issues] == []


def test_a_batch_answers_for_each_item_and_refuses_one_alone(service):
    stored = service.memorize_many(
        [
            "Tea is green",
            Note(content="Tea is green"),
            {"content": ""},
            {"content": "x", "scope": "all"},
        ]
    )

    assert [one.status for one in stored] == ["created", "duplicate_of", "refused", "refused"]
    assert stored[1].id == stored[0].id
    assert "scope" in stored[3].reason


def test_semantic_duplicates_of_a_batch_are_settled_in_the_background(service):
    stored = service.memorize_many(
        [
            "The children are playing outside in the garden",
            "The kids are playing outside in the garden",
        ]
    )
    assert service.settle(60)

    states = [service.get(one.id).state for one in stored]

    assert states in ([State.ACTIVE, State.SUPERSEDED], [State.ACTIVE, State.ACTIVE])
    if states[1] == State.SUPERSEDED:
        assert service.get(stored[1].id).superseded_by == stored[0].id


def test_a_batch_is_found_by_words_at_once_and_by_meaning_when_settled(service):
    service.memorize_many(
        ["Bob is allergic to peanuts"] + [f"Room {n} is empty" for n in range(50)]
    )
    assert contents(service.recall("peanuts")) == ["Bob is allergic to peanuts"]

    assert service.settle(60)

    assert contents(service.recall("which food makes him ill?"))[0] == "Bob is allergic to peanuts"
    assert service.stats().embedders[0].share == 1


# update, forget, restore


def test_only_the_author_changes_a_shared_memory_and_others_learn_nothing(service_of):
    ana, bob = service_of("ana"), service_of("bob")
    shared = ana.memorize("The office closes at six", scope="shared").id
    private = ana.memorize("the chest opens with 4711").id
    missing = "01a00000-0000-7000-8000-000000000000"

    for id in (shared, private, missing):
        for change in (
            lambda id=id: bob.update_memory(id, content="changed"),
            lambda id=id: bob.forget(id),
            lambda id=id: bob.forget(id, erase=True),
            lambda id=id: bob.restore(id),
        ):
            with pytest.raises(MemoryNotFound) as refused:
                change()
            assert str(refused.value).replace(id, missing) == str(MemoryNotFound(missing))

    assert ana.get(shared).content == "The office closes at six"


def test_an_update_is_recalled_by_its_new_text_only(service):
    id = service.memorize("The build takes ten minutes").id

    service.update_memory(id, content="Compiling needs a quarter of an hour")

    assert contents(service.recall("how long does compiling take?")) == [
        "Compiling needs a quarter of an hour"
    ]
    assert service.recall("build").hits == [] or contents(service.recall("build")) == [
        "Compiling needs a quarter of an hour"
    ]


def test_an_update_of_an_old_version_is_refused(service):
    id = service.memorize("The build takes ten minutes").id
    version = service.get(id).version
    service.update_memory(id, importance=8, if_version=version)

    with pytest.raises(VersionConflict):
        service.update_memory(id, importance=2, if_version=version)

    assert service.get(id).importance == 8


def test_null_clears_what_can_be_empty(service):
    id = service.memorize("x is y", subject="x", tags=("a",), expires="30d").id

    memory = service.update_memory(id, subject=None, tags=None, expires=None)

    assert (memory.subject, memory.tags, memory.expires_at) == (None, (), None)


def test_a_memory_keeps_its_id_and_history_when_it_is_shared_and_taken_back(service_of):
    ana, bob = service_of("ana"), service_of("bob")
    id = ana.memorize("The office closes at six").id

    ana.update_memory(id, scope="shared")
    assert contents(bob.recall("when does the office close")) == ["The office closes at six"]

    ana.update_memory(id, scope="private")
    assert bob.recall("when does the office close").hits == []
    assert [line.action for line in ana.history(id)] == ["moved", "moved", "created"]


def test_what_is_forgotten_can_be_restored_until_it_is_purged(service_of, clock):
    ana = service_of("ana")
    id = ana.memorize("The office closes at six").id

    forgotten = ana.forget(id)
    assert ana.recall("office").hits == []
    assert (forgotten.restorable_until - clock()).days == 90
    assert ana.forget(id) == forgotten

    ana.restore(id)
    assert contents(ana.recall("office")) == ["The office closes at six"]

    ana.forget(id)
    ana.sleep(["purge"])
    for days in (91, 1):
        clock.advance(days=days)
        ana.sleep(["purge"])
    later = service_of("ana")
    assert later.settle(30)
    with pytest.raises(MemoryNotFound):
        later.restore(id)


def test_erasing_leaves_no_trace_in_any_file(service_of, home):
    ana = service_of("ana")
    id = ana.memorize("The password hint is marzipanschwein", scope="shared").id
    ana.update_memory(id, scope="private", content="The hint was marzipanschwein")

    ana.forget(id, erase=True)

    with pytest.raises(MemoryNotFound):
        ana.get(id)
    for file in home.rglob("*.db*"):
        assert b"marzipanschwein" not in file.read_bytes().lower(), file.name


# list, review, limits


def test_pages_follow_one_another_without_gap_or_repeat(service_of, clock):
    ana, bob = service_of("ana"), service_of("bob")
    for n in range(7):
        (ana if n % 2 else bob).memorize(f"note number {n}", scope="shared" if n % 2 else "private")
        bob.memorize(f"own note {n}")
        clock.advance(minutes=1)

    seen, cursor = [], None
    while True:
        page = bob.list_memories(limit=4, cursor=cursor)
        seen += [memory.id for memory in page.memories]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert len(seen) == len(set(seen)) == 14
    assert seen == sorted(seen, reverse=True)


def test_a_review_names_contradictions_duplicates_and_what_is_past(service_of, clock):
    ana = service_of("ana", KINMEM_CONFLICT_MODE="ask")
    old = ana.memorize("The server listens on port 8080").id
    new = ana.memorize("The server listens on port 9090").id
    undated = ana.memorize("Bob likes tea", subject="Bob").id
    dated = ana.memorize("Bob likes tea", occurred_at="2026-01-01").id
    days = tuple(ana.memorize("Bob ran home", occurred_at=f"2026-01-0{n}").id for n in (1, 2))
    gone = ana.memorize("The guest code is 1234", expires="1d").id
    coming = ana.memorize("Tomorrow the auditors visit the plant in Lyon").id
    clock.advance(days=60)

    review = ana.review_memories()
    found = {(issue.type, issue.memory_ids) for issue in review.issues}

    assert ("contradiction", (old, new)) in found
    assert ("expired", (gone,)) in found
    assert ("stale", (coming,)) in found
    assert ("duplicate", (undated, dated)) in found
    assert ("duplicate", days) not in found
    assert {issue.suggestion for issue in review.issues if issue.type == "duplicate"} == {"merge"}
    assert "contradiction" in review.summary


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda m: m.memorize("a" * 8_388_609), id="content over 8 MiB"),
        pytest.param(lambda m: m.memorize("   "), id="nothing but space"),
        pytest.param(lambda m: m.memorize("x", importance=11), id="importance out of bounds"),
        pytest.param(
            lambda m: m.memorize("x", importance=float("nan")), id="importance not a number"
        ),
        pytest.param(lambda m: m.memorize("x", category="mood"), id="unknown category"),
        pytest.param(lambda m: m.memorize("x", occurred_at="99999-01-01"), id="absurd date"),
        pytest.param(lambda m: m.memorize("x", occurred_at="yesterdayish"), id="no date"),
        pytest.param(lambda m: m.memorize("x", expires="-5d"), id="expired before it began"),
        pytest.param(lambda m: m.memorize("x", colour="red"), id="unknown field"),
        pytest.param(lambda m: m.recall("x" * 8193), id="query over 8 KiB"),
        pytest.param(lambda m: m.recall("\x00"), id="nothing but NUL"),
        pytest.param(lambda m: m.recall("x", limit=0), id="limit 0"),
        pytest.param(lambda m: m.recall("x", mode="best"), id="unknown mode"),
        pytest.param(
            lambda m: m.recall("x", since="2026-02-02", until="2026-01-01"), id="since after until"
        ),
        pytest.param(lambda m: m.list_memories(cursor="abc"), id="made-up cursor"),
        pytest.param(lambda m: m.update_memory("x"), id="nothing to change"),
    ],
)
def test_bad_input_is_refused_in_words_and_nothing_is_stored(service, call):
    with pytest.raises(InvalidInput) as refused:
        call(service)

    assert len(str(refused.value)) < 400
    assert service.list_memories().memories == []


def test_too_large_names_the_limit(service):
    with pytest.raises(TooLarge, match="8,388,608"):
        service.memorize("é" * 4_200_000)


@pytest.mark.parametrize(
    ("known", "new", "status"),
    [
        pytest.param("Tea is green", "tea is green.", "duplicate_of", id="known"),
        pytest.param("I live in Rome", "I live in Rome now", "duplicate_of", id="still so"),
        pytest.param(
            "My sister Clara lives in Lyon.",
            "My sister Clara lives in Lyon, and she works as a nurse.",
            "merged_into",
            id="says more",
        ),
        pytest.param("Anna lives in Lyon", "Anna lives in Rome", "superseded", id="contradicts"),
        pytest.param("I like my job", "I no longer like my job", "superseded", id="takes back"),
        pytest.param(
            "Anna lives in Lyon and has two dogs", "Anna lives in Rome", "conflict", id="in doubt"
        ),
        pytest.param("My son Ben is 5", "My daughter Mia is 7", "created", id="looks alike"),
    ],
)
def test_memorize_says_what_became_of_it(service, clock, known, new, status):
    first = service.memorize(known).id
    clock.advance(days=1)

    stored = service.memorize(new)

    assert stored.status == status
    live = {memory.id: memory.content for memory in service.list_memories().memories}
    assert (
        live
        == {
            "duplicate_of": {first: known},
            "merged_into": {first: new},
            "superseded": {stored.id: new},
            "conflict": {first: known, stored.id: new},
            "created": {first: known, stored.id: new},
        }[status]
    )
    assert stored.supersedes == ((first,) if status == "superseded" else ())
    assert stored.conflicts == ((first,) if status == "conflict" else ())


def test_a_batch_comes_to_the_same_verdicts_when_its_vectors_are_there(service):
    known = service.memorize("The server listens on port 8080").id
    pinned = service.memorize("Backups start at 4 o'clock").id
    service.update_memory(pinned, pinned=True)

    stored = service.memorize_many(
        [
            "The server listens on port 9090",
            "Backups start at 5 o'clock",
            "My sister Clara lives in Lyon.",
            "My sister Clara lives in Lyon, and she works as a nurse.",
        ]
    )
    service.settle()

    states = {one.id: service.store.get(one.id).state for one in stored}
    assert list(states.values()) == ["active", "active", "active", "superseded"]
    assert service.store.get(known).superseded_by == stored[0].id
    assert service.store.get(stored[2].id).content.endswith("she works as a nurse.")
    (conflict,) = service.store.decisions.conflicts()
    assert (conflict.older, conflict.newer) == (pinned, stored[1].id)


def test_an_old_fact_that_arrives_late_is_kept_as_the_past(service, clock):
    now = service.memorize("Anna lives in Rome", occurred_at="2026-03-05")

    late = service.memorize("Anna lives in Lyon", occurred_at="2024-01-01")
    again = service.memorize("Anna lives in Lyon", occurred_at="2024-01-01")

    memory = service.store.get(late.id)
    assert (late.status, late.supersedes) == ("superseded", ())
    assert (memory.state, memory.superseded_by) == (State.SUPERSEDED, now.id)
    assert (again.status, again.id) == ("duplicate_of", late.id)
    asked = {"query": "where does Anna live"}
    assert contents(service.recall(**asked, as_of="2025-01-01")) == ["Anna lives in Lyon"]
    assert contents(service.recall(**asked)) == ["Anna lives in Rome"]


def test_what_others_share_is_never_changed(service_of):
    bob, ana = service_of("bob"), service_of("ana")
    shared = bob.memorize("The server listens on port 8080", scope="shared")

    told = ana.memorize("The server listens on port 9090", scope="shared")

    assert (told.status, told.conflicts) == ("conflict", (shared.id,))
    assert bob.get(shared.id).state == State.ACTIVE
    assert len(ana.store.decisions.conflicts()) == 1
    assert bob.store.decisions.conflicts() == []


def test_others_private_memories_contradict_nobody(service_of):
    service_of("bob").memorize("The server listens on port 8080")

    assert service_of("ana").memorize("The server listens on port 9090").status == "created"


KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda m, id: m.memorize(f"The key is {KEY}"), id="content"),
        pytest.param(lambda m, id: m.memorize("The key", subject=KEY), id="subject"),
        pytest.param(lambda m, id: m.memorize("The key", source_context=KEY), id="context"),
        pytest.param(lambda m, id: m.memorize("The key", tags=["mail", KEY]), id="tag"),
        pytest.param(lambda m, id: m.update_memory(id, tags=[KEY]), id="updated tag"),
        pytest.param(lambda m, id: m.update_memory(id, content=f"It is {KEY}"), id="update"),
    ],
)
def test_keys_are_refused_without_being_repeated(service, call):
    known = service.memorize("The mail service needs a key").id

    with pytest.raises(InvalidInput, match="openai key.*KINMEM_SECRETS") as refusal:
        call(service, known)

    assert KEY not in str(refusal.value)
    assert service.stats().counts["state"] == {"active": 1}


@pytest.mark.parametrize(("setting", "kept"), [("redact", False), ("keep", True)])
def test_keys_are_taken_out_or_kept_as_the_setting_says(service_of, setting, kept):
    ana = service_of("ana", KINMEM_SECRETS=setting)

    id = ana.memorize(f"The key of the mail service is {KEY}").id

    assert (KEY in ana.get(id).content) is kept


def test_a_key_refuses_its_item_of_a_batch_alone(service):
    stored = service.memorize_many([f"The key is {KEY}", "Tea is green"])

    assert [one.status for one in stored] == ["refused", "created"]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda m: m.memorize(5), id="content"),
        pytest.param(lambda m: m.memorize(None), id="no content"),
        pytest.param(lambda m: m.memorize("x", subject=5), id="subject"),
        pytest.param(lambda m: m.memorize("x", tags=None), id="no tags"),
        pytest.param(lambda m: m.memorize("x", tags="ab"), id="tags as text"),
        pytest.param(lambda m: m.memorize("x", tags=[1]), id="a tag"),
        pytest.param(lambda m: m.memorize("x", category=3), id="category"),
        pytest.param(lambda m: m.memorize("x", category=["fact"]), id="categories"),
        pytest.param(lambda m: m.memorize("x", scope=0), id="scope"),
        pytest.param(lambda m: m.memorize("x", importance="x"), id="importance"),
        pytest.param(lambda m: m.memorize("x", importance=True), id="importance yes"),
        pytest.param(lambda m: m.memorize("x", confidence=2), id="confidence"),
        pytest.param(lambda m: m.memorize("x", occurred_at=5), id="time"),
        pytest.param(lambda m: m.memorize("x", expires=30), id="expiry"),
        pytest.param(lambda m: m.memorize("x", source_context=["y"]), id="context"),
        pytest.param(lambda m: m.memorize_many([5]), id="an item"),
        pytest.param(lambda m: m.recall("x", tags=5), id="tags of a question"),
    ],
)
def test_wrong_types_are_refused_in_words(service, call):
    with pytest.raises(InvalidInput):
        call(service)


def test_a_batch_never_loses_to_what_somebody_else_may_take_back(service_of):
    ana, bob = service_of("ana"), service_of("bob")
    theirs = bob.memorize("The canteen serves fish on Fridays", scope="shared").id
    [mine] = ana.memorize_many(["The canteen serves fish, on Fridays"])
    assert ana.settle(60)

    bob.forget(theirs)

    assert mine.status == "duplicate_of" or contents(ana.recall("fish in the canteen"))


def test_what_expires_does_not_make_what_stays_a_duplicate(service, clock):
    service.memorize("The gate is painted green", expires="1h")

    stored = service.memorize("The gate is painted green")
    clock.advance(hours=2)

    assert stored.status == "created"
    assert contents(service.recall("colour of the gate")) == ["The gate is painted green"]


def test_what_is_told_again_until_later_is_stored_once(service, clock):
    rota = "On call: week 49 Amir, week 50 Beate"
    tagged = service.memorize(rota, expires="7d", tags=("oncall",)).id
    first = service.memorize(rota, expires="8d").id
    clock.advance(days=2)

    again = service.memorize(rota, expires="60d")
    clock.advance(days=10)
    service.sleep()

    assert (again.status, again.supersedes) == ("superseded", (first,))
    assert service.get(tagged).tags == ("oncall",)
    assert contents(service.recall("who is on call")) == [rota]


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        ("yesterday", None, ["of 14 June", "of 15 June"]),
        (None, "yesterday", ["of 1 June", "of 14 June"]),
        ("last week", "last week", ["of 14 June"]),
        ("2 weeks ago", "3 days ago", ["of 1 June"]),
        ("gestern", "heute", ["of 14 June", "of 15 June"]),
        ("Sunday", None, ["of 14 June", "of 15 June"]),
        ("14 June 2026", "14 June 2026", ["of 14 June"]),
    ],
)
def test_times_are_understood_in_words(service, since, until, found):
    for occurred_at, content in (
        ("2 weeks ago", "The entry of 1 June"),
        ("yesterday", "The entry of 14 June"),
        ("today", "The entry of 15 June"),
    ):
        service.memorize(content, occurred_at=occurred_at)

    page = service.list_memories(since=since, until=until, sort="said")

    assert [one.content.removeprefix("The entry ") for one in page.memories] == found


@pytest.mark.parametrize(
    ("expires", "day"),
    [
        ("tomorrow", "2026-06-17"),
        ("in 3 days", "2026-06-19"),
        ("next week", "2026-06-29"),
        ("Friday", "2026-06-20"),
        ("in 2 months", "2026-08-16"),
        ("übermorgen", "2026-06-18"),
    ],
)
def test_an_end_may_be_told_in_words(service, expires, day):
    id = service.memorize("The guest badge is 4471", expires=expires).id

    assert service.get(id).expires_at == datetime.fromisoformat(f"{day}T00:00:00+00:00")


@pytest.mark.parametrize("expires", ["yesterday", "last week", "when it rains"])
def test_an_end_that_is_over_or_no_time_is_refused(service, expires):
    with pytest.raises(InvalidInput, match="a time to come"):
        service.memorize("The guest badge is 4471", expires=expires)


def test_what_happened_is_counted_on_the_day_of_the_zone(service_of, clock):
    service = service_of("ana", KINMEM_TZ="Asia/Tokyo")
    clock.advance(hours=2.5)  # half past eleven in the evening there
    service.memorize("The ferry leaves at noon")
    service.memorize("Dora keeps bees")
    clock.advance(hours=1)
    service.memorize("Emil paints boats")

    days = {day.isoformat(): count for day, count in service.days().items()}
    assert days == {"2026-06-15": 2, "2026-06-16": 1}


def test_a_day_of_the_timeline_and_a_past_date_may_be_told_in_words(service, clock):
    service.memorize("The studio moved to the harbour", occurred_at="2026-06-14")
    service.memorize("The parking code is 1234")
    clock.advance(days=1)

    assert [one.content for one in service.timeline(day="the day before yesterday").memories] == [
        "The studio moved to the harbour"
    ]
    assert service.recall("parking code", as_of="yesterday").hits
