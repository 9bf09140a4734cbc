"""What a value looks like: whether it is random, made up as a password, a code, a number of a
person, or only stands for one; and numbers of cards, accounts and ids, by their check digits.

A form alone makes no secret; a name beside it says that it is one (kinds.py).
"""

import hashlib
import http
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

from kinmem.language.lexicon import lexicon, word_class
from kinmem.text import STOP_WORDS, late

_EXPRESSIONS = word_class("expressions")
"""What stands for a value in code and in documentation."""
FIRST_UNSPACED = "\u3040"
"""From here on scripts have no spaces: a sentence goes on, and nobody types it as a password."""
_BEFORE_UNSPACED = late(f"[^{FIRST_UNSPACED}-\U0010ffff]++")
_DIFFERENT = 6
"""A body of fewer different characters is somebody's XXXX or 0000, not a key."""
_OF_CODE = ("[", "password", "passwd", "_hash", "credential")
_CALL = late(r"[a-z_][\w.]*\(")
_ALGORITHMS = frozenset(hashlib.algorithms_available) | {"argon2", "argon2i", "argon2id", "pbkdf2"}
"""What a password is hashed with."""
STATES = frozenset(str(state.value) for state in http.HTTPStatus)
"""404: what a server answers, and no door has as its code."""
_COUNTED = late(r"\d{1,2}[\u3040-\u9fff\uac00-\ud7af]")
"""10文字以上: how many, in scripts without spaces."""
_SYMBOL = late(r"[!@#$%^&*+=?]")
_MEASURE = late(r"[\d.,/:x-]+[a-zA-Zµ%°/²³]{0,6}")
SHORTEST_TOKEN, DIGITS_OF_A_TOKEN = 12, 3
SHORTEST_NUMBER, OF_AN_ACCOUNT = 4, 6
"""Digits."""
_SHORTEST_MADE_UP = 8
_SIGN_WITHIN = late(r"(?<=[^\W_])[!#$%&*+^_~.@?-]+(?=[^\W_])")
"""Between letters and digits."""
_ODD_SIGN = late("[!&$]")
"""A sign that stands in few names."""
_OF_NO_NAME = late("[!#$%&*^]")
"""Flask-Argon2, EC2-Instanz, 2.4GHz+5GHz and Flask-Login==0.5.0 stand in sentences about
passwords."""
_ADDRESS = late(r"[/\\]|://|@[\w-]+\.|^[\w.-]+:\d+$|\.[A-Za-z]{1,5}$|^\.|^-|^\d[\d.,:/%-]*\w{0,5}$")
_VERSION = late(r"[vV]?[A-Za-z]*[-_.]?\d+(?:[.-]\d+)*[A-Za-z]{0,4}")
"""Argon2, SHA-256, utf8, Python3.12, web113: a name and its number."""
_NAME = late(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*|[A-Z0-9]+(?:[-_][A-Z0-9]+)*")
"""mon-2, db-prod-01, MAX_RETRIES_2: names of things are in letters of one height."""
_OF_CODE_OR_PATTERN = late(
    r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|%[0-9A-F]{2}|\d-\d.*[a-zA-Z]-[a-zA-Z]|[a-z]-[a-z].*\d-\d"
)
"""httpx2.Request, Chat%20on, 0-9a-fA-F."""
_HASH = late(r"(?:[0-9a-f]{2}){16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_GROUPS = late(r"\d\d(?:-\d\d){2,4}|\d{3}(?:-\d{3}){2,4}|\d{4}(?:-\d{4}){2,4}", re.ASCII)
"""As long as each other: no day, telephone, range or result."""
_BETWEEN_WORDS = late(r"[a-z]{3,20}-(?:3[2-9]|[4-9]\d)-[a-z]{3,20}")
"""troll-42-kaffe: versions, sizes and days are smaller, years and numbers of things are longer."""
_LONGEST_CODE, _ROUND = 8, 5
_YEAR = late(r"(?:19|20)\d\d")
_DATE = late(
    r"(?:\d{1,2}([./ -])\d{1,2}\1(?:19|20)\d\d|(?:19|20)\d\d([./-])\d\d\2\d\d)(?![\d-]|\.\d)"
)
_PHONE = late(r"0\d{2,4} (?:\d{6,8}|\d{3} \d{4})")
COMMON = frozenset().union(*STOP_WORDS.values())
NO_PASSWORDS = word_class("no_passwords")
"""What a password is said to be without being told."""
RULES = word_class("password_rules")
MNEMONIC = 9
"""Words from which a list may have some that are in every text: about, above."""
COMMON_SHARE = 0.34
SHORTEST_WORDS = 3
DESCRIBES = late(
    r"(?:ed|ing|able|ible|ive|ful|less|ly|ent|ant|ous|ten|lich|bar|ig|é|ée|ada|ado|ida|ido|ata|ato|t[oó]ri[oa]|pflichtig)$"
)


def is_random(value: str) -> bool:
    """Whether nobody would write this but a machine: letters and digits, many different ones."""
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and len(set(value)) >= _DIFFERENT
    )


def is_token(value: str) -> bool:
    """Whether a part of it is what only a machine writes: no title of a page has such a word."""
    return any(
        len(part) >= SHORTEST_TOKEN
        and (
            sum(map(str.isdigit, part)) >= DIGITS_OF_A_TOKEN
            or all(any(map(kind, part)) for kind in (str.isdigit, str.isupper, str.islower))
        )
        and is_random(part)
        for part in re.split(r"[^A-Za-z0-9]", value)
    )


def stands_for_one(value: str) -> bool:
    """Whether it is a variable, an example or a mask."""
    plain = value.strip("\"'`").casefold()
    return (
        not plain
        or plain[0] in "$<{%[("
        or plain.startswith("//")
        or plain.rstrip(".,;:!?)") in _ALGORITHMS
        or any(sign in plain for sign in _OF_CODE)
        or _CALL.match(plain) is not None
        or _COUNTED.match(plain) is not None
        or plain.split(".")[0] in _EXPRESSIONS
        or plain.startswith(("your", "my_", "example", "xxx", "...", "***"))
        or len(set(plain)) < 2
    )


def bare(value: str) -> str:
    """Without the sentence's marks behind it; ! ends many passwords and few sentences with one.

    In scripts without spaces the sentence itself may go on: sakura22です.
    """
    return (_BEFORE_UNSPACED.match(value) or [value])[0].rstrip(".,;:?)。、")


def is_code(value: str) -> bool:
    """8271-2231, Dyah-M9xi-RaFy, several of them; no word has such a form."""
    return all(
        any(map(str.isdigit, code)) or ("-" in code and code.lower() != code)
        for code in re.split(r"[\s,;]+", value)
    )


def is_strong(value: str) -> bool:
    """Whether it mixes what only passwords mix, and is no file, test or measure."""
    if re.search(r"[/\\]|\.\w{1,5}$", value) or value.casefold().startswith("test"):
        return False
    kinds = [str.isdigit, str.isupper, str.islower]
    mixed = sum(any(map(kind, value)) for kind in kinds) + bool(_SYMBOL.search(value))
    return mixed >= 3 or (mixed == 2 and any(map(str.isdigit, value)) and len(value) >= 8)


def is_short(value: str) -> bool:
    """Behind `PW:`, which stands for other things too."""
    return is_random(value) and not _MEASURE.fullmatch(value) and is_strong(value)


def is_door_code(value: str) -> bool:
    """Whether it has enough digits, and is no year and no state of a server."""
    return (
        sum(map(str.isdigit, value)) >= SHORTEST_NUMBER
        and value not in STATES
        and not _YEAR.fullmatch(value)
    )


def is_id_number(value: str) -> bool:
    """Whether it is no day and no telephone."""
    enough = sum(map(str.isdigit, value)) >= OF_AN_ACCOUNT
    return enough and not _DATE.match(value) and not _PHONE.fullmatch(value)


def is_made_up(value: str) -> bool:
    """Whether it looks like a password that a careful person made up: letters of both heights or
    odd signs, digits, and signs within, and it is no name, version, path, address or hash."""
    plain = value.rstrip(".:?")
    if len(plain) < _SHORTEST_MADE_UP or not plain.isascii() or _is_a_name(plain):
        return False
    has_sign = bool(_SIGN_WITHIN.search(plain)) or plain[-1] in "!$*"
    digit, upper, lower = (
        any(map(is_kind, plain)) for is_kind in (str.isdigit, str.isupper, str.islower)
    )
    return digit and lower and has_sign and (upper or bool(_ODD_SIGN.search(plain)))


def is_odd(value: str) -> bool:
    """Whether it is made up with a sign that stands in no name: a stricter is_made_up."""
    return is_made_up(value) and _OF_NO_NAME.search(value) is not None


def is_mixed(value: str) -> bool:
    """Whether it mixes what passwords mix, and is no name: Tr0ub4dor, unlike Python3 or web113."""
    return is_strong(value) and any(map(str.isdigit, value)) and not _is_a_name(value.rstrip(".:?"))


def form_of_typed(value: str) -> str:
    """In which form somebody types it to get in: groups (18-33-07), words (troll-42-kaffe), a
    number or a round one, odd; empty if in none of them.

    Times, points and amounts are mostly round.
    """
    if value.isdecimal():
        if len(value) > _LONGEST_CODE or not is_door_code(value):
            return ""
        return "number" if int(value) % _ROUND else "round"
    if _GROUPS.fullmatch(value):
        return "groups"
    if _BETWEEN_WORDS.fullmatch(value):
        return "words"
    return "odd" if is_odd(value) else ""


def _is_a_name(value: str) -> bool:
    """Of a version, a thing, a place in a network or in a program; or a hash."""
    return bool(_NAME.fullmatch(value)) or _is_of_a_machine(value)


def _is_of_a_machine(value: str) -> bool:
    return bool(
        _ADDRESS.search(value)
        or _VERSION.fullmatch(value)
        or _HASH.fullmatch(value)
        or _OF_CODE_OR_PATTERN.search(value)
    )


def describes(word: str) -> bool:
    """Whether the word tells how something is: expired, abgelaufen, segura."""
    return DESCRIBES.search(word) is not None


def is_mnemonic(value: str) -> bool:
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


def is_phrase(value: str) -> bool:
    """blue moon river: plain words that say nothing."""
    said = value.casefold().split()
    return len(said) >= SHORTEST_WORDS and not _is_about(said)


def is_in_groups(value: str) -> bool:
    """Whether it is a key that is told in groups: of base 32, or of digits that are no years."""
    groups = re.split("[ -]", value.casefold())
    plain = "".join(groups)
    if plain.isdigit():
        return not all(map(_YEAR.fullmatch, groups))
    return any(map(str.isdigit, plain)) and COMMON.isdisjoint(groups)


Span = tuple[int, int]

_CARD = late(r"\d(?<![\w.-].)(?:[ -]?\d){12,18}(?![\w-]|[.]\d)", re.ASCII)
_ISSUED = late(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|35\d{14}|6(?:011|5\d\d|4[4-9]\d)\d{12}|62\d{14,17}"
)
_CARD_CODE = late(
    r"(?<![\w/.,:+-])(?!(?:19|20)\d\d)\d{3,4}(?![\w/:%€$£-]| ?[€$£]|[.,]\d)", re.ASCII
)
"""The first number behind a card's that is neither a date nor a price."""
CODE_WITHIN = 80
AMERICAN_EXPRESS = ("34", "37")
"""Its codes have four digits."""
_PERSONS: Mapping[str, Mapping[str, Any]] = lexicon("secrets")["persons"]
"""By country how its number of a person is written, and how its check digits are told."""
_OF_COUNTRIES = "|".join(f"(?P<{name}>{row['pattern']})" for name, row in _PERSONS.items())
_PERSON = late(rf"(?<![\w.-])(?:{_OF_COUNTRIES})(?![\w-]|[.]\d)", re.ASCII)
FEW = 3
"""Different digits that test cards have: 4242 4242 4242 4242, 4111 1111 1111 1111."""
FOR_TESTS = late(r"(?i)test|sandbox|example|dummy|beispiel|prueba|essai|prova|ejemplo|exemp")


def numbers(text: str) -> Iterator[tuple[str, Span]]:
    """Each with its kind."""
    for found in _CARD.finditer(text):
        digits = _alone(found[0])
        if not (_ISSUED.fullmatch(digits) and _luhn(digits)) or len(set(digits)) == 1:
            continue
        before = text[max(0, found.start() - 30) : found.start()]
        if len(set(digits)) > FEW or not FOR_TESTS.search(before):
            yield "card number", found.span()
            beside = _CARD_CODE.search(text, found.end(), found.end() + CODE_WITHIN)
            if beside and len(beside[0]) == 3 + digits.startswith(AMERICAN_EXPRESS):
                yield "card code", beside.span()
    for found in _PERSON.finditer(text):
        number = _alone(found[0])
        if len(set(number)) > 2 and _is_valid(found.lastgroup or "", number):
            yield "number of a person", found.span()


def is_account(number: str) -> bool:
    """ISO 13616: the country and the check digits last, letters as 10 to 35, 1 modulo 97."""
    plain = "".join(number.split())
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _alone(number: str) -> str:
    return re.sub(r"[ .+-]", "", number)


def _luhn(digits: str) -> bool:
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 * (n > 9) for n in doubled)) % 10 == 0


def _is_valid(country: str, number: str) -> bool:
    """Whether the check digits are right, and whoever has it was born on a day that there is."""
    row = _PERSONS[country]
    if "born" in row and not _is_born(number, *row["born"]):
        return False
    if "weighed" in row:
        return all(_is_weighed(number, *check) for check in row["weighed"])
    if "odd" in row:  # every second sign counts by a table, the others by their place
        places = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in number]
        total = sum(row["odd"][place] for place in places[0:15:2]) + sum(places[1:15:2])
        return bool(total % 26 == places[15])
    at = -1 if "rests" in row else -2
    told, check = number[:at], number[at:]
    for letter, digits in row.get("letters", {}).items():
        told = told.replace(letter, digits)
    told = re.sub(r"\D", "", told)
    if "rests" in row:
        return str(row["rests"])[int(told) % len(row["rests"])] == check
    return int(check) in (97 - int(before + told) % 97 for before in row.get("before", [""]))


def _is_weighed(number: str, weights: Sequence[int], signs: str) -> bool:
    """Whether behind the digits that are weighed stands the sign of what is left over."""
    total = sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False))
    return signs[-total % len(signs)] == number[len(weights)]


def _is_born(number: str, year: int, month: int, day: int) -> bool:
    """Of a year in two digits 2000 is as good as any: it had a 29 February."""
    first = number[year : year + 4] if month - year == 4 else f"20{number[year : year + 2]}"
    with suppress(ValueError):
        date(int(first), int(number[month : month + 2]), int(number[day : day + 2]))
        return True
    return False
