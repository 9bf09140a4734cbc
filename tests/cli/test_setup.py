"""kin, token, config, reembed."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from kinmem.settings import knobs
from kinmem.store.sqlite.store import SqliteStore
from tests.cli.conftest import Kinmem

Memorized = Callable[..., str]


def test_kins_are_listed_with_what_they_hold(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("one", "--kin", "ana")
    memorized("two", "--kin", "ana", "--scope", "shared")
    memorized("three", "--kin", "bob")

    found = kinmem("kin", "list", "--kin", "bob", "--json").json["kins"]

    assert found == [
        {"kin": "ana", "memories": 2, "current": False},
        {"kin": "bob", "memories": 1, "current": True},
    ]


def test_a_group_alone_lists(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("one", "--kin", "ana")

    assert kinmem("kin", "--json").json == kinmem("kin", "list", "--json").json
    assert kinmem("token").out == kinmem("token", "list").out


def test_looking_for_kins_makes_none(kinmem: Kinmem, home: Path) -> None:
    assert "Nobody has a memory" in kinmem("kin", "list").out
    assert not home.exists()


def test_a_kin_whose_file_is_broken_is_listed_with_the_reason(
    kinmem: Kinmem, memorized: Memorized, home: Path
) -> None:
    memorized("one", "--kin", "ana")
    (home / "kins" / "bob.db").write_bytes(b"not a database" * 500)

    ana, bob = kinmem("kin", "list", "--json").json["kins"]

    assert ana["memories"] == 1
    assert bob["error"].startswith("storage_")


def test_the_current_kin_and_what_says_so(kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kinmem("kin", "current").out == "default (default)\n"
    monkeypatch.setenv("KINMEM_KIN", "ana")
    assert kinmem("kin", "current").out == "ana (environment)\n"
    assert kinmem("kin", "current", "--kin", "bob").out == "bob (flag)\n"


def test_a_token_is_shown_once_and_can_be_revoked(kinmem: Kinmem) -> None:
    token = kinmem("token", "add", "ana", "--note", "laptop", "--days", "30").out.strip()
    (row,) = kinmem("token", "list", "--json").json["tokens"]

    assert token.startswith(f"kmk_{row['id']}_")
    assert (row["kin"], row["note"], row["valid"]) == ("ana", "laptop", True)
    assert row["scope"] == "write"
    kinmem("token", "add", "bob", "--scope", "read")
    assert "read" in kinmem("token", "list").out
    assert token not in kinmem("token", "list").out
    assert kinmem("token", "revoke", row["id"], "--json").json["valid"] is False
    assert "revoked" in kinmem("token", "list").out


def test_config_shows_every_setting_and_its_origin(
    kinmem: Kinmem, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    (home / "config.toml").write_text('MEMORY_MAX_RELEVANT = 7\n[kin.ana]\nKINMEM_TZ = "UTC"\n')
    monkeypatch.setenv("KINMEM_PORT", "9000")

    told = kinmem("config", "--kin", "ana", "--json").json["settings"]

    origins = {row["variable"]: (row["value"], row["origin"]) for row in told}
    assert set(origins) == {"KINMEM_HOME", *(knob.variable for knob in knobs())}
    assert origins["KINMEM_KIN"] == ("ana", "flag")
    assert origins["KINMEM_PORT"] == (9000, "environment")
    assert origins["KINMEM_TZ"] == ("UTC", "config.toml [kin.ana]")
    assert origins["MEMORY_MAX_RELEVANT"] == (7, "config.toml")
    assert origins["KINMEM_HOST"] == ("127.0.0.1", "default")
    assert origins["KINMEM_HOME"] == (str(home), "environment")
    changed = kinmem("config", "--kin", "ana", "--changed", "--json").json["settings"]
    assert len(changed) == 5


def test_config_names_what_has_no_effect(kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_RRF_K", "10")

    assert kinmem("config", "--json").json["unread"] == ["MEMORY_RRF_K"]
    assert "MEMORY_RRF_K changes nothing" in kinmem("config").out
    monkeypatch.setenv("MEMORY_RANKING_PROFILE", "kinbot")
    assert kinmem("config", "--json").json["unread"] == []


def test_reembed_makes_the_vectors_that_were_dropped(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Bob is allergic to peanuts")
    embedder = kinmem("stats", "--json").json["embedder"]

    assert kinmem("reembed", "--drop", embedder).code == 0
    ran = kinmem("reembed", "--json")

    assert ran.json["embedder"] == embedder
    (known,) = kinmem("stats", "--json").json["embedders"]
    assert known["done"] == known["total"] == 1
    assert kinmem("reembed", "--drop", "nobody").code == 3


def test_vectors_that_still_answer_are_not_dropped(
    kinmem: Kinmem, memorized: Memorized, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memorized("The cat sleeps in the attic.")
    before = kinmem("stats", "--json").json["embedder"]
    elsewhere = '[providers.away]\ntype = "openai"\nbase_url = "http://127.0.0.1:9/v1"\n'
    (home / "config.toml").write_text(elsewhere, encoding="utf-8")
    monkeypatch.setenv("MEMORY_EMBEDDING_MODEL", "away:m")

    ran = kinmem("reembed", "--drop", before)

    assert ran.code == 3
    assert "still answer: away:m has made 0% of its own" in ran.err
    (known,) = kinmem("stats", "--json").json["embedders"]
    assert (known["name"], known["done"]) == (before, 1)


@pytest.mark.usefixtures("no_self_test")
def test_an_empty_memory_needs_no_vectors(kinmem: Kinmem) -> None:
    kinmem("stats", "--kin", "ana")

    checks = kinmem("doctor", "--kin", "ana", "--json").json["checks"]

    assert [one["status"] for one in checks if one["name"] == "vectors"] == ["ok"]


@pytest.mark.usefixtures("no_self_test")
def test_doctor_tells_which_vectors_are_needed_no_more(
    kinmem: Kinmem, memorized: Memorized, home: Path
) -> None:
    memorized("The cat sleeps in the attic.", "--kin", "ana")
    with closing(SqliteStore(home, "ana")) as store:
        store.index.enroll("former", 4)
        store.index.fill("former", store.index.pending("former", 5), np.eye(1, 4, dtype=np.float32))

    (told,) = [
        one
        for one in kinmem("doctor", "--kin", "ana", "--json").json["checks"]
        if "former" in one["told"]
    ]

    assert (told["status"], told["remedy"]) == ("ok", "kinmem reembed --drop former")
    assert "needed no more" in told["told"]
    assert kinmem("reembed", "--kin", "ana", "--drop", "former").code == 0


def test_what_install_added_is_taken_out_by_remove_and_write(
    kinmem: Kinmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = tmp_path / ".claude" / "settings.json"

    done = kinmem("install", "claude-code", "--write")
    assert "before" not in done.out  # there was nothing to copy
    assert "kinmem" in settings.read_text()
    shown = kinmem("install", "claude-code", "--remove")
    assert "Nothing was changed yet: --remove --write takes kinmem out." in shown.out
    assert "kinmem" in settings.read_text()

    done = kinmem("install", "claude-code", "--remove", "--write")
    assert done.code == 0 and "nothing of kinmem is left" in done.out
    assert not settings.parent.exists()
