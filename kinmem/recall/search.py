"""Stage 2: candidates by meaning and by words, from the Kin's own memories and the shared ones."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from kinmem.errors import ModelError
from kinmem.llm.base import NEAR, NOISE, Embedder
from kinmem.llm.deadline import Deadline
from kinmem.models import Asked, Filters, Found, Vector
from kinmem.recall.profiles import Profile
from kinmem.recall.question import Question
from kinmem.store.base import Store
from kinmem.store.transcript import Vectored

LACKING = 0.005
"""While its vectors are being made, the share of the store that the configured embedder may cover
less than another; one chunk may always. A hundredth less found 77.7 where the other had 79.5."""
# Vectors of a part draw it to the front, whatever it says. Of 10,000 memories (LoCoMo, BEAM and
# others) 95 of 100 with vectors had recall@10 of 69.9 where words alone had 75.7; 99 had 77.7.
SPARSE = 0.02
"""Share of the store without a vector from which words alone answer ..."""
BEGINNING = 3
"""Letters of a question's only word that is looked for as the beginning of others."""
FEW = 200
"""... unless it is no more chunks than that."""


class Meaning:
    """The vectors of a question and of its wordings, each made once, by the embedder that answers.

    What is not there in `time` has none.
    """

    def __init__(self, embedders: Sequence[Embedder], store: Vectored, time: Deadline) -> None:
        self._embedders = embedders
        self.embedder, self.is_filled = choose(embedders, store)
        self.is_sparse = not self.is_filled and _is_sparse(self.embedder, store)
        """Whether too few memories have vectors for any to be compared."""
        self._time = time
        self._made: dict[str, Vector] = {}

    def among(self, store: Vectored) -> "Meaning":
        """The same for what else is stored, by whoever made most vectors of that."""
        other = Meaning(self._embedders, store, self._time)
        if other.embedder is self.embedder:
            other._made = self._made
        return other

    def of(self, texts: Sequence[str]) -> list[Vector] | None:
        """In the order of the texts; None where the embedder is not there, or the vectors are not
        to be compared."""
        if self.is_sparse or not self.embedder.ready:
            return None
        lacking = [text for text in dict.fromkeys(texts) if text not in self._made]
        try:
            if lacking:
                deadline = self._time.left
                made = self.embedder.embed(lacking, purpose="question", deadline=deadline)
                self._made.update(zip(lacking, made, strict=True))
        except ModelError:
            return None
        return [self._made[text] for text in texts]


def search(
    question: Question,
    filters: Filters,
    store: Store,
    meaning: Meaning,
    profile: Profile,
    threshold: float | None,
    also: Collection[str] = (),
) -> Found:
    """Both arms; the words alone without vectors. Cosines are on the scale that all embedders
    share, and so is `threshold`, up to which meaning alone finds nothing.

    `also`: ids of memories that are candidates whether or not an arm finds them.
    """
    vectors = meaning.of([question.bare])
    late = () if meaning.is_filled else ("pending",)
    degraded = ("embedding",) if vectors is None and not meaning.is_sparse else late
    sought = question.words
    asked = asked_of(sought, vectors[0] if vectors else None, meaning.embedder, profile)
    asked = replace(asked, also=tuple(also))
    found = store.search(asked, filters)
    if not found.matches and len(sought) == 1 and len(sought[0]) >= BEGINNING:
        found = store.search(replace(asked, all_words_first=True), filters)
    found = scaled(found, meaning.embedder, threshold)
    return replace(found, scale=found.scale if vectors is not None else None, degraded=degraded)


def search_beside(
    question: Question,
    wordings: Sequence[tuple[Question, bool]],
    filters: Filters,
    store: Store,
    meaning: Meaning,
    profile: Profile,
    threshold: float | None,
) -> list[tuple[float, Found]]:
    """The same for other wordings; for those that are made up by meaning alone.

    With what each found, how near it is to the question: 0 where unrelated texts are as near, 1
    where it is as near as texts on one subject. One of 0 is none of its wordings, and is left out.
    Raises ModelError where there are no vectors of them.
    """
    if meaning.is_sparse:
        return []
    vectors = meaning.of([question.bare, *(one.bare for one, _ in wordings)])
    if vectors is None:
        raise ModelError("the embedder gave no vectors of other wordings")
    scale = meaning.embedder.calibration
    found = []
    for (one, is_made_up), vector in zip(wordings, vectors[1:], strict=True):
        near = (float(vector @ vectors[0]) - scale.noise) / (scale.near - scale.noise)
        if near > 0:
            words = [] if is_made_up else one.words
            asked = asked_of(words, vector, meaning.embedder, profile)
            other = scaled(store.search(asked, filters), meaning.embedder, threshold)
            found.append((min(near, 1.0), other))
    return found


def scaled(found: Found, embedder: Embedder, threshold: float | None) -> Found:
    """With cosines on the one scale, as far as the embedder's own is known."""
    known, least = embedder.calibration, threshold or 0.0
    if not known.measured:
        return replace(found, noise=known.noise if threshold is None else least)
    cosines = {id: [known.scaled(one) for one in parts] for id, parts in found.cosines.items()}
    return replace(found, cosines=cosines, noise=NOISE, threshold=least, scale=(NOISE, NEAR))


def choose(embedders: Sequence[Embedder], store: Vectored) -> tuple[Embedder, bool]:
    """The configured embedder once its vectors are there, until then the one that covers most.

    Its vectors are there when they are hardly short of the best, see LACKING. What is memorized
    lacks vectors of both, so that it is not undone by more. With it, whether every chunk has a
    vector of its making.
    """
    configured = embedders[0]
    filled = store.is_filled(configured.name)
    if filled or len(embedders) == 1:
        return configured, filled
    known = {one.embedder: one for one in store.coverage()}
    done = {name: one.done for name, one in known.items()}
    best = max(embedders, key=lambda embedder: done.get(embedder.name, 0))
    total = max((one.total for one in known.values()), default=0)
    behind = done.get(best.name, 0) - done.get(configured.name, 0)
    if behind <= max(1, LACKING * total):
        return configured, False
    return best, store.is_filled(best.name)


def _is_sparse(embedder: Embedder, store: Vectored) -> bool:
    """Whether too much of the store has no vector of this embedder."""
    for known in store.coverage():
        if known.embedder == embedder.name:
            # a document of which a part has vectors draws nothing but itself to the front
            lacking = known.total - known.done - known.of_documents
            return lacking > max(FEW, SPARSE * known.total)
    return False


def asked_of(
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
