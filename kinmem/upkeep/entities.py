"""A step of upkeep: extract entities from unread memories, and merge two names of one entity.

Memories are read when they are written; this step reads those of older versions and merged ones.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from rapidfuzz.distance import OSA

from kinmem.llm.naming import Naming
from kinmem.models import THE_USER
from kinmem.store.base import Store
from kinmem.store.graph import Key, Named
from kinmem.upkeep.steps import UNLIMITED, Budget

# Memories in one transaction.
TOGETHER = 100
# Memories read in one run; ten to twenty-five seconds.
PER_RUN = 10_000
# Mentions searched for duplicate names, the latest ones.
NAMES = 20_000
# Letters added, missing, replaced or swapped by which two spellings of one name may differ:
# Katharina, Katarina. Schmidt and Schmitz differ by two.
SLIP = 1
# Least letters of such a name; shorter ones are often as similar and yet different: Hanna, Hannah.
SHORTEST = 8
# Letters that both spellings begin with.
BEGINS = 3
# The mark of the revision of the own memories up to which names were merged.
MERGED = "entities"


def entities(store: Store, naming: Naming, budget: Budget, counts: Counter[str]) -> None:
    """Extract entities from own memories whose content was not read yet, the latest first; then
    merge entities of own memories that are certainly the same. Counts read, found and merged.

    A first name is merged into the one full name that begins with it, if a memory names both or
    they share a relation or a subject; two spellings, if they share a relation and no memory names
    both. The memories do not change: no history is written, and everything can be extracted again.
    """
    _read(store, naming, budget, counts)
    if not budget.is_over():
        _merge(store, budget, counts)


def _read(store: Store, naming: Naming, budget: Budget, counts: Counter[str]) -> None:
    graph = store.graph
    if budget.dry_run:
        counts["read"] += len(graph.unread(PER_RUN))
        return
    for _ in range(PER_RUN // TOGETHER):
        part = graph.unread(TOGETHER)
        if not part or budget.is_over():
            return
        knowledge = {
            memory.id: (memory.version, naming(memory.content, memory.speaker, memory.subject))
            for memory in part
        }
        if not graph.keep(knowledge):
            return  # all were changed in the meantime: left to the next run
        counts["read"] += len(part)
        counts["found"] += sum(len(named.entities) for _, named in knowledge.values())


def _merge(store: Store, budget: Budget, counts: Counter[str]) -> None:
    """Merge names. Those that differ only in accents or case are one entity from the start."""
    if store.jobs.mark(MERGED) == store.revision[0]:
        return
    for kept, gone in same(store.graph.names(NAMES), budget):
        if budget.dry_run or store.graph.merge(kept, gone):
            counts["merged"] += 1
    if not budget.dry_run and not budget.is_over():
        store.jobs.set_mark(MERGED, store.revision[0])


def same(names: Sequence[Named], budget: Budget = UNLIMITED) -> Iterator[tuple[Key, Key]]:
    """Yield (kept, gone) for entities that are the same, until the budget is over; none is in two
    pairs."""
    taken = set[Key]()
    for kept, gone in chain(_first_names(names, budget), _spellings(names, budget)):
        if taken.isdisjoint((kept.key, gone.key)):
            taken.update((kept.key, gone.key))
            yield kept.key, gone.key


def _first_names(names: Sequence[Named], budget: Budget) -> Iterator[tuple[Named, Named]]:
    """Match Anna with Anna Schmidt, if there is no Anna Meyer."""
    full: Mapping[str, list[Named]] = defaultdict(list)
    for named in names:
        first, _, rest = named.key.folded.partition(" ")
        if rest and named.key.type in ("person", "other") and named.key.folded != THE_USER:
            full[first].append(named)
    for short in names:
        if budget.is_over():
            return
        fitting = full.get(short.key.folded, [])
        is_person = "person" in (short.key.type, *(named.key.type for named in fitting))
        if len(fitting) != 1 or not is_person or not _fits(short, fitting[0]):
            continue
        if _is_confirmed(short, fitting[0]):
            yield fitting[0], short


def _spellings(names: Sequence[Named], budget: Budget) -> Iterator[tuple[Named, Named]]:
    """Match two spellings of a name. They differ by one slip only if they are equal after each
    loses at most one letter, so each is compared only with the few that share a shortened form.

    Numbers are not spellings: iPhone 14 is not iPhone 15.
    """
    alike: Mapping[tuple[str, str], list[Named]] = defaultdict(list)
    for one in names:
        if budget.is_over():
            return
        name = one.key.folded
        if len(name) < SHORTEST or not one.around.relations:
            continue
        digits = _digits(name)
        for left in _shortened(name):
            for other in alike[digits, left]:
                if _fits(one, other) and _is_misspelt(one, other):
                    kept = max(other, one, key=lambda named: len(named.around.memories))
                    yield kept, other if kept is one else one
            alike[digits, left].append(one)


def _shortened(name: str) -> set[str]:
    """Return the name, and its forms without one letter after the first three."""
    return {name, *(name[:at] + name[at + 1 :] for at in range(BEGINS, len(name)))}


def _fits(named: Named, other: Named) -> bool:
    types = {named.key.type, other.key.type}
    return len(types) == 1 or "other" in types


def _is_confirmed(short: Named, full: Named) -> bool:
    """Return whether a memory names both, they share a relation, or they share a subject other than
    the name."""
    a, b = short.around, full.around
    subjects = (a.subjects & (b.subjects | {full.key.folded})) - {short.key.folded}
    return bool(a.memories & b.memories or a.relations & b.relations or subjects)


def _is_misspelt(named: Named, other: Named) -> bool:
    a, b = named.around, other.around
    if not a.relations & b.relations or a.memories & b.memories:
        return False
    return OSA.distance(named.key.folded, other.key.folded, score_cutoff=SLIP) <= SLIP


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())
