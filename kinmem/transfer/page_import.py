"""Import of Markdown pages: edited items are updates, new ones are memories, the rest stays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kinmem.errors import InvalidInput
from kinmem.models import LIVE, Memory
from kinmem.store.base import Store
from kinmem.store.history import batch_name
from kinmem.transfer.page_export import INDEX
from kinmem.transfer.pages import Item, Page, digest, parsed

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
    for name, page in read:
        plan.problems += [f"{name}:{line}: {STRAY}" for line in page.strays]
        here = store.memories([item.id for item in page.items if item.id])
        for item in page.items:
            _compare(store, page, item, here, f"{name}:{item.line}", seen, plan)
    expected = [id for _, page in read for id in page.ids if id not in seen]
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
