"""Conversations: sessions, what was said in each turn, and what was learned from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kinmem.models import Memory
from kinmem.models.turns import Message, Snapshot
from kinmem.web.render import address
from kinmem.web.view import Answer, Asked, Shown, View, number_in

PATH, ONE = "/conversations", "/conversations/one"
MOST_SESSIONS = 200
TURNS_A_PAGE = 30
# Characters of a message that show before all of it is asked for.
SHORT = 700


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person said and everything until they spoke again."""

    name: str
    messages: list[Message] = field(default_factory=list)
    became: Sequence[Memory] = ()

    @property
    def waits(self) -> bool:
        return any(one.learned_at is None for one in self.messages if one.role != "system")

    @property
    def problem(self) -> str | None:
        return next((one.problem for one in self.messages if one.parked), None)


def show(asked: Asked) -> Answer:
    return Shown("conversations.html", {"sessions": asked.service.sessions(MOST_SESSIONS)})


def one(asked: Asked) -> Answer:
    """Show one session, the earliest turn first."""
    name = asked.given("name") or ""
    turns = _turns(asked, name)
    last = max(1, -(-len(turns) // TURNS_A_PAGE))
    at = min(max(1, number_in(asked.given("page")) or 1), last)
    summaries: list[Snapshot] = asked.service.store.snapshots.of(name) if name else []
    if not turns:
        return Shown("problem.html", {"problem": "problem.404", "told": name}, 404)

    def page(to: int) -> str | None:
        return address(ONE, name=name, page=to) if 1 <= to <= last and to != at else None

    return Shown(
        "conversation.html",
        {
            "session": name,
            "turns": turns[(at - 1) * TURNS_A_PAGE : at * TURNS_A_PAGE],
            "first": (at - 1) * TURNS_A_PAGE,
            "many": len(turns),
            "learned": len({memory.id for turn in turns for memory in turn.became}),
            "place": next((m.place for turn in turns for m in turn.messages if m.place), None),
            "client": next((m.client for turn in turns for m in turn.messages if m.client), None),
            "summaries": summaries,
            "previous": page(at - 1),
            "next": page(at + 1),
            "short": SHORT,
        },
    )


def place_of(asked: Asked, message: Message) -> str:
    """Return the address of its turn within the conversation."""
    turns = list(dict.fromkeys(one.turn for one in asked.service.turns(message.session)))
    number = turns.index(message.turn) + 1
    page = -(-number // TURNS_A_PAGE)
    return f"{address(ONE, name=message.session, page=page)}#turn-{number}"


def _turns(asked: Asked, session: str) -> list[Turn]:
    became = asked.service.became(session)
    turns: dict[str, Turn] = {}
    for message in asked.service.turns(session):
        turn = turns.setdefault(
            message.turn, Turn(message.turn, became=became.get(message.turn, ()))
        )
        turn.messages.append(message)
    return list(turns.values())


VIEW = View("conversations", PATH, show, pages={ONE: one})
