"""Stage 2b: whether the question means anything. A vector of nothing is near to something, too.

In a store of 5,000 memories the nearest of them is as near to made-up words as what answers a real
question is, so that nearness cannot tell the two apart. What the words are can: whether they are
words at all, for the embedder or for the memories.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from kinmem.llm.base import Embedder
from kinmem.models import Candidate, Found
from kinmem.recall.question import Question
from kinmem.rules.same.lexemes import UNSPACED
from kinmem.text import STOP_WORDS, content_words, language_of, words

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
