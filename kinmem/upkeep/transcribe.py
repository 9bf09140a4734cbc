"""What was said gets into the indexes: words at once, vectors when nothing else wants any."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from kinmem.errors import ModelError
from kinmem.llm.base import Embedder
from kinmem.llm.chunks import chunks_of
from kinmem.store.transcript import Transcript
from kinmem.upkeep.embed import Embed

AT_ONCE = 50
"""Messages that are indexed in one transaction."""


class Transcribe:
    """Indexes the messages that wait, a part at a time."""

    def __init__(self, transcript: Transcript, embedders: Sequence[Embedder]) -> None:
        """`embedders`: see Service."""
        self._transcript = transcript
        self._configured = embedders[0]
        self._embeds = {one.name: Embed(transcript, one) for one in embedders}
        self._cut = partial(chunks_of, embedder=embedders[0])

    def waiting(self) -> int:
        """How many messages are to be indexed."""
        return self._transcript.waiting()

    def part(self, is_over: Callable[[], bool], stand_in: Embedder | None = None) -> bool:
        """Index some messages, or if none waits make some vectors; whether more may be left.

        `stand_in` answers until the configured embedder has made its vectors, and must know what is
        new. Raises ModelError if the embedder is away.
        """
        if self._transcript.index(AT_ONCE, self._cut):
            return True
        if stand_in is not None:
            with suppress(ModelError):
                self._pool(stand_in, is_over)
        return self._pool(self._configured, is_over)

    def all(self, progress: Callable[[int, int, str], None] | None = None) -> int:
        """Until nothing waits; how many parts were given vectors. Raises ModelError."""
        while self._transcript.index(AT_ONCE, self._cut):
            pass
        return self._embeds[self._configured.name].all(progress)

    def _pool(self, embedder: Embedder, is_over: Callable[[], bool]) -> bool:
        more = False
        for _ in self._embeds[embedder.name].pool():
            more = True
            if is_over():
                break
        return more
