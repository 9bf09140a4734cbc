"""Stage 2: find candidates by meaning and by words, among the Kin's own memories and the shared
ones.

Even a meaningless text has near neighbours. In a store of 5,000 memories the nearest of them is as
near to made-up words as the answer is to a real question, so nearness cannot tell the two apart.
The words can: are they words at all, to the embedder or in the memories?
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kinmem.errors import ModelError
from kinmem.llm.base import NEAR, NOISE, Embedder
from kinmem.llm.deadline import Deadline
from kinmem.models import Asked, Candidate, Filters, Found, Vector
from kinmem.recall.profiles import Profile
from kinmem.recall.question import Question, understand, within
from kinmem.recall.rerank import Judging
from kinmem.recall.weigh import looked_for
from kinmem.settings import RecallSettings
from kinmem.store.base import Store
from kinmem.store.sessions import Vectored
from kinmem.text import STOP_WORDS, UNSPACED, content_words, language_of, words

# While the configured embedder's vectors are being made: the share of the store by which it may be
# behind another one and still be used; one chunk always may be missing. When it was behind by a
# hundredth more, recall was 77.7 instead of 79.5.
LACKING = 0.005
# If only some memories have vectors, those come first whatever they say. Of 10,000 memories
# (LoCoMo, BEAM and others), recall@10 was 69.9 with vectors for 95 of 100 and 77.7 with vectors for
# 99, where words alone had 75.7.
# Share of the store without a vector above which recall uses words alone ...
SPARSE = 0.02
# ... unless no more chunks than this lack one.
FEW = 200
# Least letters of a question's only word for which it may match the beginning of others.
BEGINNING = 3
# Average letters per word piece from which the embedder counts as knowing a word: "umbrella|s" has
# 4.5, "flor|bn|ax" 2.7. It always knows a word of a single piece.
LETTERS_PER_PIECE = 3.5
# Most word pieces of a word that it knows in another language than English. That vocabulary is
# shared by many, so its pieces are short: "zelt", "boda" and "tropft" have two, and of 17 made-up
# words three.
PIECES = 2
# Share of the content words: if more are known, nearness means what it usually means.
HEARD = 0.5
# Number of function words that make a sentence, for which HEARD itself is enough. Only in English:
# in other languages word pieces say less about what is a word.
GRAMMAR = 2
# Fraction of the distance from the embedder's noise to its `near`. If no word is known, nearness up
# to there means nothing. Made-up words came as near as 0.41 (built-in model) to one of 5,000
# memories; words that it does not know ("Am I vegan?", "Was kostet die Wohnung?") are mostly nearer
# than that to their answers.
BEYOND_NOISE = 1 / 3
# Consecutive letters that a word shares with stored text: Zweitschlüssel, Ersatzschlüssel.
SHARED = 5
# Nearest candidates whose language is compared.
COMPARED = 3
# Characters of a candidate that are read.
READ = 600
# Repetitions from which a single word means nothing: no no no.
REPEATED = 3
PLACEHOLDERS = frozenset("bar baz bla blah dummy foo foobar lorem test testing".split())
# "Who am I?" has no content word either, but it has a meaning.
SELF = frozenset(
    """i me my mine myself we us our you your ich mir mich mein meine wir uns du je moi mon ma mes
    nous tu yo mí mi mis nosotros io mio mia noi eu meu minha nós""".split()
)
# Least words of such a question.
SHORTEST_OF_SELF = 3


class Meaning:
    """The vectors of a question and its wordings, each made once, by the embedder that is in use.

    A vector that is not ready within `time` is missing.
    """

    def __init__(self, embedders: Sequence[Embedder], store: Vectored, time: Deadline) -> None:
        self._embedders = embedders
        self.embedder, self.is_filled = choose(embedders, store)
        self.is_sparse = not self.is_filled and _is_sparse(self.embedder, store)
        """Whether too few memories have vectors for a comparison."""
        self._time = time
        self._made: dict[str, Vector] = {}

    def among(self, store: Vectored) -> "Meaning":
        """Return the same for another part of the store, with the embedder that has made most of
        its vectors."""
        other = Meaning(self._embedders, store, self._time)
        if other.embedder is self.embedder:
            other._made = self._made
        return other

    def of(self, texts: Sequence[str]) -> list[Vector] | None:
        """Return the vectors in the order of the texts; None if the embedder is unavailable or the
        vectors cannot be compared."""
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


@dataclass(frozen=True)
class Inquiry:
    """A question, and everything that is needed to answer it."""

    question: Question
    filters: Filters
    limit: int
    profile: Profile
    meaning: Meaning
    judging: Judging
    store: Store
    settings: RecallSettings
    now: datetime
    """In the user's zone."""


@dataclass(frozen=True)
class Wording:
    """Another text to search for in addition to the question."""

    text: str
    is_made_up: bool
    """Whether its words may be invented (HyDE): then it is searched for by meaning only."""


def search(inquiry: Inquiry) -> tuple[Found, Inquiry]:
    """Search within the time that the question asks for; if that finds nothing, at any time. Return
    what was found, and the inquiry that found it."""
    narrowed = replace(inquiry, filters=within(inquiry.question, inquiry.filters))
    if narrowed.filters == inquiry.filters:
        return search_as_asked(inquiry), inquiry
    found = search_as_asked(narrowed)
    if found.candidates:  # having been said then is enough, whatever it is about
        return replace(found, noise=0.0, by_time=True), narrowed
    return search_as_asked(inquiry), inquiry


def search_as_asked(inquiry: Inquiry, *, alone: bool = False) -> Found:
    """Search by meaning and by words, or by words alone if there are no vectors. Cosines are
    converted to the scale that all embedders share; the setting's threshold is on that scale, and
    meaning alone finds nothing below it.

    Standing instructions are candidates whether or not they are found, and superseded memories are
    found in addition, unless `alone` asks for nothing but what fits the filters.
    """
    question, meaning, index = inquiry.question, inquiry.meaning, inquiry.store.index
    vectors = meaning.of([question.bare])
    vector = vectors[0] if vectors else None
    sought, profile = question.words, inquiry.profile
    asked = asked_of(sought, vector, meaning.embedder, profile)
    if not alone:
        if vector is not None:
            asked = replace(
                asked, also=looked_for(vector, meaning.embedder.calibration.orders, profile)
            )
        asked = replace(asked, former=True)
    found = index.search(asked, inquiry.filters)
    if not found.matches and len(sought) == 1 and len(sought[0]) >= BEGINNING:
        found = index.search(replace(asked, beginnings=True), inquiry.filters)
    if found.former is not None:
        found = replace(found, former=_comparable(found.former, inquiry, vector))
    return _comparable(found, inquiry, vector)


def _comparable(found: Found, inquiry: Inquiry, vector: Vector | None) -> Found:
    """Convert to the shared scale, note what could not be used, and discount what the question
    cannot mean."""
    meaning, settings = inquiry.meaning, inquiry.settings
    late = () if meaning.is_filled else ("pending",)
    degraded = ("embedding",) if vector is None and not meaning.is_sparse else late
    found = scaled(found, meaning.embedder, settings.similarity_threshold)
    found = replace(found, scale=found.scale if vector is not None else None, degraded=degraded)
    return sensible(inquiry.question, found, meaning.embedder) if settings.abstain else found


def search_beside(inquiry: Inquiry, wordings: Sequence[Wording]) -> list[tuple[float, Found]]:
    """Search for the other wordings in the same way; for invented ones by meaning only.

    Returns for each wording how near it is to the question, and what it found. 0 means as near as
    unrelated texts, 1 as near as texts about one subject; a wording at 0 rewords nothing and is
    left out. Raises ModelError if the embedder makes no vectors.
    """
    store, meaning, profile = inquiry.store, inquiry.meaning, inquiry.profile
    names = store.names()
    others = [understand(one.text, names, inquiry.now, profile.formula) for one in wordings]
    if meaning.is_sparse:
        return []
    vectors = meaning.of([inquiry.question.bare, *(other.bare for other in others)])
    if vectors is None:
        raise ModelError("the embedder gave no vectors of other wordings")
    scale = meaning.embedder.calibration
    found = []
    for wording, other, vector in zip(wordings, others, vectors[1:], strict=True):
        near = (float(vector @ vectors[0]) - scale.noise) / (scale.near - scale.noise)
        if near > 0:
            sought = [] if wording.is_made_up else other.words
            asked = asked_of(sought, vector, meaning.embedder, profile)
            beside = store.index.search(asked, inquiry.filters)
            threshold = inquiry.settings.similarity_threshold
            found.append((min(near, 1.0), scaled(beside, meaning.embedder, threshold)))
    return found


def scaled(found: Found, embedder: Embedder, threshold: float | None) -> Found:
    """Convert cosines to the shared scale, if the embedder's own was measured."""
    known, least = embedder.calibration, threshold or 0.0
    if not known.measured:
        return replace(found, noise=known.noise if threshold is None else least)
    cosines = {id: [known.scaled(one) for one in parts] for id, parts in found.cosines.items()}
    return replace(found, cosines=cosines, noise=NOISE, threshold=least, scale=(NOISE, NEAR))


def choose(embedders: Sequence[Embedder], store: Vectored) -> tuple[Embedder, bool]:
    """Return the embedder to use, and whether it has a vector of every chunk.

    That is the configured one once it is hardly behind the best (see LACKING), until then the one
    with most vectors. New memories lack vectors of both, so a stream of them does not undo the
    switch.
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
    """Return whether too much of the store has no vector of this embedder."""
    for known in store.coverage():
        if known.embedder == embedder.name:
            # A partly embedded document puts nothing but itself in front.
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


def sensible(question: Question, found: Found, embedder: Embedder) -> Found:
    """Drop what the question cannot mean.

    Nothing is left for a question of signs, single letters, stop words only, or one repeated word.
    If hardly any of its words is known to the embedder or occurs in the candidates, a candidate
    that is no nearer than it would be to made-up words must share a word with the question.
    """
    if question.named or question.when is not None:
        return found
    if is_empty(question.text):
        return replace(found, candidates=[], cosines={}, nearest=[], matches={})
    if found.scale is None or _is_heard(question, found, embedder) or _is_alike(question, found):
        return found
    noise, near = found.scale
    return replace(found, noise=max(found.noise, noise + BEYOND_NOISE * (near - noise)))


def is_empty(text: str) -> bool:
    """Return whether a text asks for nothing: signs, single letters, stop words, one repeated
    word."""
    said = words(text)
    if all(len(word) == 1 and not UNSPACED.search(word) for word in said):
        return len(said) < 2 or not any(word.isdigit() for word in said)  # room B-4
    if len(set(said)) == 1:
        return len(said) >= REPEATED or said[0] in STOP_WORDS["en"]
    is_of_self = len(said) >= SHORTEST_OF_SELF and not SELF.isdisjoint(said)
    return STOP_WORDS[language_of(text)].issuperset(said) and not is_of_self


def _is_alike(question: Question, found: Found) -> bool:
    """Return whether the question is in the language of the nearest candidates ("Was kostet die
    Wohnung?", "Die Miete beträgt 900 Euro"). Always False in English, where word pieces tell what
    is a word."""
    spoken = language_of(question.text)
    told = {one.id: one.content for one in found.candidates}
    near = [set(words(told[id][:READ])) for id in found.nearest[:COMPARED] if id in told]
    return spoken != "en" and any(
        0 < len(said & STOP_WORDS[spoken]) >= len(said & STOP_WORDS["en"]) for said in near
    )


def _is_heard(question: Question, found: Found, embedder: Embedder) -> bool:
    """Return whether enough of its content words are known."""
    known = content_words(question.text)
    asked = [word for word in known if word not in PLACEHOLDERS]
    count = _counter(question.text, embedder)
    if any(UNSPACED.search(word) for word in asked) or count("and") > 1:
        return True  # the embedder cannot tell
    stored, is_english = _stored(found.candidates), language_of(question.text) == "en"
    most = 1 if is_english else PIECES
    heard = sum(_is_known(word, count, most) or _is_stored(word, stored) for word in asked)
    share = heard / max(1, len(asked))
    is_sentence = is_english and len(words(question.text)) - len(known) >= GRAMMAR
    return share > HEARD or is_sentence and share == HEARD


def _counter(text: str, embedder: Embedder) -> Callable[[str], int]:
    """Return a function that counts word pieces as the model that reads this text does, if the
    embedder has several models."""
    of_text: Callable[[str], Callable[[str], int]] | None = getattr(embedder, "counter", None)
    return embedder.window(READ).count if of_text is None else of_text(text)


def _is_known(word: str, count: Callable[[str], int], most: int) -> bool:
    """Return whether the embedder knows it as a word, of `most` pieces or of long ones. Numbers are
    not words."""
    if len(word) < 3 or not word.isalpha():
        return False
    pieces = count(word)
    return pieces <= most or len(word) >= LETTERS_PER_PIECE * pieces


def _is_stored(word: str, stored: str) -> bool:
    if len(word) <= SHARED:
        return re.search(rf"\b{re.escape(word)}\b", stored) is not None
    runs = (word[at : at + SHARED] for at in range(len(word) - SHARED + 1))
    return word.isalpha() and any(run in stored for run in runs) or word in stored


def _stored(candidates: list[Candidate]) -> str:
    return "\n".join(
        f"{one.content[:READ]} {one.subject or ''} {one.speaker or ''}" for one in candidates
    ).casefold()
