"""Export as Markdown: a folder with one page for each subject, and a list of the pages."""

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kinmem.errors import InvalidInput
from kinmem.models import LIVE, Filters, Memory, Progress, State
from kinmem.store.base import Store
from kinmem.transfer.pages import escaped, file_name, page
from kinmem.validation import Border, HasSecret, Secrets

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
