"""Service: finding, listing and reviewing memories, and taking them out of use."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Unpack, get_args

from kinmem.errors import InvalidInput
from kinmem.language import Pair
from kinmem.learn.edit import changed_fields
from kinmem.models import (
    LIVE,
    Answer,
    ErasedFromBackups,
    Filters,
    Forgotten,
    Hit,
    Memory,
    Page,
    Progress,
    Review,
    Settled,
    State,
)
from kinmem.recall.question import Request
from kinmem.service.components import QUERY_BYTES, Components, Ground
from kinmem.settings import KIN_NAME
from kinmem.store.memory import Sort
from kinmem.text import clean, cut, storable
from kinmem.undo.forget_about import Forgetting
from kinmem.undo.scrub import Scrub, Tools
from kinmem.undo.undo import Undone
from kinmem.validation import Where, checked_count, checked_filters, checked_text

# Of a memory's text, what others are compared with.
LIKE_CHARACTERS = 600
# Hits of `similar` and `left_out`.
MOST_ALIKE = 50

# Memories near a forgotten one among which its repetitions are looked for, and how near they are at
# least, on the scale of all embedders: "the standup is at 16:30" and "our standup is at 4:30 pm"
# reach .80, "I live in Porto" and "my home is in Porto" .78, "we deploy on Fridays" and "we deploy
# with Ansible" .50. That all exact parts agree tells repetitions from look-alikes.
MOST_STILL_SAID, STILL_SAID = 6, 0.75
# On the scale of all embedders, where 0 is what any two texts have in common.
LEAST_LIKENESS = 0.2


def likeness(hit: Hit) -> float:
    """Return how close the hit is in meaning, 0 to 1."""
    reasons = hit.reasons
    return (reasons.meaning if reasons.cosine is None else reasons.cosine) or 0.0


class Memories:
    """Recall, list, review, forget and restore memories."""

    def __init__(self, ground: Ground, components: Components) -> None:
        self._store = ground.store
        self._settings = ground.settings
        self._clock = ground.clock
        self._bin_time = ground.bin_time
        self._border = ground.border
        self._in_backups = ground.in_backups
        self._recall = components.recall
        self._tools = Tools(components.embedder, components.documents, components.naming)
        self._recent = components.conversation.recent
        self._review = components.review
        self._undo = components.undo
        self._renewal = components.renewal
        self._place = components.current_place
        self._background = components.background
        self._damage_told = 0

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: str | None = None,
        place: str | None = None,
        session: str | None = None,
        **where: Unpack[Where],
    ) -> Answer:
        """Return what is remembered about the question, best first. Every hit says why it was
        found.

        `limit` is 1-100 and defaults to MEMORY_MAX_RELEVANT; `mode` names a ranking profile.
        `place` is a project's name or path and restricts the search to it. `session` is the
        conversation that a follow-up belongs to; by default the only one of the last ten minutes.
        `where` may have category, subject, scope, tags, since, until, as_of and include_archived.
        Hits count as used, weak ones do not.

        After the memories come hits with `is_turn`: messages that no memory was learned from. They
        match times and, if one is named, the `session`; any other filter excludes them.
        """
        query = clean(query, "query", QUERY_BYTES)
        session = None if session is None else storable(checked_text(session, "session"))
        limit = self._settings.recall.max_relevant if limit is None else limit
        if not 1 <= limit <= 100:
            raise InvalidInput(f"limit {limit} is not between 1 and 100")
        filters = checked_filters(
            self._settings.general.zone,
            now=self._clock(),
            places=self._place.named(place),
            here=self._place.at_hand(),
            **where,
        )
        self._background.await_ready()
        request = Request(query, limit, filters, mode, turns=True, session=session)
        answer = self._with_damage(self._recall(request, partial(self._recent, session)))
        used = [hit.memory.id for hit in answer.hits if not (hit.weak or hit.is_turn)]
        self._store.count_use(used, self._clock())
        return answer

    def similar(self, memory_id: str, limit: int = 5) -> list[Hit]:
        """Return visible memories that say something like this one, best first.

        This is not a recall: what is found does not count as used.
        """
        checked_count(limit, "limit", 1, MOST_ALIKE)
        memory = self._store.get(memory_id)
        text = cut(memory.content, LIKE_CHARACTERS)
        self._background.await_ready()
        answer = self._recall(Request(text, limit + 1, Filters()))
        return [
            hit
            for hit in answer.hits
            if hit.memory.id != memory.id and likeness(hit) >= LEAST_LIKENESS
        ][:limit]

    def left_out(self, query: str, limit: int = 5) -> list[Hit]:
        """Return what fits the question but is not in use: archived, superseded, held back or
        forgotten. It does not count as used."""
        checked_count(limit, "limit", 1, MOST_ALIKE)
        query = clean(query, "query", QUERY_BYTES)
        states = tuple(state for state in State if state not in LIVE)
        return self._recall(Request(query, limit, Filters(states=states))).hits

    def _with_damage(self, answer: Answer) -> Answer:
        """Say once, of each damaged row, that something is damaged and was left out."""
        found = len(self._store.damage)
        known, self._damage_told = self._damage_told, found
        if found <= known:
            return answer
        return replace(answer, degraded=(*answer.degraded, "damage"))

    def list_memories(
        self,
        *,
        place: str | None = None,
        sort: Sort = "newest",
        limit: int = 50,
        cursor: str | None = None,
        **where: Unpack[Where],
    ) -> Page:
        """Return one page of visible memories, live ones unless a state is named.

        `limit` is 1-200. `where` may have category, subject, scope, tags, state, tier, speaker,
        since and until.
        """
        if sort not in get_args(Sort):
            raise InvalidInput(f"sort {sort!r} is none of {', '.join(get_args(Sort))}")
        if not 1 <= limit <= 200:
            raise InvalidInput(f"limit {limit} is not between 1 and 200")
        filters = checked_filters(
            self._settings.general.zone, now=self._clock(), places=self._place.named(place), **where
        )
        return self._store.page(filters, sort, limit, cursor)

    def review_memories(
        self,
        *,
        subject: str | None = None,
        scope: str | None = None,
        apply: Iterable[str] = (),
        refuse: Iterable[str] = (),
        keep: str | None = None,
        releases: bool = True,
        progress: Progress | None = None,
    ) -> Review:
        """Find contradictions, duplicates, and quarantined, stale, expired and cluttering memories.

        Nothing is changed unless `apply` or `refuse` names the ids of issues from an earlier
        review: those are done as suggested, or never proposed again. `keep` names the memory that
        stays. Without `releases` nothing leaves quarantine: a model may not do that.
        """
        filters = checked_filters(self._settings.general.zone, subject=subject, scope=scope)
        return self._review(
            filters,
            apply=tuple(apply),
            refuse=tuple(refuse),
            keep=keep,
            releases=releases,
            progress=progress,
        )

    def decide(
        self,
        issue: str,
        *,
        refuse: bool = False,
        keep: str | None = None,
        releases: bool = True,
    ) -> Settled:
        """Do what an issue of an earlier review suggests, or never propose it again, without
        another review. See review_memories."""
        named = {"refuse" if refuse else "apply": (issue,)}
        (settled,) = self._review.settle(keep=keep, releases=releases, **named)
        return settled

    def forget(self, memory_id: str, *, erase: bool = False) -> Forgotten:
        """Take a memory out of use, restorable for KINMEM_PURGE_DAYS; with `erase` remove it for
        good. Others that say nearly the same stay, and the answer names them."""
        still = self._still_said_by(memory_id)
        if erase:
            reach = self._store.making_room(lambda: self._erase(memory_id))
            return Forgotten(memory_id, "erased", backups=reach, still_said_by=still)
        memory = self._store.get(memory_id)
        if memory.state != State.DELETED:
            gone = {"state": State.DELETED, "deleted_at": self._clock()}
            memory = self._store.making_room(
                lambda: self._store.update(memory_id, gone, action="forgotten")
            )
        since = memory.deleted_at or self._clock()
        return Forgotten(memory.id, "forgotten", since + self._bin_time, still_said_by=still)

    def _still_said_by(self, memory_id: str) -> tuple[str, ...]:
        """Return the ids of live memories with the same exact parts and nearly the same meaning,
        and of those that a review asks about beside this one. Loads no model."""
        embedder, index = self._tools.embedder, self._store.index
        asked = [
            conflict.other(memory_id)
            for conflict in self._store.decisions.conflicts()
            if memory_id in (conflict.newer, conflict.older)
        ]
        vector = index.first_vectors(embedder.name, [memory_id]).get(memory_id)
        near = []
        if vector is not None:
            near = index.nearest(vector, embedder.name, MOST_STILL_SAID, Filters())
        alike = [id for id, cosine in near if embedder.calibration.scaled(cosine) >= STILL_SAID]
        known = self._store.memories([memory_id, *asked, *alike])
        text = known[memory_id].content if memory_id in known else ""
        others = (known[id] for id in dict.fromkeys((*asked, *alike)) if id in known)
        return tuple(
            one.id
            for one in others
            if one.id != memory_id and one.state in LIVE and not one.is_document
            if one.id in asked or Pair(text, one.content).holds_alike
        )

    def _erase(self, memory_id: str) -> ErasedFromBackups:
        in_backups = self._in_backups
        with (
            nullcontext(ErasedFromBackups)
            if in_backups is None
            else in_backups.erasing([memory_id])
        ) as reach:
            self._store.erase(memory_id)
            self._recall.clear()
        return reach()

    def forget_about(self, name: str) -> Forgetting:
        """Find all that is remembered about a person or thing.

        The result's `erase` removes it for good.
        """
        home, done = self._settings.home, self._recall.clear
        return Forgetting(self._store, home, storable(name), done, self._in_backups)

    def confirm(self, memory_id: str) -> Memory:
        """Vouch for what another Kin shares: from now on it may be told at a session's start, and
        ranks like the Kin's own. A person's decision."""
        memory = self._store.get(memory_id)
        if memory.kin == self._store.kin:
            told = f"memory {memory_id} is this Kin's own and needs no confirmation"
            raise InvalidInput(told, "own_already")
        self._store.others.confirm(memory.id)
        return memory

    def mute(self, kin: str) -> None:
        """See nothing more of what this Kin shares, until `unmute`."""
        if kin == self._store.kin:
            raise InvalidInput(f"{kin} is this Kin itself, which cannot be muted")
        if not KIN_NAME.fullmatch(kin):
            raise InvalidInput(f"{kin!r} is no name of a Kin")
        self._store.others.mute(kin)
        self._recall.clear()

    def unmute(self, kin: str) -> None:
        """See again what this Kin shares."""
        if not KIN_NAME.fullmatch(kin):
            raise InvalidInput(f"{kin!r} is no name of a Kin")
        self._store.others.unmute(kin)
        self._recall.clear()

    def muted(self) -> list[str]:
        """Return the names of the Kins that are muted."""
        return sorted(self._store.others.muted())

    def scrub(self) -> Scrub:
        """Find the secrets in what is stored already. The result's `carry_out` takes them out."""
        return Scrub(
            self._store, self._settings.home, self._tools, self._recall.clear, self._in_backups
        )

    def restore(self, memory_id: str) -> Memory:
        """Bring back one of the Kin's own memories that is forgotten, archived or superseded."""
        memory = self._store.get(memory_id)
        if memory.state in LIVE:
            return self._store.update(memory_id, {})
        zone = self._settings.general.zone
        back = changed_fields({"archived": False}, memory, self._clock(), zone, self._border)
        self._store.update(memory_id, back, action="restored")
        return self._renewal.of_rank(memory_id)

    def undo(
        self,
        what: int | str | None = None,
        *,
        last: int = 1,
        cascade: bool = False,
        dry_run: bool = False,
        releases: bool = True,
    ) -> Undone:
        """Take back a write by its number, a batch by its name, the last change of a memory by its
        id, or the `last` deliberate changes. Without `releases` nothing leaves quarantine: a model
        may not do that. See kinmem.undo.undo.Undo."""
        self._background.await_ready()
        what = storable(what) if isinstance(what, str) else what
        undone = self._undo(what, last=last, cascade=cascade, dry_run=dry_run, releases=releases)
        if undone.batch:
            self._renewal.of_texts(undone.became)
            self._store.life.renew(undone.became)
            self._background.wake()
        return undone
