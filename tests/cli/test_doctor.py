"""doctor: what is wrong, what helps, and how it ends."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kinmem.cli import doctor, memory_checks
from kinmem.errors import ConfigError
from kinmem.settings import load
from tests.cli.conftest import Kinmem

Memorized = Callable[..., str]


def test_a_sound_memory_passes_every_check(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Bob is allergic to peanuts")

    ran = kinmem("doctor", "--strict", "--json")

    problems = [check for check in ran.json["checks"] if check["status"] != "ok"]
    assert problems == []
    assert (ran.code, ran.json["ok"]) == (0, True)
    names = [check["name"] for check in ran.json["checks"]]
    looked_at = {"Python", "packages", "model files", "embedder", "judge", "memory", "vectors"}
    assert looked_at <= set(names)
    assert names[-1] == "self-test"
    assert "found by meaning" in ran.json["checks"][-1]["told"]


@pytest.mark.usefixtures("no_self_test")
def test_what_is_wrong_comes_with_its_remedy(
    kinmem: Kinmem, memorized: Memorized, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run with all of it: an error decides the exit code, a warning alone does not."""
    memorized("Bob is allergic to peanuts")
    (home / "shared.db").chmod(0o644)
    monkeypatch.setenv("MEMORY_RRF_K", "10")

    ran = kinmem("doctor", "--strict")

    assert ran.code == 1
    lines = ran.out.splitlines()
    (at,) = [place for place, line in enumerate(lines) if line.startswith("error")]
    assert "shared.db" in lines[at]
    assert lines[at + 1].strip() == f"-> chmod -R go-rwx {home}"
    assert any("warning" in line and "MEMORY_RRF_K" in line for line in lines)


def test_a_setting_that_cannot_be_read_ends_the_examination(
    kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINMEM_PORT", "many")

    ran = kinmem("doctor", "--json")

    assert ran.code == 1
    assert ran.json["checks"][-1]["status"] == "error"
    assert "KINMEM_PORT" in ran.json["checks"][-1]["told"]


@pytest.mark.usefixtures("no_self_test")
def test_a_key_that_is_missing_is_named(kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    monkeypatch.delenv("CO_API_KEY", raising=False)
    monkeypatch.setenv("MEMORY_EMBEDDING_MODEL", "cohere:embed-english-v3.0")

    ran = kinmem("doctor", "--json")

    told = {check["name"]: check["told"] for check in ran.json["checks"]}
    assert ran.code == 1
    assert "COHERE_API_KEY is not set" in told["embedder"]


@pytest.mark.parametrize(("switched", "told"), [("on", "builtin/judge, loaded"), ("off", "off")])
def test_it_says_whether_the_judge_is_there(
    switched: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINMEM_JUDGE", switched)

    (judge,) = [one for one in doctor.models(load(), online=False) if one.name == "judge"]

    assert judge.status == "ok"
    assert judge.told.startswith(told)


@pytest.mark.usefixtures("no_self_test")
def test_tokens_that_cannot_be_read_are_a_finding_about_access(
    kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: object) -> None:
        raise ConfigError("tokens are in the database, which does not answer")

    monkeypatch.setattr(doctor, "tokens_of", away)

    ran = kinmem("doctor", "--json")

    [wrong] = [check for check in ran.json["checks"] if check["status"] == "error"]
    assert (wrong["name"], wrong["remedy"]) == ("access", "do what the message says")


def test_looking_makes_nothing(home: Path) -> None:
    (check,) = memory_checks.memory(load())

    assert check.status == "ok"
    assert not home.exists()


def test_a_file_that_is_no_memory_is_found(home: Path) -> None:
    (home / "kins").mkdir(parents=True)
    (home / "kins" / "default.db").write_bytes(b"something else, not a database" * 300)

    (check,) = memory_checks.memory(load())

    assert check.status == "error"
    assert check.told.startswith("storage_")


@pytest.mark.parametrize(
    ("host", "is_open", "status", "told"),
    [
        ("127.0.0.1", False, "ok", "asks for a token"),
        ("0.0.0.0", False, "ok", "asks for a token"),
        ("::1", True, "warning", "every account of this machine"),
        ("0.0.0.0", True, "warning", "refuse to start"),
    ],
)
def test_an_open_door_without_a_key_is_a_warning(
    host: str, is_open: bool, status: str, told: str
) -> None:
    (check,) = doctor.access(load({"KINMEM_HOST": host, "KINMEM_INSECURE_LOCAL": is_open}))

    assert (check.status, told in check.told) == (status, True)


def test_a_folder_that_is_synced_is_a_warning(tmp_path: Path) -> None:
    found = list(doctor.place(tmp_path / "Dropbox" / "kinmem"))

    assert [check.name for check in found if check.status == "warning"] == ["folder"]
    assert "KINMEM_HOME" in str(found[0].remedy)
