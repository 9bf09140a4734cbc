"""Typical mistakes at the command line: one sentence that says what helps, and one exit code."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from kinmem import open as opened
from kinmem.upkeep.steps import leased
from tests.cli.conftest import Kinmem

Memorized = Callable[..., str]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("rcall x", 2, "Did you mean 'recall'? kinmem --help lists what it takes"),
        ("list --sort date", 2, "'--sort': 'date' is not one of 'newest', "),
        ("recall x --limit ten", 2, "it must be a whole number; kinmem recall --help"),
        ("update x --importance high", 2, "it must be a number; kinmem update --help"),
        ("undo --last 0", 2, "it must be at least 1; "),
        ("serve --port 99999", 1, "config: KINMEM_PORT: it must be less than or equal to 65535"),
        ("sessions --limit 0", 3, "invalid: limit 0 is not between 1 and"),
        ("list --limit 201", 3, "invalid: limit 201 is not between 1 and 200"),
        ("recall x --since bogus", 3, "write a date such as 2026-05-08, a month such as 2026-05"),
        ("timeline --day bogus", 3, "day: 'bogus' is not a date or time; write a date"),
        ("list --cursor bogus", 3, "invalid: cursor "),
        ("show nope", 3, "not_found: no memory of yours has the id 'nope'"),
        ("show turn:99999", 3, "not_found: nothing that was said here has the id 'turn:99999'"),
        ("forget nope", 3, "; kinmem recall and kinmem list show the ids, and only its author"),
        ("memorize x --expires 2020-01-01", 3, "'2020-01-01' is over already; write 30d, 12h, a"),
        ("memorize x --expires gestern", 3, "expires: 'gestern' is over already; write 30d, "),
        ("memorize x --expires yesterday", 3, "expires: 'yesterday' is over already; write 30d"),
        ("memorize x --expires soonish", 3, "expires: 'soonish' is not a date or time; write 30d"),
        ("explore Nobody", 3, "not_found: nothing is known by the name 'Nobody'"),
        ("explore ''", 3, "invalid: name is empty; say whom or what"),
        ("sleep snore", 3, "invalid: no step is called 'snore'"),
        ("bench --embedder one", 3, "--embedder is given twice"),
        ("add missing.txt", 3, "there is no such file"),
        ("install emacs", 3, "there are claude-code, "),
    ],
)
def test_a_mistake_is_told_in_a_sentence_and_as_json(
    kinmem: Kinmem, words: str, code: int, told: str
) -> None:
    given = [word.strip("'") for word in words.split()]

    said, sent = kinmem(*given), kinmem(*given, "--json")

    assert (said.code, sent.code) == (code, code)
    assert told in said.err + said.out
    assert "Traceback" not in said.err and "Input should" not in said.err
    message = re.sub("^(invalid|not_found|config): ", "", told)
    assert message in json.dumps(json.loads(sent.out or sent.err), ensure_ascii=False)


def test_a_setting_that_is_no_number_is_told_plainly(
    kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_RELEVANT", "viele")

    assert kinmem("list").err.strip() == "config: MEMORY_MAX_RELEVANT: it must be a whole number"


def test_versions_and_what_the_benchmarks_refuse_are_json_as_well(kinmem: Kinmem) -> None:
    assert "kinmem" in kinmem("--version", "--json").json
    refused = kinmem("bench", "bogus", "--json")
    assert refused.code == 2
    assert "invalid choice: 'bogus'" in json.loads(refused.err)["error"]["message"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("turns", "nosuch"), "in a session 'nosuch'; kinmem sessions lists them"),
        (("context", "nosuch"), "in a session 'nosuch'; kinmem sessions lists them"),
        (("turns",), "kinmem install connects"),
        (("turns", "--parked"), "Nothing is parked"),
    ],
)
def test_where_nothing_was_said_the_next_step_is_named(
    kinmem: Kinmem, words: tuple[str, ...], told: str
) -> None:
    ran = kinmem(*words)

    assert (ran.code, told in ran.out) == (0, True)


def test_a_home_that_cannot_be_is_told_with_the_setting(kinmem: Kinmem, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    for place in ("file", "file/below"):
        ran = kinmem("stats", "--home", str(tmp_path / place))
        assert ran.code == 1
        assert str(tmp_path / "file") in ran.err and "KINMEM_HOME" in ran.err


def test_a_file_that_another_process_writes_is_busy(
    kinmem: Kinmem, memorized: Memorized, home: Path
) -> None:
    memorized("Clara keeps bees in Lyon.")
    other = apsw.Connection(str(home / "kins" / "default.db"))
    other.execute("BEGIN IMMEDIATE")

    ran = kinmem("update", "nope", "--content", "x", "--json")
    listed = kinmem("list", "--json")

    other.execute("ROLLBACK")
    assert ran.code in (1, 3) and json.loads(ran.err)["error"]["code"]
    assert (listed.code, len(listed.json["memories"])) == (0, 1)


def test_sleep_says_by_its_exit_code_that_another_is_at_it(
    kinmem: Kinmem, memorized: Memorized, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinmem.upkeep.pipeline.PATIENCE", 0.1)
    memorized("Clara keeps bees in Lyon.")

    with opened("default") as service, leased(service.store.jobs, "cycle"):
        ran = kinmem("sleep", "tag")

    assert ran.code == 1
    assert "is at it; try again when it has ended" in ran.out


def test_what_reads_the_output_may_stop_and_sleep_may_be_interrupted(home: Path) -> None:
    run = [sys.executable, "-m", "kinmem"]
    env = {**os.environ, "KINMEM_HOME": str(home)}
    for words in (["--help"], ["config"], ["list", "--json"]):
        with subprocess.Popen(
            [*run, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as reading:
            assert reading.stdout is not None and reading.stderr is not None
            reading.stdout.close()
            assert reading.stderr.read() == b""
        assert reading.returncode == 1

    with subprocess.Popen(
        [*run, "serve", "--transport", "http", "--port", "0"], env=env, stderr=subprocess.PIPE
    ) as serving:
        assert serving.stderr is not None
        serving.stderr.readline()  # where it listens
        serving.send_signal(signal.SIGINT)
        rest = serving.stderr.read().decode()
    assert "Traceback" not in rest


@pytest.mark.parametrize(
    "locale",
    [
        pytest.param({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, id="C"),
        pytest.param(
            {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "0", "PYTHONIOENCODING": "iso-8859-1"}, id="Latin-1"
        ),
    ],
)
def test_no_locale_loses_letters(home: Path, locale: dict[str, str]) -> None:
    env = {**os.environ, **locale, "KINMEM_HOME": str(home), "KINMEM_JUDGE": "off"}

    def ran(*words: str, typed: str = "") -> str:
        run = [sys.executable, "-m", "kinmem", *(word.encode() for word in words)]
        given = typed.encode(locale.get("PYTHONIOENCODING", "utf-8"))
        done = subprocess.run(run, env=env, input=given, capture_output=True, check=True)
        return done.stdout.decode()

    ran("memorize", "-", "--subject", "Zoë in 上海", typed="Ärger im Büro.")

    (listed,) = json.loads(ran("list", "--json"))["memories"]
    assert (listed["content"], listed["subject"]) == ("Ärger im Büro.", "Zoë in 上海")
    told = ran("list")
    assert "Ärger im Büro." in told and "Zoë in 上海" in told


def test_a_narrow_terminal_shows_what_a_memory_says(
    kinmem: Kinmem, memorized: Memorized, monkeypatch: pytest.MonkeyPatch
) -> None:
    memorized("Clara keeps bees in Lyon and plays the cello.")
    monkeypatch.setattr("kinmem.cli.terminal.UNLIMITED", 40)

    assert "\n  Clara keeps bees in Lyon" in kinmem("list").out


@pytest.mark.parametrize(
    "words", [["list"], ["recall", "pony"], ["stats"], ["history"], ["review"], ["timeline"]]
)
def test_looking_at_a_mistyped_kin_makes_none_and_names_the_one_that_was_meant(
    kinmem, memorized, words
):
    memorized("Ana has a pony", "--kin", "tomas")

    ran = kinmem("--kin", "tomsa", *words)
    other = kinmem("--kin", "wouter", *words)

    assert (ran.code, other.code) == (3, 3)
    assert "wouter has no memories of its own yet; those who have: tomas" in other.err
    assert "wouter" not in kinmem("kin", "list").out
    assert "tomsa has no memories of its own yet; did you mean tomas?" in ran.err
    assert "tomsa" not in kinmem("kin", "list").out


def test_a_token_for_a_kin_that_is_new_says_so(kinmem, memorized):
    memorized("Ana has a pony", "--kin", "tomas")

    made = kinmem("token", "add", "tomsa")

    assert made.code == 0
    assert "tomsa has no memories of its own yet; did you mean tomas?" in made.err
