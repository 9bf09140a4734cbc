"""Everything at once: crashes, clocks, a second process, a failing model, backups and restores."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kinmem.backup.restore import restore
from kinmem.errors import ModelError
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_home import open_backups, open_store
from tests.conftest import MovableClock
from tests.random_writes import WordEmbedder
from tests.store.soundness import problems
from tests.sweeps import rounds

NAMES = st.sampled_from("Ana Bob Carla Dora Emil Frida".split())
THINGS = st.sampled_from(["tea", "honey", "paper", "stamps", "ropes"])
PLACES = st.sampled_from(["in the cellar", "on the shelf", "behind the house"])


class Failing(WordEmbedder):
    """A model that can be out of order."""

    broken = False

    def embed(self, *given: Any, **more: Any) -> Any:
        if self.broken:
            raise ModelError("the provider does not answer")
        return super().embed(*given, **more)


class Mixed(RuleBasedStateMachine):
    """Two processes share a home; whatever was answered is there."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="kinmem-mixed-"))
        self.home = self.folder / "0"
        self.clock = MovableClock()
        self.known: dict[str, str] = {}
        self.backed_up: tuple[str, dict[str, str]] | None = None
        self.model = Failing()
        self.first, self.second = self._opened(), self._opened()

    def _opened(self) -> Service:
        chosen = load({"KINMEM_HOME": self.home, "KINMEM_KIN": "ana", "KINMEM_JUDGE": "off"})
        store = open_store(chosen, self.clock)
        backups = open_backups(chosen, clock=self.clock)
        models = [self.model]
        return Service(store, models, chosen, clock=self.clock, resident=False, backups=backups)

    def _any(self, is_second: bool) -> Service:
        return self.second if is_second else self.first

    @rule(who=NAMES, what=THINGS, where=PLACES, is_second=st.booleans(), shared=st.booleans())
    def memorize(self, who: str, what: str, where: str, is_second: bool, shared: bool) -> None:
        text = f"{who} keeps {what} {where}"
        scope = "shared" if shared else "private"
        service = self._any(is_second)
        stored = service.memorize(text, scope=scope)
        before, self.known = self.known, _listed(service)  # it may have ended or joined others
        assert stored.status != "created" or self.known == {**before, str(stored.id): text}

    @precondition(lambda self: self.known)
    @rule(data=st.data(), is_second=st.booleans(), erase=st.booleans())
    def forget(self, data: st.DataObject, is_second: bool, erase: bool) -> None:
        id = data.draw(st.sampled_from(sorted(self.known)))
        self._any(is_second).forget(id, erase=erase)
        del self.known[id]

    @rule(is_second=st.booleans(), who=NAMES)
    def recall(self, is_second: bool, who: str) -> None:
        for hit in self._any(is_second).recall(f"what does {who} keep?").hits:
            assert hit.memory.id in self.known or hit.is_turn

    @rule(days=st.integers(-400, 400))
    def let_the_clock_jump(self, days: int) -> None:
        self.clock.advance(days=days)

    @rule(broken=st.booleans())
    def let_the_model_fail(self, broken: bool) -> None:
        self.model.broken = broken

    @rule()
    def sleep(self) -> None:
        self.first.sleep(["purge", "expire", "retain", "tier", "housekeeping"])

    @rule()
    def back_up(self) -> None:
        made = open_backups(self.first.settings, clock=self.clock).make()
        self.backed_up = made.path.name, dict(self.known)

    @precondition(lambda self: self.backed_up is not None)
    @rule()
    def restore(self) -> None:
        self._close()
        backups = open_backups(self.first.settings, clock=self.clock)
        assert self.backed_up is not None
        name, self.known = self.backed_up[0], dict(self.backed_up[1])
        restore(backups, backups.folder / name)
        self.first, self.second = self._opened(), self._opened()

    @rule()
    def crash(self) -> None:
        """What a kill leaves is what is in the files at that moment."""
        left = self.folder / str(int(self.home.name) + 1)
        # By another process: reading them here would drop the locks of SQLite.
        subprocess.run(["cp", "-r", self.home, left], check=True)
        self._close()
        self.home = left
        self.first, self.second = self._opened(), self._opened()

    @invariant()
    def everything_that_was_answered_is_there(self) -> None:
        for service in (self.first, self.second):
            assert _listed(service) == self.known

    def _close(self) -> None:
        self.first.close()
        self.second.close()

    def teardown(self) -> None:
        self._close()
        store = SqliteStore(self.home, "ana", self.clock)
        wrong = problems(store)
        store.close()
        shutil.rmtree(self.folder)
        assert wrong == []


def _listed(service: Service) -> dict[str, str]:
    return {one.id: one.content for one in service.list_memories(limit=200).memories}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="copies with cp")
class TestMixed(Mixed.TestCase):
    settings = settings(
        max_examples=rounds(200, 4),
        stateful_step_count=rounds(50, 20),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
