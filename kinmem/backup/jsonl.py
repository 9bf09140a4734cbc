"""JSONL: a header, then one record on each line, keys sorted, the same bytes for the same data; and
its export into a file or a stream, whole or not at all."""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple, cast

from kinmem.backup import jsonl
from kinmem.errors import InvalidInput
from kinmem.language import content_hash
from kinmem.models import Progress
from kinmem.store.history import is_of_call
from kinmem.store.records import FORMAT, VERSION, Header, Record, Transfer
from kinmem.validation import Border, HasSecret, Secrets

if TYPE_CHECKING:
    from pydantic import TypeAdapter


# Bytes. A document may be of 8 MiB, has up to two copies of its text in its record, and earlier
# versions of it.
LONGEST_LINE = 256 << 20
# They end a line for some readers, though not in JSON.
LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}

Values = dict[str, Any]


class Line(NamedTuple):
    """A line of a file."""

    number: int
    values: Values | None = None
    problem: str | None = None
    """Why it cannot be read; then there are no values."""


def as_values(record: Header | Record) -> Values:
    """Return a record as JSON knows it."""
    return cast(Values, _adapter().dump_python(record, mode="json"))


def as_line(values: Values) -> bytes:
    """Return the line for the result of as_values, with its end."""
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    for sign, escape in LINE_ENDS.items():
        text = text.replace(sign, escape)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def passed(values: Values, border: Border) -> Values:
    """Return a record as it may pass; the same object if nothing changes. Names of calls with a
    key stay.

    Raises HasSecret if secrets are refused, or if a document has one: its chunks would no longer
    stand where they say.
    """
    bare = _without_calls(values)
    left = border.passed(bare, "it")
    if left is bare:
        return values
    if left.get("history"):
        left["history"] = list(map(_named_as, left["history"], values["history"]))
    if memory := left.get("memory"):
        if left["chunks"] is not None or left["earlier_texts"]:
            raise HasSecret("it is a document that holds a secret")
        memory["content_hash"] = content_hash(memory["content"])
    return left


def _without_calls(values: Values) -> Values:
    lines = values.get("history")
    if not isinstance(lines, list) or not any(map(_is_of_call, lines)):
        return values
    bare = [{**line, "batch": None} if _is_of_call(line) else line for line in lines]
    return {**values, "history": bare}


def _named_as(line: Any, before: Any) -> Any:
    return {**line, "batch": before["batch"]} if _is_of_call(before) else line


def _is_of_call(line: Any) -> bool:
    return isinstance(line, dict) and is_of_call(line.get("batch"))


def lines(file: IO[bytes]) -> Iterator[Line]:
    """Yield each line that follows the header. `file` is read from its beginning."""
    file.seek(0)
    file.readline()
    number = 1
    while line := file.readline(LONGEST_LINE):
        number += 1
        if line.strip():
            yield _line(number, line)


def _line(number: int, line: bytes) -> Line:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        cut = "" if line.endswith(b"\n") else "; the file seems to be cut short"
        return Line(number, problem=f"it is not JSON ({error}){cut}")
    if not isinstance(values, dict):
        return Line(number, problem="it is not an object")
    return Line(number, values)


def is_header(line: bytes) -> bool:
    """Return whether the first line of a file says that it is an export, of whatever version."""
    return _first(line) is not None


def _first(line: bytes) -> Values | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) and values.get("format") == FORMAT else None


def header(file: IO[bytes]) -> Header:
    """Read the header. Raises InvalidInput for what is no export, or is one of a newer kinmem."""
    file.seek(0)
    values = _first(file.readline(LONGEST_LINE))
    if values is None:
        raise InvalidInput(
            "this is no export of kinmem: its first line is no header; kinmem add stores documents"
        )
    version = values.get("version")
    if isinstance(version, int) and version > VERSION:
        raise InvalidInput(
            f"a newer kinmem has made this file (format {version}, this one reads up to {VERSION});"
            " update kinmem, then import it"
        )
    found = record(values)
    if not isinstance(found, Header):
        raise InvalidInput("the header of this file is not valid: it is of another type")
    return found


def record(values: Values) -> Header | Record:
    """Return the record that a line holds. Raises InvalidInput, which does not repeat contents."""
    from pydantic import ValidationError

    try:
        return _adapter().validate_json(json.dumps(values))
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, wrong["loc"])) or "it"
        raise InvalidInput(f"{where}: {wrong['msg'].lower()}") from None
    except (ValueError, RecursionError):
        raise InvalidInput("it is not valid") from None


def schema() -> Values:
    """Return the JSON schema of a line."""
    found = _adapter().json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a kinmem export, format {VERSION}",
        **found,
    }


@cache
def _adapter() -> "TypeAdapter[Header | Record]":
    """Built when it is first needed: it takes longer than most commands."""
    from pydantic import ConfigDict, Field, TypeAdapter

    checked = ConfigDict(extra="forbid", allow_inf_nan=False)
    return TypeAdapter(Annotated[Header | Record, Field(discriminator="type")], config=checked)


# Records after which progress is reported.
STEP = 100
# Ids that an error names.
NAMED = 5
# Bytes.
LONGEST_HEADER = 10_000


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    counts: dict[str, int]
    """Records by type."""
    redacted: int = 0
    """Records from which secrets were taken out."""
    left_out: tuple[str, ...] = ()
    """Documents that hold a secret, by id."""


def export_jsonl(
    store: Transfer, target: IO[bytes], secrets: Secrets, progress: Progress | None = None
) -> Exported:
    """Write all that is stored to a binary stream.

    Raises InvalidInput if secrets are refused and there are some; then nothing was written.
    """
    border = Border(secrets, leaves=True)
    records = store.records()
    header = cast(Header, next(records))
    counts = Counter(dict.fromkeys(header.counts, 0))
    redacted, left_out = 0, []
    total = sum(header.counts.values())
    with tempfile.TemporaryFile() as body:
        for done, record in enumerate(cast("Iterator[Record]", records)):
            if progress and done % STEP == 0:
                progress(done, total, "records")
            values = jsonl.as_values(record)
            try:
                kept = jsonl.passed(values, border)
            except HasSecret:
                left_out.append(_named(values))
                continue
            redacted += kept is not values
            counts[record.type] += 1
            body.write(jsonl.as_line(kept))
        if left_out and secrets == "refuse":
            raise _refused(left_out)
        target.write(jsonl.as_line(jsonl.as_values(replace(header, counts=dict(counts)))))
        body.seek(0)
        shutil.copyfileobj(body, target)
    return Exported(dict(counts), redacted, tuple(left_out))


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name when it is complete, readable by its owner only.

    Raises InvalidInput if it cannot be written, or would replace a file that is no export.
    """
    if _is_something_else(path):
        raise InvalidInput(f"{path} is there already and is no export of kinmem; name another file")
    hidden = f".{path.name}."
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=hidden, delete=False) as new:
            try:
                yield new.file
                new.flush()
                os.fsync(new.fileno())
                Path(new.name).replace(path)
            except BaseException:
                Path(new.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror or error}") from error


def _is_something_else(path: Path) -> bool:
    """Return whether a file is there that holds something and is no export."""
    try:
        if not path.is_file() or not path.stat().st_size:
            return False
        with path.open("rb") as file:
            return not jsonl.is_header(file.readline(LONGEST_HEADER))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror or error}") from error


def _named(values: jsonl.Values) -> str:
    held = values.get("memory") or values.get("message") or values.get("snapshot") or values
    return str(held.get("id", json.dumps(values)[:60]))


def _refused(found: list[str]) -> InvalidInput:
    named = ", ".join(found[:NAMED]) + (f" and {len(found) - NAMED} more" if found[NAMED:] else "")
    return InvalidInput(
        f"{len(found)} records hold a secret: {named}; nothing was written. Keep the secrets in the"
        " file with --keep-secrets, or set KINMEM_SECRETS to redact"
    )
