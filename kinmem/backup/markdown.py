"""Markdown as files: a folder with one page for each subject and a list of the pages; and its
import, where edited items are updates, new ones are memories, and the rest stays."""

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kinmem.backup.pages import Item, Page, digest, escaped, file_name, page, parsed
from kinmem.errors import InvalidInput
from kinmem.models import LIVE, Filters, Memory, Progress, State
from kinmem.store.base import Store
from kinmem.store.history import batch_name
from kinmem.validation import Border, HasSecret, Secrets

LARGEST_PAGE = 64 << 20
STRAY = "this line belongs to no item; a new one begins with a hyphen and a blank"


@dataclass(frozen=True, slots=True)
class Edit:
    """An item that says something else than its memory."""

    id: str
    content: str
    version: int
    """The memory's version that was compared."""
    where: str


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item that is no memory yet."""

    content: str
    subject: str | None
    where: str
    facts: str = ""
    """What its page says of a memory that is not here, see pages.facts."""


@dataclass(slots=True)
class PagesImport:
    """What an import of pages would do, or has done."""

    batch: str
    edits: list[Edit] = field(default_factory=list)
    new: list[NewItem] = field(default_factory=list)
    unchanged: int = 0
    missing: list[str] = field(default_factory=list)
    """Memories whose item was deleted from its page."""
    conflicts: list[str] = field(default_factory=list)
    """Memories that were edited on the page and, since the export, here: they stay."""
    erased: list[str] = field(default_factory=list)
    """Memories on the pages that a person has erased here; they stay erased."""
    problems: list[str] = field(default_factory=list)
    updated: int = 0
    created: int = 0
    known: int = 0
    """New items that were known already."""
    forgotten: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no page says anything new."""
        return not (self.edits or self.new)


def planned(store: Store, path: Path) -> PagesImport:
    """Compare a page, or the pages of a folder, with what is here. Nothing is stored.

    Raises InvalidInput if there is no page.
    """
    plan = PagesImport(batch_name("import"))
    read = list(_pages(path, plan.problems))
    if not read:
        raise InvalidInput(f"no page in {path} can be read: {plan.problems[0]}")
    seen: dict[str, str] = {}
    for name, found in read:
        plan.problems += [f"{name}:{line}: {STRAY}" for line in found.strays]
        here = store.memories([item.id for item in found.items if item.id])
        for item in found.items:
            _compare(store, found, item, here, f"{name}:{item.line}", seen, plan)
    expected = [id for _, found in read for id in found.ids if id not in seen]
    there = store.memories(expected)
    plan.missing += [
        id
        for id in dict.fromkeys(expected)
        if id in there and there[id].kin == store.kin and there[id].state in LIVE
    ]
    return plan


def _pages(path: Path, problems: list[str]) -> Iterator[tuple[str, Page]]:
    files = sorted(path.glob("*.md")) if path.is_dir() else [path]
    files = [file for file in files if file.name != INDEX]
    if not files:
        raise InvalidInput(f"there is no page in {path}")
    for file in files:
        try:
            if file.stat().st_size > LARGEST_PAGE:
                raise InvalidInput(f"it has more than {LARGEST_PAGE:,} bytes")
            yield file.name, parsed(file.read_text(encoding="utf-8-sig"))
        except (InvalidInput, OSError, UnicodeDecodeError) as error:
            if file == path:
                raise InvalidInput(f"{file.name}: {error}") from None
            problems.append(f"{file.name}: {error}")


def _compare(
    store: Store,
    page: Page,
    item: Item,
    here: dict[str, Memory],
    where: str,
    seen: dict[str, str],
    plan: PagesImport,
) -> None:
    text = item.text.strip()
    if not text:
        return
    if item.id is None:
        plan.new.append(NewItem(text, page.subject, where))
        return
    if item.id in seen:
        if seen[item.id] != text:
            plan.problems.append(f"{where}: memory {item.id} is on another line as well")
        return
    seen[item.id] = text
    memory = here.get(item.id)
    if memory is not None:
        _compare_known(store, memory, item, text, where, plan)
    elif _was_erased(store, item.id):
        plan.erased.append(item.id)
    else:
        plan.new.append(NewItem(text, page.subject, where, item.facts))


def _compare_known(
    store: Store, memory: Memory, item: Item, text: str, where: str, plan: PagesImport
) -> None:
    is_as_exported = item.digest in (digest(item.text), digest(text))
    if text == memory.content.strip() or is_as_exported:
        plan.unchanged += 1
    elif memory.kin != store.kin:
        plan.problems.append(f"{where}: only its author may change memory {memory.id}")
    elif memory.is_document:
        plan.problems.append(f"{where}: {memory.id} is a document; kinmem add stores a new version")
    elif memory.state not in LIVE:
        plan.problems.append(f"{where}: memory {memory.id} is {memory.state} here")
    elif digest(memory.content) != item.digest:
        plan.conflicts.append(memory.id)
    else:
        plan.edits.append(Edit(memory.id, text, memory.version, where))


def _was_erased(store: Store, id: str) -> bool:
    return any(line.action == "erased" for line in store.past.about([id]))


def counted(outcomes: Sequence[str], plan: PagesImport) -> None:
    """Note what became of the new items."""
    plan.created += sum(status not in ("duplicate_of", "refused") for status in outcomes)
    plan.known += sum(status == "duplicate_of" for status in outcomes)


INDEX = "index.md"
AT_ONCE = 500
# Texts of a memory that a page shows.
SHOWN = ("content", "subject", "source_context", "speaker", "source_ref", "manual_tags")


@dataclass(frozen=True, slots=True)
class ExportedPages:
    """What was written."""

    pages: int
    memories: int
    redacted: int = 0
    """Memories whose secrets were taken out."""


def export_pages(
    store: Store, folder: Path, secrets: Secrets, progress: Progress | None = None
) -> ExportedPages:
    """Write a new folder with a page for each subject of this Kin's memories in use.

    Raises InvalidInput if the folder has files, or if secrets are refused and there are some; then
    nothing was written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInput(f"{folder} is not empty; name a new folder, so that no edit is lost")
    live = list(_own(store, LIVE))
    border = Border(secrets, leaves=True)
    memories = [_passed(one, border) for one in live]
    past = [_passed(one, border) for one in _own(store, (State.SUPERSEDED,))]
    redacted = sum(one is not other for one, other in zip(live, memories, strict=True))
    by_subject, over = _grouped(memories), _grouped(past)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}") from None
    try:
        for done, (key, group) in enumerate(by_subject.items()):
            if progress:
                progress(done, len(by_subject), "pages")
            subject = group[0].subject
            text = "\n".join(page(store.kin, subject, group, over.get(key, ())))
            _write(made / file_name(subject), text)
        _write(made / INDEX, "\n".join(_index(store.kin, by_subject)))
        made.replace(folder)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}") from error
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return ExportedPages(len(by_subject), len(memories), redacted)


def _own(store: Store, states: Sequence[State]) -> Iterator[Memory]:
    """Yield this Kin's own memories in these states, the oldest first."""
    filters, cursor = Filters(states=tuple(states)), None
    while True:
        found = store.page(filters, "oldest", AT_ONCE, cursor)
        yield from (memory for memory in found.memories if memory.kin == store.kin)
        cursor = found.next_cursor
        if cursor is None:
            return


def _grouped(memories: Sequence[Memory]) -> dict[str, list[Memory]]:
    """Group memories by subject, whatever its case; those without one last."""
    found: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        found[(memory.subject or "").casefold()].append(memory)
    return dict(sorted(found.items(), key=lambda group: (not group[0], group[0])))


def _passed(memory: Memory, border: Border) -> Memory:
    """Return a memory as a page may show it. Raises InvalidInput if secrets are refused."""
    texts = {name: getattr(memory, name) for name in SHOWN}
    try:
        left = border.passed(texts)
    except HasSecret:
        raise InvalidInput(
            f"memory {memory.id} holds a secret; nothing was written. Keep the secrets in the files"
            " with --keep-secrets, or set KINMEM_SECRETS to redact"
        ) from None
    return memory if left is texts else replace(memory, **left)


def _index(kin: str, by_subject: Mapping[str, Sequence[Memory]]) -> Iterator[str]:
    yield f"# What {kin} remembers"
    yield ""
    for group in by_subject.values():
        subject = group[0].subject
        name = escaped(subject) if subject else "Without a subject"
        name = name.replace("[", "\\[").replace("]", "\\]")
        yield f"- [{name}]({file_name(subject)}) ({len(group)})"
    yield ""


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8", newline="\n")
