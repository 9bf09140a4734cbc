"""Names that are known to be employers', products' or makers': nobody lives there."""

import re
from pathlib import Path

_COMPANY = r"[A-Z][\w&-]{1,20} (?:Inc|GmbH|AG|Ltd|LLC|Corp|Labs|Technologies|Consulting|Holdings?)"
_PLACES = "USA?|UK|UAE|NYC|LA|SF|DC|EU|DR|NZ"


def _read() -> dict[str, list[str]]:
    """The names of well_known.txt by the kind above them."""
    found: dict[str, list[str]] = {}
    kind: list[str] = []
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = found.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            kind += line.split()
    return found


def _pattern(names: list[str]) -> str:
    either = sorted(set(names), key=len, reverse=True)
    spelt = "|".join(
        f"(?{'-' * one[0].isupper()}i:{re.escape(one).replace('_', '[ -]')})" for one in either
    )
    return rf"(?<![\w-])(?:{spelt})(?!\w|-\w)"


def _employers(known: dict[str, list[str]]) -> str:
    """Those that are nothing else that one may move to: Slack is a chat as well."""
    things = {name.casefold() for name in known["things"]}
    short = "|".join(sorted(name for name in things if name.isalpha() and len(name) <= 5))
    alone = [name for name in known["employers"] if name.casefold() not in things]
    capitals = rf"(?!(?:{_PLACES}|(?i:{short}))\b)[A-Z]{{2,5}}(?:&[A-Z])?(?![\w-])"
    return rf"(?:{_pattern(alone)}|(?-i:{_COMPANY}\b)|(?-i:{capitals}))"


_KNOWN = _read()
EMPLOYERS = _employers(_KNOWN)
"""A pattern of names that are employers' for certain, where one is said to have moved to them."""
NAMED = _pattern([name for names in _KNOWN.values() for name in names])
"""A pattern of all of them."""
