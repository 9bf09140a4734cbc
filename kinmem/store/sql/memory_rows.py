"""A memory as a row, as texts of the word index, and conditions on rows.

Word indexes drop all punctuation and keep a run of Chinese or Japanese as one token: C# would be
"c", and no part of 乌龙茶 found. So texts and questions both go through `named` and `pairs`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any

from kinmem.clock import spoken_date
from kinmem.models import LIVE, ROLES, Filters, Memory, State
from kinmem.models.places import FREE
from kinmem.store.sql.damage import BY_ENGINE, SUMMED, Damage, DamagedRow, Row, row_sum
from kinmem.text import late

FIELDS = tuple(field.name for field in fields(Memory))
COLUMNS = ", ".join(f"m.{name}" for name in (*FIELDS, "sum"))
WIDTH = len(FIELDS) + 1
"""Of a row of COLUMNS."""
INSERT = (
    f"INSERT INTO memories (rowid, {', '.join(FIELDS)}) VALUES (?, {', '.join('?' * len(FIELDS))})"
)

as_text = json.JSONEncoder(ensure_ascii=False).encode

TIMES = frozenset(name for name in FIELDS if name.endswith(("_at", "valid_from", "valid_to")))
TAGS = frozenset({"manual_tags", "auto_tags"})
OBJECTS = frozenset({"metadata", "ingest_metadata"})


@lru_cache(maxsize=64)  # a batch shares its moment
def time_text(at: datetime) -> str:
    """Convert to UTC text of always 27 characters, so that texts sort as times do."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def moment(stored: str | None) -> datetime | None:
    """Convert the result of time_text back; None stays None."""
    return datetime.fromisoformat(stored) if stored else None


def column(name: str, value: Any) -> Any:
    """Return a field of Memory in its stored form; empty collections are NULL."""
    if value is None:
        return None
    if name in TIMES:
        return time_text(value)
    if name in TAGS or name in OBJECTS:
        return as_text(value) if value else None
    return int(value) if isinstance(value, bool) else value


_summed = itemgetter(*(FIELDS.index(name) for name in SUMMED["memories"]))
_values = attrgetter(*FIELDS)
_times, _tags, _objects, (_state,), (_pinned,) = (
    [at for at, name in enumerate(FIELDS) if name in names]
    for names in (TIMES, TAGS, OBJECTS, {"state"}, {"pinned"})
)
_converted = (*_times, *_tags, *_objects, _pinned)
_puts = [vars(Memory)[name].__set__ for name in FIELDS]


def row_of(memory: Memory) -> list[Any]:
    """Return the values of COLUMNS."""
    row = list(_values(memory))
    for at in _converted:
        row[at] = column(FIELDS[at], row[at])
    return row


def memory_of(row: Sequence[Any]) -> Memory:
    """Return the memory in a row of COLUMNS. Raises DamagedRow."""
    *stored, sum = row
    if sum == BY_ENGINE:
        return unchecked(stored)
    if sum != row_sum(*_summed(stored)) or bytes in map(type, stored):
        raise DamagedRow("it is not as it was written")
    try:
        return unchecked(stored)
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedRow(f"it cannot be read: {error}") from error


def sound(rows: Iterable[Row], damage: Damage) -> Iterator[tuple[Row, Memory]]:
    """Yield (what is before COLUMNS in a row, its memory), without those that are damaged."""
    for row in rows:
        try:
            yield row[:-WIDTH], memory_of(row[-WIDTH:])
        except DamagedRow as error:
            damage.note("memories", row[-WIDTH], str(error))


def memories_of(rows: Iterable[Row], damage: Damage) -> list[Memory]:
    """Return the memories in rows of COLUMNS, without those that are damaged."""
    return [memory for _, memory in sound(rows, damage)]


def unchecked(row: Sequence[Any]) -> Memory:
    """Return the memory in a row of FIELDS, whatever its sum says."""
    values = list(row)
    for at in _times:
        if values[at] is not None:
            values[at] = datetime.fromisoformat(values[at])
    for at in _tags:
        values[at] = tuple(json.loads(values[at])) if values[at] else ()
    for at in _objects:
        values[at] = json.loads(values[at]) if values[at] else {}
    values[_state] = State(values[_state])
    values[_pinned] = bool(values[_pinned])
    # What Memory(**values) does takes three times as long: a frozen class finds each field by name.
    memory = object.__new__(Memory)
    for put, value in zip(_puts, values, strict=True):
        put(memory, value)
    return memory


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Convert fields of a memory from the history; names that are not fields are left out."""
    return {name: _field(name, stored[name]) for name in FIELDS if name in stored}


def _field(name: str, value: Any) -> Any:
    if name in TAGS:
        return tuple(json.loads(value)) if value else ()
    if name in OBJECTS:
        return json.loads(value) if value else {}
    if value is None:
        return None
    if name in TIMES:
        return datetime.fromisoformat(value)
    if name == "pinned":
        return bool(value)
    return State(value) if name == "state" else value


def as_json(values: Mapping[str, Any]) -> str | None:
    """Return changed fields in the form in which the history stores them; NULL if there are
    none."""
    if not values:
        return None
    return as_text({name: column(name, value) for name, value in values.items()})


CJK = late("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
SHARP = late(r"(?<=\b[A-Za-z])#(?!\w)")
PLUS_PLUS = late(r"(?<=[A-Za-z])\+\+")


def indexed(memory: Memory) -> tuple[str, str, str]:
    """Return the texts of the index columns content, subject and context."""
    said = [memory.content]
    said += filter(None, (memory.title, memory.description))
    if memory.speaker and memory.speaker not in ROLES:
        said.insert(0, memory.speaker)
    if memory.occurred_at:
        said.append(spoken_date(memory.occurred_at))
    return (
        spread("\n".join(said)),
        spread(memory.subject or ""),
        spread(memory.source_context or ""),
    )


def spread(text: str) -> str:
    """Return the text with runs of Chinese, Japanese or Korean as overlapping pairs, and with C#,
    F# and C++ as words.

    The last character of a run stands alone as well, so every character begins a token.
    """
    if text.isascii() and "#" not in text and "++" not in text:
        return text
    return CJK.sub(lambda run: f" {' '.join([*pairs(run.group()), run.group()[-1]])} ", named(text))


def named(text: str) -> str:
    return PLUS_PLUS.sub("plusplus", SHARP.sub("sharp", text))


def pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


# In the Kin's own file everything. In shared.db what others share, unless its author has put it
# away or is muted: the Kin's own copies are there for others, their originals in its own file.
PUT_AWAY = "m.state IN ('deleted', 'quarantined')"
VISIBLE = f"(:own OR (m.kin <> :kin AND NOT {PUT_AWAY} AND m.kin NOT IN LISTED(:muted)))"
RAISE = "UPDATE revision SET number = number + 1"
"""What recall reads has changed."""
ALL = 2**63 - 1
"""No limit."""
IN_IDS = "IN LISTED(:ids)"
IN_NUMBERS = "IN NUMBERED(:ids)"
LIVE_STATES = ", ".join(f"'{state}'" for state in LIVE)
IS_LIVE = f"m.state IN ({LIVE_STATES})"
SEEN = f"{VISIBLE} AND {IS_LIVE} AND (m.expires_at IS NULL OR m.expires_at > :now)"
SAID_AT = "coalesce(m.occurred_at, m.created_at)"
IS_NOT_OVER = (
    "(m.expires_at IS NULL OR m.expires_at > :now) AND (m.valid_to IS NULL OR m.valid_to > :now)"
)
VALID_FROM = f"coalesce(m.valid_from, {SAID_AT})"
BEGAN_UNKNOWN = f"(m.valid_to <= {VALID_FROM} AND {IS_LIVE})"
"""It was over when it was said, "until 2025 I work at Nokia": before that it was so."""


BY_SUBJECT = "ALIKE(m.subject, :subject)"
BY_SPEAKER = "ALIKE(m.speaker, :speaker)"
ABOUT = """m.rowid IN (
    SELECT memory FROM memory_entities JOIN entities e ON e.id = entity
    WHERE e.folded IN LISTED(:about)
)"""

# What begins with a question mark is still to be looked at: see migration 5.
NOT_ELSEWHERE = """(m.place IS NULL OR m.place IN LISTED(:here)
    OR m.place >= '?' AND m.place < '@' OR m.category IN LISTED(:free))"""

# Which Kin reads which file: the bindings of VISIBLE.
View = Mapping[str, str | bool]


@dataclass(frozen=True)
class Allowed:
    """What may be found: a condition on `memories m`, and its bindings."""

    condition: str
    bound: Mapping[str, Any]
    plain: bool
    """Whether it allows nearly every live row, and no other."""
    live: bool
    """Whether it allows live rows only."""
    state: State | None = None
    """The only state that it allows, if the vectors of that state are stored separately."""


def conditions(filters: Filters, view: View, now: datetime) -> tuple[str, dict[str, Any]]:
    """Return the text of a WHERE clause, and its bindings. Without filters: visible, live, not
    expired."""
    parts = [VISIBLE]
    bound: dict[str, Any] = {**view, "now": time_text(now)}
    _life(filters, parts, bound)
    if filters.category:
        parts.append("m.category = :category")
        bound["category"] = filters.category
    if filters.subject:
        parts.append(f"({BY_SUBJECT} OR {ABOUT})" if filters.about else BY_SUBJECT)
        bound |= {"subject": filters.subject, "about": json.dumps(filters.about)}
    if filters.scope:
        parts.append("m.scope = :scope")
        bound["scope"] = filters.scope
    if filters.tier:
        parts.append("m.tier = :tier")
        bound["tier"] = filters.tier
    if filters.speaker:
        parts.append(BY_SPEAKER)
        bound["speaker"] = filters.speaker
    if filters.pinned:
        parts.append("m.pinned")
    if filters.since:
        parts.append(f"{SAID_AT} >= :since")
        bound["since"] = time_text(filters.since)
    if filters.until:
        parts.append(f"{SAID_AT} < :until")
        bound["until"] = time_text(filters.until)
    if filters.ids is not None:
        parts.append(f"m.id {IN_IDS}")
        bound["ids"] = json.dumps(filters.ids)
    if filters.places is not None:
        parts.append("m.place IN LISTED(:places)")
        bound["places"] = json.dumps(filters.places)
    if filters.here is not None and filters.only_here:
        parts.append(NOT_ELSEWHERE)
        bound |= {"here": json.dumps(filters.here), "free": json.dumps(FREE)}
    for n, tag in enumerate(filters.tags):
        parts.append(f"EXISTS (SELECT 1 FROM tags WHERE tag = :tag{n} AND memory = m.rowid)")
        bound[f"tag{n}"] = tag
    return " AND ".join(parts), bound


def _life(filters: Filters, parts: list[str], bound: dict[str, Any]) -> None:
    """Add the conditions for states and for times of validity to `parts`, and their bindings to
    `bound`."""
    if filters.states is not None:
        states: tuple[State, ...] = filters.states
    else:
        states = LIVE + ((State.ARCHIVED,) if filters.include_archived else ())
        if filters.as_of:
            states += (State.SUPERSEDED,)
            parts += [
                f"({VALID_FROM} <= :as_of OR {BEGAN_UNKNOWN})",
                "(m.valid_to IS NULL OR m.valid_to > :as_of)",
                "(m.expires_at IS NULL OR m.expires_at > :as_of)",
            ]
            bound["as_of"] = time_text(filters.as_of)
        elif filters.was:
            parts.append(_was(filters.was, states, bound))
            return
        elif not filters.include_archived:
            parts.append(IS_NOT_OVER)
    parts.append(_in(states))


def _was(
    stretch: tuple[datetime | None, datetime | None],
    states: tuple[State, ...],
    bound: dict[str, Any],
) -> str:
    """Return the condition for what held at some time of the stretch: what holds now, and what has
    ended or was superseded since."""
    held = [
        f"(m.valid_to > {VALID_FROM} OR {BEGAN_UNKNOWN})",
        _in((*states, State.SUPERSEDED)),
    ]
    start, end = stretch
    if start is not None:
        held.append("m.valid_to > :was_from")
        bound["was_from"] = time_text(start)
    if end is not None:
        held.append(f"({VALID_FROM} < :was_to OR {BEGAN_UNKNOWN})")
        bound["was_to"] = time_text(end)
    return f"({_in(states)} AND {IS_NOT_OVER} OR {' AND '.join(held)})"


def _in(states: tuple[State, ...]) -> str:
    named = ", ".join(f"'{state}'" for state in states)
    return f"m.state IN ({named})" if named else "FALSE"
