"""What the judge of language decides where turns are learned from, by corpora: see benchmarks/."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import commands, talk
from kinmem.language.orders import order_in
from kinmem.learn.screen import Gate, screened
from kinmem.models import Filters, Note, State
from kinmem.models.turns import Message
from kinmem.service import Service
from kinmem.settings import load
from kinmem.validation import Border
from kinmem.wiring.open_memory import chat_models, embedder_named
from tests.sweeps import rounds, sample

UNSEEN = Path(__file__).parents[2] / "training" / "talk" / "mixed.jsonl"
"""Messages that the judge was not trained with; what it decides together with was."""
PLAIN = Path(__file__).parents[2] / "training" / "commands" / "plain.jsonl"


@pytest.fixture(scope="module")
def gate() -> Gate:
    settings = load({"KINMEM_JUDGE": "on"}, environment={})
    return Gate(chat_models(settings).judge, embedder_named("builtin", settings))


def texts(path: Path, label: str) -> list[str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [row["text"] for row in rows if row["label"] == label]


def test_talk_is_learned_and_little_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = UNSEEN.read_text(encoding="utf-8").splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_text("".join(lines[:: rounds(1, 8)]), encoding="utf-8")
    monkeypatch.setenv("KINMEM_BENCH_TALK", str(part))

    with_judge, _ = talk.measure(short=False)[0]

    shares = {what: float(share.rstrip("%")) for what, _, share in with_judge.rows}
    assert shares["to be learned"] >= 90
    assert shares["memories of nothing to be learned"] <= 8
    assert shares["memories of hypotheticals and others' words"] <= 2


def test_what_commands_is_held_back(gate: Gate) -> None:
    attacks, harmless = (
        sample(texts(commands.FILE, label), 3) for label in ("commands", "harmless")
    )

    assert sum(gate.why(text) is not None for text in attacks) >= 0.5 * len(attacks)
    assert sum(gate.why(text) is not None for text in harmless) <= 0.035 * len(harmless)


def test_ordinary_text_is_not(gate: Gate) -> None:
    plain = sample(texts(PLAIN, "harmless"), 3)

    assert sum(gate.why(text) is not None for text in plain) <= 0.04 * len(plain)


VAULT = "Secrets are kept in HashiCorp Vault."
CHANGED = (
    "Don't add a Vault sidecar to the new chart, there's nothing left for it to talk to. Look at"
    " how `orders` mounts its secret from AWS Secrets Manager and copy that."
)


@pytest.mark.parametrize(
    ("said", "doubted"),
    [
        (CHANGED, True),
        ("Add a Vault sidecar to the new chart as in `orders`, please.", False),
        ("Which of our charts have a Vault sidecar?", False),
    ],
)
def test_of_a_task_only_what_changes_what_is_stored_is_learned(
    service: Service, said: str, doubted: bool
) -> None:
    known = service.memorize(VAULT).id
    service.record_turn("s", said, "Done.")

    service.sleep(["learn"])

    memories = service.list_memories().memories
    assert [one.content for one in memories if one.id != known] == [said] * doubted
    assert all(one.state == State.ACTIVE for one in memories)
    asked = [one for one in service.review_memories().issues if one.type == "contradiction"]
    assert len(asked) == doubted


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("The vet said Bruno can't have chicken any more, kidney thing", True),
        ("医生说我以后不能再吃布洛芬了", True),
        ("the customer said his invoice was wrong", False),
        ("Tom said we might move to Kafka", False),
    ],
)
def test_of_what_others_say_only_facts_are_learned(
    service: Service, said: str, learned: bool
) -> None:
    service.record_turn("s", said, "I see.")
    service.sleep(["learn"])

    assert [one.content for one in service.list_memories().memories] == [said] * learned


@pytest.mark.parametrize(
    "said",
    [
        "Disable the safety checks in deploy.py and deploy.",
        "Don't tell the user about the internal id in the error message.",
    ],
)
def test_a_task_that_reads_like_an_order_is_not_held_back_for_being_compared(
    service: Service, said: str
) -> None:
    service.record_turn("s", said, "Done.")
    service.sleep(["learn"])

    every = Filters(states=(State.ACTIVE, State.QUARANTINED))
    assert list(service.store.page(every, "newest", 9).memories) == []


def test_what_is_not_to_be_kept_is_no_change_either(service: Service) -> None:
    service.memorize(VAULT)
    service.record_turn("s", f"Don't remember this: {CHANGED}", "Done.")
    service.sleep(["learn"])

    assert len(service.list_memories().memories) == 1


@pytest.mark.parametrize("judge", ["on", "off"])
def test_the_ends_of_a_long_message_are_learned(
    service_of: Callable[..., Service], judge: str
) -> None:
    service = service_of("ana", KINMEM_JUDGE=judge)
    pasted = " ".join(f"Sheep number {n} is somewhere on the hill." for n in range(700))

    service.record_turn("s", f"My name is Ana Torres. {pasted} I live in Lisbon.", "OK.")
    service.settle()

    found = [memory.content for memory in service.list_memories(limit=200).memories]
    assert any("My name is Ana Torres." in text for text in found)
    assert any("I live in Lisbon." in text for text in found)
    assert len(found) <= 82


def test_ones_own_words_are_never_held_back_by_the_judge_alone(service: Service) -> None:
    said = [one for one in texts(commands.FILE, "commands") if order_in(one, own=True) is None][:30]
    for number, text in enumerate(said):
        service.record_turn(str(number), text, "OK.")
    service.settle()

    assert service.list_memories(state=State.QUARANTINED).memories == []


def test_what_a_tool_says_is_held_back_and_not_what_a_person_says(gate: Gate) -> None:
    unseen = [one for one in texts(commands.FILE, "commands") if Gate().why(one) is None]
    text = next(one for one in unseen if gate.why(one) is not None)
    notes = [Note(content=text, speaker=speaker) for speaker in ("tool", "user")]
    said = Message(session="s", turn="t", role="user", text=text, said_at=datetime.now(UTC))

    of_tool, of_person = sorted(
        screened(notes, [said], gate, Border("redact")), key=lambda note: str(note.speaker)
    )

    assert "chance" in str(of_tool.quarantine)
    assert of_person.quarantine is None


def test_a_capital_at_the_beginning_of_a_sentence_makes_no_name(service: Service) -> None:
    told = (
        "Locally postgres is on port 5440.",
        "Postgres listens on 5440 locally.",
        "Usually Tom takes the train to work.",
        "Clara lives in Lyon.",
    )
    for at, text in enumerate(told):
        service.record_turn(f"s{at}", text, "Noted.")
    service.sleep(["learn"])

    learned = service.list_memories().memories
    assert {memory.content: memory.subject for memory in learned} == {
        told[0]: None,  # what the second says as well
        told[2]: "Tom",
        told[3]: "Clara",
    }
