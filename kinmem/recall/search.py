"""Stage 2: candidates by meaning and by words, from the Kin's own memories and the shared ones."""

from collections.abc import Sequence
from dataclasses import replace

from kinmem.errors import ModelError
from kinmem.llm.base import Embedder
from kinmem.llm.deadline import Deadline
from kinmem.models import Asked, Filters, Found, Vector, Vectors
from kinmem.recall.profiles import Profile
from kinmem.recall.question import Question
from kinmem.store.base import Store

LACKING = 0.01
"""While its vectors are being made, what the configured embedder may cover less than another."""
# Vectors of a part draw it to the front, whatever it says. Half of 16,825 had recall@10 of 58 where
# words alone had 72, nine tenths 69, and 95 of 100 had 74; of 62 all were better than words alone.
SPARSE = 0.05
"""Share of the store without a vector from which words alone answer ..."""
FEW = 200
"""... unless it is no more chunks than that."""
LEAST = 0.5
"""Seconds that a question's vector may take at least, however long other models thought before."""


def search(
    question: Question,
    filters: Filters,
    store: Store,
    embedders: Sequence[Embedder],
    profile: Profile,
    threshold: float | None,
    time: Deadline,
) -> Found:
    """Both arms; the words alone without vectors. `threshold` replaces the embedder's noise.

    A vector that is not there in `time`, or half a second, is none.
    """
    embedder, filled = choose(embedders, store)
    sparse = not filled and _is_sparse(embedder, store)
    vectors = None if sparse else _embedded([question.bare], embedder, time)
    late = () if filled else ("pending",)
    degraded = ("embedding",) if vectors is None and not sparse else late
    asked = _asked(question.words, None if vectors is None else vectors[0], embedder, profile)
    known = embedder.calibration
    noise = known.noise if threshold is None else threshold
    scale = (known.noise, known.near) if known.measured and vectors is not None else None
    found = store.search(asked, filters)
    return replace(found, noise=noise, scale=scale, degraded=degraded)


def search_beside(
    question: Question,
    wordings: Sequence[tuple[Question, bool]],
    filters: Filters,
    store: Store,
    embedders: Sequence[Embedder],
    profile: Profile,
    threshold: float | None,
    time: Deadline,
) -> list[tuple[float, Found]]:
    """The same for other wordings; for those that are made up by meaning alone.

    With what each found, how near it is to the question: 0 where unrelated texts are as near, 1
    where it is as near as texts on one subject. One of 0 that has no word of the question is none
    of its wordings, and is left out.
    """
    embedder, filled = choose(embedders, store)
    if not filled and _is_sparse(embedder, store):
        return []
    vectors = _embedded([question.bare, *(one.bare for one, _ in wordings)], embedder, time)
    if vectors is None:
        raise ModelError("the embedder gave no vectors of other wordings")
    scale = embedder.calibration
    nearness = (vectors[1:] @ vectors[0] - scale.noise) / (scale.near - scale.noise)
    shares = nearness.clip(0.0, 1.0)
    noise = scale.noise if threshold is None else threshold
    found = []
    for (one, is_made_up), vector, near in zip(wordings, vectors[1:], shares, strict=True):
        if near > 0 or not set(question.words).isdisjoint(one.words):
            asked = _asked([] if is_made_up else one.words, vector, embedder, profile)
            found.append((float(near), replace(store.search(asked, filters), noise=noise)))
    return found


def choose(embedders: Sequence[Embedder], store: Store) -> tuple[Embedder, bool]:
    """The configured embedder once its vectors are there, until then the one that covers most.

    Its vectors are there when they are a hundredth of the store short of the best. What is
    memorized lacks vectors of both, so that it is not undone by more. With it, whether every chunk
    has a vector of its making.
    """
    configured = embedders[0]
    filled = store.is_filled(configured.name)
    if filled or len(embedders) == 1:
        return configured, filled
    share = {known.embedder: known.share for known in store.coverage()}
    best = max(embedders, key=lambda embedder: share.get(embedder.name, 0.0))
    if share.get(best.name, 0.0) <= share.get(configured.name, 0.0) + LACKING:
        return configured, False
    return best, store.is_filled(best.name)


def _is_sparse(embedder: Embedder, store: Store) -> bool:
    """Whether too much of the store has no vector of this embedder."""
    for known in store.coverage():
        if known.embedder == embedder.name:
            lacking = known.total - known.done
            return lacking > max(FEW, SPARSE * known.total)
    return False


def _asked(
    words: Sequence[str], vector: Vector | None, embedder: Embedder, profile: Profile
) -> Asked:
    formula = profile.formula
    return Asked(
        words,
        vector,
        embedder.name,
        formula.nearest,
        formula.matching,
        formula.listed,
        context=formula.context,
        all_words_first=profile.all_words_first,
    )


def _embedded(texts: Sequence[str], embedder: Embedder, time: Deadline) -> Vectors | None:
    if not embedder.ready:
        return None
    try:
        return embedder.embed(texts, purpose="question", deadline=max(time.left, LEAST))
    except ModelError:
        return None
