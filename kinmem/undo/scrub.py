"""Takes secrets out of what is stored already: memories with their history, conversations,
summaries, documents, tool outputs.

Whatever was stored before a kind of secret was known, or with KINMEM_SECRETS=keep, may hold some. A
secret is treated as if it were a name that is to be forgotten (forget_about.py), but memories that
hold one stay, without it. The files are rewritten afterwards, so that no page holds the old bytes.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kinmem.documents.pipeline import Documents
from kinmem.language import Weight, content_hash, redact, secret_kinds
from kinmem.llm.base import Embedder, chunks_of, embedded
from kinmem.llm.naming import Naming, reread
from kinmem.models import Chunks, Memory
from kinmem.store.base import Store
from kinmem.store.history import Mention
from kinmem.undo.forget_about import InBackups
from kinmem.validation import Border

ACTION = "scrubbed"
# Fields of a memory that somebody wrote, besides its content.
WRITTEN = ("subject", "source_context", "title", "description", "source_ref", "speaker")
HELD = (*WRITTEN, "manual_tags", "auto_tags", "metadata")


class AnySecret(Mention):
    """All secrets, as if they were one name."""

    def __init__(self) -> None:
        super().__init__("any secret")

    def is_in(self, text: str | None) -> bool:
        return bool(text) and redact(text or "")[1] > 0

    def removed(self, text: str) -> str:
        return redact(text)[0]

    def blanked(self, stored: str) -> str:
        if stored[:1] not in "{[":
            return self.removed(stored)
        try:
            value = json.loads(stored)
        except ValueError:
            return self.removed(stored)
        left = self._cleaned(value)
        return stored if left == value else json.dumps(left, ensure_ascii=False)

    def _cleaned(self, value: Any, name: str = "") -> Any:
        """Return a JSON value without secrets. The name of a member may say that it is one."""
        if isinstance(value, dict):
            return {self.removed(key): self._cleaned(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [self._cleaned(one, name) for one in value]
        if not isinstance(value, str):
            return value
        left = self.removed(value)
        named = f"{name}: {value}"
        if left != value or not name or self.is_in(name) or not self.is_in(named):
            return left
        return self.removed(named).removeprefix(f"{name}: ")


class Tools(NamedTuple):
    """What a memory is written anew with."""

    embedder: Embedder
    documents: Documents
    naming: Naming


class Scrub:
    """The secrets in one Kin's memory. Nothing is changed until `carry_out` is called."""

    def __init__(
        self,
        store: Store,
        home: Path,
        tools: Tools,
        done: Callable[[], None],
        in_backups: InBackups | None = None,
    ) -> None:
        """`done` is called once something was changed."""
        self._store = store
        self._home = home
        self._tools = tools
        self._done = done
        self._secret = AnySecret()
        traces = store.forgetting.traces(self._secret)
        self.memories: list[Memory] = traces.memories
        """The Kin's own memories that hold one, in any state."""
        self.others: tuple[str, ...] = tuple(traces.others)
        """Ids of other Kins' shared memories that hold one; only they may change them."""
        self.counts: Mapping[str, int] = traces.counts
        """By table, how many other rows hold one."""
        self.files: tuple[str, ...] = tuple(self._outputs())
        """Tool outputs that hold one, by their path below the home folder."""
        self.backups: tuple[Path, ...] = (
            () if in_backups is None else tuple(in_backups.naming(self._secret))
        )
        """Backups that hold one. They stay as they are: delete them, and make a new one."""
        self.remarks: tuple[str, ...] = ()
        """See store.history.Forgetting.compact; after `carry_out`."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to take out here; backups may hold some all the same."""
        return not (self.memories or self.counts or self.files)

    @property
    def kinds(self) -> list[str]:
        """The kinds of secrets in the memories, each once."""
        texts = (text for memory in self.memories for text in (memory.content, memory.subject))
        return sorted({kind for text in texts for kind in secret_kinds(text or "")})

    def carry_out(self) -> None:
        """Take them out everywhere, then rewrite the files."""
        for memory in self.memories:
            self._rewrite(memory)
        self._store.forgetting.blank(self._secret)
        self._store.forgetting.blank_everywhere(self._secret)
        for name in self.files:
            path = self._home / name
            path.write_text(redact(path.read_text(encoding="utf-8"))[0], encoding="utf-8")
        self.remarks = tuple(self._store.forgetting.compact())
        self._done()

    def _rewrite(self, memory: Memory) -> None:
        fields, chunks = self._text_without(memory)
        held = {name: getattr(memory, name) for name in HELD}
        left = Border("redact", leaves=True).passed(held)
        fields |= {name: value for name, value in left.items() if value is not held[name]}
        self._store.update(
            memory.id,
            fields,
            chunks=chunks,
            action=ACTION,
            knowledge=reread(memory, fields, self._tools.naming),
        )

    def _text_without(self, memory: Memory) -> tuple[dict[str, Any], Chunks | None]:
        """Return the fields and chunks of its text without the secrets; none if it has none."""
        whole = self._store.documents.text(memory.id) if memory.is_document else memory.content
        text, count = redact(whole)
        if memory.is_document:
            return self._tools.documents.rewritten(memory, text) if count else ({}, None)
        if not count:
            return {}, None
        fields = {
            "content": text,
            "content_hash": content_hash(text),
            "evidence": Weight(text).evidence(memory.speaker),
        }
        texts = chunks_of(text, self._tools.embedder)
        return fields, embedded(Chunks(texts), self._tools.embedder)

    def _outputs(self) -> Iterator[str]:
        folder = self._home / "kins" / f"{self._store.kin}-outputs"
        for path in sorted(folder.glob("*")):
            is_plain = path.is_file() and not path.is_symlink()
            if is_plain and self._secret.is_in(path.read_text("utf-8", errors="replace")):
                yield str(path.relative_to(self._home))
