"""Stage 5: everything but relevance. Writes each factor into the hit's reasons."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from kinmem.models import Candidate, Scored, Why
from kinmem.recall.formula import Formula
from kinmem.recall.profiles import Profile, Weighing
from kinmem.recall.question import Question
from kinmem.retention import Fading, retention, temporal_decay
from kinmem.settings import RecallSettings
from kinmem.text import folded, words

DAY = 86400.0

# Importance, age and use together move a score by a tenth at most: a clearly better match wins.
LEAST, MOST = 0.9, 1.1
STALE = 0.8  # what has nearly faded; bounded as the rest where a profile is
MOST_USE = 1.2  # popularity must not feed itself

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
    question: Question,
    profile: Profile,
    settings: RecallSettings,
    now: datetime,
) -> list[Scored]:
    """Best first, ties by age, oldest first. The score is what `total` makes of the reasons."""
    weighing = WEIGHINGS[profile.weighing]
    weighed = []
    for one in scored:
        why = weighing(one, question, profile, settings, now)
        if one.candidate.state == "stale" and profile.weighing != "bounded":
            why["xstale"] = STALE
        weighed.append(Scored(one.candidate, total(why), why))
    return sorted(weighed, key=lambda one: (-one.score, one.candidate.id))


def total(why: Why) -> float:
    """The score that reasons explain: the sum of the + parts times the product of the x parts."""
    parts, factor = 0.0, 1.0
    for name, value in why.items():
        if name[0] == "+":
            parts += value
        elif name[0] == "x":
            factor *= value
    return parts * factor


def _bounded(
    one: Scored, question: Question, profile: Profile, settings: RecallSettings, now: datetime
) -> Why:
    candidate, why, formula = one.candidate, dict(one.why), profile.formula
    gate = min(1.0, max(0.0, one.score / formula.gate)) if formula.gate else 1.0
    for name, bonus in _bonuses(candidate, question, formula):
        why[name] = bonus * gate
    worth = (_importance(candidate) * _use(candidate)) ** formula.worth
    worth *= _decay(candidate, settings, now) ** formula.age
    if candidate.state == "stale":
        worth *= STALE
    why["xworth"] = min(MOST, max(LEAST, worth))
    return why


def _bonuses(candidate: Candidate, question: Question, formula: Formula) -> list[tuple[str, float]]:
    evidence = formula.evidence * candidate.evidence
    bonuses = [("+evidence", evidence)] if evidence else []
    if candidate.speaker in (None, "user") and question.of_user:
        bonuses.append(("+not by an assistant", formula.by_user))
    if len(question.named) == 1 and _is_about(candidate, question.named):
        bonuses.append(("+named", formula.named))
    if question.when is not None and question.when.holds(datetime.fromisoformat(candidate.said_at)):
        bonuses.append(("+then", formula.then))
    return bonuses


def _is_about(candidate: Candidate, named: frozenset[str]) -> bool:
    """Said by, or about, or shared by the one that the question names."""
    who = (
        candidate.speaker,
        candidate.subject,
        candidate.kin if candidate.scope == "shared" else None,
    )
    return any(name is not None and folded(name) in named for name in who)


def _kinbot(
    one: Scored, question: Question, profile: Profile, settings: RecallSettings, now: datetime
) -> Why:
    candidate, why = one.candidate, dict(one.why)
    age = _days(candidate.content_updated_at, now)
    why["xdecay"] = _decay(candidate, settings, now)
    why["ximportance"] = _importance(candidate)
    why["xuse"] = 1 + 0.05 * math.log2(1 + candidate.recalled_count)
    if candidate.subject and _mentions(question.text, candidate.subject):
        why["xsubject"] = settings.subject_boost
    asked = ASKED_FOR.get(candidate.category)
    if asked is not None and asked.search(question.text):
        why["xcategory"] = settings.category_boost
    if settings.recency_boost:
        why["xrecency"] = _recency_step(age)
    return why


def _kore(
    one: Scored, question: Question, profile: Profile, settings: RecallSettings, now: datetime
) -> Why:
    why = dict(one.why)
    level = math.ceil((one.candidate.importance or 5.0) / 2)
    why["xretention"] = _retention(one.candidate, profile, now)
    why["ximportance"] = level / 5
    return why


def _linear(
    one: Scored, question: Question, profile: Profile, settings: RecallSettings, now: datetime
) -> Why:
    """Keyoku's sum of signals, each between 0 and 1; relevance stands for the semantic one."""
    candidate = one.candidate
    idle = _days(candidate.recalled_at or candidate.content_updated_at, now)
    signals = {
        "semantic": min(1.0, max(0.0, one.score)),
        "recency": 1 / (1 + math.log1p(idle)),
        "retention": _retention(candidate, profile, now),
        "importance": (5.0 if candidate.importance is None else candidate.importance) / 10,
        "confidence": candidate.confidence,
    }
    why = {name.lstrip("+"): value for name, value in one.why.items()}
    return why | {f"+{name}": share * signals[name] for name, share in profile.shares.items()}


WEIGHINGS: Mapping[
    Weighing, Callable[[Scored, Question, Profile, RecallSettings, datetime], Why]
] = {"bounded": _bounded, "kinbot": _kinbot, "kore": _kore, "linear": _linear}


def _importance(candidate: Candidate) -> float:
    return 0.5 + (5.0 if candidate.importance is None else candidate.importance) / 10


def _decay(candidate: Candidate, settings: RecallSettings, now: datetime) -> float:
    """KinBot's temporal decay: by category, slower the more important, never below the floor."""
    age = _days(candidate.content_updated_at, now)
    worth, speed = candidate.importance, settings.decay_lambda
    return temporal_decay(candidate.category, worth, age, speed, settings.decay_floor)


def _use(candidate: Candidate) -> float:
    return min(MOST_USE, 1 + 0.05 * math.log2(1 + candidate.recalled_count))


def _retention(candidate: Candidate, profile: Profile, now: datetime) -> float:
    idle = _days(candidate.recalled_at or candidate.content_updated_at, now)
    fading = Fading(candidate.category, candidate.importance, candidate.recalled_count, idle)
    return retention(fading, profile.curve)


def _recency_step(days: float) -> float:
    return 1.5 if days <= 1 else 1.25 if days <= 7 else 1.1 if days <= 30 else 1.0


def _mentions(question: str, subject: str) -> bool:
    """Whole words, without regard to case and accents: "Al" is not in "also"."""
    asked, wanted = " ".join(words(folded(question))), " ".join(words(folded(subject)))
    return bool(wanted) and f" {wanted} " in f" {asked} "


def _days(then: str, now: datetime) -> float:
    """Never negative: a clock that was wrong must not make anything younger than new."""
    return max(0.0, (now - datetime.fromisoformat(then)).total_seconds() / DAY)
