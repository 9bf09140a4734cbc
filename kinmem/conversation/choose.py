"""Which hits are worth telling somebody who has not asked for them.

recall gives its best ten whatever is asked, so the answer as a whole must fit first: its best hit
is judged by nearness, by the prompt's words in it, and by whether it is about who is named.
Measured on LoCoMo and BEAM (docs/benchmarks.md).
"""

from collections.abc import Sequence, Set

from kinmem.models import Answer, Hit, Reasons
from kinmem.text import estimated_tokens, words

# Fit of a hit: nearness (0 at the embedder's noise, 1 at the same text) + 0.3 x the share of the
# prompt's words in it + 0.15 if it is about the one named. LoCoMo, three conversations: an answer
# of which the best fits by 0.40 keeps 94 % of the evidence and is given to 6 % of unrelated
# prompts (0.35: 97 and 9, 0.45: 89 and 3); on the two held back 90 and 4, on BEAM 94 and 1.
WORDS_SHARE = 0.3
NAMED = 0.15
FITS = 0.40
# Its other hits need no more than this (costs under 1 % of the evidence, 0.2 costs 3).
BESIDE = 0.15
# Without vectors the share of words alone must carry it (LoCoMo 93 and 9, held back 90 and 6; BEAM,
# whose questions are worded otherwise than their answers, only 81 and 6).
FITS_BY_WORDS = 0.60
NAMED_BY_WORDS = 0.2
BESIDE_BY_WORDS = 0.2
UNRELATED = 0.5
"""Chance from which the judge of language, where it has read a hit, has it left out."""
ENOUGH_WORDS = 2
"""One shared word counts half: it may mean something else."""

SMALL_TALK = frozenset(
    """
    again ahead awesome bye cool continue did do does done evening explain fine go going
    good great hello hey hi hmm how it keep last later lgtm look looks me mean morning much
    next nice night no nope ok okay perfect please proceed redo retry right see so sorry
    sounds step stop sure tell thank thanks that there this thx tomorrow try understand undo
    very wait welcome well what why work works wrong yeah yep yes you bitte danke genau gut
    hallo ja nein super weiter bonjour merci non oui parfait suite bien gracias hola
    perfecto sigue sí vale bene ciao continua grazie obrigada obrigado olá sim ótimo change
    changes 谢谢 继续 好 好的 你好 ありがとう はい 続けて
    """.split()
)


def told_of(answer: Answer) -> list[Hit]:
    """What answers a prompt, then what else it touches."""
    hits = fitting(answer)
    known = {hit.memory.id for hit in hits}
    hits += [hit for hit in answer.touched if hit.memory.id not in known]
    return [hit for hit in hits if (hit.reasons.unrelated or 0.0) < UNRELATED]


def fitting(answer: Answer) -> list[Hit]:
    """The hits that are worth telling, best first; none if the best does not fit."""
    if not set(answer.words) - SMALL_TALK:
        return []
    by_words = not {"embedding", "pending"}.isdisjoint(answer.degraded)
    strong = [hit for hit in answer.hits if not hit.weak]
    judged = [(hit, *_fit(hit, answer, by_words)) for hit in strong]
    if not any(fit >= bar for _, fit, bar, _ in judged):
        return []
    kept = {hit.memory.id for hit, fit, _, beside in judged if fit >= beside}
    owed = {hit.newer for hit in strong if hit.memory.id in kept}
    return [hit for hit in strong if hit.memory.id in (owed if hit.is_fetched else kept)]


def _fit(hit: Hit, answer: Answer, by_words: bool) -> tuple[float, float, float]:
    """How well it fits, what the best must reach and what the others."""
    named = hit.reasons.named is not None
    shared = _shared(answer.words, hit)
    nearness = (_nearness(hit.reasons) - answer.noise) / (1 - answer.noise)
    if by_words and nearness <= 0:
        return shared + NAMED_BY_WORDS * named, FITS_BY_WORDS, BESIDE_BY_WORDS
    return max(0.0, nearness) + WORDS_SHARE * shared + NAMED * named, FITS, BESIDE


def _nearness(reasons: Reasons) -> float:
    """As the profile in force tells it; 0 where the words alone have found it."""
    return (reasons.meaning if reasons.cosine is None else reasons.cosine) or 0.0


def _shared(asked: Sequence[str], hit: Hit) -> float:
    """The share of the words asked for that the memory has, 0 to 1."""
    memory = hit.memory
    wanted = {_stem(word) for word in asked}
    told = " ".join(filter(None, (memory.content, memory.subject, memory.speaker)))
    common = wanted & {_stem(word) for word in words(told)}
    return len(common) / max(1, len(wanted)) * min(1.0, len(common) / ENOUGH_WORDS)


def _stem(word: str) -> str:
    """Without a plural's, person's or time's ending."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e")[:8] if len(word) > 3 else word


def within_budget(
    lines: Sequence[str], worth: Sequence[float], header: int, budget: int
) -> Set[int]:
    """Which lines fit: the most worth first until one is too much; one always fits. 0: all."""
    if budget <= 0:
        return set(range(len(lines)))
    order = sorted(range(len(lines)), key=lambda at: -worth[at])
    kept: set[int] = set()
    used = header
    for at in order:
        used += estimated_tokens(lines[at])
        if kept and used > budget:
            break
        kept.add(at)
    return kept
