"""How many files of kinmem one call goes through: `pytest -s tests/test_journeys.py` prints them.

Whoever follows a call through the tree opens these files. A bound that is passed says that a
journey has become longer; whoever makes one shorter lowers its bound.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import kinmem
from kinmem.service import Service

ROOT = Path(kinmem.__file__).parent
OPENING = frozenset({"store/sqlite/encryption.py", "store/sqlite/owner_file.py"})
"""Entered only where a connection is opened, because the others are in use at that moment."""
NOTES = (
    "Tom works at the bakery in Lyon",
    "Ana is allergic to peanuts",
    "The dishwasher was repaired in March",
    "Always show the unit when you give a measure",
)


def files_entered(journey: Callable[[], Any]) -> set[str]:
    """The files of kinmem in which a function is called meanwhile, in this thread. What a module
    does while it is imported does not count."""
    entered: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            entered.add(frame.f_code.co_filename)

    known = sys.getprofile()
    sys.setprofile(note)
    try:
        journey()
    finally:
        sys.setprofile(known)
    inside = (Path(name) for name in entered if name.startswith(str(ROOT)))
    return {path.relative_to(ROOT).as_posix() for path in inside} - OPENING


@pytest.fixture
def told(service: Service) -> Service:
    """Notes, and every journey gone once, so that nothing is loaded or made ready any more."""
    service.memorize_many(NOTES)
    service.recall("who is allergic to nuts?")
    service.memorize("The ferry to Sardinia leaves at noon")
    _turn(service, "0", "My sister Lena plays the cello in an orchestra.")
    assert service.settle(60)
    return service


def _turn(service: Service, id: str, text: str) -> None:
    """Without an answer it is not whole, so that nobody learns from it in the background."""
    service.observe("prompt", "s", id, text, tell=False)
    service.sleep(["learn"])


def _recall(service: Service) -> None:
    assert service.recall("where does Tom work?").hits


def _memorize(service: Service) -> None:
    assert service.memorize("The wifi password is on the fridge").status == "created"


def _learn(service: Service) -> None:
    _turn(service, "1", "I moved to Lisbon in May because of my new job at the harbour.")
    assert any("Lisbon" in one.content for one in service.list_memories().memories)


@pytest.mark.parametrize(
    ("journey", "most"),
    [
        pytest.param(_recall, 45, id="a recall"),
        pytest.param(_memorize, 54, id="a memorize"),
        pytest.param(_learn, 74, id="a turn until it is learned"),
    ],
)
def test_a_journey_goes_through_no_more_files(
    told: Service, journey: Callable[[Service], None], most: int, request: Any
) -> None:
    files = files_entered(lambda: journey(told))

    lines = [f"\n{request.node.callspec.id}: {len(files)} files", *sorted(files)]
    sys.stdout.write("\n  ".join(lines) + "\n")
    assert len(files) <= most
