"""A conversation passes by: it is kept, learned from, and what is remembered is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kinmem.errors import InvalidInput
from kinmem.models import State
from kinmem.service import Service
from tests.conftest import MovableClock

LYON = "I live in Lyon and my sister Clara visits me every spring."
MOVED = "I no longer live in Lyon, I moved to Berlin last week."


def said(
    service: Service, turn: str, prompt: str, answer: str = "Noted.", session: str = "s"
) -> str:
    """A whole turn; the notes that the prompt was given."""
    notes = service.observe("prompt", session, turn, prompt).notes
    if answer:
        service.observe("answer", session, turn, answer)
    return notes


def contents(service: Service, state: State | None = None) -> list[str]:
    page = service.list_memories(state=state, sort="oldest", limit=200)
    return [memory.content for memory in page.memories]


# what is kept


def test_a_turn_is_kept_once_however_often_it_is_told(service: Service) -> None:
    first = service.observe("prompt", "s", "t1", "Hello, my name is Ana")
    again = service.observe("prompt", "s", "t1", "Hello, my name is Ana")

    assert (first.status, again.status) == ("stored", "known")
    assert [message.text for message in service.turns("s")] == ["Hello, my name is Ana"]


def test_a_turn_without_a_name_gets_one_that_its_answer_shares(
    service: Service, clock: MovableClock
) -> None:
    asked = service.observe("prompt", "s", None, "continue")
    answered = service.observe("answer", "s", None, "Done.")
    clock.advance(minutes=1)
    again = service.observe("prompt", "s", None, "continue")

    assert asked.turn == answered.turn != again.turn


def test_the_same_prompt_through_two_clients_hooks_is_one(service: Service) -> None:
    assert service.observe("prompt", "s", None, "continue").status == "stored"
    assert service.observe("prompt", "s", None, "continue").status == "known"


def test_a_prompt_repeated_behind_an_answer_is_another(service: Service) -> None:
    first = service.observe("prompt", "s", None, "yes")
    service.observe("answer", "s", None, "The red one is ordered.")
    second = service.observe("prompt", "s", None, "yes")
    answer = service.observe("answer", "s", None, "The blue one is ordered.")

    assert (second.status, answer.turn) == ("stored", second.turn)
    assert first.turn != second.turn


@pytest.mark.parametrize("ids", [(None, "p1"), ("p1", None)], ids=str)
def test_a_prompt_heard_with_and_without_its_id_is_one(
    service: Service, ids: tuple[str | None, str | None]
) -> None:
    first, second = (service.observe("prompt", "s", id, "I own a canoe.") for id in ids)
    answers = [service.observe("answer", "s", id, "Nice.") for id in ids]

    assert (first.status, second.status) == ("stored", "known")
    assert [one.turn for one in answers] == [first.turn, first.turn]
    assert [one.text for one in service.turns("s")] == ["I own a canoe.", "Nice."]


def test_another_text_by_the_same_id_is_another_turn(service: Service) -> None:
    service.observe("prompt", "s", "p1", "I own a red bicycle.")
    service.observe("answer", "s", "p1", "Nice.")
    other = service.observe("prompt", "s", "p1", "I own a golden canoe.")
    service.observe("answer", "s", "p1", "Nice.")
    again = [
        service.observe("prompt", "s", "p1", text)
        for text in ("I own a red bicycle.", "I own a golden canoe.")
    ]

    assert other.status == "stored"
    assert [one.status for one in again] == ["known", "known"]
    assert [one.turn for one in service.turns("s")] == ["p1", "p1", other.turn, other.turn]
    service.settle()
    assert {"I own a red bicycle.", "I own a golden canoe."} <= set(contents(service))


def test_of_a_text_without_end_both_ends_are_kept(service: Service) -> None:
    text = "I own a red bicycle. " + "zü " * 4_000_000 + "I own a golden canoe."

    assert service.observe("prompt", "s", "t", text).status == "stored"
    (kept,) = service.turns("s")
    assert kept.text.startswith("I own a red bicycle.")
    assert kept.text.endswith("I own a golden canoe.")
    assert "characters left out" in kept.text
    assert len(kept.text.encode()) <= 8 * 1024 * 1024


def test_what_is_private_at_one_end_of_a_long_text_is_not_kept(service: Service) -> None:
    text = f"Hello. <private>{'a b ' * 3_000_000}</private> My safe is blue."
    service.observe("prompt", "s", "t", text)

    assert [one.text for one in service.turns("s")] == ["Hello.  My safe is blue."]


def test_what_sub_agents_say_is_ignored(service: Service) -> None:
    observed = service.observe("prompt", "s", "t", LYON, agent="a-17")

    assert observed.status == "ignored"
    assert service.turns("s") == []


def test_private_parts_and_secrets_are_never_stored(service: Service, home: Path) -> None:
    service.observe("prompt", "s", "t", "Use <private>the blue door</private> and it is done")
    service.observe("answer", "s", "t", "The key is sk-proj-abcdefghijklmnopqrstuvwx0123456789AB")
    service.observe("prompt", "s", "u", "<private>nothing else</private>")
    service.settle()

    assert [message.turn for message in service.turns("s")] == ["t", "t"]
    service.close()
    stored = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"blue door" not in stored
    assert b"sk-proj" not in stored
    assert b"nothing else" not in stored


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("shout", "s", "t", "x"), "event", id="unknown event"),
        pytest.param(("prompt", "", "t", "x"), "session", id="no session"),
        pytest.param(("prompt", "s", "t" * 300, "x"), "turn", id="name too long"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    service: Service, arguments: tuple[str, ...], told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        service.observe(*arguments)  # type: ignore[arg-type]


# what is learned


def test_a_turn_teaches_what_will_matter_later(service: Service) -> None:
    said(service, "t1", LYON)
    said(service, "t2", "Thanks, that's great!")
    said(service, "t3", "Can you fix the failing test?")
    assert service.settle(60)

    memories = service.list_memories().memories
    assert any("Lyon" in memory.content for memory in memories)
    assert {memory.turn_id for memory in memories} == {"t1"}
    assert {memory.channel for memory in memories} <= {"extraction", "user"}
    assert all(message.learned_at for message in service.turns("s"))


def test_learning_can_be_switched_off(service_of: Callable[..., Service]) -> None:
    service = service_of("ana", KINMEM_LEARN="false")
    said(service, "t1", LYON)
    assert service.settle(60)

    assert contents(service) == []
    assert len(service.turns("s")) == 2


def test_a_new_fact_supersedes_the_old_one_and_the_past_can_be_asked(
    service: Service, clock: MovableClock
) -> None:
    said(service, "t1", "I live in Lyon.")
    service.settle(60)
    before = clock.advance(days=1)
    clock.advance(days=30)
    said(service, "t2", "I no longer live in Lyon, I live in Berlin now.")
    service.settle(60)

    assert [c for c in contents(service) if "Berlin" in c]
    assert contents(service, State.SUPERSEDED) == ["I live in Lyon."]
    old = service.recall("Where do I live?", as_of=before).hits
    assert old[0].memory.content == "I live in Lyon."


def test_what_was_told_is_never_learned_as_new(service: Service) -> None:
    service.memorize("Clara's wedding is on 12 June 2027 in Porto", subject="Clara", importance=8)
    for number in range(50):
        notes = said(
            service,
            f"t{number}",
            "When is Clara's wedding again?",
            "As noted, Clara's wedding is on 12 June 2027 in Porto.",
            session=f"s{number % 5}",
        )
        said(service, f"u{number}", f"So Clara's wedding is on 12 June 2027 in Porto. {notes}")
    service.settle(100)

    assert contents(service) == ["Clara's wedding is on 12 June 2027 in Porto"]


# what is told


def test_a_prompt_is_answered_with_the_memories_that_fit_once_a_session(service: Service) -> None:
    service.memorize("Bob is allergic to peanuts", subject="Bob")
    first = said(service, "t1", "Is a peanut cake fine for Bob?")
    second = said(service, "t2", "Is a peanut cake fine for Bob, really?")
    elsewhere = said(service, "t1", "Is a peanut cake fine for Bob?", session="other")

    assert "allergic to peanuts" in first
    assert "allergic to peanuts" not in second
    assert "allergic to peanuts" in elsewhere


def test_nothing_is_told_where_nothing_fits(service: Service) -> None:
    service.memorize("Bob is allergic to peanuts", subject="Bob")

    assert said(service, "t1", "Please rename the variable in main.c") == ""
    assert said(service, "t2", "thanks!") == ""


def test_being_told_counts_as_use(service: Service) -> None:
    id = service.memorize("Bob is allergic to peanuts", subject="Bob").id
    assert id
    said(service, "t1", "Is a peanut cake fine for Bob?")
    service.store.flush_use()

    assert service.store.get(id).recalled_count == 1


def test_after_a_compaction_it_may_be_told_again(service: Service) -> None:
    service.memorize("Bob is allergic to peanuts", subject="Bob")
    said(service, "t1", "Is a peanut cake fine for Bob?")
    service.compacted("s")

    assert "peanuts" in said(service, "t2", "Is a peanut cake fine for Bob?")


def test_a_session_begins_with_what_is_pinned_and_important(service: Service) -> None:
    pinned = service.memorize("Answer in British English").id
    assert pinned
    service.update_memory(pinned, pinned=True)
    service.memorize("Ana's daughter has diabetes", importance=10)
    service.memorize("The cafe sells bagels", importance=2)

    told = service.opening("s")

    assert "British English" in told
    assert "diabetes" in told
    assert "bagels" not in told


# what is summarised


@pytest.mark.usefixtures("judge_off")
def test_a_long_conversation_is_summarised_and_stays_whole(service: Service) -> None:
    for number in range(40):
        said(service, f"t{number}", f"My plan for day {number} is to paint room {number}.")
    service.settle(100)

    snapshots = service.store.snapshots.of("s")
    kept = [message for message in service.turns("s") if message.snapshot is None]
    assert sum(snapshot.turns for snapshot in snapshots) == 20
    assert len({message.turn for message in kept}) == 20
    text = service.context("s")
    assert "day 39" in text
    assert text.index(snapshots[0].summary[:20]) < text.index("day 39")


def test_the_report_of_a_cycle_is_kept(service: Service) -> None:
    said(service, "t1", LYON)
    service.settle(60)

    (run,) = service.runs(1)
    assert run.kind == "cycle"
    assert run.counts["extract.turns"] == 1
    assert run.counts["extract.created"] >= 1
    assert run.problems == ()


@pytest.mark.usefixtures("judge_off")
def test_what_is_erased_is_gone_from_the_conversation_too(service: Service, home: Path) -> None:
    for number in range(26):
        said(service, f"t{number}", f"Remember that the {number}th vault holds an amber cup.")
    service.settle(60)
    service.sleep()
    (third,) = (
        one
        for one in service.recall("vault 3rd amber cup", limit=50).hits
        if one.memory.turn_id == "t3"
    )
    service.forget(third.memory.id, erase=True)
    context = service.context("s")
    service.close()

    stored = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"the 3th vault" not in stored
    assert b"the 4th vault" in stored
    assert "[erased]" in context


def test_a_second_answer_without_a_number_is_kept_beside_the_first(service: Service) -> None:
    service.observe("prompt", "s", None, "Two files, please")
    first = service.observe("answer", "s", None, "Here is the first.")
    second = service.observe("answer", "s", None, "And here the second.")
    again = service.observe("answer", "s", None, "And here the second.")

    assert (first.status, second.status, again.status) == ("stored", "stored", "known")
    assert len(service.turns("s")) == 3


def test_an_embedder_that_is_away_keeps_no_turn_waiting(service_of: Callable[..., Service]) -> None:
    service = service_of("ana", MEMORY_EMBEDDING_MODEL="no-such-provider/no-such-model")
    said(service, "t1", LYON)
    service.settle(20)

    assert any("Lyon" in content for content in contents(service))


def test_a_turn_with_a_private_prompt_is_no_part_of_the_turn_before(service: Service) -> None:
    service.record_turn("s", "What is new?", "Nothing.")
    for _ in range(2):  # told twice, kept once
        outputs = [{"tool": "search", "text": "Rain in Bern"}]
        service.record_turn("s", "<private>my salary</private>", "It will rain.", tools=outputs)

    first, *later = [(message.turn, message.text) for message in service.turns("s")][1:]
    assert [text for _, text in later] == ["Rain in Bern", "It will rain."]
    assert len({turn for turn, _ in later}) == 1
    assert first[0] not in {turn for turn, _ in later}


# where a conversation stood


def test_a_clients_summary_is_the_last_one_and_stays_through_our_own(
    service_of: Callable[..., Service],
) -> None:
    ana = service_of("ana", COMPACTING_BATCH_TURNS=2, COMPACTING_MIN_KEEP_TURNS=3)
    for number in range(5):
        said(ana, f"t{number}", f"On day {number} we walked from hut {number} to the next.")
    ana.observe("summary", "s", None, "We planned a walk in the Alps. Next: book the hut in Bern.")
    said(ana, "t5", "On day 5 we rest.")

    def opening(session: str) -> str:
        return ana.opening(session)

    assert "Next: book the hut in Bern." in opening("next")
    ana.sleep()
    assert [one.model for one in ana.store.snapshots.of("s")] == ["extractive", "client"]
    assert "Next: book the hut in Bern." in opening("later")
    text = ana.context("s")
    assert text.index("## 2 turns") < text.index("## The client's own summary")
    assert text.count("book the hut in Bern") == 1
    assert text.index("book the hut in Bern") < text.index("# The conversation")
    for number in range(6, 16):
        said(ana, f"t{number}", f"On day {number} we walked from hut {number} to the next.")
    ana.sleep()
    assert "from hut 15" in opening("last")
    assert "book the hut in Bern" in ana.context("s")


def test_a_session_is_told_its_own_summary_by_its_client_only(service: Service) -> None:
    said(service, "t1", "We are planning a walk.")
    service.observe("summary", "s", None, "We planned a walk in the Alps.")

    assert service.opening("s") == ""


@pytest.mark.usefixtures("judge_off")
def test_where_the_last_conversation_stood_is_its_end(service: Service) -> None:
    for number in range(26):
        said(service, f"t{number}", f"On day {number} we walked 12 km from hut {number} to a lake.")
    service.sleep()
    told = service.opening("next")

    assert "from hut 25" in told
    assert told.index("from hut 1 ") < told.index("from hut 25")
    assert len(told) < 4 * 1500
