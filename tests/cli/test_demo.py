"""The demo is the first thing a newcomer sees."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import httpx
import pytest

from kinmem.cli import demo
from kinmem.cli.mcp_client import ServerFailed, converse, serving
from kinmem.http.open_page import show_page
from kinmem.text import content_words

ROOT = Path(__file__).parent.parent.parent
EXPECTED = """
created \\w{8}, private
created \\w{8}, for every assistant
recall  Is a dessert with nuts safe for everyone\\?
→ Our friend Bob is allergic to peanuts
meaning +█
words +█
duplicate_of|stored beside what it repeats
conflict \\w{8}
contradiction
nothing to mend
can be restored
shared by ada
recall  therapist
→ \\(nothing\\)
not_found
version 2
→ Maya is on holiday in Portugal from 19 to 26 June\\.  \\[shared by ada
list_memories
→ [Oo]ur friend Bob is allergic to peanuts
→ learned: I live in Lyon
→ learned: .*trains to planes
→ superseded: I live in Lyon
recall  Where do I live\\?
Earlier in this conversation, summarised
10 turns
<kinmem-notes>
trains to planes
</kinmem-notes>
calls through 3 servers
mcpServers
kinmem web
""".strip().splitlines()


@pytest.mark.slow
def test_the_demo_tells_its_story(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kinmem", "demo"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",  # whatever the locale: what no terminal reads is UTF-8
        timeout=280,
    )

    assert (done.returncode, done.stderr) == (0, "")
    at = 0
    for pattern in EXPECTED:
        found = re.compile(pattern).search(done.stdout, at)
        assert found, f"{pattern!r} does not follow\n{done.stdout[:at]}"
        at = found.end()
    assert "degraded" not in done.stdout
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_start_says_why() -> None:
    async def talk(errors: TextIO) -> None:
        async with serving("ana", Path("/dev/null/nowhere"), errors):
            pass

    with pytest.raises(ServerFailed, match="it said: config: /dev/null/nowhere"):
        converse(talk)


def test_recall_by_meaning_shares_no_word_with_the_memory() -> None:
    question = "Is a dessert with nuts safe for everyone?"

    assert not set(content_words(question)) & set(content_words(demo.ALLERGY))


def test_the_page_is_open_while_somebody_looks(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told, shown = "", 0

    def look() -> None:
        nonlocal told, shown
        while "login?key=" not in told:
            told += capfd.readouterr().out
        link = told[told.index("http") :].split()[0]
        shown = httpx.get(link, follow_redirects=True, timeout=30).status_code

    show_page(tmp_path, "ada", look)

    assert shown == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(told[told.index("http") :].split("/login")[0])
