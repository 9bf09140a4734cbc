"""A step of upkeep: merge close memories.

Joining runs after every turn: if the judge finds that two memories say the same, one supersedes the
other. Nothing is rewritten or erased: the other memory is found through the one that stays, and
comes back when the step is undone. Consolidating lets a model write the text; a proof decides
whether it is used. The same step lets what was learned alike in several projects hold everywhere.
"""

import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import tzinfo
from hashlib import sha256
from itertools import combinations
from typing import Literal

from pydantic import BaseModel

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, ModelError
from kinmem.language import Ladder, Pair, normalised, sentences, unproved
from kinmem.learn.occasion import may_be_one
from kinmem.llm.base import ChatModel, Embedder
from kinmem.llm.naming import RULES, Naming
from kinmem.llm.prompts import render, today
from kinmem.llm.relating import LONGEST, SAME, Relating
from kinmem.models import CATEGORIES, LIVE, Category, Memory
from kinmem.models.places import compare_places, name_of
from kinmem.settings import Settings
from kinmem.store.base import Jobs, Store
from kinmem.text import folded
from kinmem.upkeep.candidates import Candidates
from kinmem.upkeep.groups import Group, day_of, weightiest
from kinmem.upkeep.merge import Merge, Wording, fits, stated
from kinmem.upkeep.steps import UNLIMITED, Budget, change_all
from kinmem.validation import checked_subject

logger = logging.getLogger(__name__)
STEP = "consolidate"
# Model calls a day for each memory that a run may make; most groups are kept apart.
ASKED = 6
# Failures in a row after which the model counts as unavailable; a single one may be due to the
# group.
PATIENCE = 2


class Merged(BaseModel):
    """The model's answer about a group."""

    abort: bool = False
    content: str = ""
    category: str = ""
    subject: str | None = None
    importance: float | None = None
    """Not used: the merged memory gets the highest importance of its sources."""
    superseded: list[str] = []


def consolidate(
    store: Store,
    embedder: Embedder,
    model: ChatModel,
    settings: Settings,
    clock: Clock,
    counts: Counter[str],
    budget: Budget = UNLIMITED,
    naming: Naming = RULES,
) -> None:
    """Merge at most settings.upkeep.consolidation_max groups.

    Adds to `counts`: merged, aborted (by the model), refused (by the proof), known (already),
    changed (in the meantime), failed, and read and left as in Candidates.counted. A group that was
    aborted or refused is never offered again; one that the model failed to answer three times, only
    once its texts are others. A dry run counts groups. Raises ModelError if the model or the
    embedder is unavailable; what was merged before stays merged, and counted.
    """
    limits, zone = settings.upkeep, settings.general.zone
    most = limits.consolidation_max
    if most == 0:
        return
    ask = Ask(model, embedder, clock, zone, Calls(store.jobs, ASKED * most, clock, zone))
    merge = Merge(store, embedder, STEP, clock, zone, naming)
    close = limits.consolidation_similarity
    close = embedder.calibration.cluster if close is None else close
    candidates = Candidates(
        store, embedder, close, STEP, zone, may_be_one=lambda a, b: not Pair(a, b).are_counterparts
    )
    if budget.dry_run:
        counts["groups"] += candidates.waiting()
        return

    def is_enough() -> bool:
        done = candidates.outcomes
        return done["merged"] == most or ask.is_enough or budget.is_over()

    if is_enough():
        return
    with candidates.counted(counts):
        _merge_all(candidates, ask, merge, is_enough)


def _merge_all(
    candidates: Candidates, ask: "Ask", merge: Merge, is_enough: Callable[[], bool]
) -> None:
    """Merge group by group. Raises the last failure, if no success came after it."""
    failures: list[ModelError] = []
    for group in candidates:
        try:
            outcome = ask(group)
            candidates.settled(
                group, merge(group, outcome) if isinstance(outcome, Wording) else outcome
            )
            failures.clear()
        except ModelError as error:
            candidates.failed(group, is_to_blame=not error.retry)
            failures.append(error)
        if len(failures) == PATIENCE or is_enough():
            break
    if failures:
        raise failures[-1]


class Calls:
    """Counts the model calls of a day; stored with the jobs."""

    def __init__(self, jobs: Jobs, most: int, clock: Clock, zone: tzinfo) -> None:
        self._jobs = jobs
        self._most = most
        self._name = f"{STEP} calls {clock().astimezone(zone):%Y-%m-%d}"

    @property
    def are_over(self) -> bool:
        """Whether the day's calls are used up."""
        return self._jobs.mark(self._name) >= self._most

    def count(self) -> None:
        """Count one more."""
        self._jobs.set_mark(self._name, self._jobs.mark(self._name) + 1)


class Ask:
    """Asks the model for a text that merges a group, and checks it."""

    def __init__(
        self, model: ChatModel, embedder: Embedder, clock: Clock, zone: tzinfo, calls: Calls
    ) -> None:
        self._calls = calls
        self._model = model
        self._embedder = embedder
        self._clock = clock
        self._zone = zone

    @property
    def is_enough(self) -> bool:
        """Whether the day's calls are used up."""
        return self._calls.are_over

    def __call__(self, group: Group) -> Wording | Literal["aborted", "refused"]:
        """Return the merged text. If the check finds problems, the model is asked once more."""
        sources = stated(group, self._zone)
        answer, problems = self._asked(group, sources, [])
        if problems:
            answer, problems = self._asked(group, sources, problems)
        if answer.abort or problems:
            logger.info("not merged: %s (%d problems)", sorted(group.ids), len(problems))
            return "aborted" if answer.abort else "refused"
        return Wording(
            answer.content, _category(answer, group), _subject(answer, group), self._model.name
        )

    def _asked(
        self, group: Group, sources: Sequence[str], problems: Sequence[str]
    ) -> tuple[Merged, list[str]]:
        """Return the answer, and why it cannot stand for the group."""
        pairs = zip(group.memories, sources, strict=True)
        lines = "\n".join(_line(memory, text, self._zone) for memory, text in pairs)
        known = "\n".join(problems) or "nothing yet"
        day = today(self._clock().astimezone(self._zone))
        prompt = render(STEP, today=day, memories=lines, problems=known)
        self._calls.count()
        answer = self._model.answer(prompt, Merged)
        return answer, [] if answer.abort else _problems(answer, sources, self._embedder)


def _line(memory: Memory, text: str, zone: tzinfo) -> str:
    day = day_of(memory, zone)
    fields = {
        "category": memory.category,
        "subject": memory.subject,
        "speaker": memory.speaker,
        "importance": memory.importance,
        "at": day.isoformat() if day else None,
        "text": text,
    }
    return json.dumps(fields, ensure_ascii=False)


def _problems(answer: Merged, sources: Sequence[str], embedder: Embedder) -> list[str]:
    """Return why this answer cannot stand for the group; empty if it can."""
    if not fits(answer.content, embedder):
        return ["the text is empty or too long; write one to three short sentences"]
    given_up = [text for text in answer.superseded if _gives_way(text, sources)]
    return unproved(answer.content, sources, given_up)


def _gives_way(statement: str, sources: Sequence[str]) -> bool:
    """Return whether a source says this, and a later source something that excludes it.

    Otherwise a model could leave out whatever it likes by calling it superseded.
    """
    wanted = normalised(statement)
    return any(
        wanted in {normalised(sentence) for sentence in sentences(source)}
        and any(
            Pair(statement, sentence).excludes and Pair(statement, sentence).veto is None
            for later in sources[at:]
            for sentence in sentences(later)
        )
        for at, source in enumerate(sources, start=1)
    )


def _category(answer: Merged, group: Group) -> Category:
    """Return the model's category if it exists, otherwise that of the most important source."""
    for category in CATEGORIES:
        if category == answer.category:
            return category
    return weightiest(group).category


def _subject(answer: Merged, group: Group) -> str | None:
    """Return the model's subject if a source has it, as spelled there; otherwise that of the most
    important source."""
    subjects = {folded(m.subject): m.subject for m in group.memories if m.subject}
    try:
        wanted = checked_subject(answer.subject)
    except InvalidInput:
        wanted = None
    own = weightiest(group).subject or next(iter(subjects.values()), None)
    return subjects.get(folded(wanted), own) if wanted else own


# What was learned alike in several projects holds everywhere: the oldest memory is detached from
# its project. The others stay as they are, so that if the statement ends in one project it still
# stands in those that have it themselves.
# Projects. Two may share a habit; if a third has it too, the statement was true wherever it
# occurred.
LEAST_PROJECTS = 3
EVERYWHERE = "everywhere"


def everywhere(store: Store, budget: Budget, counts: Counter[str]) -> None:
    """Let a statement that three projects have in the same words hold in all. Adds `everywhere` to
    `counts`. It is recorded in the history; once undone, it is not repeated."""
    if len(store.places()) < LEAST_PROJECTS:
        return
    changes = []
    for group in store.said_in_places(LEAST_PROJECTS):
        live = [memory for memory in group if memory.state in LIVE]
        projects = _projects_of(live)
        is_bound = all(memory.place for memory in live)
        if is_bound and len(projects) >= LEAST_PROJECTS and not _was_done(store, group):
            changes.append(
                (live[0], {"place": None}, f"learned alike in {_listed_projects(projects)}")
            )
    counts["everywhere"] += change_all(store, changes, EVERYWHERE, budget)


def _projects_of(memories: Sequence[Memory]) -> list[str]:
    """Return each project once, even if its repository was moved."""
    projects: list[str] = []
    for memory in memories:
        place = memory.place
        if place and all(compare_places(project, place) == "other" for project in projects):
            projects.append(place)
    return projects


def _was_done(store: Store, memories: Sequence[Memory]) -> bool:
    """Return whether one of them held everywhere before. Then somebody has undone that or forgotten
    the memory."""
    return any(
        event.action == EVERYWHERE for memory in memories for event in store.history(memory.id)
    )


def _listed_projects(places: Sequence[str]) -> str:
    *names, last = map(name_of, places)
    return f"{', '.join(names)} and {last}"


JOINING = "join"
# Pairs in one run, each in both directions, 3 to 6 ms a direction; the next run continues.
MOST_ASKED = 12


def join(
    store: Store,
    embedder: Embedder,
    relating: Relating,
    settings: Settings,
    clock: Clock,
    counts: Counter[str],
    budget: Budget,
    naming: Naming,
) -> None:
    """Ask the judge about pairs of which one memory is new; each pair of texts is asked about once.

    The memory that stays has every number, name and date of the other, and neither excludes the
    other; records of different days stay apart. Adds to `counts`: joined, asked. A dry run counts
    pairs. MEMORY_CONSOLIDATION_MAX_GEN = 0 switches it off.
    """
    if settings.upkeep.consolidation_max == 0:
        return
    zone, level = settings.general.zone, embedder.calibration
    related = Ladder.calibrated(level.noise, level.near, level.duplicate).related
    pairs = Pairs(store.jobs)
    fresh = Candidates(
        store, embedder, related, JOINING, zone, "consolidate", "compress", may_be_one=pairs.is_open
    )
    if budget.dry_run:
        counts["pairs"] += fresh.waiting()
        return
    merge = Merge(store, embedder, JOINING, clock, zone, naming)
    asked = 0
    for group in fresh:
        for pair in combinations(group.memories, 2):
            kept = _standing_for_both(pair, relating, zone)
            asked += 1
            counts["asked"] += 1
            texts = pair[0].content, pair[1].content
            if relating.of(*texts) is not None:  # otherwise the judge had no answer: ask again
                pairs.close(*texts)
            if kept is not None:
                wording = Wording(kept.content, kept.category, kept.subject)
                counts["joined"] += merge(Group(pair), wording) == "merged"
                break
        if asked >= MOST_ASKED or budget.is_over():
            break


class Pairs:
    """The texts that the judge was asked about; stored with the jobs."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def is_open(self, a: str, b: str) -> bool:
        """Return whether it is worth asking: no exact rule keeps them apart, and they were not
        asked about before."""
        if max(len(a), len(b)) > LONGEST:
            return False  # the judge would not answer
        return not self._jobs.mark(_name(a, b)) and (_may_hold(a, b) or _may_hold(b, a))

    def close(self, a: str, b: str) -> None:
        """Never ask about these texts again."""
        self._jobs.set_mark(_name(a, b), 1)


def _may_hold(known: str, new: str) -> bool:
    """Return whether the rules that need no model allow it."""
    return Pair(known, new).known_holds_all(lambda text: ())


def _name(a: str, b: str) -> str:
    texts = "\0".join(sorted((a, b)))
    return f"{JOINING} asked {sha256(texts.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _standing_for_both(pair: Sequence[Memory], relating: Relating, zone: tzinfo) -> Memory | None:
    """Return the memory that says everything; the weightier if both do. None if they stay apart."""
    group = Group(tuple(pair))
    earlier, later = pair
    if stated(group, zone) != [one.content for one in pair] or not may_be_one(earlier, later):
        return None
    whole = [
        one
        for one, other in ((earlier, later), (later, earlier))
        if relating.same(one.content, other.content) >= SAME
    ]
    if len(whole) == 1:
        return whole[0]
    return weightiest(group) if whole else None
