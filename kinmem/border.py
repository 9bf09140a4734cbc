"""The border: what every text passes before it is stored, whichever way it comes in.

What stands between <private> and </private> is left out. A secret (a key, a password, a card or
id number) is refused, taken out or kept, as KINMEM_SECRETS says. Whatever holds texts passes as a
whole, so that a new field cannot be forgotten.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeVar

from kinmem.errors import InvalidInput
from kinmem.language import redact, secret_kinds, without_private

# What becomes of a secret; the values of KINMEM_SECRETS.
Secrets = Literal["refuse", "redact", "keep"]
# Names of fields as callers know them.
CALLED = {"source_context": "sourceContext", "source_ref": "source"}
# Letters of a lower-case word that alone is no secret; most fields of a record are one, and looking
# for secrets in each took as long as storing it.
LONGEST_WORD = 12
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
        if is_dataclass(value) and not isinstance(value, type):
            held = {field.name: getattr(value, field.name) for field in fields(value)}
            passed = self._passed(held, what)
            return value if passed is held else replace(value, **passed)
        return value

    def _text(self, text: str, what: str) -> str:
        if len(text) <= LONGEST_WORD and text.isalpha() and text.islower():
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
        " it is kept instead, or set KINMEM_SECRETS to redact or keep"
    )


def _name(name: Any, what: str) -> str:
    return CALLED.get(name, name) if isinstance(name, str) else what


def _differ(ones: Any, others: Any) -> bool:
    return any(one is not other for one, other in zip(ones, others, strict=True))
