"""Opens the conversations of a Kin alone, for hooks: every prompt waits for what is loaded here."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from kinmem.clock import Clock, utc_now
from kinmem.conversation.notes import Inject
from kinmem.conversation.observe import Conversation
from kinmem.conversation.tool_results import Spill
from kinmem.llm.base import NoEmbedder
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.settings import Settings
from kinmem.wiring.open_home import open_store


@contextmanager
def open_conversation(settings: Settings, *, clock: Clock = utc_now) -> Iterator[Conversation]:
    """Open a Kin's conversations without the rest of its memory, for hooks that run without a
    server.

    No model is loaded: notes are found by words alone, and learning from what is said is left to
    another process.
    """
    with closing(open_store(settings, clock)) as store:
        recall = Recall(store, [NoEmbedder()], settings, clock)
        limit = settings.recall.max_relevant
        spill = Spill(settings.home, settings.general.kin, settings.compact)
        yield Conversation(
            store,
            Inject(store.shown, settings, clock),
            lambda message: spill(message, clock()),
            lambda prompt, recent, seconds, allowed: recall.beside(
                prompt,
                recall(Request(prompt, limit, allowed, seconds=seconds), recent),
                allowed,
                seconds,
            ),
            settings,
            clock,
        )
