"""Stage 3: candidates by meaning and by words, from the Kin's own memories and the shared ones.

A vector of nothing is near to something, too. In a store of 5,000 memories the nearest of them is
as near to made-up words as what answers a real question is, so that nearness cannot tell the two
apart. What the words are can: whether they are words at all, for the embedder or for the memories.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kinmem.errors import ModelError
from kinmem.llm.base import NEAR, NOISE, Embedder
from kinmem.llm.deadline import Deadline
from kinmem.models import Asked, Candidate, Filters, Found, Vector
from kinmem.recall.judging import Judging
from kinmem.recall.profiles import Profile
from kinmem.recall.question import Question, understand, within
from kinmem.recall.standing_instructions import looked_for
from kinmem.settings import RecallSettings
from kinmem.store.base import Store
from kinmem.store.index import Vectored
from kinmem.text import STOP_WORDS, UNSPACED, content_words, language_of, words

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
LETTERS_PER_PIECE = 3.5
"""From so many on average a word is one that the embedder has learned: "umbrella|s" has 4.5,
"flor|bn|ax" 2.7. One of a single piece always is."""
HEARD = 0.5
"""Of the content words, the share of which more must be known for nearness to mean what it does
else."""
GRAMMAR = 2
"""Words without a meaning of their own that make a sentence; there half of the others is enough.
Not
in other languages, whose word pieces tell less of what is a word."""
BEYOND_NOISE = 1 / 3
"""Of the way from the embedder's noise to its near: where no word is known, nearness up to there
says nothing. Made-up words came as near as 0.41 of the built-in model to one of 5,000 memories;
words that it does not know ("Am I vegan?", "Was kostet die Wohnung?") to their answers mostly
nearer than that."""
SHARED = 5
"""Letters in a row that a word shares with what is stored: Zweitschlüssel, Ersatzschlüssel."""
COMPARED = 3
"""Nearest candidates whose language is looked at."""
READ = 600
"""Characters of a candidate that are looked through."""
REPEATED = 3
"""Times that one word alone may not be said: no no no."""
PLACEHOLDERS = frozenset("bar baz bla blah dummy foo foobar lorem test testing".split())
# "Who am I?" has no content word either, and a meaning.
SELF = frozenset(
    """i me my mine myself we us our you your ich mir mich mein meine wir uns du je moi mon ma mes
    nous tu yo mí mi mis nosotros io mio mia noi eu meu minha nós""".split()
)
SHORTEST_OF_SELF = 3
"""Words of such a question."""


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


@dataclass(frozen=True)
class Inquiry:
    """A question, and with what it is answered."""

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
    """Another text that is searched for beside the question."""

    text: str
    is_made_up: bool
    """Whether its words may be inventions (HyDE), so that only its meaning is searched for."""


def search(inquiry: Inquiry) -> tuple[Found, Inquiry]:
    """Within the time that the question names, if it asks for no more; else wherever. With what
    was found, the inquiry that found it."""
    narrowed = replace(inquiry, filters=within(inquiry.question, inquiry.filters))
    if narrowed.filters == inquiry.filters:
        return search_as_asked(inquiry), inquiry
    found = search_as_asked(narrowed)
    if found.candidates:  # said then is answer enough, whatever it is about
        return replace(found, noise=0.0, by_time=True), narrowed
    return search_as_asked(inquiry), inquiry


def search_as_asked(inquiry: Inquiry, *, alone: bool = False) -> Found:
    """Both arms; the words alone without vectors. Cosines are on the scale that all embedders
    share, and so is the setting's threshold, up to which meaning alone finds nothing.

    Standing instructions are candidates whether or not an arm finds them, and what has been
    superseded is found beside them, unless what fits the filters is wanted `alone`.
    """
    question, meaning, index = inquiry.question, inquiry.meaning, inquiry.store.index
    vectors = meaning.of([question.bare])
    vector = vectors[0] if vectors else None
    sought, profile = question.words, inquiry.profile
    asked = asked_of(sought, vector, meaning.embedder, profile)
    if not alone:
        if vector is not None:
            asked = replace(asked, also=looked_for(vector, meaning.embedder, profile))
        asked = replace(asked, former=True)
    found = index.search(asked, inquiry.filters)
    if not found.matches and len(sought) == 1 and len(sought[0]) >= BEGINNING:
        found = index.search(replace(asked, beginnings=True), inquiry.filters)
    if found.former is not None:
        found = replace(found, former=_comparable(found.former, inquiry, vector))
    return _comparable(found, inquiry, vector)


def _comparable(found: Found, inquiry: Inquiry, vector: Vector | None) -> Found:
    """On the one scale, with what could not be used, as far as the question means it."""
    meaning, settings = inquiry.meaning, inquiry.settings
    late = () if meaning.is_filled else ("pending",)
    degraded = ("embedding",) if vector is None and not meaning.is_sparse else late
    found = scaled(found, meaning.embedder, settings.similarity_threshold)
    found = replace(found, scale=found.scale if vector is not None else None, degraded=degraded)
    return sensible(inquiry.question, found, meaning.embedder) if settings.abstain else found


def search_beside(inquiry: Inquiry, wordings: Sequence[Wording]) -> list[tuple[float, Found]]:
    """The same for other wordings; for those that are made up by meaning alone.

    With what each found, how near it is to the question: 0 where unrelated texts are as near, 1
    where it is as near as texts on one subject. One of 0 is none of its wordings, and is left out.
    Raises ModelError where there are no vectors of them.
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


def sensible(question: Question, found: Found, embedder: Embedder) -> Found:
    """What was found, as far as the question means it.

    Nothing for a question of signs, single letters, stop words alone, or one word again and again.
    Where hardly any of its words is known, neither to the embedder nor to the candidates, what is
    no nearer than made-up words are needs one of them.
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
    """Whether a text asks for nothing: signs, single letters, stop words, one word repeated."""
    said = words(text)
    if all(len(word) == 1 and not UNSPACED.search(word) for word in said):
        return len(said) < 2 or not any(word.isdigit() for word in said)  # room B-4
    if len(set(said)) == 1:
        return len(said) >= REPEATED or said[0] in STOP_WORDS["en"]
    is_of_self = len(said) >= SHORTEST_OF_SELF and not SELF.isdisjoint(said)
    return STOP_WORDS[language_of(text)].issuperset(said) and not is_of_self


def _is_alike(question: Question, found: Found) -> bool:
    """Whether it is in the language of what is nearest: "Was kostet die Wohnung?" - "Die Miete
    beträgt 900 Euro". Not so in English, where word pieces tell what is a word."""
    spoken = language_of(question.text)
    told = {one.id: one.content for one in found.candidates}
    near = [set(words(told[id][:READ])) for id in found.nearest[:COMPARED] if id in told]
    return spoken != "en" and any(
        0 < len(said & STOP_WORDS[spoken]) >= len(said & STOP_WORDS["en"]) for said in near
    )


def _is_heard(question: Question, found: Found, embedder: Embedder) -> bool:
    """Whether enough of its content words are known."""
    known = content_words(question.text)
    asked = [word for word in known if word not in PLACEHOLDERS]
    count = _counter(question.text, embedder)
    if any(UNSPACED.search(word) for word in asked) or count("and") > 1:
        return True  # it cannot tell
    stored = _stored(found.candidates)
    heard = sum(_is_known(word, count) or _is_stored(word, stored) for word in asked)
    share = heard / max(1, len(asked))
    is_sentence = len(words(question.text)) - len(known) >= GRAMMAR
    is_sentence = is_sentence and language_of(question.text) == "en"
    return share > HEARD or is_sentence and share == HEARD


def _counter(text: str, embedder: Embedder) -> Callable[[str], int]:
    """Counts word pieces as the model does that reads this text, if there are several."""
    of_text: Callable[[str], Callable[[str], int]] | None = getattr(embedder, "counter", None)
    return embedder.window(READ).count if of_text is None else of_text(text)


def _is_known(word: str, count: Callable[[str], int]) -> bool:
    """Whether the embedder knows it as a word. No number is one."""
    if len(word) < 3 or not word.isalpha():
        return False
    pieces = count(word)
    return pieces == 1 or len(word) >= LETTERS_PER_PIECE * pieces


def _is_stored(word: str, stored: str) -> bool:
    if len(word) <= SHARED:
        return re.search(rf"\b{re.escape(word)}\b", stored) is not None
    runs = (word[at : at + SHARED] for at in range(len(word) - SHARED + 1))
    return word.isalpha() and any(run in stored for run in runs) or word in stored


def _stored(candidates: list[Candidate]) -> str:
    return "\n".join(
        f"{one.content[:READ]} {one.subject or ''} {one.speaker or ''}" for one in candidates
    ).casefold()
