"""What callers hand over: checked, and passed over the border.

Each check returns the value as kinmem uses it, or raises InvalidInput. Every text passes the border
before it is stored, whichever way it comes in: what stands between <private> and </private> is left
out; a secret (a key, a password, a card or id number) is refused, taken out or kept, as
KINMEM_SECRETS says. Whatever holds texts passes as a whole, so that no new field is forgotten.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, tzinfo
from numbers import Real
from typing import Any, Literal, TypedDict, TypeVar, Unpack, cast, get_args

from kinmem.clock import parse_expiry, parse_time
from kinmem.errors import InvalidInput
from kinmem.language import Dates, redact, secret_kinds, without_private
from kinmem.models import CATEGORIES, Category, Filters, Scope, State, Tier
from kinmem.models.draft import (
    CALLED,
    CONTENT_BYTES,
    CONTEXT_BYTES,
    KEY_BYTES,
    SUBJECT_BYTES,
    TAG_BYTES,
)
from kinmem.models.record import RELATIONS, LinkChange
from kinmem.text import clean, late

TAGS = 50
# Limit for lines of history, memories in a graph, and reports; more than anybody has.
MOST_LISTED = 1_000_000

Time = str | datetime


def checked_text(value: Any, what: str) -> str:
    """Return the value if it is text. Python callers may pass anything."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    return value


def checked_category(value: str) -> Category:
    return cast(Category, _chosen(value, "category", CATEGORIES))


def checked_scope(value: str) -> Scope:
    return cast(Scope, _chosen(value, "scope", get_args(Scope)))


def checked_tier(value: str) -> Tier:
    return cast(Tier, _chosen(value, "tier", get_args(Tier)))


def checked_state(value: str) -> State:
    return State(_chosen(value, "state", [str(state) for state in State]))


def _chosen(value: str, what: str, choices: Sequence[str]) -> str:
    if value in choices:
        return value
    told = f"{what} {value!r} is none of {', '.join(choices)}"
    raise InvalidInput(told, "no_such_choice", what=what, given=value)


def checked_importance(value: float | None) -> float | None:
    if value is not None and not 1 <= _number(value, "importance") <= 10:
        raise InvalidInput(
            f"importance {value} is not between 1 (mundane) and 10 (critical)", "no_importance"
        )
    return value


def checked_priority(value: float | None) -> float | None:
    if value is not None and not 0 <= _number(value, "priority") <= 1:
        raise InvalidInput(f"priority {value} is not between 0 and 1; null lets it be computed")
    return value


def checked_confidence(value: float) -> float:
    if not 0 <= _number(value, "confidence") <= 1:
        raise InvalidInput(f"confidence {value} is not between 0 and 1")
    return value


def checked_count(value: int, what: str, least: int, most: int) -> int:
    """Return the value if it is within the bounds.

    The bounds matter to the database, which counts in 64 bits and reads a negative limit as none.
    """
    _number(value, what)
    if not least <= value <= most:
        raise InvalidInput(f"{what} {value} is not between {least} and {most}")
    return value


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(f"{what} must be a number, not {type(value).__name__}")
    return float(value)


def checked_content(value: str) -> str:
    return clean(checked_text(value, "content"), "content", CONTENT_BYTES)


def checked_key(value: str) -> str:
    """Return an idempotency key as it is compared: one line, as a header holds it."""
    key = clean(value, "idempotency_key", KEY_BYTES)
    if len(key.splitlines()) > 1:
        raise InvalidInput("idempotency_key has to be one line")
    return key


def checked_subject(value: str | None) -> str | None:
    """Collapse the subject into one line. White space alone counts as no subject."""
    if value is None or not checked_text(value, "subject").strip():
        return None
    return " ".join(clean(value, "subject", SUBJECT_BYTES).split())


def checked_context(value: str | None) -> str | None:
    if value is None or not checked_text(value, "sourceContext").strip():
        return None
    return clean(value, "sourceContext", CONTEXT_BYTES)


def checked_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Return the tags in lower case, one line each, in order, without repeats; at most 50."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"tags must be a list of texts, not {type(values).__name__}")
    tags = dict.fromkeys(
        " ".join(clean(checked_text(tag, "a tag"), "a tag", TAG_BYTES).casefold().split())
        for tag in values
    )
    if len(tags) > TAGS:
        told = f"{len(tags)} tags; at most {TAGS} fit a memory"
        raise InvalidInput(told, "too_many_tags", count=len(tags), most=TAGS)
    return tuple(tags)


OR_WORDS = ", or yesterday, next Wednesday, two Sundays ago"


def checked_time(
    value: str | datetime | None,
    what: str,
    zone: tzinfo,
    *,
    end: bool = False,
    now: datetime | None = None,
) -> datetime | None:
    """Return the time in UTC. A time without a zone is read in `zone`.

    `end` takes the end of a day, month or year instead of its start. With `now`, phrases such as
    yesterday, last week and in 3 days are accepted as well.
    """
    if value is None:
        return None
    try:
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)
        return parse_time(checked_text(value, what), zone, end=end).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        if now and (stretch := Dates(str(value), now.astimezone(zone)).alone()):
            return stretch[end].replace(tzinfo=zone).astimezone(UTC)
        raise InvalidInput(
            f"{what}: {error}; write a date such as 2026-05-08, a month such as 2026-05, a year,"
            f" a time such as 2026-05-08T14:30{OR_WORDS if now else ''}",
            "no_time",
            what=what,
            given=str(value)[:40],
        ) from error


OVER = "is over already"


def checked_expiry(value: str | datetime | None, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the expiry in UTC, later than `now`. Text may be a time or a duration such as 30d."""
    if value is None:
        return None
    if isinstance(value, datetime):
        value = value.isoformat()
    try:
        return parse_expiry(checked_text(value, "expires"), now, zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        stretch = Dates(str(value), now.astimezone(zone)).alone(ahead=True)
        if stretch and (end := stretch[1].replace(tzinfo=zone)) > now:
            return end.astimezone(UTC)
        is_over = stretch or Dates(str(value), now.astimezone(zone)).alone() or OVER in str(error)
        said = f"{str(value)[:40]!r} {OVER}" if is_over else error
        raise InvalidInput(
            f"expires: {said}; write 30d, 12h, a time to come, tomorrow or in 3 days",
            "expired_already" if is_over else "no_expiry",
            given=str(value)[:40],
        ) from error


class Where(TypedDict, total=False):
    """Which memories are meant, as callers say it; what is left out restricts nothing."""

    category: str | None
    subject: str | None
    scope: str | None
    tags: Iterable[str] | None
    since: str | datetime | None
    until: str | datetime | None
    as_of: str | datetime | None
    include_archived: bool
    state: str | None
    tier: str | None
    speaker: str | None


def checked_filters(
    zone: tzinfo,
    *,
    now: datetime | None = None,
    places: tuple[str, ...] | None = None,
    here: tuple[str, ...] | None = None,
    **where: Unpack[Where],
) -> Filters:
    """Build the filters.

    `since` and `until` are inclusive: a date means the whole day. For `now`, see checked_time.
    """
    if unknown := where.keys() - Where.__annotations__.keys():
        raise TypeError(f"there is no filter {', '.join(sorted(unknown))}")
    category, scope, state = where.get("category"), where.get("scope"), where.get("state")
    tags, tier = where.get("tags"), where.get("tier")
    since, until, as_of = where.get("since"), where.get("until"), where.get("as_of")
    filters = Filters(
        category=None if category is None else checked_category(category),
        subject=checked_subject(where.get("subject")),
        scope=None if scope is None else checked_scope(scope),
        tier=None if tier is None else checked_tier(tier),
        speaker=checked_subject(where.get("speaker")),
        tags=() if tags is None else checked_tags(tags),
        since=checked_time(since, "since", zone, now=now),
        until=checked_time(until, "until", zone, end=True, now=now),
        as_of=checked_time(as_of, "as_of", zone, end=True, now=now),
        include_archived=where.get("include_archived", False),
        states=None if state is None else (checked_state(state),),
        places=places,
        here=here,
    )
    if filters.since and filters.until and filters.since >= filters.until:
        told = f"since {since} is not before until {until}"
        raise InvalidInput(told, "no_stretch", since=str(since), until=str(until))
    return filters


# Limit for the links that one call may name.
MOST_LINKS = 100


def checked_links(values: Any, memory_id: str) -> list[LinkChange]:
    """Check the `links` argument of update_memory, a list of objects with id and relation.

    The relation defaults to related_to, and a bare id stands for an object without one. Raises
    InvalidInput.
    """
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput("links must be a list of objects such as {id, relation}")
    asked = [_checked_link(value, memory_id) for value in values]
    if len(asked) > MOST_LINKS:
        raise InvalidInput(f"{len(asked)} links in one call; at most {MOST_LINKS}")
    return asked


def _checked_link(value: Any, memory_id: str) -> LinkChange:
    value = {"id": value} if isinstance(value, str) else value
    if not isinstance(value, Mapping) or not value.keys() <= {"id", "relation"}:
        raise InvalidInput("a link is an object with id and, if it is not related_to, relation")
    id, relation = value.get("id"), value.get("relation", "related_to")
    if not isinstance(id, str) or not id.strip():
        raise InvalidInput("a link needs the id of the other memory; recall and list tell ids")
    if relation is not None and relation not in RELATIONS:
        raise InvalidInput(
            f"relation {relation!r} is none of {', '.join(RELATIONS)}; null takes the link back"
        )
    if id.strip() == memory_id:
        raise InvalidInput(f"memory {memory_id} cannot be linked to itself")
    return LinkChange(id.strip(), relation)


# What becomes of a secret; the values of KINMEM_SECRETS.
Secrets = Literal["refuse", "redact", "keep"]
# Letters of a lower-case word that alone is no secret; most fields of a record are one, and looking
# for secrets in each took as long as storing it.
LONGEST_WORD = 12
# A time or an id of ours, which are half of an export's texts.
TIME_OR_ID = late(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
)
# Lines that are named in a long text.
MOST_LINES = 5

T = TypeVar("T")


class HasSecret(InvalidInput):
    """It holds a secret, and secrets are refused. The message never repeats it."""


class Border:
    """Passes texts on as they may be stored."""

    def __init__(self, secrets: Secrets, *, leaves: bool = False) -> None:
        """`leaves`: for an export, where private parts were left out when they came in."""
        self._secrets: Secrets = secrets
        self._leaves = leaves

    @property
    def when_overheard(self) -> "Border":
        """The border for what is observed rather than handed over: nobody is there who could say it
        otherwise, so a secret that would be refused is taken out."""
        return Border("redact") if self._secrets == "refuse" else self

    def passed(self, value: T, what: str = "content") -> T:
        """Return a text, or all texts in a record, mapping or sequence, as they may be stored; the
        same object if nothing changes. `what` names a text for its caller.

        Raises HasSecret.
        """
        return self._passed(value, what)  # type: ignore[no-any-return]

    def _passed(self, value: Any, what: str) -> Any:
        if isinstance(value, str):
            return self._text(value, what)
        if isinstance(value, Mapping):
            passed = {name: self._passed(one, _name(name, what)) for name, one in value.items()}
            return passed if _differ(passed.values(), value.values()) else value
        if isinstance(value, list | tuple):
            parts = [self._passed(one, what) for one in value]
            return type(value)(parts) if _differ(parts, value) else value
        if isinstance(value, Iterable):  # a set, or what can be read only once
            return tuple(self._passed(one, what) for one in value)
        if is_dataclass(value) and not isinstance(value, type):
            held = {field.name: getattr(value, field.name) for field in fields(value)}
            passed = self._passed(held, what)
            return value if passed is held else replace(value, **passed)
        return value

    def _text(self, text: str, what: str) -> str:
        if len(text) <= LONGEST_WORD and text.isalpha() and text.islower():
            return text
        if TIME_OR_ID.fullmatch(text):
            return text
        public = text if self._leaves else without_private(text)
        public = text if public == text else public
        if self._secrets == "keep":
            return public
        left, count = redact(public)
        if count and self._secrets == "refuse":
            raise _refusal(what, public)
        return left if count else public


def _refusal(what: str, text: str) -> HasSecret:
    kinds = ", ".join(secret_kinds(text))
    lines = [number for number, line in enumerate(text.split("\n"), 1) if secret_kinds(line)]
    where = f" in line {', '.join(map(str, lines[:MOST_LINES]))}" if "\n" in text and lines else ""
    return HasSecret(
        f"{what} holds a secret ({kinds}){where}, and memories are no safe place for it; say where"
        " it is kept instead, or set KINMEM_SECRETS to redact or keep",
        what=what,
        kinds=kinds,
    )


def _name(name: Any, what: str) -> str:
    return CALLED.get(name, name) if isinstance(name, str) else what


def _differ(ones: Any, others: Any) -> bool:
    return any(one is not other for one, other in zip(ones, others, strict=True))
