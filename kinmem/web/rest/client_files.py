"""Export and import of a memory over HTTP: files that go through a server."""

import json
from pathlib import Path
from typing import IO, Any

import httpx

from kinmem.backup.importing import Import, Problem
from kinmem.backup.jsonl import Exported, whole_file
from kinmem.errors import InvalidInput
from kinmem.web.rest.client_methods import raise_for, raise_told


def export(http: httpx.Client, target: str | Path | IO[bytes]) -> Exported:
    """Write what the server exports to a file or a binary stream."""
    if isinstance(target, str | Path):
        with whole_file(Path(target)) as file:
            return export(http, file)
    header: dict[str, Any] = {}
    with http.stream("GET", "/export", timeout=None) as response:
        if response.is_error:
            response.read()
            raise_for(response, "export")
        for line in response.iter_lines():
            target.write(line.encode() + b"\n")
            known = json.loads(line)
            header = known if known["type"] == "header" else header  # the last one is right
    return Exported(header["counts"])


def import_(http: httpx.Client, path: str | Path, *, dry_run: bool) -> Import:
    """Let the server import a file."""
    asked = {"dry_run": "1"} if dry_run else {}
    headers = {"Content-Type": "application/jsonl"}
    try:
        with Path(path).open("rb") as file:
            response = http.post(
                "/import", params=asked, headers=headers, content=file, timeout=None
            )
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from None
    if response.is_error:
        raise_for(response, "import_")
    last = json.loads(response.text.strip().rpartition("\n")[2])
    if "result" not in last:
        raise_told(last["error"], "import_")
    return _imported(last["result"])


def _imported(told: dict[str, Any]) -> Import:
    problems = [Problem(**one) for one in told.pop("problems", [])]
    named = {"inBin": "in_bin", "othersShared": "others"}
    return Import(**{named.get(name, name): one for name, one in told.items()}, problems=problems)
