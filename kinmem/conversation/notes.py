"""What a turn and a session are given. Appends only: what was shown is never written again.

To somebody who has not asked only what is worth it is told. recall gives its best ten whatever is
asked, so the answer as a whole must fit first: its best hit is judged by nearness, by the prompt's
words in it, and by whether it is about who is named. Measured on LoCoMo and BEAM
(docs/benchmarks.md).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from kinmem.clock import Clock, age_in_words
from kinmem.conversation.block import GROUP, SUMMARY, Told, block, gone_line, head, line, told_lines
from kinmem.conversation.sanitize import disarmed
from kinmem.models import LIVE, Answer, Hit, Memory, Reasons
from kinmem.settings import Settings
from kinmem.store.sessions import ShownNotes
from kinmem.text import estimated_tokens, words
from kinmem.turns import Snapshot

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


# Of the tokens of an opening; the rest is for memories.
SUMMARY_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Known:
    """What a session has been told since its context was last compacted."""

    versions: Mapping[str, int]
    texts: Sequence[str]
    """In which memories were told that have changed since."""
    is_first: bool
    """Whether it was told nothing."""

    def news(self, memory: Memory) -> bool | None:
        """None if the session knows it; else whether it knows an older wording."""
        version = self.versions.get(memory.id)
        if version is None:
            return False
        told = f" {disarmed(memory.content)} "
        same = version == memory.version or any(told in text for text in self.texts)
        return None if same else True


class Inject:
    """Tells the sessions of one Kin what fits, once."""

    def __init__(self, shown: ShownNotes, settings: Settings, clock: Clock) -> None:
        self._shown = shown
        self._settings = settings
        self._clock = clock

    def for_prompt(
        self,
        session: str,
        turn: str,
        answer: Answer,
        kin: str,
        now: Mapping[str, Memory] | None = None,
        rules: Sequence[Memory] = (),
        here: Sequence[str] | None = None,
    ) -> str:
        """A block with the hits that fit and that the session has not seen as they are; else ''.

        `rules` are told with them to a session that was told nothing yet, whatever it asks. `here`
        is the project at hand, if that is known.

        `now` has memories that were shown lately as they are today: what has changed is told again,
        what no longer holds is said to be so, each once. Asked again for a turn, it repeats itself.
        """
        if not self._settings.inject.inject:
            return ""
        if turn and (said := self._shown.of(session, turn).texts):
            return "\n".join(said)
        hits = told_of(answer)[: self._settings.recall.max_relevant]
        now = now or {}
        known = self._known(session, [*now.values(), *(hit.memory for hit in hits)])
        best = max((hit.score for hit in hits), default=1.0)
        of_older = {hit.newer: hit.score for hit in reversed(hits) if hit.newer}
        fresh = [
            Told(
                hit.memory,
                hit.excerpt or hit.memory.content,
                (of_older.get(hit.memory.id, best) if hit.is_fetched else hit.score) / best,
                changed,
                newer=hit.newer,
                elsewhere=hit.memory.place not in (None, *(here or ())),
            )
            for hit in hits
            if (changed := known.news(hit.memory)) is not None
        ]
        outdated = self._outdated(known, now, {one.memory.id for one in fresh})
        chosen = self._afforded(fresh, known.is_first, kin)
        if known.is_first:
            chosen = [*self._standing(rules, {one.memory.id for one in chosen}, kin), *chosen]
        return self._show(session, turn, chosen, outdated, known.is_first, kin)

    def opening(
        self,
        session: str,
        memories: Sequence[Memory],
        summary: Snapshot | None,
        kin: str,
        newer: Mapping[str, str] | None = None,
    ) -> str:
        """A block for the start: the last summary, then as many memories as fit, in their order.

        `newer`: of memories that may be out of date the id of what may have taken their place.
        """
        budget = self._settings.inject.opening_tokens
        if not self._settings.inject.inject or not budget:
            return ""
        known = self._known(session, memories)
        extra = self._summed_up(summary, session, int(SUMMARY_SHARE * budget))
        fresh = [
            Told(memory, memory.content, newer=(newer or {}).get(memory.id))
            for memory in memories
            if known.news(memory) is not None
        ]
        now = self._clock()
        used = sum(map(estimated_tokens, (*head(known.is_first), *extra)))
        lines = [line(one, kin, now) for one in fresh]
        worth = [-float(at) for at in range(len(lines))]
        kept = within_budget(lines, worth, used, budget)
        chosen = [one for at, one in enumerate(fresh) if at in kept]
        return self._show(session, "", chosen, [], known.is_first, kin, extra)

    def _standing(self, rules: Sequence[Memory], told: Set[str], kin: str) -> list[Told]:
        """The rules that are not among what is told, as far as an opening has room for them."""
        fresh = [Told(rule, rule.content) for rule in rules if rule.id not in told]
        lines = [line(one, kin, self._clock()) for one in fresh]
        worth = [-float(at) for at in range(len(lines))]
        kept = within_budget(lines, worth, 0, self._settings.inject.opening_tokens)
        return [one for at, one in enumerate(fresh) if at in kept]

    def _known(self, session: str, memories: Iterable[Memory]) -> Known:
        """What the session knows; texts are read only of memories that have changed since."""
        versions = self._shown.versions(session)
        changed = {one.id for one in memories if versions.get(one.id, one.version) != one.version}
        texts = self._shown.texts_with(session, changed)
        is_first = not versions and not self._shown.of(session, latest=1).texts
        return Known(versions, texts, is_first)

    def _outdated(
        self, known: Known, now: Mapping[str, Memory], told: set[str]
    ) -> list[tuple[Memory, str]]:
        """Lines for what was shown and is gone or worded otherwise since."""
        found = []
        for id, version in known.versions.items():
            memory = now.get(id)
            if memory is None or memory.version == version or id in told:
                continue
            if memory.state not in LIVE:
                found.append((memory, gone_line(memory)))
            elif known.news(memory):
                kin = self._settings.general.kin
                changed = Told(memory, memory.content, changed=True)
                found.append((memory, line(changed, kin, self._clock())))
        return found

    def _afforded(self, told: Sequence[Told], is_first: bool, kin: str) -> list[Told]:
        now = self._clock()
        lines = [line(one, kin, now) for one in told]
        header = sum(map(estimated_tokens, head(is_first)))
        worth = [one.share or 0.0 for one in told]
        kept = within_budget(lines, worth, header, self._settings.inject.token_budget)
        return [one for at, one in enumerate(told) if at in kept]

    def _summed_up(self, summary: Snapshot | None, session: str, tokens: int) -> list[str]:
        if summary is None:
            return []
        told = disarmed(summary.summary, max(200, 4 * tokens))
        if any(told in text for text in self._shown.of(session, "").texts):
            return []
        when = age_in_words(summary.created_at, self._clock())
        return [f"{GROUP} {SUMMARY}, {when}: {told}"]

    def _show(
        self,
        session: str,
        turn: str,
        told: Sequence[Told],
        outdated: Sequence[tuple[Memory, str]],
        is_first: bool,
        kin: str,
        extra: Sequence[str] = (),
    ) -> str:
        lines = [*extra, *(text for _, text in outdated), *told_lines(told, kin, self._clock())]
        if not lines:
            return ""
        text = block(lines, first=is_first)
        versions = {memory.id: memory.version for memory, _ in outdated}
        versions |= {one.memory.id: one.memory.version for one in told}
        self._shown.note(session, text, versions, turn)
        return text
