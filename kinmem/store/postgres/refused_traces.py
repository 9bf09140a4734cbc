"""What of a name is erased in PostgreSQL: memories. To search all rows for one is SQLite's yet."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from kinmem.errors import StoreError
from kinmem.models import Memory
from kinmem.store.history import Mention, Traces

UNSUPPORTED = (
    "erasing everything about a name, with its proof, is not there on PostgreSQL yet; nothing was"
    " changed. Erase memories one by one, or move the Kin to SQLite files and erase there"
)


class PostgresForgetting:
    """See Forgetting. Everything but `erase` is refused: nothing is half erased."""

    def __init__(self, erase: Callable[[Collection[str]], int]) -> None:
        """`erase`: see Forgetting."""
        self.erase = erase

    def traces(self, mention: Mention) -> Traces:
        _refuse()

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        _refuse()

    def blank(self, mention: Mention) -> None:
        _refuse()

    def blank_everywhere(self, mention: Mention) -> None:
        _refuse()

    def compact(self) -> None:
        _refuse()

    def former(self, mention: Mention) -> Mapping[Path, int]:
        _refuse()

    def holds(self, text: str) -> bool:
        _refuse()

    def words_with(self, parts: Collection[str]) -> Iterator[str]:
        _refuse()


def _refuse() -> NoReturn:
    raise StoreError(UNSUPPORTED, "storage_unsupported")
