"""Stage 8: estimate how likely each hit is to answer the question, whether any of them does, and
which are to come first.

The estimate is a logistic regression over twelve features, fitted to our own questions, half of
which have no answer. If the judge has read a hit, its verdict is combined with the estimate
(benchmarks/fit_confidence.py prints the constants; docs/benchmarks.md has the measurements).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from kinmem.language import TIMES, answer_test, only_asks
from kinmem.models import TURN, Candidate, Found, Hit, Reasons, Scored, State
from kinmem.settings import RecallSettings
from kinmem.text import content_words, language_of, words

if TYPE_CHECKING:
    from kinmem.recall.question import Question

# Words are compared by their first letters: roughly what a stemmer would leave of most of them.
BEGINNING = 8
ENDINGS = ("ing", "ed", "es", "s")
# Letters from which a German word counts as a compound, and letters at its end that name the thing.
COMPOUND, TAIL = 10, 7
# Stems up to this length occur inside other words, so they must stand at the start of one.
SHORT = 4
# Characters of a text. A longer one is likely to contain some number or name anyway.
READ = 600
# Number of candidates from which the rarity of a word in this store is estimated, and the
# characters read of each.
COUNTED, HEAD = 60, 200
# Characters of a source context by which the turn it quotes is recognised.
QUOTED = 40
INNER_CAPITAL = re.compile(r"(?<=[\w,;’'\"] )[^\W\d_a-zß-ÿ][\w-]*")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)+|\d\d+")
YEAR = re.compile(r"(?:19|20)\d\d")
# Words that ask for a measure. No answer repeats them.
HOW = re.compile(
    r"\bhow (much|many|long|old|far|tall|high|big|large|heavy|often|late|fast)\b"
    r"|\b(wie|viele?|lange?|hoch|alt|weit|oft|gross|groß|teuer)\b"
    r"|\b(combien|cu[aá]nt[oa]s?|quant[oaie]s?)\b",
    re.IGNORECASE,
)


class Evidence(NamedTuple):
    """The features of a hit. Shares are 0 to 1, weighted by how rare a word is in this store."""

    nearness: float
    """The hit's cosine: 0 at the embedder's noise, 1 where texts are about the same thing."""
    behind: float
    """How much nearer the nearest candidate is, in the same unit."""
    share: float
    """Share of the question's words that the hit has."""
    rarest: float
    """Share of the rarest word that it lacks: often the one thing that the question is about."""
    around: float
    """Share of the words that only its source context has."""
    unknown: float
    """Share of the words that none of the first COUNTED candidates has."""
    match: float
    """Its BM25 as a fraction of the best one."""
    unnamed: float
    """Share of the names in the question that it does not mention."""
    unnumbered: float
    """1 if it lacks a number of the question; dates do not count."""
    untimely: float
    """1 if it was said or happened outside the time that the question names."""
    lacking: float
    """1 if it holds no answer of the kind asked for: no number, no name, no colour."""
    turn: float
    """1 if the hits are turns of one conversation, where an answer is worded for its neighbours."""


class Weights(NamedTuple):
    """How much each feature adds to the log odds."""

    constant: float
    each: Evidence


# Fitted by benchmarks/fit_confidence.py on the half of our own questions that was not held back.
BY_MEANING = Weights(
    -3.0, Evidence(5.93, -4.74, 0.35, -2.76, 1.39, 1.21, -0.21, -1.11, -4.3, -0.7, -2.44, 1.08)
)
# The same without cosines, or with cosines of a model whose scale was not measured.
BY_WORDS = Weights(
    -3.54,
    Evidence(0.0, 0.0, 4.87, -1.99, 1.35, 1.79, -0.21, -1.45, -4.57, -1.61, -2.52, 0.62),
)


class Read(NamedTuple):
    """How much the features and the judge's verdict add to the log odds."""

    constant: float
    evidence: float
    than_about: float
    """Weight of the log odds that the hit answers rather than being about the same thing."""
    than_unrelated: float


# Fitted as above, and to 48 circles of statements with 288 untidy questions.
READ_BY_MEANING = Read(0.08, 0.96, 0.36, 0.31)
READ_BY_WORDS = Read(-0.91, 0.66, 0.27, 0.59)
# Fraction of the bar that applies once the judge has read a hit. Of 579 English questions with an
# answer (our own, of circles, worlds and talks) 2.2 % go unanswered, of 1,340 without one 37 % are
# known; at .6 1.9 and 30 %.
IF_READ = 0.8
# The same for questions that are not English: of 216 with an answer four go unanswered, of 156
# without one 45 are known; at .8 six and 62.
IF_READ_ELSEWHERE = 0.6
LEAST_CHANCE = 1e-4
# Fraction of the bar that applies if the features say little and the judge has read nothing. In
# what was learned from talk the matching words often stand beside the answer (the whole bar would
# cost 1.4 points of recall@10 on LoCoMo), and words alone match no paraphrase. Weights fitted to
# English withhold two of eight answers in German.
SHARE_IF_WEAK = 0.2
# Fraction of the bar for what was said in conversations, which the judge does not read. What falls
# below it is shown as weak. Of LoCoMo's and BEAM's questions 1.6 % fall below, of questions about
# another of their conversations 34 and 14 % (at .2 none and none; at 3.0 2.4 %, 55 and 22 %).
OF_TURNS = 2.0
# Up to this bar; a higher setting counts as it is.
MOST_OF_TURNS = 0.5
# A hit that is this many times less likely than the bar only fills the list. That holds for one of
# our 304 answers and for two of five other hits; among turns and by words alone it would hold for
# too many answers.
FILLER = 4
# Most words of a question that is a mere list of keywords.
CALLED = 3
# Least letters of a keyword that may match the beginning of a word.
LEAST_CALLED = 3
QUESTION_MARKS = ("?", "？")
# Most hits below the bar that are shown.
WEAK = 5
# Power of the chance by which a score is multiplied, if the judge has read the hits. Of 254
# questions about 22 worlds of memories the first hit answers 90.9 % instead of 88.2 (nDCG@10 94.7,
# was 93.7), of 80 hard ones about what was learned in ten talks 34 instead of 27. Powers from .2 to
# 1 do about as much. Where the judge reads nothing, among turns of talk, the order would be worse
# (LoCoMo 62.4 instead of 68.4): the features alone do not tell how well each answers.
POWER = 0.5
# Reranker score, 0 to 1, from which a hit may be an answer.
FITTING = 0.3


def judge(
    hits: Sequence[Scored], question: "Question", found: Found, settings: RecallSettings
) -> tuple[list[float], bool, float]:
    """Return each hit's chance of answering (0 to 1), whether recall abstains because even the best
    is too unlikely, and the least chance with which a hit may stand beside a likely one.

    Recall never abstains if a hit was said at the time asked for, comes from a model's wording, was
    accepted by the reranker, has all the words of a keyword question, or mentions what the question
    wants to know to have been said.
    """
    told = evidence(hits, question, found)
    weights = (BY_MEANING, READ_BY_MEANING) if found.scale else (BY_WORDS, READ_BY_WORDS)
    confidences = [
        _probability(*weights, one, hit.reasons) for one, hit in zip(told, hits, strict=True)
    ]
    was_said = any(hit.candidate.speaker for hit in hits)
    gave_way = any(hit.candidate.state == State.SUPERSEDED for hit in hits)
    looks_back = question.was is not None and gave_way  # they use the words of that time
    in_talk = was_said or looks_back or any(one.turn for one in told)
    is_weak = found.scale is None or in_talk or language_of(question.text) != "en"
    bar = _bar(hits, question, found, settings.abstain_below, is_weak=is_weak)
    if not settings.abstain or found.by_time or any(_is_vouched(hit, question) for hit in hits):
        bar = 0.0
    least = 0.0 if is_weak or question.was else bar / FILLER
    return confidences, max(confidences, default=1.0) < bar, least


def likeliest_first(
    hits: Sequence[Scored], confidences: Sequence[float]
) -> tuple[list[Scored], list[float]]:
    """Return the hits with the factor for how likely each answers in its score, best first, each
    with its confidence; unchanged unless the judge has read all of them, or if a re-ranking model
    has ordered them."""
    are_read = all(hit.reasons.judge is not None for hit in hits)
    if not are_read or any(hit.reasons.rerank is not None for hit in hits):
        return list(hits), list(confidences)
    weighed = []
    for hit, confidence in zip(hits, confidences, strict=True):
        reasons = hit.reasons._replace(times_likely=confidence**POWER)
        weighed.append((Scored(hit.candidate, reasons.total, reasons), confidence))
    weighed.sort(key=lambda one: -one[0].score)
    return [hit for hit, _ in weighed], [confidence for _, confidence in weighed]


def _bar(
    hits: Sequence[Scored], question: "Question", found: Found, setting: float, *, is_weak: bool
) -> float:
    """Return the chance below which recall abstains; `is_weak`: the features say little."""
    if found.scale is None:
        return setting * SHARE_IF_WEAK
    if any(hit.candidate.id.startswith(TURN) for hit in hits):
        return max(setting, min(setting * OF_TURNS, MOST_OF_TURNS))
    if any(hit.reasons.judge is not None for hit in hits):
        return setting * (IF_READ if language_of(question.text) == "en" else IF_READ_ELSEWHERE)
    return setting * (SHARE_IF_WEAK if is_weak else 1.0)


def weak_last(
    hits: Sequence[Hit], abstained: bool, least: float, *, only_here: bool = False
) -> list[Hit]:
    """Return the hits that may answer in their order, then at most five that hardly do, marked as
    weak, likeliest first.

    If recall abstains, all are weak. Otherwise those are weak that are below `least` and answer no
    part of the question, and those that only ask: a stored question is near to other questions but
    answers none. `only_here`: what holds in another project answers nothing about this one.
    """
    strong: list[Hit] = []
    weak: list[Hit] = []
    for hit in hits:
        # A hit that answers one of two questions is unlikely to answer both ("Where do I live, and
        # what is my dog called?"), but it shares a word with the question.
        parts = (hit.reasons.words, hit.reasons.standing_wish)
        # Only profiles that are not linear give reasons by part.
        is_summed = hit.reasons.semantic is None
        answers_a_part = is_summed and any(part is not None for part in parts)
        is_weak = abstained or (hit.confidence < least and not answers_a_part)
        is_weak = is_weak or (
            hit.memory.content.endswith(QUESTION_MARKS) and only_asks(hit.memory.content)
        )
        is_weak = is_weak or (only_here and hit.reasons.elsewhere is not None)
        (weak if is_weak else strong).append(hit)
    weak.sort(key=lambda hit: -hit.confidence)
    return strong + [replace(hit, weak=True) for hit in weak[:WEAK]]


def _probability(weights: Weights, read: Read, told: Evidence, reasons: Reasons) -> float:
    odds = odds_of(weights, told)
    if verdict := verdict_of(reasons):
        odds = read.constant + math.fsum(map(mul, read[1:], (odds, *verdict)))
    return 1 / (1 + math.exp(-odds))


def odds_of(weights: Weights, told: Evidence) -> float:
    """Return the log odds that the features alone give."""
    return weights.constant + math.fsum(map(mul, weights.each, told))


def verdict_of(reasons: Reasons) -> tuple[float, float] | None:
    """Return the judge's verdict on a hit as log odds, for than_about and than_unrelated of Read;
    None if it has not read the hit."""
    if reasons.judge is None or reasons.unrelated is None:
        return None
    answers = max(reasons.judge, LEAST_CHANCE)
    unrelated = max(reasons.unrelated, LEAST_CHANCE)
    about = max(1 - answers - unrelated, LEAST_CHANCE)
    return math.log(answers / about), math.log(answers / unrelated)


def _is_vouched(hit: Scored, question: "Question") -> bool:
    """Return whether something other than its features vouches for a hit: the reranker, a model's
    wording, a match of all keywords, or that it mentions what is asked for ("what did I say about
    Verona?": whatever was said about it answers)."""
    reasons = hit.reasons
    if reasons.rerank is not None:
        return reasons.rerank >= FITTING
    is_of_model = reasons.expansion is not None and reasons.meaning is reasons.words is None
    is_of_model = is_of_model and reasons.semantic is None
    told = words(_plain(hit.candidate))
    is_mentioned = bool(question.mentioned) and question.mentioned <= set(told)
    return is_of_model or is_mentioned or _is_called(told, question.text)


def _is_called(told: Sequence[str], text: str) -> bool:
    """Return whether the text is a list of keywords and all are told ("Okafor?"). A single keyword
    may be the beginning of a word."""
    said = words(text)
    if len(said) == 1 and len(said[0]) >= LEAST_CALLED:
        return any(word.startswith(said[0]) for word in told)
    if len(said) > CALLED or not set(said) <= set(told):
        return False
    return len(content_words(text)) == len(said)


def evidence(hits: Sequence[Scored], question: "Question", found: Found) -> list[Evidence]:
    """Return the features of each hit. They depend on question and memory only, not on profiles and
    bonuses."""
    candidates = [one.candidate for one in hits]
    asked = _Asked(question, found, is_talk(candidates, found))
    return [asked.of(one) for one in candidates]


class _Asked:
    """A question, with what the store as a whole says about its words."""

    def __init__(self, question: "Question", found: Found, is_talk: bool) -> None:
        self._found = found
        self._turn = float(is_talk)
        self._when = question.when
        noise, near = found.scale or (0.0, 1.0)
        self._noise, self._unit = noise, near - noise
        self._nearest = self._nearness(found.nearest[0]) if found.nearest else 0.0
        self._most = next(iter(found.matches.values()), 1.0) or 1.0
        self._parts, self._unknown = _parts(question, found)
        self._tails = _tails(question)
        inner = {name.casefold() for name in INNER_CAPITAL.findall(question.asked)}
        self._names = inner - question.named - TIMES - {"i"}
        numbers = set(NUMBER.findall(question.text))
        self._years = {number for number in numbers if YEAR.fullmatch(number)}
        self._numbers = set() if TIMES & set(question.words) else numbers - self._years
        self._has_kind = answer_test(question.text)

    def of(self, candidate: Candidate) -> Evidence:
        text = _plain(candidate)
        share = rarest = around = 0.0
        context = (candidate.source_context or "").casefold()
        for sought_for, part in self._parts:
            if self._is_in(text, sought_for):
                share += part
                continue
            rarest = max(rarest, part)
            if sought_for in context:
                around += part
        nearness = self._nearness(candidate.id)
        return Evidence(
            nearness=nearness,
            behind=self._nearest - nearness,
            share=share,
            rarest=rarest,
            around=around,
            unknown=self._unknown,
            match=self._found.matches.get(candidate.id, 0.0) / self._most,
            unnamed=self._unnamed(text) if self._names else 0.0,
            unnumbered=float(bool(self._numbers) and not self._has_numbers(candidate)),
            untimely=float(self._is_untimely(candidate)),
            lacking=float(self._is_lacking(candidate)),
            turn=self._turn,
        )

    def _is_in(self, text: str, stem: str) -> bool:
        tail = self._tails.get(stem)
        return stem in text or tail is not None and tail in text

    def _nearness(self, id: str) -> float:
        if self._found.scale is None or id not in self._found.cosines:
            return 0.0
        return max(0.0, (max(self._found.cosines[id]) - self._noise) / self._unit)

    def _unnamed(self, text: str) -> float:
        return sum(name not in text for name in self._names) / len(self._names)

    def _has_numbers(self, candidate: Candidate) -> bool:
        return self._numbers <= set(NUMBER.findall(_told(candidate)[:READ]))

    def _is_untimely(self, candidate: Candidate) -> bool:
        when, said_at = self._when, candidate.said_at
        if candidate.state == State.SUPERSEDED:
            return False  # it was found because it held at that time
        if when is not None:
            return not when.holds(datetime.fromisoformat(said_at))
        known = candidate.content
        return any(year != said_at[:4] and year not in known for year in self._years)

    def _is_lacking(self, candidate: Candidate) -> bool:
        if self._has_kind is None:
            return False
        told = _told(candidate)
        return len(told) < READ and not self._has_kind(told)


def _parts(question: "Question", found: Found) -> tuple[list[tuple[str, float]], float]:
    """Return the question's words as they are looked for in a text, each with its share of their
    total rarity, and the share of the words that none of the first COUNTED candidates has."""
    said = "".join([f" {one.content[:HEAD]}" for one in found.candidates[:COUNTED]]).casefold()
    asking = {word.casefold() for groups in HOW.findall(question.text) for word in groups}
    left_out = TIMES | question.named | asking
    stems = [
        _beginning(word) for word in question.words if not (word[0].isdigit() or word in left_out)
    ]
    counts = {stem: said.count(stem) for stem in stems}
    rarity = {stem: math.log(1 + (COUNTED + 1) / (count + 1)) for stem, count in counts.items()}
    total = sum(rarity.values()) or 1.0
    unknown = sum(rarity[stem] for stem, count in counts.items() if count == 0) / total
    return [(stem, one / total) for stem, one in rarity.items()], unknown


def _tails(question: "Question") -> dict[str, str]:
    """Return the ends of long German words by stem, so that Ersatzschlüssel matches
    Zweitschlüssel."""
    if language_of(question.text) != "de":
        return {}
    return {_beginning(word): word[-TAIL:] for word in question.words if len(word) >= COMPOUND}


def is_talk(hits: Sequence[Candidate], found: Found) -> bool:
    """Return whether the source contexts of most hits quote the beginning of another candidate.

    Of the ten hits for a question about a conversation that was memorized turn by turn at least six
    do, for 77 of 78 questions. A statement that was learned may have the one before it as its
    context: of 144 questions about what was learned 143 have fewer than five such hits.
    """
    contexts = [one.source_context[:QUOTED] for one in hits if one.source_context]
    if 2 * len(contexts) < len(hits) or not contexts:
        return False
    said = "\n".join([one.content[:QUOTED] for one in found.candidates])
    quoting = sum(context.partition("\n")[0] in said for context in contexts)
    return 2 * quoting >= len(hits)


def _plain(candidate: Candidate) -> str:
    part = candidate.part
    where = f"{part.title} {part.place}" if part else ""
    who = f"{candidate.speaker or ''} {candidate.subject or ''}"
    return f" {candidate.content} {who} {where}".casefold()


def _told(candidate: Candidate) -> str:
    return f"{candidate.content}\n{candidate.source_context or ''}"


def _beginning(word: str) -> str:
    """Strip a plural, person or tense ending. A short stem gets a leading space, so that it matches
    only at the start of a word."""
    stem = word
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word.removesuffix(ending)
            break
    if len(stem) > SHORT and stem[-1] in "iy":
        stem = stem[:-1]  # study, studies
    stem = stem.removesuffix("e")[:BEGINNING] if len(stem) > 3 else stem
    return stem if len(stem) > SHORT else f" {stem}"
