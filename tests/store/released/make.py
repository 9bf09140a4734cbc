"""Makes the home that test_adoption.py opens, with the kinmem before sharing published copies.

Run it in a checkout of commit 4cfef36 with that checkout's own environment, where this folder was
copied to: `python -m tests.store.released.make version-6.tar.xz`. It was run once; the archive is
what a user of that version had on disk, and must not be made anew with a later kinmem.
"""

import json
import sys
import tarfile
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from kinmem.models import Draft, State
from kinmem.models.turns import Batch, Change
from kinmem.service import Service
from kinmem.store.sql.memory_file import MemoryFile
from tests.conftest import MovableClock
from tests.random_writes import opened
from tests.store.contract import chunks_of, memory_of
from tests.store.soundness import everything

PLAN = "# Plan\n\n" + "The team meets on Mondays. " * 40 + "\n\n{} leads the harbour project."


class Killed(BaseException):
    """Ends a move between its two commits, as kill -9 does."""


def cut_short(service: Service, id: str, scope: str) -> None:
    commit = MemoryFile.commit

    def commit_and_die(file: MemoryFile, db: Any) -> None:
        commit(file, db)
        raise Killed

    MemoryFile.commit = commit_and_die  # type: ignore[method-assign]
    try:
        with suppress(Killed):
            service.store.update(id, {"scope": scope})
    finally:
        MemoryFile.commit = commit  # type: ignore[method-assign]


def keep(service: Service, content: str, **given: Any) -> str:
    return str(service.memorize(content, **given).id)


def written_by_ana(ana: Service, clock: MovableClock) -> dict[str, str]:
    ids = {
        "private": keep(ana, "The safe opens with 4711", tags=["secret"]),
        "gateway": keep(
            ana, "The gateway listens on port 8080", scope="shared", subject="gateway",
            tags=["network"], importance=8,
        ),
        "runbook": keep(ana, "The runbook says how the gateway is restarted", scope="shared"),
        "doubts": keep(ana, "I doubt that the runbook is up to date"),
        "forgotten": keep(ana, "The office closes at six", scope="shared"),
        "old": keep(ana, "The backup runs at two at night", scope="shared", subject="backup"),
        "erased": keep(ana, "The old password was marzipanschwein", scope="shared"),
        "back": keep(ana, "The lake freezes in January"),
        "expiring": keep(ana, "The fair lasts until autumn", scope="shared", expires="90d"),
    }  # fmt: skip
    clock.advance(minutes=5)
    ana.update_memory(ids["gateway"], content="The gateway listens on port 9090", pinned=True)
    ana.update_memory(ids["gateway"], links=[{"id": ids["runbook"], "relation": "part_of"}])
    ana.update_memory(ids["doubts"], links=[{"id": ids["runbook"]}])
    ana.update_memory(ids["back"], scope="shared")
    ana.update_memory(ids["back"], importance=3)
    ana.update_memory(ids["back"], scope="private")
    ana.forget(ids["forgotten"])
    ana.forget(ids["erased"], erase=True)
    ids["new"] = keep(ana, "The nightly copy starts at four", scope="shared", subject="copy")
    gone = {"state": State.SUPERSEDED, "superseded_by": ids["new"]}
    ana.store.apply(Batch(scope="shared", changes=[Change(ids["old"], gone, "superseded")]))
    for leader in ("Carla", "Dora"):
        text = PLAN.format(leader)
        told = ana.add_document(text, name="plan.md", source_ref="/plan.md", scope="shared")
        ids["plan"] = str(told.id)
    ana.observe("prompt", "talk", "turn 1", "Remember that Ben keeps the amber in Oslo.")
    ana.observe("answer", "talk", "turn 1", "Noted.")
    ana.sleep(["learn"])
    learned = [one for one in everything(ana.store) if one.session == "talk"]  # type: ignore[arg-type]
    ids["learned"] = learned[0].id
    ana.update_memory(ids["learned"], scope="shared")
    sources = [ids["runbook"], ids["old"]]
    merged = memory_of("The gateway and the backup are in the runbook", scope="shared")
    ids["merged"] = "019c0000-0000-7000-8000-000000000001"
    draft = Draft(replace(merged, id=ids["merged"]), chunks_of(merged.content, embedder=None))
    ana.store.apply(Batch(scope="shared", drafts=[draft], parents={ids["merged"]: sources}))
    return ids


def written(home: Path) -> dict[str, Any]:
    clock = MovableClock()
    with ExitStack() as stack:
        ana, ben, cleo = (stack.enter_context(opened(home, clock, kin)) for kin in KINS)
        ids = written_by_ana(ana, clock)
        clock.advance(minutes=5)
        ids["bens"] = keep(ben, "Ada lives in Oslo", scope="shared", tags=["people"])
        ids["bens private"] = keep(ben, "I keep the birch in Porto")
        ids["cleos"] = keep(cleo, "The canteen serves fish on Fridays", scope="shared")
        ana.update_memory(ids["gateway"], links=[{"id": ids["bens"]}])
        ben.update_memory(ids["bens"], links=[{"id": ids["runbook"], "relation": "part_of"}])
        for service in (ben, cleo):
            service.store.count_use([ids["gateway"], ids["bens"]], clock())
            service.store.flush_use()
        clock.advance(minutes=5)
        ids["half shared"] = keep(ana, "The dune lies behind the fjord")
        ids["half private"] = keep(ana, "The glade is near the heath", scope="shared")
        cut_short(ana, ids["half shared"], "shared")
        cut_short(ana, ids["half private"], "private")
        told = {kin: told_of(service) for kin, service in zip(KINS, (ana, ben, cleo), strict=True)}
    return {"ids": ids, "kins": told, "now": clock().isoformat()}


KINS = ("ana", "ben", "cleo")


def told_of(service: Service) -> dict[str, Any]:
    """What a Kin is told of each memory that it sees."""
    store = service.store
    memories = everything(store)  # type: ignore[arg-type]
    ids = [one.id for one in memories]
    links = store.links.of(ids)
    return {
        one.id: {
            "kin": one.kin,
            "scope": one.scope,
            "state": str(one.state),
            "content": one.content,
            "version": one.version,
            "uses": one.recalled_count,
            "tags": list(one.manual_tags),
            "text": store.documents.text(one.id),
            "parents": store.parents(one.id),
            "entities": sorted(entity.name for entity in store.entities(one.id)),
            "history": [[line.action, line.write] for line in store.history(one.id)],
            "links": sorted(
                [link.other(one.id), link.seen_from(one.id)] for link in links.get(one.id, ())
            ),
        }
        for one in memories
    }


def main(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        told = written(home)
        (home / "told.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
        with tarfile.open(archive, "w:xz") as packed:
            packed.add(home, "home")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
