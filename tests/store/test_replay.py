"""The history is complete: from its lines alone every state of a store can be told again."""

from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import pytest

from kinmem.models import Memory
from kinmem.store.history import COMPUTED
from tests.conftest import MovableClock
from tests.random_writes import Writer, opened
from tests.store.soundness import everything, problems
from tests.sweeps import rounds

OPERATIONS = rounds(4_000, 200)
EVERY = 20
DEFAULTS = {field.name: field.default for field in fields(Memory) if field.name in COMPUTED}


def recorded(memory: Memory) -> Memory:
    """Without what use and upkeep make of it."""
    return replace(memory, **DEFAULTS)


@pytest.mark.slow
def test_every_state_of_random_writes_is_the_replay_of_the_writes_up_to_it(
    home: Path, clock: MovableClock
) -> None:
    with closing(opened(home, clock)) as service:
        writer = Writer(service, clock, seed=5)
        service.memorize("Ada lives in Bern")
        states: dict[int, dict[str, Memory]] = {}
        for number in range(OPERATIONS):
            writer.write(also=(writer.undo, writer.redo, writer.erase))
            if number % EVERY == 0:
                lines = service.history(limit=1)
                states[lines[0].write] = {m.id: recorded(m) for m in everything(service.store)}
        left = {memory.id for memory in everything(service.store)}

        assert len(states) > 0.8 * OPERATIONS / EVERY  # else hardly anything was written
        for write, state in states.items():
            replayed = {id: recorded(one) for id, one in service.as_of(write).items()}
            assert replayed == {id: one for id, one in state.items() if id in left}
        assert problems(service.store) == []
