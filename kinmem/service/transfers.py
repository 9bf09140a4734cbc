"""Service: export and import of everything that a Kin remembers."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import IO, Concatenate, ParamSpec, TypeVar

from kinmem.backup.importing import Import, JsonlImport
from kinmem.backup.jsonl import Exported, export_jsonl, whole_file
from kinmem.backup.markdown import Edit, ExportedPages, PagesImport, counted, export_pages, planned
from kinmem.backup.pages import noted
from kinmem.errors import InvalidInput, VersionConflict
from kinmem.models import Note, Progress, State
from kinmem.service.components import Components, Ground
from kinmem.service.storing import Storing

Given = ParamSpec("Given")
Result = TypeVar("Result")
# Reasons that the history gives for changes made on a page.
EDITED = "edited by hand"
DELETED = "deleted by hand"


def _long(
    call: Callable[Concatenate["Transfers", Given], Result],
) -> Callable[Concatenate["Transfers", Given], Result]:
    """Declare that a call may take long: the memory stays open meanwhile."""

    @wraps(call)
    def counted_call(self: "Transfers", /, *given: Given.args, **named: Given.kwargs) -> Result:
        with self._long_calls.one():
            return call(self, *given, **named)

    return counted_call


class Transfers:
    """Takes all that a Kin remembers out of kinmem, and brings it back."""

    def __init__(self, ground: Ground, components: Components, storing: Storing) -> None:
        self._store = ground.store
        self._storing = storing
        self._backups = ground.backups
        self._clock = ground.clock
        self._secrets = ground.settings.learn.secrets
        self._background = components.background
        self._long_calls = components.long_calls

    @_long
    def export(
        self,
        target: str | Path | IO[bytes],
        *,
        keep_secrets: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        """Write all that this Kin remembers as JSONL to a file or a binary stream: memories with
        their history, links and documents, and conversations. See docs/export.md.

        What holds a secret is treated as KINMEM_SECRETS says, unless `keep_secrets`.
        """
        self._store.flush_use()
        secrets = "keep" if keep_secrets else self._secrets
        if not isinstance(target, str | Path):
            return export_jsonl(self._store.transfer, target, secrets, progress)
        with whole_file(Path(target)) as file:
            return export_jsonl(self._store.transfer, file, secrets, progress)

    @_long
    def import_(
        self,
        path: str | Path,
        *,
        dry_run: bool = False,
        keep_secrets: bool = False,
        progress: Progress | None = None,
    ) -> Import:
        """Store what an export holds and this Kin does not have. What is here stays as it is.

        With `dry_run` only say what would be stored. An interrupted import is continued by the same
        call. `undo` with the result's batch takes it back. The home is backed up first. Vectors are
        made in the background.
        """
        secrets = "keep" if keep_secrets else self._secrets
        source = JsonlImport(self._store, Path(path), secrets)
        plan = source.plan(progress)
        if dry_run:
            return plan
        if not plan.is_empty:
            self._back_up()
        done = source.carry_out(plan, progress)
        self._background.wake()
        return done

    @_long
    def export_pages(
        self,
        folder: str | Path,
        *,
        keep_secrets: bool = False,
        progress: Progress | None = None,
    ) -> ExportedPages:
        """Write a new folder of Markdown pages, one for each subject of the memories in use.

        Secrets are treated as in `export`. Raises InvalidInput if the folder has files.
        """
        secrets = "keep" if keep_secrets else self._secrets
        return export_pages(self._store, Path(folder), secrets, progress)

    @_long
    def import_pages(
        self,
        path: str | Path,
        *,
        dry_run: bool = False,
        delete_missing: bool = False,
        progress: Progress | None = None,
    ) -> PagesImport:
        """Store what was edited on a page, or on the pages of a folder, since it was exported.

        An edited item becomes one update with the reason "edited by hand", an item without an id a
        new memory of the page's subject. Memories whose item is gone are forgotten only with
        `delete_missing`. `undo` with the result's batch takes all of it back.
        """
        plan = planned(self._store, Path(path))
        gone = plan.missing if delete_missing else []
        if dry_run or (plan.is_empty and not gone):
            return plan
        self._back_up()
        for done, edit in enumerate(plan.edits):
            if progress:
                progress(done, len(plan.edits), "edits")
            self._edit(edit, plan)
        self._memorize(plan, progress)
        for id in gone:
            away = {"state": State.DELETED, "deleted_at": self._clock()}
            self._store.update(id, away, action="forgotten", reason=DELETED, batch=plan.batch)
            plan.forgotten += 1
        return plan

    def _edit(self, edit: Edit, plan: PagesImport) -> None:
        try:
            self._storing.update_memory(
                edit.id,
                content=edit.content,
                if_version=edit.version,
                reason=EDITED,
                trusted=True,
                batch=plan.batch,
            )
            plan.updated += 1
        except (InvalidInput, VersionConflict) as error:
            plan.problems.append(f"{edit.where}: {error}")

    def _memorize(self, plan: PagesImport, progress: Progress | None) -> None:
        notes = [
            Note(content=one.content, subject=one.subject, trusted=True, **noted(one.facts))
            for one in plan.new
        ]
        stored = self._storing.memorize_many(notes, batch=plan.batch, progress=progress)
        counted([one.status for one in stored], plan)
        plan.problems += [
            f"{item.where}: {one.reason}"
            for item, one in zip(plan.new, stored, strict=True)
            if one.status == "refused"
        ]

    def _back_up(self) -> None:
        """Back up the home. Raises StoreError; then nothing is imported."""
        if self._backups is not None:
            self._backups.before("import")
