"""Whether what is called a secret, or said to be one, is one: by how it looks and what it says."""

import re
from collections.abc import Callable, Mapping

from kinmem.language.lexicon import word_class
from kinmem.text import STOP_WORDS, late

COMMON = frozenset().union(*STOP_WORDS.values())
NO_PASSWORDS = word_class("no_passwords")
"""What a password is said to be without being told."""
EXPRESSIONS = word_class("expressions")
"""What stands for a value in code and in documentation."""
RULES = word_class("password_rules")
DIFFERENT = 6
"""A body of fewer different characters is somebody's XXXX or 0000, not a key."""
SHORTEST, SHORTEST_KEY, SHORTEST_NUMBER = 3, 8, 4
OF_AN_ACCOUNT = 6
"""Digits."""
MNEMONIC = 9
"""Words from which a list may have some that are in every text: about, above."""
COMMON_SHARE = 0.34
SHORTEST_WORDS = 3
OF_CODE = ("(", "[", "password", "passwd", "_hash", "credential")
SYMBOL = re.compile(r"[!@#$%^&*+=?]")
MEASURE = re.compile(r"[\d.,/:x-]+[a-zA-Zµ%°/²³]{0,6}")
DESCRIBES = late(
    r"(?:ed|ing|able|ible|ive|ful|less|ly|ent|ant|ous|ten|lich|bar|ig|é|ée|ada|ado|ida|ido|ata|ato|t[oó]ri[oa]|pflichtig)$"
)


def is_random(value: str) -> bool:
    """Whether nobody would write this but a machine: letters and digits, many different ones."""
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and len(set(value)) >= DIFFERENT
    )


def stands_for_one(value: str) -> bool:
    """Whether it is a variable, an example or a mask."""
    plain = value.strip("\"'`").casefold()
    return (
        not plain
        or plain[0] in "$<{%[("
        or any(sign in plain for sign in OF_CODE)
        or plain.split(".")[0] in EXPRESSIONS
        or plain.startswith(("your", "my_", "example", "xxx", "...", "***"))
        or len(set(plain)) < 2
    )


def bare(value: str) -> str:
    """Without the sentence's marks behind it; ! ends many passwords and few sentences with one."""
    return value.rstrip(".,;:?)。、")


def describes(word: str) -> bool:
    """Whether the word tells how something is: expired, abgelaufen, segura."""
    return DESCRIBES.search(word) is not None


def _is_assigned(found: re.Match[str]) -> bool:
    """password = hunter2, "token": "a1b2c3d4": what a program would read."""
    value = found["secret"]
    if stands_for_one(value):
        return False
    if found["number"]:
        return value[-1:].isdigit()
    if found["password"]:
        if found["quote"] or found["sign"] == "=":
            return len(value) >= SHORTEST
        return _is_said(found)
    return len(value) >= SHORTEST_KEY and is_random(value)


def _is_said(found: re.Match[str]) -> bool:
    """The password is hunter2: a value rather than a word about passwords."""
    value = bare(found["secret"])
    if len(value) < SHORTEST or stands_for_one(value):
        return False
    group = found.groupdict()
    if group.get("number"):
        return sum(map(str.isdigit, value)) >= SHORTEST
    if group.get("key"):
        return len(value) >= SHORTEST_KEY and is_random(value)
    if group.get("quote"):
        return True
    if any(map(str.isdigit, value)):
        return not value.isdigit() or len(value) >= 4
    if not value.isascii() and not value.isalpha():
        return True
    inner = value[1:]
    if re.search(r"[!@#$%^&*_+=~?]", inner) or (
        not inner.islower() and not value.isupper() and inner.isalpha()
    ):
        return True
    word = value.casefold()
    return bool(group.get("last") is not None and word not in NO_PASSWORDS and not describes(word))


def _is_named(found: re.Match[str]) -> bool:
    """hunter2 is my password: a word that only a sentence's beginning could be, or a value."""
    word = found["secret"].casefold().strip(".,;:!?")
    if found["first"] is None or not word.isalpha():
        return _is_said(found)
    return word not in NO_PASSWORDS | COMMON and not describes(word) and not stands_for_one(word)


def _is_said_with_digits(found: re.Match[str]) -> bool:
    """password hunter2: no verb says that it is one."""
    return any(map(str.isdigit, found["secret"])) and _is_said(found)


SAID: Mapping[str, Callable[[re.Match[str]], bool]] = {
    "assigned": _is_assigned,
    "said": _is_said,
    "said_with_digits": _is_said_with_digits,
    "named": _is_named,
    "stands_alone": lambda found: not stands_for_one(found["secret"]),
}
"""By the rule that a way of saying names (secrets.json): whether a match of it has a secret."""


def _is_code(value: str) -> bool:
    """8271-2231, Dyah-M9xi-RaFy, several of them; no word has such a form."""
    return all(
        any(map(str.isdigit, one)) or ("-" in one and one.lower() != one)
        for one in re.split(r"[\s,;]+", value)
    )


def is_strong(value: str) -> bool:
    """Whether it mixes what only passwords mix, and is no file, test or measure."""
    if re.search(r"[/\\]|\.\w{1,5}$", value) or value.casefold().startswith("test"):
        return False
    kinds = [str.isdigit, str.isupper, str.islower]
    mixed = sum(any(map(kind, value)) for kind in kinds) + bool(SYMBOL.search(value))
    return mixed >= 3 or (mixed == 2 and any(map(str.isdigit, value)) and len(value) >= 8)


def _is_short(value: str) -> bool:
    """Behind `PW:`, which stands for other things too."""
    return is_random(value) and not MEASURE.fullmatch(value) and is_strong(value)


def _is_mnemonic(value: str) -> bool:
    """Words that make no sentence: 12 or 24 of a list, correct horse battery staple."""
    said = re.findall(r"[^\W\d_]{2,20}", value.casefold())
    common = sum(word in STOP_WORDS["en"] for word in said)
    if len(said) >= MNEMONIC:
        return common <= COMMON_SHARE * len(said)
    return len(said) > SHORTEST_WORDS and not common and RULES.isdisjoint(said)


def _is_about(said: list[str]) -> bool:
    """Whether words tell of a password instead of being one."""
    known = NO_PASSWORDS | COMMON | RULES
    return any(word in known or describes(word) for word in said)


def _is_phrase(value: str) -> bool:
    """blue moon river: plain words that say nothing."""
    said = value.casefold().split()
    return len(said) >= SHORTEST_WORDS and not _is_about(said)


CALLED: Mapping[str, Callable[[str], bool]] = {
    "digits": lambda value: sum(map(str.isdigit, value)) >= OF_AN_ACCOUNT,
    "code": _is_code,
    "strong": is_strong,
    "short": _is_short,
    "mnemonic": _is_mnemonic,
    "phrase": _is_phrase,
    "random": is_random,
    "any": bool,
}
"""By the rule that a name of secrets has there: whether a value behind it is one."""
