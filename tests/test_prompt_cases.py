"""The evaluation of the prompts, with a model that says what a good one would."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.evaluate_prompts import CASES, answer_to, faults_of, main
from tests.llm.model_server import ModelServer
from tests.scripted import ScriptedModel
from tests.sweeps import WHOLE
from tests.tables import each
from tests.test_prompts import NAMES

ROOT = Path(__file__).parent.parent
FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(CASES.glob("*.json"))}
ALL = [(name, case) for name, cases in FILES.items() for case in cases]


@each("name", NAMES)
def test_every_prompt_has_a_dozen_cases(name: str) -> None:
    assert len(FILES[name]) >= 12


@each(("name", "case"), ALL, ids=[f"{n}: {case['id']}" for n, case in ALL])
def test_the_example_of_a_good_answer_passes(name: str, case: dict[str, Any]) -> None:
    model = ScriptedModel([case["example"]])

    assert faults_of(answer_to(name, case, model), case["expect"]) == []


def evaluate(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = ("MEMORY_", "KINMEM_", "COMPACTING_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(kept)}
    return subprocess.run(
        [sys.executable, "scripts/evaluate_prompts.py", *arguments],
        cwd=ROOT,
        env={**clean, "KINMEM_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
    )


def test_without_a_model_it_says_so(tmp_path: Path) -> None:
    done = evaluate(tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "--model or KINMEM_MODEL" in done.stderr


@pytest.mark.parametrize(("bad", "code"), [(1, 0), *([(99, 1)] if WHOLE else [])])
def test_it_counts_what_passes(
    bad: int, code: int, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = [{"items": [{}]}] * 2 * bad + [case["example"] for case in FILES["extract"][bad:]]
    said = iter(replies)
    with ModelServer(lambda prompt: next(said)) as server:
        config = f'[providers.here]\ntype = "openai"\nbase_url = "{server.base("ok")}"\n'
        home.mkdir()
        (home / "config.toml").write_text(config)
        ended = main(["--model", "here:m", "extract"])

    told, total = capsys.readouterr().out, len(FILES["extract"])
    assert f"extract: {max(0, total - bad)} of {total} passed with here:m" in told
    assert told.count("failed: ") == min(bad, total)
    assert ended == code
