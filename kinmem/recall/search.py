"""Stage 2: candidates by meaning and by words, from the Kin's own memories and the shared ones."""

from collections.abc import Sequence
from dataclasses import replace

from kinmem.errors import ModelError
from kinmem.llm.base import Embedder
from kinmem.models import Asked, Filters, Found, Vector
from kinmem.recall.profiles import Profile
from kinmem.recall.question import Question
from kinmem.store.base import Store

# Fewer by words lose recall (50: -1.2 points on BEAM), more by meaning only cost time (100: +0.4 on
# LoCoMo, -0.1 on BEAM). The word list is longer than what it brings in: it also tells how
# candidates found by meaning match.
BY_MEANING = 50
BY_WORDS = 100
WORDS_LISTED = 200
# While new vectors are being made, an embedder that covers this much of the store answers alone.
FILLED = 0.99


def search(
    question: Question,
    filters: Filters,
    store: Store,
    embedders: Sequence[Embedder],
    profile: Profile,
    threshold: float | None,
) -> Found:
    """Both arms; the words alone without vectors. `threshold` replaces the embedder's noise."""
    embedder, filled = choose(embedders, store)
    vector, degraded = _embedded(question, embedder)
    if vector is not None and not filled:
        degraded = ("pending",)
    asked = Asked(
        question.words,
        vector,
        embedder.name,
        BY_MEANING,
        BY_WORDS,
        WORDS_LISTED,
        all_words_first=profile.all_words_first,
    )
    noise = embedder.calibration.noise if threshold is None else threshold
    return replace(store.search(asked, filters), noise=noise, degraded=degraded)


def choose(embedders: Sequence[Embedder], store: Store) -> tuple[Embedder, bool]:
    """The configured embedder once its vectors are there, until then the one that covers most.

    With it, whether every chunk has a vector of its making.
    """
    configured = embedders[0]
    filled = store.is_filled(configured.name)
    if filled or len(embedders) == 1:
        return configured, filled
    share = {known.embedder: known.share for known in store.coverage()}
    if share.get(configured.name, 0.0) >= FILLED:
        return configured, False
    best = max(embedders, key=lambda embedder: share.get(embedder.name, 0.0))
    return best, store.is_filled(best.name)


def _embedded(question: Question, embedder: Embedder) -> tuple[Vector | None, tuple[str, ...]]:
    if not embedder.ready:
        return None, ("embedding",)
    try:
        return embedder.embed([question.bare])[0], ()
    except ModelError:
        return None, ("embedding",)
