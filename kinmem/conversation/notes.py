"""Notes for a prompt and for the start of a session. Append-only: what was shown is never
rewritten."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from kinmem.clock import Clock, age_in_words
from kinmem.conversation.block import GROUP, SUMMARY, Told, block, gone_line, head, line, told_lines
from kinmem.conversation.sanitize import disarmed
from kinmem.conversation.worth_telling import told_of
from kinmem.models import LIVE, Answer, Memory
from kinmem.models.turns import Snapshot
from kinmem.settings import Settings
from kinmem.store.sessions import ShownNotes
from kinmem.text import estimated_tokens


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
    here: Sequence[str] | None = None
    """The current project; None: of no memory is told that it comes from elsewhere."""

    def news(self, memory: Memory) -> bool | None:
        """Return None if the session knows the memory, else whether it knows an older wording."""
        version = self.versions.get(memory.id)
        if version is None:
            return False
        content = f" {disarmed(memory.content)} "
        same = version == memory.version or any(content in text for text in self.texts)
        return None if same else True

    def told(
        self, memory: Memory, text: str | None = None, share: float | None = None
    ) -> Told | None:
        """Return how the memory is shown, by default with its whole content; None if the session
        knows it."""
        changed = self.news(memory)
        if changed is None:
            return None
        elsewhere = self.here is not None and memory.place not in (None, *self.here)
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
        self._kin = settings.general.kin
        self._clock: Clock = lambda: clock().astimezone(settings.general.zone)

    def for_prompt(
        self,
        session: str,
        turn: str,
        answer: Answer,
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
        known = self._known(session, about, here or ())
        best = max((hit.score for hit in hits), default=1.0)
        found = (known.told(hit.memory, hit.excerpt, hit.score / best) for hit in hits)
        fresh = newer_first([one for one in found if one is not None], newer, known.told)[:most]
        outdated = self._outdated(known, now, newer, {one.memory.id for one in fresh})
        chosen = self._afforded(fresh, known.is_first)
        if known.is_first:
            chosen = [*self._standing(rules, newer, chosen, known), *chosen]
        return self._show(session, turn, chosen, outdated, known.is_first)

    def opening(
        self,
        session: str,
        memories: Sequence[Memory],
        summary: Snapshot | None,
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
        lines = [line(one, self._kin, now) for one in fresh]
        worth = [-float(at) for at in range(len(lines))]
        kept = within_budget(lines, worth, used, budget)
        chosen = [one for at, one in enumerate(fresh) if at in kept]
        return self._show(session, "", chosen, [], known.is_first, extra)

    def _standing(
        self,
        rules: Sequence[Memory],
        newer: Mapping[str, Memory],
        chosen: Sequence[Told],
        known: Known,
    ) -> list[Told]:
        """Return the rules that an opening has room for, without those chosen already."""
        listed = {one.memory.id for one in chosen}
        standing = [Told(rule, rule.content) for rule in rules if rule.id not in listed]
        standing = newer_first(
            standing, newer, lambda one: None if one.id in listed else known.told(one)
        )
        lines = [line(one, self._kin, self._clock()) for one in standing]
        worth = [-float(at) for at in range(len(lines))]
        kept = within_budget(lines, worth, 0, self._settings.inject.opening_tokens)
        return [one for at, one in enumerate(standing) if at in kept]

    def _with_confirmed(self, told: Sequence[Told]) -> Sequence[Told]:
        if all(one.memory.kin == self._kin for one in told):
            return told
        confirmed = self._confirmed()
        return [replace(one, is_confirmed=one.memory.id in confirmed) for one in told]

    def _known(
        self, session: str, memories: Iterable[Memory], here: Sequence[str] | None = None
    ) -> Known:
        """Return what the session knows.

        Texts are read only for memories that have changed since.
        """
        versions = self._shown.versions(session)
        changed = {one.id for one in memories if versions.get(one.id, one.version) != one.version}
        texts = self._shown.texts_with(session, changed)
        is_first = not versions and not self._shown.of(session, latest=1).texts
        return Known(versions, texts, is_first, here)

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
                changed = Told(memory, memory.content, changed=True, newer=newer.get(memory.id))
                found.append((memory, line(changed, self._kin, self._clock())))
        return found

    def _afforded(self, told: Sequence[Told], is_first: bool) -> list[Told]:
        now = self._clock()
        lines = [line(one, self._kin, now) for one in told]
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
        extra: Sequence[str] = (),
    ) -> str:
        told = self._with_confirmed(told)
        shown = told_lines(told, self._kin, self._clock())
        lines = [*extra, *(text for _, text in outdated), *shown]
        if not lines:
            return ""
        text = block(lines, first=is_first)
        versions = {memory.id: memory.version for memory, _ in outdated}
        versions |= {one.memory.id: one.memory.version for one in told}
        self._shown.note(session, text, versions, turn)
        return text
