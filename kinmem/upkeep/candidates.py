"""Which memories a step looks at together: a step that merges what is new since its last run, part
by part, a review what is near each other, each pair once.

The progress of merging is stored, so that nothing is read when nothing is new.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, tzinfo
from hashlib import sha256
from itertools import chain, combinations
from typing import Literal, NamedTuple

from kinmem.language import Kinship, Ladder, Pair, sentences
from kinmem.learn.change_chance import Near, changes
from kinmem.learn.occasion import (
    in_turn,
    may_be_one,
    of_one,
    of_two_days,
    same_occasion,
    worded_otherwise,
)
from kinmem.llm.base import Embedder
from kinmem.llm.relating import ALIKE, UNCHANGED, Relating, weighed
from kinmem.models import Filters, Issue, Memory, Progress, Scope
from kinmem.models.places import compare_places
from kinmem.models.reports import Suggestion, issue_of
from kinmem.store.base import Store
from kinmem.upkeep.groups import LARGEST, Apart, Found, Group, Groups

Outcome = Literal["merged", "known", "changed", "refused", "aborted", "failed"]
# Most changes of one scope that one run reads; 1.4 s with the built-in embedder. Each is read once.
MOST_READ = 5000
TOGETHER = 200
# Failures after which a group with the same texts is left out.
MOST_FAILURES = 3
SCOPES: tuple[Scope, ...] = ("private", "shared")


class Candidates:
    """The groups with a memory that is new, got a vector or came back since the last run of this
    step with this embedder and similarity.

    They come from one part of the memories after the other, the closest first. A part that was
    finished is not read again, unless something in it has failed.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        similarity: float,
        step: str,
        zone: tzinfo,
        *also: str,
        may_be_one: Callable[[str, str], bool] = lambda a, b: True,
    ) -> None:
        """`also` names other steps whose refusals count. For `may_be_one`, see Groups."""
        self._apart = Apart(store, step, *also)
        self._groups = Groups(store, embedder, similarity, self._apart, zone, may_be_one)
        self._jobs = store.jobs
        self._step = step
        self._marks = {scope: f"{step} {embedder.name} {similarity} {scope}" for scope in SCOPES}
        self._changes = {
            scope: store.index.changed_since(self._jobs.mark(mark), scope, MOST_READ)
            for scope, mark in self._marks.items()
        }
        self._read, self._left = 0, sum(map(len, self._changes.values()))
        self._is_held = False
        self.outcomes: Counter[Outcome] = Counter()

    @contextmanager
    def counted(self, counts: Counter[str]) -> Iterator[None]:
        """When the block ends, even with an error, add to `counts` the outcomes; `read`, the
        changes examined; and `left`, those that the next run begins with."""
        try:
            yield
        finally:
            counts.update(Counter[str](self.outcomes) + Counter(read=self._read, left=self._left))

    def settled(self, group: Group, outcome: Outcome) -> None:
        """Record what became of a group, before the next one is requested.

        A group that was changed in the meantime is offered again in the next run; one that was not
        merged for any other reason never is.
        """
        self.outcomes[outcome] += 1
        if outcome == "changed":
            self._is_held = True
        elif outcome != "merged":
            self._apart.refuse(group.ids)
        if outcome == "aborted":
            for memory in group.memories:
                name = self._aborts(memory.content_hash)
                self._jobs.set_mark(name, self._jobs.mark(name) + 1)

    def _aborts(self, content_hash: str) -> str:
        """Return the name of the counter of how often a text was kept apart."""
        return f"{self._step} aborts {content_hash}"

    def failed(self, group: Group, *, is_to_blame: bool) -> None:
        """Record that a group could not be decided; it is offered again in the next run. A group
        that was itself to blame MOST_FAILURES times is left out until one of its memories is
        changed."""
        self.outcomes["failed"] += 1
        failures = self._jobs.mark(self._failures(group)) + is_to_blame
        if is_to_blame:
            self._jobs.set_mark(self._failures(group), failures)
        if failures < MOST_FAILURES:
            self._is_held = True
        else:
            self._apart.leave(group.ids)

    def _failures(self, group: Group) -> str:
        """Return the name of the failure counter for exactly these texts."""
        texts = "".join(f"{memory.id} {memory.content_hash} " for memory in group.memories)
        return f"{self._step} failures {sha256(texts.encode()).hexdigest()}"

    def waiting(self) -> int:
        """Count the groups that there are now, without recording that they were read."""
        return sum(
            len(self._groups.of({id for _, id in part}, scope).groups)
            for scope, changes in self._changes.items()
            for part in _parts(changes)
        )

    def __iter__(self) -> Iterator[Group]:
        for scope, changed in self._changes.items():
            self._is_held = False
            for part in _parts(changed):
                self._read += len(part)
                yield from self._in({id for _, id in part}, scope)
                if not self._is_held:
                    self._jobs.set_mark(self._marks[scope], part[-1][0])
                    self._left -= len(part)

    def _in(self, ids: Collection[str], scope: Scope) -> Iterator[Group]:
        """Yield all groups but those left out. Searches again if a group was full or left out,
        since its memories are settled by then."""
        over = True
        while over and not self._is_held:
            searched = self._groups.of(ids, scope)
            hopeless = [group for group in searched.groups if self._has_failed_often(group)]
            for group in hopeless:
                self._apart.leave(group.ids)
            for group in searched.groups:
                if group in hopeless:
                    continue
                if self._is_apart(group, searched):
                    self._apart.leave(group.ids)
                else:
                    yield group
            over = bool(searched.over or hopeless)

    def _is_apart(self, group: Group, searched: Found) -> bool:
        """Return whether groups with these texts, or with those close to them, were kept apart
        twice."""
        hashes = {text for id in group.ids for text in searched.beside.get(id, ())}
        return sum(self._jobs.mark(self._aborts(text)) for text in hashes) > LARGEST

    def _has_failed_often(self, group: Group) -> bool:
        return self._jobs.mark(self._failures(group)) >= MOST_FAILURES


def _parts(changes: Sequence[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    for start in range(0, len(changes), TOGETHER):
        yield changes[start : start + TOGETHER]


# Pairs that the judge reads, 3 ms each.
MOST_JUDGED = 600
UNJUDGING = Relating(None)
COMPARED = 6  # the memory itself, and as many as learning compares
COMPARED_TOGETHER = 50


def pairs(
    memories: Sequence[Memory],
    store: Store,
    embedder: Embedder,
    duplicate: float | None,
    progress: Progress | None,
    relating: Relating,
    now: datetime,
) -> Iterator[Issue]:
    """Yield issues between two memories; each pair once."""
    known = {memory.id: memory for memory in memories}
    level = embedder.calibration
    ladder = Ladder.calibrated(level.noise, level.near, level.duplicate, duplicate)
    nears = dict(_near(memories, store, embedder, progress))
    close = (
        (one, other, cosine)
        for one, near in nears.items()
        for other, cosine in near.items()
        if cosine >= ladder.related
    )
    seen = set()
    for one, other, cosine in chain(_of_same_text(memories), close):
        pair = tuple(sorted((one, other)))
        if one != other and other in known and pair not in seen:
            seen.add(pair)
            first, second = (known[id] for id in pair)
            is_elsewhere = compare_places(first.place, second.place) == "other"
            if store.kin in (first.kin, second.kin) and not is_elsewhere:
                asked = relating if len(seen) <= MOST_JUDGED else UNJUDGING
                beside = {
                    id: [
                        (known[near].content, level.scaled(near_cosine))
                        for near, near_cosine in nears.get(id, {}).items()
                        if near in known and near not in pair
                    ][:1]
                    for id in pair
                }
                compared = _Compared(first, second, cosine, level.scaled(cosine), beside)
                yield from _between(compared, ladder, asked, now)


def _of_same_text(memories: Sequence[Memory]) -> Iterator[tuple[str, str, float]]:
    """Yield the ids of two memories with the same text, and the cosine of that."""
    same: dict[str, list[str]] = {}
    for memory in memories:
        same.setdefault(memory.content_hash, []).append(memory.id)
    yield from ((one, other, 1.0) for ids in same.values() for one, other in combinations(ids, 2))


def _near(
    memories: Sequence[Memory], store: Store, embedder: Embedder, progress: Progress | None
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the id of each memory that has a vector, with the cosines of its nearest others."""
    for start in range(0, len(memories), COMPARED_TOGETHER):
        ids = [memory.id for memory in memories[start : start + COMPARED_TOGETHER]]
        vectors = store.index.first_vectors(embedder.name, ids)
        nearest = store.index.nearest_each(
            list(vectors.values()), embedder.name, COMPARED, Filters()
        )
        for id, near in zip(vectors, nearest, strict=True):
            yield id, {other: cosine for other, cosine in near if other != id}
        if progress:
            progress(start + len(ids), len(memories), "comparing memories")


class _Compared(NamedTuple):
    """Two memories, and what else is near them."""

    one: Memory
    other: Memory
    cosine: float
    scaled: float
    """The same cosine, by Calibration.scaled."""
    beside: Mapping[str, Sequence[tuple[str, float]]]
    """By the id of each, the nearest other text, if any, and its scaled cosine."""


def _between(
    compared: _Compared, ladder: Ladder, relating: Relating, now: datetime
) -> Iterator[Issue]:
    one, other, cosine, *_ = compared
    pair = (one, other)
    kinship = Pair(one.content, other.content).kinship(cosine, ladder)
    same = kinship in (Kinship.SAME_TEXT, Kinship.DUPLICATE)
    whole = max(pair, key=lambda memory: len(memory.content)).content
    if same and same_occasion(one, other):
        yield issue_of("duplicate", pair, "say the same", "delete", whole, "same")
    elif kinship is Kinship.CONTAINED and same_occasion(one, other):
        said = "one says all that the other does"
        content = one.content if Pair(one.content, other.content).known_says_all else other.content
        yield issue_of("duplicate", pair, said, "delete", content, "contained")
    else:
        may_exclude = of_one(one, other) or worded_otherwise(one, other)
        earlier, later = in_turn(pair, now)
        clashes = (
            list(_contradiction(earlier, later, compared, ladder, relating)) if may_exclude else []
        )
        yield from clashes or _alike(pair, cosine, ladder, same, relating)


def _alike(
    pair: tuple[Memory, Memory], cosine: float, ladder: Ladder, same: bool, relating: Relating
) -> Iterator[Issue]:
    """Yield paraphrases, and statements of which one continues the other; a person decides."""
    earlier, later = sorted(pair, key=lambda memory: (memory.said_at, memory.id))
    if not may_be_one(earlier, later) or earlier.expires_at != later.expires_at:
        return
    part, whole = sorted((earlier.content, later.content), key=len)
    if same:
        said = "say the same, of times that may be one"
        yield issue_of("duplicate", pair, said, "merge", whole, "same_times")
    elif (likeness := max(relating.same(part, whole), relating.same(whole, part))) >= ALIKE:
        said = f"judged to say the same in other words ({likeness:.2f})"
        yield issue_of("duplicate", pair, said, "merge", whole, "judged_same")
    elif cosine >= ladder.alike and Pair(part, whole).goes_on:
        said = "one says more of the same"
        yield issue_of("duplicate", pair, said, "merge", whole, "says_more")


def _contradiction(
    earlier: Memory,
    later: Memory,
    compared: _Compared,
    ladder: Ladder,
    relating: Relating,
) -> Iterator[Issue]:
    texts = earlier.content, later.content
    if of_two_days(earlier, later):
        return
    found = Pair(*texts).clash(compared.cosine, ladder)
    if (relation := relating.of(*texts)) is not None:
        beside = compared.beside[later.id]
        others = relating([(text, later.content) for text, _ in beside])
        near = [
            Near(text, later.content, cosine, cosine, read)
            for (text, cosine), read in zip(
                ((earlier.content, compared.scaled), *beside), (relation, *others), strict=True
            )
            if read is not None
        ]
        message = later.content if later.turns else None
        changed = changes(near, message, relating)[0] or UNCHANGED
        found = weighed(found, relation, *texts, relating.of_one_kind(*texts), changed)
    if found is not None:
        reason = None if found.clear else found.reason
        yield which_holds((earlier, later), relating, reason, found.chance)


# Characters of a memory that the model sees.
SHOWN = 600
# Chance of a change from which a sentence goes together with the one likeliest to be changed.
GIVES_WAY = 0.5


def remainder(
    memory: Memory, kept: Memory, relating: Relating, *, is_later: bool = False
) -> str | None:
    """Return, in its own words, what a memory says beyond what a memory that stays excludes: "I
    live in Leeds. I work as a nurse" beside "I quit the hospital". None if that is nothing.

    `is_later`: the memory that stays is the earlier of the two.
    """
    parts = [] if memory.is_document else sentences(memory.content)
    if len(parts) < 2:
        return None
    goes = _gives_way(parts, kept, relating, is_later=is_later)
    rest = "".join(part for part, is_gone in zip(parts, goes, strict=True) if not is_gone)
    return rest.strip() or None


def _gives_way(
    parts: Sequence[str], kept: Memory, relating: Relating, *, is_later: bool
) -> Sequence[bool]:
    """Return of each sentence whether the memory that stays excludes it."""
    pairs = [(kept.content, part) if is_later else (part, kept.content) for part in parts]
    shares = [Pair(*pair).shares_words for pair in pairs]
    if None in (relations := relating(pairs)):
        return shares if any(shares) else [True] * len(parts)
    chances = [one.replaces + one.contradicts for one in relations if one is not None]
    most = max(chances)
    return [
        chance == most or (chance >= GIVES_WAY and shared)
        for chance, shared in zip(chances, shares, strict=True)
    ]


def loses_more(earlier: Memory, later: Memory, relating: Relating) -> bool:
    """Return whether more would be lost than what the later memory is about, if it took the place
    of the earlier: "from Nantes, has our spare key and is allergic to cats" beside "moved to
    Hamburg". Whole sentences can be kept by themselves (see remainder), parts of one cannot."""
    if earlier.is_document:
        return False
    parts = sentences(earlier.content)
    goes = _gives_way(parts, later, relating, is_later=False) if len(parts) > 1 else [True]
    return any(
        is_gone and Pair(part, later.content).known_says_more
        for part, is_gone in zip(parts, goes, strict=True)
    )


# Chance of a change below which a review suggests that both stay: likelier than not, both are true.
EVEN_ODDS = 0.5


def which_holds(
    pair: Sequence[Memory], relating: Relating, reason: str | None, chance: float | None
) -> Issue:
    """Return a contradiction of two memories, the earlier first, with what remains of that one.

    `reason` is why nobody has decided it; None if the later one clearly replaces the earlier.
    `chance` is as in Conflict. Both are to stay if the earlier says more, or if a change is
    unlikely.
    """
    earlier, later = pair
    description, finding, details = in_doubt(reason, chance)
    suggestion: Suggestion = "update"
    if loses_more(earlier, later, relating):
        description, suggestion = f"{description} {SAYS_MORE}", "keep"
        details["more"] = 1
    elif chance is not None and chance < EVEN_ODDS:
        suggestion = "keep"
    elif rest := remainder(earlier, later, relating):
        details["stays"] = rest[:SHOWN]
        description += f' If the later one holds, this stays of the earlier: "{rest[:SHOWN]}"'
    content = later.content if suggestion == "update" else None
    return issue_of("contradiction", pair, description, suggestion, content, finding, **details)


SAYS_MORE = (
    "The earlier one says more than the later one is about, and that would be lost with it: so keep"
    " both, or write down what is still so of the earlier one."
)
# Of the reasons for which nobody has decided, those that a person should know.
TELLING = ("; the other one is", "; one is", "; one ends", "; said by")


def in_doubt(reason: str | None, chance: float | None) -> tuple[str, str, dict[str, str | int]]:
    """Return in words what may have changed and how likely that is, as a code, and its details."""
    if reason is None:
        said = "The later one seems to have replaced the earlier: both cannot be so now."
        return said, "replaced", {}
    said = "The later one may have replaced the earlier"
    why = next((reason[reason.index(one) + 2 :] for one in TELLING if one in reason), None)
    because = "" if why is None else f" It was not decided by itself: {why}."
    if chance is None:
        return f"{said}: {reason.partition(';')[0]}.{because}", "conflict", {}
    percent = round(100 * chance)
    return f"{said} ({percent} % likely).{because}", "likely", {"percent": percent}
