"""The project that a Kin works in, and the projects that a caller names."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from kinmem.documents.document import is_document
from kinmem.errors import InvalidInput
from kinmem.learn.drafting import project_of
from kinmem.llm.base import Embedder
from kinmem.models import Note
from kinmem.models.places import meant, named, same_place, worked_in
from kinmem.store.base import Store
from kinmem.text import clean

PLACE_BYTES = 4096


class CurrentPlace:
    """Where the current call is made. See models/places.py."""

    def __init__(self, store: Store, embedder: Embedder, judged: Callable[[Note], Note]) -> None:
        """`judged` gives a note the category that says whether it is bound to a project."""
        self._store = store
        self._embedder = embedder
        self._judged = judged
        self._here: str | None = None
        self._root: str | None = None

    @property
    def here(self) -> str | None:
        """See Service.here."""
        return worked_in() or self._here

    @here.setter
    def here(self, place: str | None) -> None:
        self._here = place

    @property
    def root(self) -> str | None:
        """See Service.root."""
        return worked_in() or self._root

    @root.setter
    def root(self, place: str | None) -> None:
        self._root = place

    def at_hand(self) -> tuple[str, ...] | None:
        """Return the current project, with the places it was moved from; None outside of
        projects."""
        here = self.here
        if here is None:
            return None
        return (here, *(place for place in self._store.places() if same_place(place, here)))

    def named(self, wanted: str | None) -> tuple[str, ...] | None:
        """Return the known places that a filter means; None if it names none."""
        if wanted is None:
            return None
        return named(clean(wanted, "place", PLACE_BYTES), self._store.places())

    def meant(self, wanted: str) -> str | None:
        """Return the path of the project that a memory is to belong to; None for an empty name,
        which means everywhere.

        Raises InvalidInput.
        """
        if not wanted:
            return None
        place = meant(clean(wanted, "place", PLACE_BYTES), self._store.places())
        if place is None:
            raise InvalidInput(f"place {wanted!r} is no project known, and in no git repository")
        return place

    def placed(self, note: Note) -> Note:
        """Return the note with the path of the project that it names, or else that it is about.

        A document that names none gets none, since it is about many things.
        """
        if note.place is not None:
            return replace(note, place=self.meant(note.place))
        if is_document(note.content):
            return note
        if self.here:
            with suppress(InvalidInput):  # storing it will report the error
                note = self._judged(note)
        about = note.category, note.content, note.subject
        return replace(note, place=project_of(*about, self.here, self._embedder))
