"""Who does now what was another's to do: a task, a team, a ticket.

Each rule takes what is known, a clause of what is new and all of it, and gives a reason or None.
"""

import re
from collections.abc import Collection

from kinmem.rules.change import events as events
from kinmem.rules.change import words as signs
from kinmem.rules.change.events import BEING_ONE, HOLDING
from kinmem.rules.change.sides import (
    KIN,
    STOPS,
    VERBS,
    Side,
    amounts_of,
    is_cued,
    lacking,
    named_first,
    without,
)


def other_holder(before: Side, clause: Side, now: Side) -> str | None:
    """Somebody else does now what is one's to do: Pia leads the team, Noor leads it now."""
    ours, theirs = named_first(before), named_first(clause)
    if not ours or not theirs or ours == theirs or not is_cued(now) or clause.denies:
        return None
    gone = signs.CUE.finditer(clause.text)
    was, here = before.content - ours, without(clause.content, gone) - theirs
    same = was and here and not lacking(was, clause) and not lacking(here, before)
    return "is another's now" if same and before.amounts == amounts_of(clause) else None


def handed_over(before: Side, clause: Side, now: Side) -> str | None:
    """The same, in whatever order and words it is said who has it: handed over to, is Ben's now."""
    held = HOLDING.search(before.text) or BEING_ONE.search(before.text)
    taken = events.TAKING.search(clause.text)
    if held is None or before.denies or clause.denies or before.amounts != amounts_of(clause):
        return None
    holds = HOLDING.search(clause.text) or BEING_ONE.search(clause.text)
    if not taken and not (holds and is_cued(now)):
        return None
    gained = without(clause.names, signs.CUE.finditer(clause.text)) - set(before.words) - STOPS
    lost = before.names - set(clause.words) - STOPS
    if len(gained) != 1 or len(lost) > 1 or KIN & set(clause.head):
        return None
    if (
        not _is_holder(before, held, lost)
        or not taken
        and holds
        and not _is_holder(clause, holds, gained)
    ):
        return None
    words = [m for one in (HOLDING, events.TAKING) for m in one.finditer(clause.text)]
    here = without(clause.content, [*words, *signs.CUE.finditer(clause.text)]) - gained
    was = without(before.content, HOLDING.finditer(before.text)) - lost
    here, was = here - VERBS - lost - _TASK, was - VERBS - _TASK
    if not here or lacking(here, before) or lacking(was, clause):
        return None
    return "is another's now"


def _is_holder(side: Side, match: re.Match[str], names: Collection[str]) -> bool:
    """Whether it stands where the one stands who does it: Kim runs the shop, it is run by Kim."""
    return all(
        side.text.find(name) < match.start()
        or re.search(rf"\b(?:is|ist|est|es|e) (?:\w+ )?{re.escape(name)}\b", side.text)
        or _LINKED.fullmatch(_between(side.text, match, name))
        for name in names
    )


def _between(text: str, match: re.Match[str], name: str) -> str:
    """What stands behind the match and before the name."""
    return text[match.end() : text.rfind(name)].strip()


_LINKED = re.compile(
    r"(?:(?:by|to|now|is|ist|est|es|e|jetzt|nun|von|par|por|pel[oa]|a|da|dal|dalla|maintenant|ahora"
    r"|adesso|ora|agora|sich|inzwischen|mr|mrs|ms|dr|herr|frau|desormais|o|la|el)\b ?)*"
)
_TASK = frozenset(
    "ownership owner owned task job role thing topic tema thema aufgabe rolle tache role sujet"
    " tarea rol compito ruolo"
    " tarefa papel work all new neue nouveau".split()
)
