"""Export as JSONL: into a file or a stream, whole or not at all."""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

from kinmem.errors import InvalidInput
from kinmem.models import Progress
from kinmem.store.records import Header, Record, Transfer
from kinmem.transfer import jsonl
from kinmem.validation import Border, HasSecret, Secrets

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
