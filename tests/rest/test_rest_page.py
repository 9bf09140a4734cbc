"""Every curl line of docs/rest.md is run against a server."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.rest.conftest import Api

PAGE = Path(__file__).parents[2] / "docs" / "rest.md"
CURLS = re.findall(r"`(curl [^`]+)`", PAGE.read_text(encoding="utf-8"))
# None of them fails, but for what nothing here is known about.
UNKNOWN = "explore?name=office"


KORE = re.findall(r"^\| `((?:GET|POST|PUT|DELETE) /[^`]*)` \|(.*)$", PAGE.read_text("utf-8"), re.M)
# Of Kore Memory 3.0.4: every route of its application but that of an icon.
REQUESTS_OF_KORE = 64


def test_each_request_of_kore_has_its_place_and_its_line() -> None:
    assert len({request for request, _ in KORE}) == len(KORE) == REQUESTS_OF_KORE
    assert [request for request, told in KORE if "`curl " not in told] == []


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_line_of_the_page_is_answered(api: Api, tmp_path: Path) -> None:
    ids = {
        "ID": api.memory("the archive opens at nine", tags=["office"], subject="office"),
        "OTHER": api.memory("the house has an archive"),
    }
    known = {"URL": api.server.url, "TOKEN": api.server.tokens["admin"], **ids}
    for line in CURLS:
        done = subprocess.run(
            ["bash", "-c", line.replace("curl -s", "curl -sS --fail-with-body", 1)],
            cwd=tmp_path,
            env={**os.environ, **known},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0 or UNKNOWN in line, f"{line}\n{done.stdout}{done.stderr}"
        if "-o " not in line:
            assert all(json.loads(text) is not None for text in done.stdout.split("\n") if text)
