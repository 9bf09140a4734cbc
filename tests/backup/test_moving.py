"""`kinmem store migrate`: a home moves to PostgreSQL and back, whole, if it is cut short too."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinmem.cli import main
from kinmem.http.tokens import tokens_of
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sql.record_rows import SqlTransfer
from tests.backup.test_jsonl import exported
from tests.backup.test_jsonl import full as full

pytestmark = pytest.mark.usefixtures("judge_off")

ServiceOf = Callable[..., Service]


def migrated(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["store", "migrate", "--json", *map(str, words)]) == code
    return dict(json.loads(capsys.readouterr().out))


def of(found: dict[str, Any], kin: str) -> dict[str, Any]:
    return next(one for one in found["kins"] if one["kin"] == kin)


def vectors_of(service: Service) -> dict[str, dict[str, list[float]]]:
    index = service.store.index
    [known] = index.coverage()
    ids = [one.id for one in service.list_memories(limit=200).memories]
    found = index.vectors_of(known.embedder, ids)
    return {id: {text: v.tolist() for text, v in by.items()} for id, by in found.items()}


def test_a_home_moves_to_a_server_and_back_with_its_vectors_and_tokens(
    full: Service,
    service_of: ServiceOf,
    home: Path,
    tmp_path: Path,
    postgres_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ben = service_of("ben", KINMEM_JUDGE="off")
    shared = ben.memorize("The printer is on the first floor", scope="shared").id
    ben.record_turn("s", "The stairs are steep.", "Mind your step.", turn="t")
    assert ben.settle(60)
    full.confirm(shared or "")
    full.mute("eve")
    token = tokens_of(full.settings).add("ana")
    before, bens, vectors = exported(full), exported(ben), vectors_of(full)

    real, parts = SqlTransfer.load, []

    def cut_short(self: Any, *given: Any) -> int:
        parts.append(real(self, *given))
        if len(parts) == 2:
            raise KeyboardInterrupt
        return parts[-1]

    monkeypatch.setattr(SqlTransfer, "load", cut_short)
    assert main(["store", "migrate", "--home", str(home), "--to", postgres_url]) == 130
    monkeypatch.setattr(SqlTransfer, "load", real)
    found = migrated(capsys, "--home", home, "--to", postgres_url)

    assert [one["differing"] for one in found["kins"]] == [[], []]
    assert sum(parts) + of(found, "ana")["stored"] == sum(of(found, "ana")["records"].values())
    assert of(found, "ana")["vectors"] > 60
    assert of(found, "ana")["without_vector"] == 0
    assert exported(full) == before

    again = migrated(capsys, "--home", home, "--to", postgres_url)
    assert [(one["stored"], one["vectors"]) for one in again["kins"]] == [(0, 0), (0, 0)]
    assert again["tokens"] == 0

    there = service_of("ana", resident=False, KINMEM_STORE=postgres_url)
    assert exported(there) == before
    assert exported(service_of("ben", resident=False, KINMEM_STORE=postgres_url)) == bens
    assert vectors_of(there) == vectors
    assert there.muted() == ["eve"]
    assert there.store.others.confirmed() == {shared}
    assert there.recall("which floor has the printer").hits[0].memory.kin == "ben"
    on_server = tokens_of(load({"KINMEM_STORE": postgres_url, "KINMEM_HOME": home}))
    assert on_server.verify(token) is not None

    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("KINMEM_STORE", postgres_url)
    found = migrated(capsys, "--home", home, "--to", elsewhere)
    monkeypatch.delenv("KINMEM_STORE")
    assert [one["differing"] for one in found["kins"]] == [[], []]
    back = service_of("ana", resident=False, KINMEM_HOME=elsewhere)
    assert exported(back) == before
    assert vectors_of(back) == vectors
    outputs = [f.name for f in (home / "kins" / "ana-outputs").glob("*")]
    assert [f.name for f in (elsewhere / "kins" / "ana-outputs").glob("*")] == outputs


def test_what_is_something_elses_is_left_alone(
    service_of: ServiceOf,
    home: Path,
    postgres_url: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    service_of("ana").memorize("The cellar is dry")
    there = service_of("ana", resident=False, KINMEM_STORE=postgres_url)
    there.memorize("The roof is red")
    before = exported(there)

    assert main(["store", "migrate", "--home", str(home), "--to", postgres_url]) == 3

    assert "is another memory" in capsys.readouterr().err
    assert exported(there) == before


def test_a_difference_is_told(
    service_of: ServiceOf, home: Path, postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    id = service_of("ana").memorize("The cellar is dry").id
    migrated(capsys, "--home", home, "--to", postgres_url)
    service_of("ana", KINMEM_STORE=postgres_url).update_memory(id or "", importance=9)

    found = migrated(capsys, "--home", home, "--to", postgres_url, code=1)

    assert of(found, "ana")["differing"] == [f"memory {id}"]
