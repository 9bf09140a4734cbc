"""Notes for a prompt and for the start of a session. Append-only: what was shown is never
rewritten.

Somebody who has not asked is told only what is worth it. recall returns its best ten for any
question, so the answer as a whole has to fit first: its best hit is judged by similarity, by the
share of the prompt's words in it, and by whether it is about the person named. Measured on LoCoMo
and BEAM (docs/benchmarks.md).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from kinmem.clock import Clock, age_in_words
from kinmem.conversation.block import GROUP, SUMMARY, Told, block, gone_line, head, line, told_lines
from kinmem.conversation.sanitize import disarmed
from kinmem.models import LIVE, Answer, Hit, Memory, Reasons
from kinmem.models.turns import Snapshot
from kinmem.settings import Settings
from kinmem.store.sessions import ShownNotes
from kinmem.text import UNSPACED, estimated_tokens, pairs_of, terms_of, words

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


def within_budget(
    lines: Sequence[str], worth: Sequence[float], header: int, budget: int
) -> Set[int]:
    """Return which lines fit: the most valuable first, until one does not fit; at least one.

    A budget of 0 takes all.
    """
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


def newer_first(
    told: Sequence[Told],
    newer: Mapping[str, Memory],
    told_of_newer: Callable[[Memory], Told | None],
) -> list[Told]:
    """Mark each memory that may be out of date, and put the newer one right before it unless it
    comes earlier. A newer one that is not among them is added as `told_of_newer` returns it; None:
    the reader knows it already."""
    by_id = {one.memory.id: one for one in told}
    ordered: dict[str, Told] = {}

    def add(one: Told, before: frozenset[str]) -> None:
        memory = newer.get(one.memory.id)
        if memory is not None:
            one = replace(one, newer=memory)
            if memory.id not in ordered and memory.id not in before:
                first = by_id.get(memory.id) or told_of_newer(memory)
                if first is not None:
                    share = max(filter(None, (first.share, one.share)), default=None)
                    add(replace(first, share=share), before | {one.memory.id})
        ordered.setdefault(one.memory.id, one)

    for one in told:
        add(one, frozenset())
    return list(ordered.values())


# Share of an opening's tokens for the summary; the rest is for memories.
SUMMARY_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Known:
    """What a session has been shown since its context was last compacted."""

    versions: Mapping[str, int]
    texts: Sequence[str]
    """Blocks that showed memories that have changed since."""
    is_first: bool
    """Whether nothing has been shown yet."""

    def news(self, memory: Memory) -> bool | None:
        """Return None if the session knows the memory, else whether it knows an older wording."""
        version = self.versions.get(memory.id)
        if version is None:
            return False
        content = f" {disarmed(memory.content)} "
        same = version == memory.version or any(content in text for text in self.texts)
        return None if same else True

    def told(
        self,
        memory: Memory,
        text: str | None = None,
        share: float | None = None,
        *,
        elsewhere: bool = False,
    ) -> Told | None:
        """Return how the memory is shown, by default with its whole content; None if the session
        knows it."""
        changed = self.news(memory)
        if changed is None:
            return None
        return Told(memory, text or memory.content, share, changed, elsewhere=elsewhere)


class Inject:
    """Shows the sessions of one Kin what fits, once."""

    def __init__(
        self,
        shown: ShownNotes,
        settings: Settings,
        clock: Clock,
        confirmed: Callable[[], Set[str]] = frozenset,
    ) -> None:
        """`confirmed` returns the ids of other Kins' memories that a person has confirmed."""
        self._shown = shown
        self._confirmed = confirmed
        self._settings = settings
        self._clock: Clock = lambda: clock().astimezone(settings.general.zone)

    def for_prompt(
        self,
        session: str,
        turn: str,
        answer: Answer,
        kin: str,
        now: Mapping[str, Memory] | None = None,
        rules: Sequence[Memory] = (),
        here: Sequence[str] | None = None,
        newer: Mapping[str, Memory] | None = None,
    ) -> str:
        """Return a block with the hits that fit and that the session has not seen in this version,
        else ''.

        A session that was shown nothing yet also gets `rules`, whatever it asks. `here` is the
        current project, if known.

        `newer` maps memories that may be out of date to those that may have superseded them and may
        be shown here. `now` holds the current state of memories that were shown lately: changed
        ones are shown again, and those that no longer hold are marked, each once. Asked again for
        the same turn, it returns the same block.
        """
        if not self._settings.inject.inject:
            return ""
        if turn and (said := self._shown.of(session, turn).texts):
            return "\n".join(said)
        most = self._settings.recall.max_relevant
        hits = told_of(answer)[:most]
        now, newer = now or {}, newer or {}
        about = [*now.values(), *newer.values(), *(hit.memory for hit in hits)]
        known = self._known(session, about)
        best = max((hit.score for hit in hits), default=1.0)

        def told(
            memory: Memory, text: str | None = None, share: float | None = None
        ) -> Told | None:
            elsewhere = memory.place not in (None, *(here or ()))
            return known.told(memory, text, share, elsewhere=elsewhere)

        found = (told(hit.memory, hit.excerpt, hit.score / best) for hit in hits)
        fresh = newer_first([one for one in found if one is not None], newer, told)[:most]
        outdated = self._outdated(known, now, newer, {one.memory.id for one in fresh})
        chosen = self._afforded(fresh, known.is_first, kin)
        if known.is_first:
            listed = {one.memory.id for one in chosen}
            standing = [Told(rule, rule.content) for rule in rules if rule.id not in listed]
            standing = newer_first(
                standing, newer, lambda one: None if one.id in listed else told(one)
            )
            chosen = [*self._standing(standing, kin), *chosen]
        return self._show(session, turn, chosen, outdated, known.is_first, kin)

    def opening(
        self,
        session: str,
        memories: Sequence[Memory],
        summary: Snapshot | None,
        kin: str,
        newer: Mapping[str, Memory] | None = None,
    ) -> str:
        """Return a block for the start: the last summary, then as many memories as fit, in their
        order. For `newer`, see for_prompt.
        """
        budget = self._settings.inject.opening_tokens
        if not self._settings.inject.inject or not budget:
            return ""
        newer = newer or {}
        known = self._known(session, [*memories, *newer.values()])
        extra = self._summed_up(summary, session, int(SUMMARY_SHARE * budget))
        found = [one for memory in memories if (one := known.told(memory)) is not None]
        fresh = newer_first(found, newer, known.told)
        now = self._clock()
        used = sum(map(estimated_tokens, (*head(known.is_first), *extra)))
        lines = [line(one, kin, now) for one in fresh]
        worth = [-float(at) for at in range(len(lines))]
        kept = within_budget(lines, worth, used, budget)
        chosen = [one for at, one in enumerate(fresh) if at in kept]
        return self._show(session, "", chosen, [], known.is_first, kin, extra)

    def _standing(self, rules: Sequence[Told], kin: str) -> list[Told]:
        """Return the rules that an opening has room for."""
        lines = [line(one, kin, self._clock()) for one in rules]
        worth = [-float(at) for at in range(len(lines))]
        kept = within_budget(lines, worth, 0, self._settings.inject.opening_tokens)
        return [one for at, one in enumerate(rules) if at in kept]

    def _with_confirmed(self, told: Sequence[Told], kin: str) -> Sequence[Told]:
        if all(one.memory.kin == kin for one in told):
            return told
        confirmed = self._confirmed()
        return [replace(one, is_confirmed=one.memory.id in confirmed) for one in told]

    def _known(self, session: str, memories: Iterable[Memory]) -> Known:
        """Return what the session knows.

        Texts are read only for memories that have changed since.
        """
        versions = self._shown.versions(session)
        changed = {one.id for one in memories if versions.get(one.id, one.version) != one.version}
        texts = self._shown.texts_with(session, changed)
        is_first = not versions and not self._shown.of(session, latest=1).texts
        return Known(versions, texts, is_first)

    def _outdated(
        self,
        known: Known,
        now: Mapping[str, Memory],
        newer: Mapping[str, Memory],
        told: set[str],
    ) -> list[tuple[Memory, str]]:
        """Return lines for memories that were shown and are gone or reworded since."""
        found = []
        for id, version in known.versions.items():
            memory = now.get(id)
            if memory is None or memory.version == version or id in told:
                continue
            if memory.state not in LIVE:
                found.append((memory, gone_line(memory)))
            elif known.news(memory):
                kin = self._settings.general.kin
                changed = Told(memory, memory.content, changed=True, newer=newer.get(memory.id))
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
        text = disarmed(summary.summary, max(200, 4 * tokens))
        if any(text in shown for shown in self._shown.of(session, "").texts):
            return []
        when = age_in_words(summary.created_at, self._clock())
        return [f"{GROUP} {SUMMARY}, {when}: {text}"]

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
        told = self._with_confirmed(told, kin)
        lines = [*extra, *(text for _, text in outdated), *told_lines(told, kin, self._clock())]
        if not lines:
            return ""
        text = block(lines, first=is_first)
        versions = {memory.id: memory.version for memory, _ in outdated}
        versions |= {one.memory.id: one.memory.version for one in told}
        self._shown.note(session, text, versions, turn)
        return text
