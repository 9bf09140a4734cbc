"""Names in a text, read from the judge's chances for each word piece.

The pieces of a word are read together, so that names begin and end where words do. In scripts
written without spaces, each piece counts as a word. The last functions put together what is stored
with a memory (stage 1b of learning): what a model found and what rules found.
"""

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.language import join_knowledge, knowledge, names_by_capitals
from kinmem.llm.base import Judge
from kinmem.models import Entity, EntityType, Knowledge, Memory, Note
from kinmem.text import late

logger = logging.getLogger(__name__)

Span = tuple[int, int]
# Where a name stands, its type, and the least chance of any of its words to be part of it.
Found = tuple[Span, str, float]

TYPES = ("person", "organization", "location", "product", "concept", "event", "project")
OUTSIDE = "O"
# The tags of a word piece: outside of names, or the beginning or inside of a name.
TAGS = (OUTSIDE, *(f"{part}-{type}" for type in TYPES for part in "BI"))
STORED: dict[str, EntityType] = {
    **{"person": "person", "organization": "organization", "location": "location"},
    **{"product": "product", "concept": "concept", "event": "event", "project": "other"},
}
# Chance from which a name counts. On the validation lines of training/names 86 % of the names found
# are exact, as with rules alone, and 71 % of all names are found (rules: 36 %); 1.5 % touch no name
# at all. In texts without capitals it is 86 % and 54 % (rules find none). At 0.8 it would be 84 and
# 76 %, without capitals 82 and 63 %.
SURE = 0.9
# The same for a word with a capital inside a sentence. A higher value makes nothing more precise.
LIKELY = 0.3
# Share that the likeliest type needs of the chances of all types; below it the type is "other".
TYPED = 0.5
# Seconds for one text. The longest that is read takes a tenth.
PATIENCE = 1.0
NO_BLANKS = late(r"[\u0e00-\u0eff\u1000-\u109f\u2e80-\u9fff\uf900-\ufaff]")
# The last word of a name and what separates it from the next, if both are one name.
JOINS = late(r"\w*[ -]$|\w{1,3}\. $|[OoDd]['’]$")
PUNCTUATION = " \t\n.,;:!?\"'“”‘’«»()[]{}<>*_`。，！？、；：（）《》「」"
ABBREVIATED = late(r"\b(?:\w\.)+$")


class Naming:
    """Extracts the entities and relations of a text.

    Rules find the relations. The judge finds the names if there is one and it is ready; otherwise
    rules find them as well.
    """

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge

    @property
    def ready(self) -> bool:
        """Whether the judge finds the names."""
        return self._judge is not None and self._judge.ready

    def __call__(
        self, text: str, speaker: str | None = None, subject: str | None = None
    ) -> Knowledge:
        """See kinmem.language.knowledge."""
        return knowledge(text, speaker, subject, self.names(text))

    def names(self, text: str) -> tuple[Entity, ...] | None:
        """Return the names that the judge reads; None without it, or if it fails."""
        if self._judge is None or not self._judge.ready:
            return None
        try:
            return self._judge.names(text, deadline=PATIENCE)
        except ModelError as error:
            logger.info("names are read by rules this time: %s", error)
            return None


RULES = Naming()


def words_of(text: str, offsets: Sequence[Span]) -> tuple[list[int], list[Span]]:
    """Return the word of each piece (-1 for white space alone), and where the words stand."""
    belongs, words = [], list[Span]()
    for start, end in offsets:
        while start < end and text[start].isspace():
            start += 1
        if start >= end:
            belongs.append(-1)
            continue
        if words and start == words[-1][1] and _goes_on(text[start - 1], text[start]):
            words[-1] = (words[-1][0], end)
        else:
            words.append((start, end))
        belongs.append(len(words) - 1)
    return belongs, words


def _goes_on(before: str, after: str) -> bool:
    return before.isalnum() and after.isalnum() and not NO_BLANKS.match(before + after)


def names_in(
    text: str,
    offsets: Sequence[Span],
    logits: Any,
    sure: float = SURE,
    likely: float = LIKELY,
) -> list[Found]:
    """Return the names of which every word is at least `sure` to be part.

    A capital inside a sentence makes a name `likely` enough with less. `logits` has a row of TAGS
    for each piece.
    """
    belongs, words = words_of(text, offsets)
    if not words:
        return []
    chances = _by_word(belongs, len(words), np.asarray(logits, np.float64))
    found = dict[Span, Found]()
    for start, end in names_by_capitals(text):
        inside = [start < word[1] and word[0] < end for word in words]
        one = _as_name((start, end), chances[inside])
        if one[2] >= likely:
            found[start, end] = one
    path = np.array(_path(np.log(chances + 1e-12)))
    for first, last in _join_names(text, words, _runs(path)):
        span = _trim_name(text, words[first][0], words[last - 1][1])
        one = _as_name(span, chances[first:last][path[first:last] > 0])
        across = [other for other in found if span[0] < other[1] and other[0] < span[1]]
        is_within = any(other[0] <= span[0] and span[1] <= other[1] for other in across)
        said = {word for start, end in found for word in text[start:end].split()}
        # Part of a name that was found already needs less.
        enough = likely if text[span[0] : span[1]] in said else sure
        if span[0] < span[1] and not is_within and one[2] >= enough:
            found = {other: known for other, known in found.items() if other not in across}
            found[span] = one
    return [found[span] for span in sorted(found)]


def _join_names(text: str, words: Sequence[Span], runs: Iterable[Span]) -> list[Span]:
    """Join names that are separated by a blank, a hyphen, or the period of an abbreviation: where a
    name ends is harder to tell than that there is one."""
    joined = list[Span]()
    for first, last in runs:
        if joined and JOINS.match(text[: words[first][0]], words[joined[-1][1] - 1][0]):
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


def _runs(path: Any) -> Iterator[Span]:
    """Yield the first word of each name, and the word after its last."""
    at = 0
    while at < len(path):
        end = at + 1
        if path[at]:
            while end < len(path) and path[end] == path[at] + 1:
                end += 1
            yield at, end
        at = end


def _as_name(span: Span, chances: Any) -> Found:
    of_types = chances[:, 1:].reshape(len(chances), len(TYPES), 2).sum((0, 2))
    best = int(of_types.argmax())
    is_clear = of_types[best] >= TYPED * of_types.sum()
    return span, TYPES[best] if is_clear else "other", float(1 - chances[:, 0].max())


def _by_word(belongs: Sequence[int], words: int, logits: Any) -> Any:
    """Return the chances of each tag, a row per word: the geometric mean over its pieces."""
    logits = logits - logits.max(1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(1, keepdims=True))
    total, count = np.zeros((words, logits.shape[1])), np.zeros((words, 1))
    for piece, word in enumerate(belongs):
        if word >= 0:
            total[word] += logits[piece]
            count[word] += 1
    odds = np.exp(total / count)
    return odds / odds.sum(1, keepdims=True)


def _path(scores: Any) -> list[int]:
    """Return the likeliest sequence of tags in which each inside follows its own beginning or
    inside."""
    best, back = scores[0] + _ALLOWED[0], []
    for row in scores[1:]:
        reached = best[:, None] + _ALLOWED
        back.append(reached.argmax(0))
        best = reached.max(0) + row
    path = [int(best.argmax())]
    for step in reversed(back):
        path.append(int(step[path[-1]]))
    return path[::-1]


# 0 where a tag may follow another, else -inf. Beginnings have odd numbers; the inside of the same
# type has the next one.
_ALLOWED = np.array(
    [
        [
            0.0 if after % 2 or after == 0 or before in (after, after - 1) else -math.inf
            for after in range(len(TAGS))
        ]
        for before in range(len(TAGS))
    ]
)


def _trim_name(text: str, start: int, end: int) -> Span:
    """Trim the punctuation around a name, and the 's of a genitive."""
    while start < end and text[start] in PUNCTUATION:
        start += 1
    while start < end and text[end - 1] in PUNCTUATION and not ABBREVIATED.search(text[start:end]):
        end -= 1
    if text[start:end].endswith(("'s", "’s")):
        end -= 2
    return start, end


def entities(parts: Iterable[tuple[str, Sequence[Found]]]) -> tuple[Entity, ...]:
    """Return the names as they are stored, in order."""
    return tuple(
        Entity(" ".join(part[start:end].split()), STORED.get(type, "other"))
        for part, found in parts
        for (start, end), type, _ in found
    )


def knowledge_of(note: Note, memory: Memory, naming: Naming) -> Knowledge:
    """Return what a note says of people and things.

    The names that a model has found are taken as they are; rules add the relations whose wording
    leaves no doubt.
    """
    found = naming(memory.content, memory.speaker, memory.subject)
    if note.model is None:
        by_rules = () if naming.ready else note.entities
        return join_knowledge([*by_rules, *found.entities], [*note.relations, *found.relations])
    ends = {name for one in found.relations for name in (one.source, one.target)}
    named = [one for one in found.entities if one.name in ends]
    origin = note.model if note.relations else found.origin
    return join_knowledge([*note.entities, *named], [*note.relations, *found.relations], origin)


def reread(memory: Memory, fields: Mapping[str, Any], naming: Naming) -> Knowledge | None:
    """Return what the memory says once these fields are changed; None if its content stays the
    same."""
    if "content" not in fields:
        return None
    return naming(fields["content"], memory.speaker, fields.get("subject", memory.subject))
