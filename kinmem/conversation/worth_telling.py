"""What is worth telling a session, at its start and beside a prompt.

No similarity of words tells that an allergy matters in a restaurant, but a reader of both sees it.
So the start shows what applies, once: rules, decisions and preferences first, then what is
important, and the rest if all of it fits. A session without an opening gets the rules with its
first prompt.

Beside a prompt, somebody who has not asked is told only what is worth it. recall returns its best
ten for any question, so the answer as a whole has to fit first: its best hit is judged by
similarity, by the share of the prompt's words in it, and by whether it is about the person named.
Measured on LoCoMo and BEAM (docs/benchmarks.md).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from kinmem.language import Weight
from kinmem.models import Answer, Category, Filters, Hit, Memory, Reasons
from kinmem.store.base import Store
from kinmem.text import UNSPACED, estimated_tokens, pairs_of, terms_of, words

CANDIDATES = 20
RULES: tuple[Category, ...] = ("decision", "preference")
MOST_RULES = 60
# Importance from which KinBot's block shows a star.
IMPORTANT = 7
# Memories with a lower importance are shown only when they fit a prompt.
MUNDANE = 4
SHORT_LIVED = frozenset({"ephemeral", "context"})
# Tokens of a line besides the memory itself.
LINE_TOKENS = 15


def worth_telling(
    store: Store, allowed: Filters, tokens: int, binding: Callable[[], list[Memory]] = list
) -> list[Memory]:
    """Return the memories for an opening by how much they matter: pinned ones, rules, those that
    `binding` returns, important ones; all memories if they fit."""
    pinned, ruling = _pinned(store, allowed), _ruling(store, allowed)
    every = store.page(allowed, "importance", MOST_RULES)
    ranked = believed(store, every.memories)
    important = [one for one in ranked[:CANDIDATES] if (one.importance or 0) >= IMPORTANT]
    rest = _once([*pinned, *ruling, *important, *filter(_lasts, ranked)])
    is_all = every.next_cursor is None and sum(map(_tokens, rest)) <= tokens
    if is_all:
        return store.with_present_contexts(rest)
    return store.with_present_contexts(_once([*pinned, *ruling, *binding(), *important]))


def rules(store: Store, allowed: Filters) -> list[Memory]:
    """Return the rules for a session that was shown nothing yet: what is pinned, what applies to
    the current project, and what somebody wants every time."""
    ruling = (
        one
        for one in _ruling(store, allowed)
        if one.place is not None or Weight(one.content).is_standing(one.speaker)
    )
    return store.with_present_contexts(_once([*_pinned(store, allowed), *ruling]))


def _pinned(store: Store, allowed: Filters) -> list[Memory]:
    pinned = store.page(replace(allowed, pinned=True), "importance", CANDIDATES)
    return believed(store, pinned.memories)


def believed(store: Store, memories: Sequence[Memory]) -> list[Memory]:
    """Return the Kin's own memories, and of others' those that its person has confirmed: anybody
    can share anything, and nobody has asked for it."""
    if all(memory.kin == store.kin for memory in memories):
        return list(memories)
    confirmed = store.others.confirmed()
    return [one for one in memories if one.kin == store.kin or one.id in confirmed]


def _ruling(store: Store, allowed: Filters) -> list[Memory]:
    """Return decisions and preferences, those of the project first, then by importance."""
    pages = (
        store.page(replace(allowed, category=category), "importance", MOST_RULES).memories
        for category in RULES
    )
    found = believed(store, [one for page in pages for one in page])
    return sorted(found, key=lambda one: (one.place is None, -(one.importance or 0)))


def _lasts(memory: Memory) -> bool:
    rated = MUNDANE if memory.importance is None else memory.importance
    return memory.category not in SHORT_LIVED and rated >= MUNDANE


def _once(memories: Iterable[Memory]) -> list[Memory]:
    """Return each statement once, even if it is stored both for everywhere and for a project."""
    found: dict[tuple[str | None, ...], Memory] = {}
    for memory in memories:
        found.setdefault((memory.content_hash, memory.speaker, memory.subject), memory)
    return list(found.values())


def _tokens(memory: Memory) -> int:
    return estimated_tokens(memory.content) + LINE_TOKENS


# Fit of a hit: similarity (0 at the embedder's noise, 1 for the same text) + 0.3 x the share of the
# prompt's words in it + 0.15 if it is about the person named. On three conversations of LoCoMo, a
# threshold of 0.40 for the best hit keeps 94 % of the evidence and gives notes to 6 % of unrelated
# prompts (0.35: 97 and 9, 0.45: 89 and 3); on the two held out 90 and 4, on BEAM 94 and 1.
WORDS_SHARE = 0.3
NAMED = 0.15
FITS = 0.40
# The other hits need only this much, which costs under 1 % of the evidence (0.2 costs 3).
BESIDE = 0.15
# Without vectors the share of words alone has to suffice (LoCoMo 93 and 9, held out 90 and 6; BEAM,
# whose questions use other words than their answers, only 81 and 6).
FITS_BY_WORDS = 0.60
NAMED_BY_WORDS = 0.2
BESIDE_BY_WORDS = 0.2
# Chance from which the judge, if it has read a hit, has it left out.
UNRELATED = 0.5
# A single shared word counts half, since it may mean something else.
ENOUGH_WORDS = 2

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
    """Return the hits that answer a prompt, then what else it touches."""
    hits = fitting(answer)
    known = {hit.memory.id for hit in hits}
    hits += [hit for hit in answer.touched if hit.memory.id not in known]
    return [hit for hit in hits if (hit.reasons.unrelated or 0.0) < UNRELATED]


def fitting(answer: Answer) -> list[Hit]:
    """Return the hits that are worth showing, best first; none if the best does not fit."""
    if not set(answer.words) - SMALL_TALK:
        return []
    by_words = not {"embedding", "pending"}.isdisjoint(answer.degraded)
    strong = [hit for hit in answer.hits if not hit.weak and not hit.is_fetched]
    judged = [(hit, *_fit(hit, answer, by_words)) for hit in strong]
    if not any(fit >= bar for _, fit, bar, _ in judged):
        return []
    return [hit for hit, fit, _, beside in judged if fit >= beside]


def _fit(hit: Hit, answer: Answer, by_words: bool) -> tuple[float, float, float]:
    """Return how well the hit fits, and the thresholds for the best hit and for the others."""
    named = hit.reasons.named is not None
    shared = _shared(answer.words, hit)
    nearness = _nearness(hit.reasons)
    if answer.by_time:  # it is near for that alone
        nearness = (1 + nearness) / 2
    else:
        nearness = (nearness - answer.noise) / (1 - answer.noise)
    if by_words and nearness <= 0:
        return shared + NAMED_BY_WORDS * named, FITS_BY_WORDS, BESIDE_BY_WORDS
    return max(0.0, nearness) + WORDS_SHARE * shared + NAMED * named, FITS, BESIDE


def _nearness(reasons: Reasons) -> float:
    """Return the similarity as the ranking profile reports it; 0 if words alone found the hit."""
    return (reasons.meaning if reasons.cosine is None else reasons.cosine) or 0.0


def _shared(asked: Sequence[str], hit: Hit) -> float:
    """Return the share of the prompt's words that the memory contains, 0 to 1."""
    memory = hit.memory
    wanted = {_stem(word) for word in asked}
    text = " ".join(filter(None, (memory.content, memory.subject, memory.speaker)))
    told = {term for word in words(text) for term in terms_of(_stem(word))}
    common = sum(_size(word) * _found(word, told) for word in wanted)
    return common / max(1.0, sum(map(_size, wanted))) * min(1.0, common / ENOUGH_WORDS)


def _size(word: str) -> float:
    """Return how many words it counts as: in scripts without spaces, each two characters."""
    return len(word) / 2 if UNSPACED.search(word) else 1.0


def _found(word: str, told: Collection[str]) -> float:
    """Return 1 if the word was told; in scripts without spaces, the share of its characters that
    stand in a pair that was."""
    if not UNSPACED.search(word):
        return float(word in told)
    pairs = enumerate(pairs_of(word))
    covered = {at + step for at, pair in pairs if pair in told for step in (0, 1)}
    return min(1.0, len(covered) / len(word))


def _stem(word: str) -> str:
    """Strip endings of plurals, persons and tenses."""
    if UNSPACED.search(word):
        return word
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e")[:8] if len(word) > 3 else word
