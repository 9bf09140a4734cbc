"""Finds the JSON value in a model's reply, cleans it, and fits it to the requested shape.

Models put JSON in code fences, between sentences, or after thinking aloud; some repeat the schema
first. Their texts are cleaned like those of users, and of invisible characters. No error here
contains text of the reply, since it may end up in a log.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, get_origin

from pydantic import BaseModel, Field, ValidationError

from kinmem.llm.base import Shape
from kinmem.text import storable

THINKING = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
OPENING = re.compile(rf"[{{\[]|{THINKING.pattern}", re.IGNORECASE)
SAYING = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
# Tag characters carry text that nobody sees; direction marks show text in another order.
UNSEEN = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e007a]{3,6}\U000e007f)"  # a flag, which is written with tags
    "|[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]"
)
# A comma before a closing bracket. Strings are matched first, so that they stay whole.
COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
# Brackets of a reply that are tried; each try costs reading to where the JSON breaks off.
MOST_TRIES = 200
# Faults of a reply that the model is told about.
TOLD = 5


class Unfit(Exception):
    """No value in the reply has the shape. The text says why, for the model that gave it."""


def fitted(reply: str, shape: type[Shape]) -> Shape:
    """Return the first complete JSON value in the reply that fits the shape. Raises Unfit.

    If the shape's only field is a list, the bare list is accepted, and so is one of its items.
    """
    fault = ""
    for value, is_whole in _values(reply):
        try:
            found = shape.model_validate(_mended(shape, value))
        except ValidationError as error:
            fault = _in_short(error)  # the last value's: the first may be a repeated schema
            found = None
        if found is None or not found.model_fields_set:  # another object: it sets no field
            found = _wrapped(shape, value) if is_whole else None
        if found is not None:
            return found
    raise Unfit(fault or "it holds no complete JSON value")


def _wrapped(shape: type[Shape], value: Any) -> Shape | None:
    """Put a list, or a single item, into the only field of the shape."""
    name, *others = shape.model_fields
    if others or get_origin(shape.model_fields[name].annotation) is not list:
        return None
    if isinstance(value, dict) and name in value:
        if value[name] is not None:
            return None
        value = []
    with suppress(ValidationError):
        if isinstance(value, list) or value:
            return shape.model_validate({name: value if isinstance(value, list) else [value]})
    return None


def _mended(shape: type[BaseModel], value: Any) -> Any:
    """Drop fields that do not fit, if all of them are optional."""
    try:
        shape.model_validate(value)
    except ValidationError as error:
        bad = {fault["loc"][0] for fault in error.errors() if fault["loc"]}
        needed = {
            key
            for name, field in shape.model_fields.items()
            if field.is_required()
            for key in (name, field.alias)
        }
        if isinstance(value, dict) and bad and bad.isdisjoint(needed) and bad <= value.keys():
            return {key: one for key, one in value.items() if key not in bad}
    return value


def fitting(shape: type[BaseModel]) -> Callable[[Any], Any]:
    """Return a validator for a field that lists such shapes.

    It drops entries that do not fit, and optional fields that do not fit, so that one fault does
    not cost the rest. If no entry would be left, all are kept, and the reply is refused.
    """

    def fits(value: Any) -> bool:
        try:
            shape.model_validate(value)
        except ValidationError:
            return False
        return True

    def those_that_fit(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        mended = [_mended(shape, one) for one in value]
        return [one for one in mended if fits(one)] or value

    return those_that_fit


def schema_of(shape: type[BaseModel]) -> str:
    """Return the shape's JSON schema in one line, without what only programs need."""
    schema = _lean(shape.model_json_schema())
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _values(reply: str) -> Iterator[tuple[Any, bool]]:
    """Yield each complete JSON object or list that is not inside another or part of the model's
    thinking, and whether nothing broke off before it, of which it may be a part."""
    closing = SAYING.search(reply)
    # Some servers send only the closing tag.
    if closing and not THINKING.search(reply, 0, closing.start()):
        yield from _scanned(reply, closing.end())
    yield from _scanned(reply, 0)


def _scanned(reply: str, at: int) -> Iterator[tuple[Any, bool]]:
    is_whole = True
    for _ in range(MOST_TRIES):
        opening = OPENING.search(reply, at)
        if opening is None:
            return
        at = opening.end()
        if opening[0].startswith("<"):
            closing = SAYING.search(reply, at)
            at = closing.end() if closing else at
            continue
        try:
            found, end = _decoded(reply, opening.start())
            value = _cleaned(found)
        except (ValueError, RecursionError):  # ValueError also for numbers over 4,300 digits
            is_whole = False
            continue
        at = end
        yield value, is_whole


def _decoded(reply: str, start: int) -> tuple[Any, int]:
    """Decode the value at `start` and return it with its end, skipping commas before closing
    brackets."""
    try:
        return DECODER.raw_decode(reply, start)
    except ValueError:
        plain = COMMA.sub(lambda found: found[1] or " ", reply[start:])
        found, length = DECODER.raw_decode(plain)
        return found, start + length


def _cleaned(value: Any) -> Any:
    """Clean every text in the value. JSON can escape lone surrogates, which nothing can store."""
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else _seen(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(one) for key, one in value.items()}
    return value


def _seen(text: str) -> str:
    return UNSEEN.sub(lambda match: match[1] or "", storable(text))


# Not strict, since a line break inside a string is intended. NaN and Infinity are not JSON.
DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


def _in_short(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(map(str, fault['loc']))[:100]}: {fault['msg']}" for fault in faults[:TOLD]]
    if len(faults) > TOLD:
        lines.append(f"and {len(faults) - TOLD} more")
    return "; ".join(lines)


def _lean(part: Any, named: bool = False) -> Any:
    """Drop titles, defaults and class docstrings. With `named`, the keys are names of fields."""
    if isinstance(part, list):
        return [_lean(one) for one in part]
    if not isinstance(part, dict):
        return part
    if not named:
        part = _one_type(part)
    noise = {"title", "default"} | ({"description"} if "properties" in part else set())
    return {
        key: _lean(value, key in ("properties", "$defs"))
        for key, value in part.items()
        if named or key not in noise
    }


def _one_type(part: dict[str, Any]) -> dict[str, Any]:
    """Write a string or null as one field of two types instead of two schemas."""
    ways = part.get("anyOf", [])
    if not ways or any(set(way) != {"type"} for way in ways):
        return part
    rest = {key: value for key, value in part.items() if key != "anyOf"}
    return {"type": [way["type"] for way in ways], **rest}


# The shapes of answers to recall's prompts and of summaries.


class Standalone(BaseModel):
    """The shape of an answer to prompts/rewrite.md."""

    question: str


class Variations(BaseModel):
    """The shape of an answer to prompts/vary.md."""

    questions: list[str]


class Imagined(BaseModel):
    """The shape of an answer to prompts/imagine.md."""

    answer: str


class Summary(BaseModel):
    """The shape of an answer to prompts/summarize.md and prompts/fold.md."""

    summary: str = Field(min_length=1)
