"""Recorded hook calls, and `kinmem hook` as the process that a client starts."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
RECORDINGS = Path(__file__).parent / "recordings"
CLIENTS = ("claude", "codex", "gemini", "cursor", "vscode")

Hook = Callable[..., subprocess.CompletedProcess[bytes]]


def recorded(client: str) -> list[dict[str, Any]]:
    """What that client sent in a session, call by call."""
    text = (RECORDINGS / f"{client}.jsonl").read_text(encoding="utf-8")
    return [
        json.loads(line) for line in text.replace("$RECORDINGS", RECORDINGS.as_posix()).splitlines()
    ]


@pytest.fixture
def hook(home: Path) -> Hook:
    """Runs `kinmem hook` with that input; bytes as they are, anything else as JSON.

    What it starts learns without the judge, which takes a while to load.
    """

    def run(given: object, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "kinmem", "hook", *words],
            input=given if isinstance(given, bytes) else json.dumps(given).encode(),
            capture_output=True,
            cwd=ROOT,
            env={
                **os.environ,
                "KINMEM_HOME": str(home),
                "KINMEM_LINGER_MINUTES": "0",
                "KINMEM_JUDGE": "off",
                **environment,
            },
            timeout=60,
        )

    return run
