"""Stage 5: apply everything but relevance, and write each factor into the hit's reasons.

Standing instructions ("always show the unit") gain first, if they apply to the question. They are
recognised by what they are (llm/vectors.py), not by the wording of the question. The few that are
nearest to the question are added.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from typing import TYPE_CHECKING

from kinmem.language import Weight
from kinmem.models import Aside, Candidate, Found, Reasons, Scored, Vector
from kinmem.models.retention import Fading, retention, temporal_decay
from kinmem.recall.fuse import meaning as nearness
from kinmem.recall.profiles import Formula, Profile, Weighing
from kinmem.settings import RecallSettings
from kinmem.text import folded, words

if TYPE_CHECKING:
    from kinmem.llm.vectors import Axis
    from kinmem.recall.question import Question

DAY = 86400.0

# Importance, age and use together change a score by a tenth at most, so a clearly better match
# wins.
LEAST, MOST = 0.9, 1.1
# For what has nearly faded. In a bounded profile LEAST limits it like the rest.
STALE = 0.8
# Limits how much popularity can reinforce itself.
MOST_USE = 1.2
# For what belongs to another project: enough to decide between near equals, while a clearly better
# answer still comes first.
ELSEWHERE = 0.85
# For what only a tool has said, below DOUBTED, and for what others share and nobody has confirmed:
# what somebody told comes first, unless the other answers clearly better.
DOUBTFUL, OF_OTHERS = 0.8, 0.9
DOUBTED = 0.3

ASKED_FOR: Mapping[str, re.Pattern[str]] = {
    "preference": re.compile(
        r"\b(prefer\w*|likes?|loves?|enjoys?|favou?rites?|fond of|rather|taste|préf\w+|aime|adore"
        r"|favori|goût|plutôt)\b",
        re.IGNORECASE,
    ),
    "decision": re.compile(
        r"\b(decid\w+|decisions?|chose|chosen|choice|plan|planned|commit|agreed?|décid\w+|décision"
        r"|choix|choisi|planifié|convenu|engagé)\b",
        re.IGNORECASE,
    ),
    "knowledge": re.compile(
        r"\b(how (?:to|do|does|can)|explain|tutorial|guide|method|technique|process|comment faire"
        r"|tutoriel|méthode|procédé)\b",
        re.IGNORECASE,
    ),
}


def weigh(
    scored: Sequence[Scored],
    question: "Question",
    profile: Profile,
    settings: RecallSettings,
    now: datetime,
) -> list[Scored]:
    """Return the candidates best first, ties by age, oldest first. The score is the total of the
    reasons."""
    weighing = WEIGHINGS[profile.weighing]
    weighed = []
    for one in scored:
        reasons = weighing(one, question, profile, settings, now)
        if one.candidate.state == "stale" and profile.weighing != "bounded":
            reasons = reasons._replace(stale=STALE)
        weighed.append(Scored(one.candidate, reasons.total, reasons))
    return sorted(weighed, key=lambda one: (-one.score, one.candidate.id))


def lowered(
    scored: Sequence[Scored],
    here: Sequence[str] | None,
    kin: str,
    confirmed: Callable[[], Set[str]],
) -> list[Scored]:
    """Lower what belongs to another project, if the current one is known, and what is trusted less:
    by the way it came in, or because it is another Kin's and not `confirmed`. Sort again, best
    first."""
    known = confirmed() if any(one.candidate.kin != kin for one in scored) else frozenset[str]()
    found = []
    for one in scored:
        place, reasons = one.candidate.place, one.reasons
        if here is not None and place is not None and place not in here:
            reasons = reasons._replace(elsewhere=ELSEWHERE)
        if (trust := _trust_factor(one.candidate, kin, known)) < 1:
            reasons = reasons._replace(trust=trust)
        is_same = reasons is one.reasons
        found.append(one if is_same else Scored(one.candidate, reasons.total, reasons))
    return sorted(found, key=lambda one: (-one.score, one.candidate.id))


def _trust_factor(candidate: Candidate, kin: str, confirmed: Set[str]) -> float:
    factor = DOUBTFUL if candidate.trust < DOUBTED else 1.0
    is_of_others = candidate.kin != kin and candidate.id not in confirmed
    return factor * (OF_OTHERS if is_of_others else 1.0)


def _bounded(
    one: Scored, question: "Question", profile: Profile, settings: RecallSettings, now: datetime
) -> Reasons:
    candidate, formula = one.candidate, profile.formula
    gate = min(1.0, max(0.0, one.score / formula.gate)) if formula.gate else 1.0
    evidence = formula.evidence * candidate.evidence
    is_by_user = candidate.speaker in (None, "user") and question.of_user
    is_about = len(question.named) == 1 and _is_about(candidate, question.named)
    when = question.when
    was_then = when is not None and when.holds(datetime.fromisoformat(candidate.said_at))
    worth = (_importance(candidate) * _use(candidate)) ** formula.worth
    worth *= _decay(candidate, settings, now) ** formula.age
    if candidate.state == "stale":
        worth *= STALE
    return one.reasons._replace(
        evidence=evidence * gate if evidence else None,
        not_by_assistant=formula.by_user * gate if is_by_user else None,
        named=formula.named * gate if is_about else None,
        then=formula.then * gate if was_then else None,
        worth=min(MOST, max(LEAST, worth)),
    )


def _is_about(candidate: Candidate, named: frozenset[str]) -> bool:
    """Return whether the named person said it, is its subject, or shared it."""
    who = (
        candidate.speaker,
        candidate.subject,
        candidate.kin if candidate.scope == "shared" else None,
    )
    return any(name is not None and folded(name) in named for name in who)


def _kinbot(
    one: Scored, question: "Question", profile: Profile, settings: RecallSettings, now: datetime
) -> Reasons:
    candidate = one.candidate
    is_subject = candidate.subject and _mentions(question.text, candidate.subject)
    asked = ASKED_FOR.get(candidate.category)
    is_category = asked is not None and asked.search(question.text)
    age = _days(candidate.content_updated_at, now)
    return one.reasons._replace(
        decay=_decay(candidate, settings, now),
        times_importance=_importance(candidate),
        use=1 + 0.05 * math.log2(1 + candidate.recalled_count),
        subject=settings.subject_boost if is_subject else None,
        category=settings.category_boost if is_category else None,
        times_recency=_recency_step(age) if settings.recency_boost else None,
    )


def _kore(
    one: Scored, question: "Question", profile: Profile, settings: RecallSettings, now: datetime
) -> Reasons:
    level = math.ceil((one.candidate.importance or 5.0) / 2)
    faded = _retention(one.candidate, profile, now)
    return one.reasons._replace(times_retention=faded, times_importance=level / 5)


def _linear(
    one: Scored, question: "Question", profile: Profile, settings: RecallSettings, now: datetime
) -> Reasons:
    """Keyoku's weighted sum of signals, each between 0 and 1; relevance serves as the semantic
    signal."""
    candidate = one.candidate
    idle = _days(candidate.recalled_at or candidate.content_updated_at, now)
    signals = {
        "semantic": min(1.0, max(0.0, one.score)),
        "recency": 1 / (1 + math.log1p(idle)),
        "retention": _retention(candidate, profile, now),
        "importance": (5.0 if candidate.importance is None else candidate.importance) / 10,
        "confidence": candidate.confidence,
    }
    weighed = {name: share * signals[name] for name, share in profile.shares.items()}
    return one.reasons._replace(**weighed)


WEIGHINGS: Mapping[
    Weighing, Callable[[Scored, "Question", Profile, RecallSettings, datetime], Reasons]
] = {"bounded": _bounded, "kinbot": _kinbot, "kore": _kore, "linear": _linear}


def _importance(candidate: Candidate) -> float:
    return 0.5 + (5.0 if candidate.importance is None else candidate.importance) / 10


def _decay(candidate: Candidate, settings: RecallSettings, now: datetime) -> float:
    """KinBot's temporal decay: depends on the category, is slower the more important the memory is,
    and never falls below the floor."""
    age = _days(candidate.content_updated_at, now)
    worth, speed = candidate.importance, settings.decay_lambda
    return temporal_decay(candidate.category, worth, age, speed, settings.decay_floor)


def _use(candidate: Candidate) -> float:
    if not candidate.recalled_count:
        return 1.0
    return min(MOST_USE, 1 + 0.05 * math.log2(1 + candidate.recalled_count))


def _retention(candidate: Candidate, profile: Profile, now: datetime) -> float:
    idle = _days(candidate.recalled_at or candidate.content_updated_at, now)
    fading = Fading(candidate.category, candidate.importance, candidate.recalled_count, idle)
    return retention(fading, profile.curve)


def _recency_step(days: float) -> float:
    return 1.5 if days <= 1 else 1.25 if days <= 7 else 1.1 if days <= 30 else 1.0


def _mentions(question: str, subject: str) -> bool:
    """Return whether the question has the subject's words, ignoring case and accents: "Al" is not
    in "also"."""
    asked, wanted = " ".join(words(folded(question))), " ".join(words(folded(subject)))
    return bool(wanted) and f" {wanted} " in f" {asked} "


def _days(then: str, now: datetime) -> float:
    """Return the days between; never negative, since a wrong clock must not make a memory younger
    than new."""
    return max(0.0, (now - datetime.fromisoformat(then)).total_seconds() / DAY)


# How far the question's vector is moved towards the orders to find those near it.
TOWARDS_ORDERS = 0.8
# Memories that are examined.
EXAMINED = 30
# Most instructions that one question adds.
MOST_INSTRUCTIONS = 5
# Degree from which a memory counts as an order though kinmem has not classified it as a preference,
# which it does with 28 of 30 instructions. A lower one takes plain facts for orders: from 0.3 on,
# 26 % of 200 English ones (tests/corpora/told.jsonl), 40 % of 90 German and 55 % of 73 Portuguese
# ones (training/places); from 0.8 on, 3 %, 9 % and 1 %.
SURELY_ORDER = 0.8
# Degree from which an order counts fully: nearness to the question says more than the degree.
WHOLLY_ORDER = 0.4
# Degree that a preference has at least, if it has any.
PREFERENCE = 0.3
# Speakers whose orders count. What people tell each other to do in a conversation is no
# instruction.
BY_USER = (None, "user")
# Nearness of an order that is not near at all: some apply whatever is asked.
LEAST_NEARNESS = 0.05


def looked_for(vector: Vector, orders: "Axis | None", profile: Profile) -> Aside | None:
    """Return the search for memories that may be orders and lie from the question in their
    direction.

    None if the profile does not count orders or there is no axis, because the embedder was not
    measured: then instructions are recognised by their words alone.
    """
    if orders is None or profile.weighing != "bounded" or profile.formula.standing_wish == 0:
        return None
    return Aside(orders.towards(vector, TOWARDS_ORDERS), EXAMINED, orders.degree)


def instructed(scored: Sequence[Scored], found: Found, formula: Formula) -> list[Scored]:
    """Add `+standing wish` to the instruction, recognised by its words, that the question is most
    about. The bonus fades below formula.gate as other bonuses do."""
    known = {one.candidate.id: one for one in scored}
    for candidate in instructions_in(found, formula):
        one = known.get(candidate.id)
        if one is not None and Weight(candidate.content).is_standing(candidate.speaker):
            gate = min(1.0, max(0.0, one.score / formula.gate)) if formula.gate else 1.0
            gain = formula.standing_wish * gate
            reasons = one.reasons._replace(standing_wish=gain)
            known[candidate.id] = Scored(candidate, one.score + gain, reasons)
            break
    return list(known.values())


def instructions_in(found: Found, formula: Formula) -> list[Candidate]:
    """Return the instructions, those that the question is most about first."""
    worth: dict[str, float] = {}
    orders: list[Candidate] = []
    for candidate in found.candidates:
        degree = _degree_of_order(candidate, found.degrees)
        if degree > 0:
            near = max(nearness(found.cosines.get(candidate.id, [0.0]), formula), LEAST_NEARNESS)
            worth[candidate.id] = near * math.sqrt(min(1.0, degree / WHOLLY_ORDER))
            orders.append(candidate)
    return sorted(orders, key=lambda one: -worth[one.id])


def _degree_of_order(candidate: Candidate, degrees: Mapping[str, float]) -> float:
    """Return the degree to which it is an order, by its words, its category and its vector; 0 if it
    is likelier to be a statement."""
    if Weight(candidate.content).is_standing(candidate.speaker):
        return 1.0
    degree = degrees.get(candidate.id, 0.0) if candidate.speaker in BY_USER else 0.0
    if degree and candidate.category == "preference":
        return max(degree, PREFERENCE)
    return degree if degree >= SURELY_ORDER else 0.0
