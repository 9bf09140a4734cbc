"""A home that others own or may write is refused, with the command that mends it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kinmem.errors import ConfigError
from kinmem.settings import load, trust
from kinmem.store.sqlite.store import SqliteStore
from tests.test_stdio import Process, start

__all__ = ["start"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")
SOMEBODY = 12_345
PARTS = [".", "config.toml", "kins", "kins/ana.db", "shared.db"]


@pytest.fixture
def made(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with everything in it; we are not root."""
    SqliteStore(home, "ana").close()
    (home / "config.toml").write_text("")
    monkeypatch.setenv("KINMEM_KIN", "ana")
    uid = home.stat().st_uid or 1000
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    if not home.stat().st_uid:  # files of root are anybody's to trust; let them be ours
        for path in (home, *home.rglob("*")):
            os.chown(path, 1000, 1000)
    return home


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("mode", [0o002, 0o022], ids=["everybody", "everybody and the group"])
def test_what_everybody_may_write_is_refused_until_it_is_mended(
    made: Path, part: str, mode: int
) -> None:
    path = made / part
    path.chmod(path.stat().st_mode | mode)
    with pytest.raises(ConfigError, match=r"every account may write .*chmod go-w "):
        load()

    path.chmod(path.stat().st_mode & ~0o022)
    load()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("part", PARTS)
def test_what_belongs_to_another_account_is_refused(made: Path, part: str) -> None:
    os.chown(made / part, SOMEBODY, -1)

    with pytest.raises(ConfigError, match=rf"belongs to another account \({SOMEBODY}\).*chown -R"):
        load()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_root_is_told_whose_a_home_is_and_serves_it(
    home: Path, start: Callable[..., Process]
) -> None:
    """As in a container whose volume belongs to an account of the host."""
    SqliteStore(home, "ana").close()
    for path in (home, *home.rglob("*")):
        os.chown(path, SOMEBODY, -1)
    server = start()
    server.shake_hands()
    assert not server.call(1, "memorize", content="Bob plays chess").get("isError")
    assert server.process.stdin
    server.process.stdin.close()

    code, logged = server.end()
    assert code == 0 and f"belongs to another account ({SOMEBODY})" in logged


def test_a_group_of_ones_own_is_nobody_else(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Systems with umask 002 give each account a group of its own."""
    made.chmod(0o775)
    monkeypatch.setattr(trust, "_is_own_group", lambda gid: True)
    load()

    monkeypatch.setattr(trust, "_is_own_group", lambda gid: False)
    with pytest.raises(ConfigError, match=r"a group of accounts may write .*chmod go-w "):
        load()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        pytest.param("ext4", None, id="a disk"),
        pytest.param("drvfs", "every account may write", id="a drive of Windows"),
        pytest.param("nfs4", "network file system", id="a network"),
    ],
)
def test_the_file_system_decides_what_is_only_told(
    made: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, said: str | None
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / {made} rw - {kind} x rw\n", encoding="utf-8"
    )
    monkeypatch.setattr(trust, "MOUNTS", mounts)
    if kind == "drvfs":
        made.chmod(0o777)
    load()

    told = list(trust.warnings(made))
    assert [said in one for one in told] == [True] if said else told == []
