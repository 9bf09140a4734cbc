"""What each part of recall is worth: one at a time is left out, or put where it was not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

import numpy as np

from benchmarks.asking import Score, told
from benchmarks.baselines import Remembering
from benchmarks.data import Conversation, data_sets, own_set
from benchmarks.report import Row, Table, Target
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder

RESAMPLES = 1000
SEED = 9
AS_SHIPPED = "as shipped"


@dataclass(frozen=True)
class Part:
    """A way of recall that differs in one thing."""

    name: str
    formula: Mapping[str, float] = field(default_factory=dict)
    """See kinmem.recall.profiles.Formula."""
    variables: Mapping[str, object] = field(default_factory=dict)
    """Settings."""


def _without(name: str, **formula: float) -> Part:
    return Part(name, formula=formula)


def _set(**variables: object) -> Part:
    told = [f"{variable}={str(value).lower()}" for variable, value in variables.items()]
    return Part(" ".join(told), variables=variables)


PARTS = (
    _without("words count nothing", words=0),
    _without("words 0.2 instead of 0.3", words=0.2),
    _without("words 0.4", words=0.4),
    Part("ranks fused instead of scores", variables={"MEMORY_FUSION": "rrf"}),
    _without("no gain from neighbours", neighbours=0),
    _without("no gain for answers", answers=0),
    _without("neither", neighbours=0, answers=0),
    _without("no bonus for the one named", named=0),
    _without("no bonus for the user's words", by_user=0),
    _without("no bonus for standing wishes", standing_wish=0),
    _without("no bonus for the time named", then=0),
    _without("no evidence bonus", evidence=0),
    _without("bonuses do not fade", gate=0),
    _without("importance and use count nothing", worth=0),
    _without("best part only", first_part=0, per_ln_parts=0),
    _without("first part 0.5 instead of 0.7", first_part=0.5),
    _without("first part only", first_part=1, per_ln_parts=0),
    _without("further parts cost nothing", per_ln_parts=0),
    _without("names and phrases embedded", without_names=False, without_phrases=False),
    _without("names embedded", without_names=False),
    _without("phrases about the asking embedded", without_phrases=False),
    _without("words about the asking searched", without_asking_words=False),
    _without("stop words searched", without_stop_words=False),
    _without("source context not searched", context=0),
    _without("100 nearest instead of 50", nearest=100),
    _without("50 by words instead of 100", matching=50),
    _without("100 word ranks instead of 200", listed=100),
    Part("no adaptive K", variables={"MEMORY_ADAPTIVE_K": False}),
    Part("no abstention", variables={"KINMEM_ABSTAIN": False}),
)
PROFILES = tuple(
    _set(MEMORY_RANKING_PROFILE=name)
    for name in (
        *("kinbot", "kore"),
        *("recent", "important", "historical", "comprehensive", "balanced"),
    )
)
KINBOT = {"MEMORY_RANKING_PROFILE": "kinbot"}
SETTINGS = (
    *(_set(MEMORY_SIMILARITY_THRESHOLD=bar) for bar in (0.0, 0.3, 0.5, 0.7)),
    *(_set(MEMORY_MAX_RELEVANT=limit) for limit in (5, 20)),
    *(_set(MEMORY_ADAPTIVE_K_MIN_SCORE_RATIO=share) for share in (0.0, 0.5, 0.7)),
    _set(MEMORY_ADAPTIVE_K=False),
    _set(MEMORY_FUSION="rrf"),
    *(_set(MEMORY_FUSION="rrf", MEMORY_FTS_BOOST=boost) for boost in (0.5, 1.5, 3.0)),
    *(_set(MEMORY_FUSION="rrf", MEMORY_RRF_K=k) for k in (10, 200)),
    _set(**KINBOT),
    *(_set(**KINBOT, MEMORY_FTS_BOOST=boost) for boost in (0.5, 1.5)),
    _set(**KINBOT, MEMORY_SUBJECT_BOOST=1, MEMORY_CATEGORY_BOOST=1),
)
AGES = (
    _without("age counts nothing", age=0),
    _without("age 0.25 instead of 0.02", age=0.25),
    *(_set(MEMORY_TEMPORAL_DECAY_LAMBDA=speed) for speed in (0, 0.1)),
    _set(**KINBOT),
    _set(**KINBOT, MEMORY_TEMPORAL_DECAY_LAMBDA=0),
    _set(**KINBOT, MEMORY_RECENCY_BOOST=False),
    _set(**KINBOT, MEMORY_TEMPORAL_DECAY_LAMBDA=0, MEMORY_RECENCY_BOOST=False),
    _set(MEMORY_RANKING_PROFILE="recent"),
)
"""What depends on age: asked of memories that were stored when they were said."""


@dataclass(frozen=True)
class Change:
    """What leaving a part out does to one measure on one set, in hundredths."""

    mean: float
    least: float
    most: float
    """Between them 95 of 100 resamplings of the questions."""

    @property
    def verdict(self) -> int:
        """-1: certainly worse without it; 1: certainly better; 0: who knows."""
        return -1 if self.most < 0 else 1 if self.least > 0 else 0

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ({self.least:+.1f} to {self.most:+.1f})"


Scores = Mapping[str, list[list[Score]]]
"""By part: of each conversation, in order, a score for each question."""


def measure(
    short: bool, embedders: Sequence[Embedder] | None = None
) -> tuple[list[Table], list[Target]]:
    """Parts, profiles and settings for the built-in model, or those given."""
    sets = own_set() if short else data_sets()
    tables = []
    for embedder in embedders or [BuiltinEmbedder()]:
        known = Remembering(embedder)
        parts = (Part(AS_SHIPPED), *PARTS, *PROFILES, *SETTINGS)
        found = {name: scores(parts, talks, known) for name, talks in sets.items()}
        by_age = (Part(AS_SHIPPED), *AGES)
        aged = {
            name: scores(by_age, talks, known, as_it_happened=True) for name, talks in sets.items()
        }
        tables += [
            table(f"What each part is worth, {embedder.name}", PARTS, found),
            table(f"Profiles, {embedder.name}", PROFILES, found),
            table(f"Settings, {embedder.name}", SETTINGS, found),
            table(f"Settings that depend on age, {embedder.name}", AGES, aged),
        ]
    return tables, []


def scores(
    parts: Sequence[Part],
    conversations: Sequence[Conversation],
    embedder: Embedder,
    *,
    as_it_happened: bool = False,
) -> Scores:
    """Every question asked with each of the parts changed."""
    found: dict[str, list[list[Score]]] = {part.name: [] for part in parts}
    for conversation in conversations:
        with told(conversation, embedder, as_it_happened=as_it_happened) as kin:
            for name, part in {part.name: part for part in parts}.items():
                found[name].append(kin.scores(part.formula, part.variables))
    return found


def change(plain: Sequence[float], other: Sequence[float]) -> Change:
    """How the mean of the same questions changes."""
    differences = 100 * (np.array(other) - np.array(plain))
    chance = np.random.default_rng(SEED)
    rows = chance.integers(len(differences), size=(RESAMPLES, len(differences)))
    least, most = np.percentile(differences[rows].mean(axis=1), [2.5, 97.5])
    return Change(float(differences.mean()), float(least), float(most))


def verdict(changes: Sequence[Change]) -> str:
    """Of a part, by what leaving it out does to all measures on all sets."""
    said = {one.verdict for one in changes} - {0}
    return {frozenset({-1}): "worse", frozenset({1}): "better", frozenset(): ""}.get(
        frozenset(said), "worse and better"
    )


def table(title: str, parts: Sequence[Part], sets: Mapping[str, Scores]) -> Table:
    """A row for each part; `sets`: by name what `scores` gave, AS_SHIPPED included."""
    rows: list[Row] = []
    for part in (Part(AS_SHIPPED), *parts):
        cells: list[str] = []
        changes: list[Change] = []
        for found in sets.values():
            plain, other = _columns(found[AS_SHIPPED]), _columns(found[part.name])
            cells.append(" / ".join(f"{100 * mean(column):.1f}" for column in other[:2]))
            changed = [change(*pair) for pair in zip(plain[:2], other[:2], strict=True)]
            cells += [*map(str, changed)] if part.name != AS_SHIPPED else ["", ""]
            cells.append(f"{mean(map(len, other[2])):.1f}")
            changes += changed
        counted = _conversations(part, sets) if part.name != AS_SHIPPED else ""
        rows.append((part.name, *cells, counted, verdict(changes)))
    each = ("R@10 / nDCG@10", "change of R@10", "of nDCG@10", "hits")
    columns = ["", *(f"{name}: {what}" for name in sets for what in each)]
    note = (
        "In hundredths. In brackets: between these the change lies for 95 of 100 resamplings of the"
        " questions. Conversations: in how many nDCG@10 falls / rises. Recall and nDCG are of what"
        " is returned, where MEMORY_MAX_RELEVANT is not 10."
    )
    return Table(title, (*columns, "conversations", "certainly"), rows, note)


def _conversations(part: Part, sets: Mapping[str, Scores]) -> str:
    """In how many nDCG falls, and in how many it rises."""
    changes = [
        mean(score.ndcg for score in other) - mean(score.ndcg for score in plain)
        for found in sets.values()
        for plain, other in zip(found[AS_SHIPPED], found[part.name], strict=True)
    ]
    return f"{sum(one < 0 for one in changes)} / {sum(one > 0 for one in changes)}"


def _columns(scores: Sequence[Sequence[Score]]) -> list[tuple[Any, ...]]:
    return list(zip(*(score for part in scores for score in part), strict=True))
