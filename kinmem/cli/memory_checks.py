"""The doctor's checks of the memory: files, vectors, times, tags, tiers, links, search, summaries.

Each check names the memories concerned, why the responsible step may not have done its work, and
what helps. Memories stored a moment ago are left out, since no step has reached them yet.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from kinmem.errors import KinmemError
from kinmem.llm.base import chunks_of
from kinmem.models import Asked, Filters, Health, Living, Memory, Vector
from kinmem.models.turns import Run
from kinmem.settings import Settings
from kinmem.text import content_words, in_first_person, many
from kinmem.upkeep.entities_and_tags import topics
from kinmem.upkeep.review import read_live
from kinmem.upkeep.steps import StepName
from kinmem.wiring.open_home import has_begun
from kinmem.wiring.open_memory import asks_network, embedders, open_service

if TYPE_CHECKING:
    from kinmem.llm.base import Embedder
    from kinmem.service import Service

Status = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Check:
    """One line of the doctor's report: what was checked, its state, and what helps."""

    name: str
    status: Status
    told: str
    remedy: str | None = None


SLACK = timedelta(minutes=5)
# Bytes of a number in a vector.
BYTES = 4
DAMAGED = "kinmem doctor --repair mends it; what is there now is kept as a backup"
ON_A_SERVER = (
    "kinmem store migrate --to, with another ?schema=NAME, makes it anew; for damaged pages,"
    " restore a backup of the server"
)
MOST_NAMED = 5
"""Damaged rows that are named one by one."""
OUT_OF_STEP = "report it with this line; recall may miss memories"
MOST_READ = 5000
# Reports to search for the last time a step ran.
RUNS = 200
# Time that a memory may wait for the sleep cycle; twice the cycle's interval if that is longer.
SETTLING = timedelta(hours=2)
# With fewer memories, a distribution means nothing.
FEW = 20
MOST_HOT = 0.8
LEAST_LINKED = 0.02
# Age up to which a new memory is hot in any case.
COOLS = timedelta(days=4)
# Use within this time keeps a memory hot.
RECENTLY = timedelta(days=3)
# Number of memories that must find themselves, by words and by meaning.
SAMPLE = 8
WORDS = 12
# How far down the best matches by words (AMONG) and by meaning (NEAREST) a memory may be: many may
# say nearly the same.
AMONG, NEAREST = 100, 5
# Cosine from which two vectors are those of one text by one model.
SAME = 0.98
HELPS = {
    "manual_pin": "pin only what must never fade: kinmem update ID --unpin",
    "high_priority": "give less importance to what matters less: kinmem update ID --importance 4",
}


def memory(settings: Settings, *, deep: bool = False) -> Iterator[Check]:
    """Check this Kin's memory and the shared one, `deep` also what takes long. Missing files are
    not created."""
    kin = settings.general.kin
    if not settings.general.store and not has_begun(settings):
        yield Check("memory", "ok", f"{kin} has none yet; it is made when it is first opened")
        return
    try:
        service = open_service(settings, is_brief=True)
    except KinmemError as error:
        yield Check("memory", "error", f"{error.code}: {error}", "do what the message says")
        return
    with service:
        states = service.stats().counts["state"]
        told = ", ".join(f"{count:,} {state}" for state, count in states.items())
        yield Check("memory", "ok", f"{kin} sees {told or 'nothing yet'}")
        yield from _files(service.store.health(deep=deep), deep=deep)
        yield from _vectors(service)
        yield from _transcript(service)
        yield from _times(service)
        yield from life(service, _embedder_here(settings, service))


def _embedder_here(settings: Settings, service: "Service") -> "Embedder | None":
    """Return the configured embedder, unless it uses a network."""
    if settings.embedding.model and asks_network(settings.embedding.model, settings):
        return None
    return embedders(settings, service.store.index.coverage())[0]


def _files(files: list[Health], *, deep: bool) -> Iterator[Check]:
    """Check each database file, and whether its parts hold the same memories."""
    for engine in dict.fromkeys(file.engine for file in files):
        yield Check("engine", "ok", engine)
    for file in files:
        told = (
            f"schema {file.version}, {many(file.memories, 'memory', 'memories')},"
            f" {file.words:,} in the word index"
        )
        off = [
            f"{name}: {count + file.pending.get(name, 0):,} of {file.chunks:,} chunks"
            for name, count in file.vectors.items()
            if count + file.pending.get(name, 0) != file.chunks
        ]
        wrong = [*file.damage, *(one.told for one in file.damaged[:MOST_NAMED])]
        if len(file.damaged) > MOST_NAMED:
            wrong.append(f"and {len(file.damaged) - MOST_NAMED:,} more rows")
        if wrong:
            mends = ON_A_SERVER if file.engine.startswith("PostgreSQL") else DAMAGED
            yield Check(file.file, "error", f"{told}; {'; '.join(wrong)}", mends)
        elif file.memories != file.words or off:
            yield Check(file.file, "error", "; ".join([told, *off]), OUT_OF_STEP)
        else:
            how = "undamaged" if deep else "no damage seen (--deep looks at everything)"
            yield Check(file.file, "ok", f"{told}, {file.chunks:,} chunks, {how}")


def _vectors(service: "Service") -> Iterator[Check]:
    found = service.stats()
    if not found.counts["state"]:
        yield Check("vectors", "ok", "none yet; there is no memory that could have one")
        return
    if all(one.embedder != found.embedder for one in found.embedders):
        told = (
            f"none by {found.embedder}, which is configured; recall does with others or with words"
        )
        yield Check("vectors", "warning", told, "kinmem reembed makes them, and says why it cannot")
    complete = any(
        one.embedder == found.embedder and one.done == one.total for one in found.embedders
    )
    for one in found.embedders:
        told = f"{one.done:,} of {one.total:,} by {one.embedder}"
        if one.embedder == found.embedder and one.done < one.total:
            yield Check("vectors", "warning", told, "kinmem reembed makes the others")
        elif one.embedder != found.embedder and complete:
            size = one.done * one.dimension * BYTES / 1e6
            told = f"{told}, needed no more, {size:.1f} MB"
            yield Check("vectors", "ok", told, f"kinmem reembed --drop {one.embedder}")
        else:
            yield Check("vectors", "ok", told)


def _transcript(service: "Service") -> Iterator[Check]:
    """Check how much of what was said recall can find."""
    if not service.settings.recall.turns:
        yield Check("transcript", "ok", "what was said is not searched (KINMEM_RECALL_TURNS)")
        return
    found = service.stats()
    said, waiting = found.conversations["messages"], found.conversations["unindexed"]
    if not said:
        return
    messages = many(said, "message", "messages")
    told = f"{messages}, {waiting:,} of them still to be indexed"
    lacking = [one for one in found.turns if one.embedder == found.embedder and one.share < 1]
    told += "".join(f"; {one.done:,} of {one.total:,} vectors" for one in lacking)
    if waiting or lacking:
        hint = "a running server does it, or kinmem sleep embed"
        yield Check("transcript", "ok", told, hint)
    else:
        yield Check("transcript", "ok", f"{messages}, all indexed")


def _times(service: "Service") -> Iterator[Check]:
    newest = service.list_memories(sort="newest", limit=1).memories
    if newest and newest[0].created_at > service.clock() + SLACK:
        told = f"the newest memory is from {newest[0].created_at:%Y-%m-%d %H:%M} UTC, in the future"
        yield Check("times", "warning", told, "set the system's clock; until then ages are wrong")


@dataclass(frozen=True)
class Sleep:
    """What the reports say about the sleep cycle."""

    service: "Service"

    def why(self, step: StepName) -> str:
        """Say why a step may not have done its work, as far as the reports tell."""
        ran = self.last(step)
        every = self.service.settings.upkeep.sleep_every
        if ran is None:
            return (
                "KINMEM_SLEEP_EVERY is 0 and nobody has called kinmem sleep"
                if every == 0
                else "that step has not run yet; it does ten minutes after a server has started"
            )
        failed = [line for line in ran.problems if line.startswith(f"{step}:")]
        if failed:
            return f"the step failed when it ran last ({failed[0]})"
        if self.is_late(step):
            return f"that step ran last on {ran.finished_at:%Y-%m-%d %H:%M} UTC"
        return "the step runs, but takes some memories at a time"

    def last(self, step: StepName) -> Run | None:
        """Return the last run that included the step."""
        runs = self.service.store.jobs.runs(RUNS, "sleep")
        return next((run for run in runs if step in run.seconds), None)

    def is_late(self, step: StepName) -> bool:
        """Return whether the step has not run for longer than it should."""
        ran = self.last(step)
        return ran is None or self.service.clock() - ran.finished_at > self.settling

    @property
    def settling(self) -> timedelta:
        return max(SETTLING, 2 * timedelta(minutes=self.service.settings.upkeep.sleep_every))


def life(service: "Service", embedder: "Embedder | None") -> Iterator[Check]:
    """Check for Kybernesis' five troubles.

    With `embedder`, also check that it still makes the same vectors.
    """
    sleep = Sleep(service)
    until = service.clock() - sleep.settling
    own = [one for one in read_live(service.store, MOST_READ) if one.kin == service.kin]
    settled = [one for one in own if max(one.created_at, one.content_updated_at) < until]
    if settled:
        yield _tags(settled, sleep)
        yield _links(service, settled, sleep)
        yield _summaries(service, {one.id for one in settled}, sleep)
    elif own:
        told = f"all {len(own):,} are new; the sleep cycle will tag, link and summarise them"
        yield Check("upkeep", "ok", told)
    if own:
        yield _tiers(service, sleep)
        yield from _search(service, own, embedder)


def _tags(memories: Sequence[Memory], sleep: Sleep) -> Check:
    """Warn of memories that the step has not reached.

    Memories without a tag are only counted, since a tag needs another memory on the same subject.
    """
    late = [one for one in memories if not _is_since_edit(one.tagged_at, one)]
    shared = [one for one in memories if topics(one.tags)]
    told = f"{len(shared):,} of {len(memories):,} memories share a tag with another one"
    if late:
        why = f"{told}; {len(late):,} were never looked at: {sleep.why('tag')}"
        return Check("tags", "warning", why, "kinmem sleep tag")
    return Check("tags", "ok", told)


def _tiers(service: "Service", sleep: Sleep) -> Check:
    """Check whether everything is stuck in the hot tier: used all the time, or not sorted since.

    With few memories this is a warning only if sorting is late.
    """
    living = service.store.life.living()
    tiers = Counter(one.tier for one in living)
    told = ", ".join(f"{count:,} {tier}" for tier, count in tiers.most_common())
    cooled = service.clock() - COOLS
    older = [one for one in living if one.created_at < cooled]
    hot = [one for one in older if one.tier == "hot"]
    if not older:
        new = "all were stored in the last four days, which keeps what was sorted hot"
        return Check("tiers", "ok", f"{told}; {new}")
    if len(hot) <= MOST_HOT * len(older):
        return Check("tiers", "ok", told)
    why, remedy = _why_hot(hot, service.clock(), sleep)
    is_trouble = remedy is not None and (len(older) >= FEW or sleep.is_late("tier"))
    status: Status = "warning" if is_trouble else "ok"
    return Check("tiers", status, f"{told}; {why}", remedy if is_trouble else None)


def _why_hot(hot: Sequence[Living], now: datetime, sleep: Sleep) -> tuple[str, str | None]:
    """Return why so many older memories are hot, and what helps; None if that is as it should
    be."""
    used = [one for one in hot if _last_use(one) > now - RECENTLY]
    if len(used) > len(hot) / 2:
        return (
            f"{len(used):,} of the hot ones were used in the last three days, by people or by a"
            " program",
            "they cool once nothing reads them for four days: kinmem list --sort used",
        )
    if sleep.is_late("tier"):
        return sleep.why("tier"), "kinmem sleep tier"
    reason, count = Counter(one.tier_reason for one in hot).most_common(1)[0]
    return f"{count:,} of them for the reason {reason}", HELPS.get(str(reason))


def _last_use(memory: Living) -> datetime:
    return max(filter(None, (memory.recalled_at, memory.content_updated_at)))


def _links(service: "Service", memories: Sequence[Memory], sleep: Sleep) -> Check:
    """Check for memories without links: not looked at yet, or with nothing to link them by."""
    linked = service.store.links.of([one.id for one in memories])
    told = f"{len(linked):,} of {len(memories):,} memories are linked with others"
    late = [one for one in memories if one.linked_at is None]
    if late and len(late) > len(memories) - len(linked) - len(late):
        why = f"{told}; {len(late):,} were never looked at: {sleep.why('link')}"
        return Check("links", "warning", why, "kinmem sleep tag link")
    if len(memories) < FEW or len(linked) > LEAST_LINKED * len(memories):
        return Check("links", "ok", told)
    why = f"{told}; the others name nobody and nothing that another one names"
    return Check("links", "warning", why, "link them by hand: kinmem update ID --link OTHER")


def _summaries(service: "Service", ids: Collection[str], sleep: Sleep) -> Check:
    """Check for long memories without an up-to-date summary."""
    missing = [id for id in service.store.summaries.due(MOST_READ) if id in ids]
    if not missing:
        count = len(service.store.summaries.of(ids))
        told = f"{many(count, 'memory is', 'memories are')} long enough to have one"
        return Check("summaries", "ok", told)
    told = (
        f"{len(missing):,} long memories have none of what they say now: {sleep.why('summaries')}"
    )
    return Check("summaries", "warning", told, "kinmem sleep summaries")


def _search(
    service: "Service", memories: Sequence[Memory], embedder: "Embedder | None"
) -> Iterator[Check]:
    """Check whether a sample of memories finds itself: by its words, then by its meaning."""
    apart = max(1, len(memories) // SAMPLE)
    sample = [one for one in memories[::apart] if content_words(one.content)][:SAMPLE]
    lost = [one for one in sample if one.id not in _by_words(service, one)]
    told = f"{len(sample) - len(lost)} of {len(sample)} memories are found by their own words"
    if lost:
        remedy = f"write it once more: kinmem update {lost[0].id} --content TEXT; report it as well"
        yield Check("search by words", "error", told, remedy)
    elif sample:
        yield Check("search by words", "ok", told)
    yield from _by_meaning(service, sample, embedder)


def _by_words(service: "Service", memory: Memory) -> Collection[str]:
    words = list(dict.fromkeys(content_words(memory.content)))[:WORDS]
    asked = Asked(words, None, "", 0, AMONG, AMONG)
    return service.store.index.search(asked, Filters()).matches


def _by_meaning(
    service: "Service", sample: Sequence[Memory], embedder: "Embedder | None"
) -> Iterator[Check]:
    """Check that the stored vectors find their memories, and that the model still makes the same
    ones."""
    name = service.stats().embedder
    vectors = service.store.index.first_vectors(name, [one.id for one in sample])
    if not vectors:
        return  # the check of the vectors explains that
    nearest = service.store.index.nearest_each(list(vectors.values()), name, NEAREST, Filters())
    found = [
        id for id, near in zip(vectors, nearest, strict=True) if id in {other for other, _ in near}
    ]
    told = f"{len(found)} of {len(vectors)} memories are found by their own vectors"
    again = f"make all vectors anew: kinmem reembed --drop {name}, then kinmem reembed"
    if len(found) < len(vectors):
        yield Check("search by meaning", "error", told, again)
        return
    other = _remade_otherwise(sample, vectors, embedder) if embedder else 0
    if other:
        told += f", but the model makes other vectors of {other} of their texts now"
        yield Check("search by meaning", "error", told, again)
        return
    yield Check("search by meaning", "ok", told)


def _remade_otherwise(
    sample: Sequence[Memory], vectors: Mapping[str, Vector], embedder: "Embedder"
) -> int:
    """Count the texts of a single chunk for which the model now makes a different vector."""
    parts = {one.id: len(chunks_of(one.content, embedder)) for one in sample}
    whole = [one for one in sample if one.id in vectors and parts[one.id] == 1]
    made = embedder.embed([in_first_person(one.content) for one in whole]) if whole else ()
    other = [one for one, v in zip(whole, made, strict=True) if float(v @ vectors[one.id]) < SAME]
    # Versions before 2 embedded "the user ..." unchanged.
    made = embedder.embed([one.content for one in other]) if other else ()
    return sum(float(v @ vectors[one.id]) < SAME for one, v in zip(other, made, strict=True))


def _is_since_edit(at: datetime | None, memory: Memory) -> bool:
    return at is not None and at >= memory.content_updated_at
