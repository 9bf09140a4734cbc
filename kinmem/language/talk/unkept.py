"""What a person asks not to keep: "Don't remember this, but ...", "..., forget I said that".

The request is found by what it is made of: a negated verb of keeping, or a verb of forgetting, and
a thing that points to what is being said. "Don't save the file" and "they don't save that" are no
requests of that kind.
"""

from collections.abc import Sequence

from kinmem.language.lexicon import either
from kinmem.language.pattern import late
from kinmem.language.talk.statements import Statement, statements

CLAUSE = (
    r"(?:(?:^|[,;:.…(\[–—-])\s*|\b(?:but|please|aber|doch|mais|pero|ma|però|mas)\s+)"
    r"(?:(?:oh|ok|okay|hey|also|so|and|well|please|just|bitte|und|ach|s['’]il (?:te|vous) pla[iî]t"
    r"|et|por favor|y|per favore|per piacere|e),?\s+)*"
)
"""Where a request begins; behind a subject the same words tell what somebody does."""
END = r"(?=\s*(?:$|[.,;:!?…)\]–—-]|(?:but|because|since|please|though|bitte|aber)\b))"

KEPT = r"(?: down| anywhere| in mind| on file| (?:to|in|into) (?:your |the )?memor(?:y|ies))*"
POINTING = late(r"(?i)[a-zà-ÿ]|这|那|以下|我说的")
"""A Chinese request may leave out what it is about, and then is none."""


def _asking() -> str:
    """The ways to ask it; English ones have signs in place of what they share."""
    asked = either("not_to_keep").replace("<kept>", KEPT)
    return asked.replace("<this>", either("said_here")).replace("<dont>", either("do_not"))


NOT_TO_KEEP = late(
    rf"(?i){CLAUSE}(?P<asked>(?:{_asking()}){END})"
    rf"|(?:^|[,;:，。；：\s])(?:这个|那个|这件事|这些)?(?P<zh>{either('not_to_keep_unspaced')})"
)
TO_FORGET = late(
    rf"(?i){CLAUSE}(?:{either('to_forget')}){END}"
    r"|忘(?:了|掉|记)(?:我(?:刚才|刚刚)?说的|这(?:个|件事|句话))|(?:就)?当我(?:没|没有)说"
)
"""What was said before it is meant; what follows may be what holds instead."""


def unkept(parts: Sequence[Statement], message: str) -> frozenset[int]:
    """Which sentences of a message their writer asks not to keep, by their numbers.

    A request not to keep covers its sentence and its paragraph; one that is a paragraph by itself
    the next one, or the one before if it is the last. A request to forget covers what stands before
    it in its paragraph, or in the one before.
    """
    place = [message.count("\n\n", 0, one.start) for one in parts]
    found: set[int] = set()
    for at, one in enumerate(parts):
        if _asks_not_to_keep(one.text):
            own = _beside(place, at)
            found |= {at, *own}
            if not own:
                near = at + 1 if at + 1 < len(parts) else at - 1
                found |= {n for n in range(len(parts)) if near >= 0 and place[n] == place[near]}
        elif asked := TO_FORGET.search(one.text):
            before = {n for n in _beside(place, at) if n < at}
            if not before and at:
                before = {n for n in range(at) if place[n] == place[at - 1]}
            is_first = not one.text[: asked.start()].strip()
            is_all = not one.text[asked.end() :].strip(" .,;:!?…")
            found |= before | ({at} if is_all or not is_first else set())
    return frozenset(found)


def without_unkept(message: str) -> str:
    """The message without the sentences that are not to be kept."""
    parts = statements(message)
    left_out = sorted(unkept(parts, message))
    for at in reversed(left_out):
        message = message[: parts[at].start] + message[parts[at].end :]
    return message.strip() if left_out else message


def _beside(place: Sequence[int], at: int) -> set[int]:
    """The other sentences of its paragraph."""
    return {n for n, other in enumerate(place) if other == place[at] and n != at}


def _asks_not_to_keep(text: str) -> bool:
    found = NOT_TO_KEEP.search(text)
    return found is not None and POINTING.search(found[0]) is not None
