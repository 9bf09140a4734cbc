"""What a model answers, found amid whatever else it says, and held to the shape that was asked for.

Models put JSON in code fences, between sentences, behind what they thought aloud; some repeat the
schema first. What they write is cleaned as what users write is, and of what nobody sees. Nothing
here puts the text of a reply into an error: it may end in a log.
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
UNSEEN = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e007a]{3,6}\U000e007f)"  # a flag, which is written with tags
    "|[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]"
)
"""Tags say what nobody reads; marks of direction show a text in another order than its own."""
COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)
"""One that stands before a closing bracket; texts are kept whole."""
MOST_TRIES = 200
"""Brackets of a reply that are looked behind; each costs reading to where the JSON breaks off."""
TOLD = 5
"""Faults of a reply that the model is told of."""


class Unfit(Exception):
    """No value in the reply has the shape; the text says why, for the model that gave it."""


def fitted(reply: str, shape: type[Shape]) -> Shape:
    """The first complete JSON value in the reply that fits. Raises Unfit.

    Where the shape is one list, the list alone will do, and so will one of its items.
    """
    fault = ""
    for value, is_whole in _values(reply):
        try:
            found = shape.model_validate(_mended(shape, value))
        except ValidationError as error:
            fault = _in_short(error)  # of the last: the first may be the schema, repeated
            found = None
        if found is None or not found.model_fields_set:  # some other object; all are missing
            found = _wrapped(shape, value) if is_whole else None
        if found is not None:
            return found
    raise Unfit(fault or "it holds no complete JSON value")


def _wrapped(shape: type[Shape], value: Any) -> Shape | None:
    """The list, or its one item, in the only field that the shape has."""
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
    """Without fields that do not fit and that may be missing."""
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
    """For a field that lists them: drops what is none, and of an entry what does not fit and may
    be missing, so that one fault does not cost the rest. Where no entry would be left all are
    kept, and the reply is refused."""

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
    """Its JSON schema in one line, without what only programs need."""
    schema = _lean(shape.model_json_schema())
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _values(reply: str) -> Iterator[tuple[Any, bool]]:
    """Every complete JSON object or list that is in no other one and was not just thought, and
    whether nothing broke off before it, of which it may be a part."""
    closing = SAYING.search(reply)
    if closing and not THINKING.search(
        reply, 0, closing.start()
    ):  # some servers send this tag only
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
        except (ValueError, RecursionError):  # also a number of over 4,300 digits
            is_whole = False
            continue
        at = end
        yield value, is_whole


def _decoded(reply: str, start: int) -> tuple[Any, int]:
    """The value there and where it ends; a comma before a closing bracket is passed over."""
    try:
        return DECODER.raw_decode(reply, start)
    except ValueError:
        plain = COMMA.sub(lambda found: found[1] or " ", reply[start:])
        found, length = DECODER.raw_decode(plain)
        return found, start + length


def _cleaned(value: Any) -> Any:
    """Every text in it; JSON writes lone surrogates, which nothing can store, as escapes."""
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else _seen(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(one) for key, one in value.items()}
    return value


def _seen(text: str) -> str:
    return UNSEEN.sub(lambda match: match[1] or "", storable(text))


# Not strict: a line break inside of a string is what was meant. NaN and Infinity are no JSON.
DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


def _in_short(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{'.'.join(map(str, fault['loc']))[:100]}: {fault['msg']}" for fault in faults[:TOLD]]
    if len(faults) > TOLD:
        told.append(f"and {len(faults) - TOLD} more")
    return "; ".join(told)


def _lean(part: Any, named: bool = False) -> Any:
    """Without titles, defaults and the docstrings of classes; `named`: its keys name fields."""
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
    """A string or null is one field of two types, not two schemas."""
    ways = part.get("anyOf", [])
    if not ways or any(set(way) != {"type"} for way in ways):
        return part
    rest = {key: value for key, value in part.items() if key != "anyOf"}
    return {"type": [way["type"] for way in ways], **rest}


# The shapes of what models answer to recall's questions and when they summarise.


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
