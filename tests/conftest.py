"""What most tests start from: a real service on an empty folder, a clock that moves when told."""

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import hypothesis
import onnxruntime
import pytest

from kinmem.llm.base import warm
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite import connection
from kinmem.wiring.open_memory import chat_models, open_service
from tests.networks import Remembered
from tests.new_files import NewFiles
from tests.sweeps import WHOLE

TESTS = Path(__file__).parent
IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes free that the folders of the tests may need at once, with room to spare."""
LONGEST = 40
"""Bytes of the folder in which what starts processes for the tests makes its sockets, whose paths
have 107. Programs under test keep the TMPDIR that they were given."""

ALLOCATIONS = (20_000, 20, 20)
"""After which the collector of garbage looks; with Python's own 700, 10 and 10 it takes a twentieth
of the tests' time."""

# How long an example takes, or the making of ten, is the machine's affair; pytest's own limit ends
# what hangs. Examples are the same in every run, so that a run fails by what was changed and not by
# what was drawn; `make sweeps` draws others each time.
hypothesis.settings.register_profile(
    "the same in every run",
    deadline=None,
    derandomize=not WHOLE,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("the same in every run")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let the tests write to memory where there is plenty: a sixth of their time is the disk's."""
    if len(os.fsencode(tempfile.gettempdir())) > LONGEST:
        tempfile.tempdir = "/tmp"
    if config.option.basetemp or not IN_MEMORY.is_dir() or hasattr(config, "workerinput"):
        return
    if shutil.disk_usage(IN_MEMORY).free >= ROOM and os.access(IN_MEMORY, os.W_OK):
        config.option.basetemp = folder = tempfile.mkdtemp(prefix="kinmem-", dir=IN_MEMORY)
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Let the collector of garbage pass over what is collected: it stays until the end.

    With it each full collection takes .2 s, and tests ask for hundreds.
    """
    gc.disable()
    _import_a_share(session.config)
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*ALLOCATIONS)
        gc.enable()


def _import_a_share(config: pytest.Config) -> None:
    """Let each worker of xdist compile other tests first, where nobody has compiled them yet.

    All workers collect the same files in the same order: each would compile all of them, which
    takes 13 s of a processor.
    """
    workers: dict[str, Any] = getattr(config, "workerinput", {})
    if not workers or TESTS not in (config.rootpath / one for one in config.args):
        return
    worker = int(workers["workerid"].removeprefix("gw"))
    for file in sorted(TESTS.rglob("test_*.py"))[worker :: workers["workercount"]]:
        name = ".".join(file.relative_to(config.rootpath).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):  # collection says what is wrong
            import_module(name)


@pytest.fixture(scope="session", autouse=True)
def remembered() -> Remembered:
    """See tests/networks.py."""
    memory = Remembered()
    onnxruntime.InferenceSession.run = lambda session, *given: memory.run(session, *given)
    return memory


@pytest.fixture(scope="session", autouse=True)
def new_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewFiles]:
    """See tests/new_files.py."""
    made = NewFiles(tmp_path_factory.mktemp("new-files"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "make_private", made.make)
        yield made


@pytest.fixture
def files_made_each_time(new_files: NewFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets kinmem make the files of this test, for instance of an older schema."""
    monkeypatch.setattr(new_files, "is_used", False)


class MovableClock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 15, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **time: float) -> datetime:
        """Let time pass: advance(days=30)."""
        self.now += timedelta(**time)
        return self.now


LIMITS = (
    "kinmem.conversation.observe.MODEL_SECONDS",
    "kinmem.llm.naming.PATIENCE",
    "kinmem.llm.relating.PATIENCE",
    "kinmem.backup.erasure.AT_ONCE",
    "kinmem.cli.serve.PATIENCE",
)
"""Seconds after which kinmem goes on without a model or leaves a file to the next sleep."""


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes of a call depends on no clock of the machine; a test of a limit sets its own."""
    for limit in LIMITS:
        monkeypatch.setattr(limit, 60.0)


ON_POSTGRES = os.environ.get("KINMEM_TEST_STORE") == "postgres"
SERVER = os.environ.get("KINMEM_TEST_POSTGRES")
"""The URL of a database server on which a superuser may make databases; none: one is started. Read
now, as settings from outside are taken away before the first test."""


@pytest.fixture(autouse=True)
def _on_postgres(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With KINMEM_TEST_STORE=postgres, which `make postgres` sets, services open no files."""
    if ON_POSTGRES:
        monkeypatch.setenv("KINMEM_STORE", request.getfixturevalue("postgres_url"))


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """An empty database on a PostgreSQL server."""
    from tests import postgres

    yield postgres.database_url()
    postgres.empty()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def judge_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """No judge of language, where what is said does not matter: it takes time for each pair."""
    monkeypatch.setenv("KINMEM_JUDGE", "off")


@pytest.fixture
def no_self_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor starts no server to talk to, where that is not what is looked at: half of its
    time. tests/cli/test_doctor.py shows that it does."""
    monkeypatch.setattr("kinmem.cli.doctor.self_test", lambda: iter(()))


@pytest.fixture
def quick_age(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encrypted backups are in the format of age, but by a key for each passphrase instead of
    scrypt, which takes .9 s each time. tests/backup/test_backup.py has the passphrase itself."""
    import pyrage
    from pyrage import x25519

    class Quick:
        DecryptError = pyrage.DecryptError

        def __init__(self) -> None:
            self._keys: dict[str, x25519.Identity] = {}

        def _key(self, passphrase: str) -> "x25519.Identity":
            return self._keys.setdefault(passphrase, x25519.Identity.generate())

        def encrypt(self, plain: bytes, passphrase: str) -> bytes:
            return bytes(pyrage.encrypt(plain, [self._key(passphrase).to_public()]))

        def decrypt(self, file: bytes, passphrase: str) -> bytes:
            return bytes(pyrage.decrypt(file, [self._key(passphrase)]))

    quick = Quick()
    monkeypatch.setattr("kinmem.backup.archive._age", lambda: quick)


@pytest.fixture
def service_of(home: Path, clock: MovableClock) -> Iterator[Callable[..., Service]]:
    """Opens the memory of a Kin, with settings by variable; all share one home and one model.

    Without `resident` nothing happens in the background. The judge is loaded, since recall does not
    wait for it.
    """
    with ExitStack() as opened:

        def open_for(kin: str, *, resident: bool = True, **settings: object) -> Service:
            loaded = load({"KINMEM_KIN": kin, "KINMEM_HOME": home, **settings})
            service = open_service(loaded, clock=clock, resident=resident)
            if judge := chat_models(loaded).judge:
                warm(judge)
            return opened.enter_context(service)

        yield open_for


@pytest.fixture
def service(service_of: Callable[..., Service]) -> Service:
    """The memory of ana, with the built-in embedder."""
    return service_of("ana")
