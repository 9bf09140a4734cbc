"""An encrypted home: nothing readable without the key, nothing lost with it."""

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import keyring
import keyring.backend
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import kinmem
from kinmem.errors import ConfigError, StoreError
from kinmem.service import Service
from kinmem.settings import Settings, load
from kinmem.store.sqlite import encryption
from kinmem.store.sqlite.driver import can_encrypt
from kinmem.wiring.home_keeping import key_state, remove_key, set_key
from kinmem.wiring.open_home import clear_folder, open_backups

encrypting = pytest.mark.skipif(
    not can_encrypt(), reason="needs apsw-sqlite3mc: `make encrypted` runs this"
)
PLAIN = b"SQLite format 3"
WORDS = ("zanzibar", "quagga", "xylophone", "wyvern")
ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _no_key_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """These homes begin in the clear, in `make encrypted` as well."""
    monkeypatch.delitem(encryption._held, Path("/"), raising=False)


@pytest.fixture
def settings(home: Path) -> Settings:
    return load({"KINMEM_HOME": home, "KINMEM_KIN": "ana"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "kinmem.key"


def fill(home: Path) -> None:
    """A word in each place where words are kept."""
    memory, shared, said, page = WORDS
    with kinmem.open(home=home, kin="ana") as service:
        service.memorize(f"The {memory} ferry leaves at noon", subject=memory)
        service.memorize(f"The {shared} enclosure opens in May", scope="shared")
        service.observe("prompt", "s", "t", f"Tell me about my {said} lessons.")
        service.observe("tool", "s", "t", f"{said} " * 5000, tool="Read")
        service.add_document(f"# {page}\n\nThe {page} nests on the cliff.")


def assert_whole(home: Path) -> None:
    memory, shared, _, page = WORDS
    with kinmem.open(home=home, kin="ana") as service:
        found = [one.content for one in service.list_memories().memories]
        assert sum(memory in text or shared in text for text in found) == 2
        assert service.recall(f"the {page} nests").hits
        assert len(service.turns("s")) == 2


def databases(home: Path) -> list[Path]:
    return [path for path in home.rglob("*.db") if path.is_file()]


def readable_words(home: Path) -> list[str]:
    """The words that a scan of all bytes finds, inside backups too."""
    found = []
    for path in home.rglob("*"):
        if path.is_file():
            blobs = [path.read_bytes()]
            if zipfile.is_zipfile(io.BytesIO(blobs[0])):
                with zipfile.ZipFile(path) as archive:
                    blobs += [archive.read(name) for name in archive.namelist()]
            text = b"".join(blobs).lower()
            found += [f"{word} in {path.name}" for word in WORDS if word.encode() in text]
    return found


@encrypting
def test_a_home_without_its_key_holds_nothing_readable(
    home: Path, settings: Settings, file: Path
) -> None:
    fill(home)
    assert readable_words(home)
    change = set_key(settings, str(file))
    for backup in change.in_the_clear:
        backup.unlink()
    for output in home.glob("kins/*-outputs/*"):
        output.unlink()  # from before; an encrypted home keeps none

    assert change.files == 2
    assert file.stat().st_mode & 0o077 == 0
    with kinmem.open(home=home, kin="ana") as service:
        service.memorize(f"A second {WORDS[0]} sails on Sundays")
        service.observe("tool", "s", "t2", f"{WORDS[2]} " * 5000, tool="Read")
        service.sleep()
        open_backups(settings).make()
        assert readable_words(home) == []
    assert readable_words(home) == []
    file.rename(file.with_suffix(".away"))
    with pytest.raises(ConfigError, match="KINMEM_KEY says where"):
        kinmem.open(home=home, kin="ana")


@encrypting
def test_a_key_is_set_changed_and_removed_without_loss(
    home: Path, settings: Settings, file: Path
) -> None:
    fill(home)
    first = set_key(settings, str(file)).state.key
    assert_whole(home)
    second = set_key(settings).state.key
    assert_whole(home)
    assert first != second and key_state(settings).where == str(file)
    assert not any(path.read_bytes().startswith(PLAIN) for path in databases(home))
    remove_key(settings)

    assert_whole(home)
    assert all(path.read_bytes().startswith(PLAIN) for path in databases(home))
    with pytest.raises(ConfigError, match="is not encrypted"):
        remove_key(settings)


@encrypting
def test_backups_of_every_time_can_be_restored(home: Path, settings: Settings, file: Path) -> None:
    """In the clear, of an earlier key, and of this one."""
    fill(home)
    backups = [open_backups(settings).make().path]
    set_key(settings, str(file))
    backups.append(open_backups(settings).make().path)
    set_key(settings)
    backups.append(open_backups(settings).make().path)
    for backup in backups:
        with kinmem.open(home=home, kin="ana") as service:
            for one in service.list_memories().memories:
                service.forget(one.id, erase=False)
        restored = run("backup", "restore", str(backup), "--yes", home=home)
        assert restored.returncode == 0, restored.stderr
        assert_whole(home)
    assert not any(path.read_bytes().startswith(PLAIN) for path in databases(home))


def run(*words: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kinmem", *words],
        cwd=ROOT,
        env={**os.environ, "KINMEM_HOME": str(home), "KINMEM_KIN": "ana", **environment},
        capture_output=True,
        text=True,
        timeout=100,
    )


@encrypting
@pytest.mark.slow
def test_a_kill_while_the_key_changes_loses_nothing(
    home: Path, settings: Settings, file: Path
) -> None:
    fill(home)
    for number in range(12):
        started = subprocess.Popen(
            [sys.executable, "-m", "kinmem", "key", "set", str(file)],
            cwd=ROOT,
            env={**os.environ, "KINMEM_HOME": str(home)},
            stdout=subprocess.DEVNULL,
        )
        time.sleep(0.3 + 0.07 * number)
        started.kill()
        started.wait()
        assert_whole(home)
    set_key(settings, str(file))
    assert_whole(home)
    assert not key_state(settings).is_changing


@encrypting
def test_files_of_two_keys_are_brought_together(home: Path, settings: Settings, file: Path) -> None:
    """As a kill between two files leaves them."""
    from kinmem.store.sqlite import encryption
    from kinmem.store.sqlite.snapshot import SqliteHome, change_key

    fill(home)
    key = encryption.begin_change(home, str(file))
    encryption.unlock(home, None, can_encrypt=True)
    with SqliteHome().alone(home) as files:
        change_key(files._held["shared.db"], key)

    assert_whole(home)
    with pytest.raises(ConfigError, match="run kinmem key set again"):
        remove_key(settings)
    assert set_key(settings, str(file)).state.is_changing is False
    assert_whole(home)
    assert not any(path.read_bytes().startswith(PLAIN) for path in databases(home))


@encrypting
def test_while_somebody_uses_the_home_its_key_stays(
    home: Path, settings: Settings, file: Path
) -> None:
    fill(home)
    with (
        kinmem.open(home=home, kin="ana"),
        pytest.raises(StoreError, match="stop every server"),
    ):
        set_key(settings, str(file))
    assert key_state(settings).key is None
    assert_whole(home)


@encrypting
@pytest.mark.anyio
async def test_a_new_home_is_encrypted_from_its_first_memory_on(home: Path, file: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "kinmem", "serve", "--kin", "ana"],
        env={"KINMEM_HOME": str(home), "KINMEM_KEY": str(file)},
    )
    for tool, given in (
        ("memorize", {"content": "The zanzibar ferry leaves at noon"}),
        ("recall", {"query": "zanzibar ferry"}),
    ):
        async with Client(stdio_client(parameters)) as client:
            result = await client.call_tool(tool, given)
            assert not result.is_error, result.content
    assert "zanzibar" in json.dumps(result.structured_content)
    assert readable_words(home) == []


@encrypting
def test_a_home_in_the_clear_is_not_encrypted_by_a_setting(home: Path, file: Path) -> None:
    fill(home)
    with pytest.raises(ConfigError, match="run kinmem key set"):
        opened(home, KINMEM_KEY=str(file))


@encrypting
def test_a_decrypted_home_is_not_opened_in_the_clear_for_who_names_a_key(
    home: Path, file: Path
) -> None:
    fill(home)
    settings = load({"KINMEM_HOME": home})
    set_key(settings, str(file))
    remove_key(settings)
    with pytest.raises(ConfigError, match="was decrypted; run kinmem key set"):
        opened(home, KINMEM_KEY=str(file))
    set_key(load({"KINMEM_HOME": home, "KINMEM_KEY": str(file)}))
    opened(home, KINMEM_KEY=str(file)).close()


def opened(home: Path, **settings: str) -> Service:
    from kinmem.wiring.open_memory import open_service

    return open_service(load({"KINMEM_HOME": home, "KINMEM_KIN": "ana", **settings}))


@encrypting
def test_a_key_that_others_may_read_is_refused(home: Path, settings: Settings, file: Path) -> None:
    set_key(settings, str(file))
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        opened(home)


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def ring() -> object:
    known = keyring.get_keyring()
    keyring.set_keyring(Ring())
    yield
    keyring.set_keyring(known)


@encrypting
def test_the_keyring_keeps_the_key(home: Path, settings: Settings, ring: object) -> None:
    fill(home)
    assert set_key(settings).state.where == "keyring"
    assert_whole(home)
    keyring.set_keyring(Ring())
    with pytest.raises(ConfigError, match="is not in the keyring"):
        opened(home)


def test_without_the_packages_the_command_says_what_to_install(home: Path) -> None:
    if can_encrypt():
        done = run("key", "set", home=home, PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring")
        assert done.stderr.startswith("config: the keyring cannot be used")
    else:
        done = run("key", "set", home=home)
        assert done.stderr.startswith("config: encryption needs two more packages")
    assert done.returncode == 1


def test_a_home_in_the_clear_says_so(home: Path) -> None:
    assert "not encrypted" in run("key", home=home).stdout


@encrypting
def test_processes_that_begin_a_home_together_make_one_key(home: Path, file: Path) -> None:
    env = {**os.environ, "KINMEM_HOME": str(home), "KINMEM_KEY": str(file)}
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "kinmem", "memorize", "Shelf 1 holds jars", "--kin", f"kin{n}"],
            cwd=ROOT,
            env=env,
        )
        for n in range(3)
    ]

    assert [one.wait(100) for one in started] == [0, 0, 0]
    assert len(file.read_text().split()) == 1
    assert not any(path.read_bytes().startswith(PLAIN) for path in databases(home))


@encrypting
def test_a_decrypted_home_needs_its_keys_no_more(
    home: Path, settings: Settings, file: Path
) -> None:
    fill(home)
    set_key(settings, str(file))
    remove_key(settings)
    file.chmod(0o666)  # and would be refused

    assert_whole(home)


def test_files_in_the_clear_are_in_memory(settings: Settings) -> None:
    """Of an export or an import over HTTP, while it is under way."""
    assert clear_folder(settings) is None
    encryption.hold(settings.home, ["5e" * 32])

    assert clear_folder(settings) == (Path("/dev/shm") if Path("/dev/shm").is_dir() else None)
    encryption.unlock(settings.home, None, can_encrypt=True)
