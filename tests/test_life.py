"""What a person told is there after two years without a question, whichever way it came in."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from kinmem.models import Hit, Memory, State
from kinmem.service import Service
from kinmem.wiring.open_memory import embedders
from tests.conftest import MovableClock
from tests.sweeps import WHOLE, rounds, sample

TWO_YEARS = 730


class Told(NamedTuple):
    kind: str
    fact: str
    asked: str


LINES = (Path(__file__).parent / "corpora" / "told.jsonl").read_text("utf-8").splitlines()
FACTS = [Told(**json.loads(line)) for line in sample(LINES, 7)]
IN_TURNS, MEMORIZED, IN_FILES, IMPORTED = (FACTS[way::4] for way in range(4))
A_FILE = 5
"""Facts in each."""


def told(service: Service, clock: MovableClock) -> None:
    """All of the facts, each told in one of four ways."""
    embedders(service.settings)[0].warm()
    for number, one in enumerate(IN_TURNS):
        service.record_turn(f"session {number}", one.fact, "Noted.")
        clock.advance(minutes=20)
    for one in MEMORIZED:
        service.memorize(one.fact)
    for start in range(0, len(IN_FILES), A_FILE):
        text = "\n\n".join(one.fact for one in IN_FILES[start : start + A_FILE])
        service.add_document(text, name=f"notes-{start}.md", source_ref=f"/notes/{start}.md")
    service.memorize_many([{"content": one.fact, "channel": "import"} for one in IMPORTED])
    service.sleep()


def lost(service: Service, facts: Sequence[Told]) -> list[Told]:
    """What a question does not find."""
    return [one for one in facts if not any(map(holds(one), service.recall(one.asked).hits))]


def holds(one: Told) -> Callable[[Hit], bool]:
    return lambda hit: (
        one.fact.rstrip(".") in hit.memory.content or (one.fact.rstrip(".") in (hit.excerpt or ""))
    )


def states(service: Service) -> set[State]:
    return {memory.state for state in State for memory in listed(service, state)}


def listed(service: Service, state: State) -> list[Memory]:
    page = service.list_memories(state=state, limit=200)
    assert page.next_cursor is None
    return page.memories


DAYS_AWAKE = rounds(1, 240)
"""Between two sleeps; `make sweeps` sleeps every day."""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_a_person_told_is_active_and_found_after_two_years(
    home: Path, tmp_path: Path, service_of: Callable[..., Service], clock: MovableClock
) -> None:
    with service_of("marta", resident=False) as service:
        told(service, clock)
    then = clock.now

    for at, prune in enumerate(("off", "kinbot", "kybernesis")):
        lived = shutil.copytree(home, tmp_path / prune)
        clock.now = then
        with service_of("marta", resident=False, KINMEM_HOME=lived, KINMEM_PRUNE=prune) as service:
            for _ in range(TWO_YEARS // DAYS_AWAKE):
                clock.advance(days=DAYS_AWAKE)
                service.sleep()

            assert states(service) == {State.ACTIVE}, prune
            for facts in (IN_TURNS, MEMORIZED, IN_FILES, IMPORTED):
                asked = facts if WHOLE else facts[at::3]
                assert [one.fact for one in lost(service, asked)] == [], prune
