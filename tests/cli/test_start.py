"""How kinmem starts, ends and fails, as its own process."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kinmem import open as opened
from kinmem.cli import main, only_serves
from kinmem.cli.terminal import exit_code
from kinmem.errors import KinmemError
from tests.cli.conftest import Kinmem
from tests.sweeps import WHOLE
from tests.tables import each

Memorized = Callable[..., str]

KINMEM = [sys.executable, "-m", "kinmem"]
ROOT = Path(__file__).parent.parent.parent


def ran(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    options = {"stdin": subprocess.DEVNULL, "timeout": 60, "encoding": "utf-8", **options}
    return subprocess.run([*KINMEM, *words], cwd=ROOT, capture_output=True, **options)


def test_help_names_every_command() -> None:
    out = ran("--help").stdout

    for command in (
        "memorize update forget restore recall list show review stats serve demo kin token config"
        " reembed doctor"
    ).split():
        assert f" {command} " in out


def loaded_by(*calls: str) -> set[str]:
    """The packages that a process has loaded after these calls of main."""
    code = (
        f"import sys; from kinmem.cli import main\n{'; '.join(calls)}\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    loaded = set(done.stderr.split())
    assert "kinmem" in loaded
    return loaded


def test_help_waits_for_nothing_heavy() -> None:
    heavy = "mcp numpy litellm onnxruntime tokenizers apsw pydantic asyncio".split()
    assert not loaded_by("main(['--help'])") & set(heavy)


def test_recall_and_list_do_not_wait_for_mcp() -> None:
    calls = (f"main(['{verb}', 'tea', '--json'])" for verb in ("memorize", "recall"))

    assert not loaded_by(*calls) & {"mcp", "litellm", "starlette"}


def test_what_needs_no_model_loads_none() -> None:
    calls = (f"main(['{verb}'])" for verb in ("list", "timeline", "stats", "mute"))

    assert not loaded_by(*calls) & {"onnxruntime", "tokenizers", "mcp"}


@pytest.mark.parametrize("words", [[], ["serve"], ["--kin", "ana"]], ids=" ".join)
def test_clients_need_no_command(words: list[str]) -> None:
    """Configurations say `uvx kinmem`; stdin is then no terminal."""
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    with subprocess.Popen(
        [*KINMEM, *words], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin and server.stdout
        server.stdin.write(json.dumps(hello) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.stdin.close()

        assert answer["result"]["serverInfo"]["name"] == "kinmem"
        assert server.wait(timeout=20) == 0


def test_on_a_terminal_no_command_shows_the_help() -> None:
    master, slave = pty.openpty()
    try:
        assert "memorize" in ran(stdin=slave).stdout
    finally:
        os.close(master)
        os.close(slave)


@each(
    ("line", "flags"),
    [
        ("serve", {}),
        ("serve --kin ana --home /x", {"KINMEM_KIN": "ana", "KINMEM_HOME": "/x"}),
        ("--kin ana serve", {"KINMEM_KIN": "ana"}),
        ("serve --transport http", None),
        ("serve --help", None),
        ("serve serve", None),
        ("--kin serve", None),
        ("recall serve", None),
    ],
)
def test_what_only_serves_starts_without_typer(line: str, flags: dict[str, str] | None) -> None:
    assert only_serves(line.split()) == flags


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("list", 0, None),
        ("recall anything", 0, None),
        ("--version", 0, None),
        ("recal anything", 2, "usage: No such command 'recal'. Did you mean 'recall'?"),
        ("recall", 2, "usage: Missing argument"),
        ("list --sort sideways", 2, "usage: Invalid value for '--sort'"),
        ("list --nonsense", 2, "usage: No such option: --nonsense"),
        ("update x --clear content", 2, "usage: Invalid value for --clear"),
        ("memorize x --category nonsense", 3, "invalid: category 'nonsense'"),
        ("recall x --limit 0", 3, "invalid: limit 0"),
        ("list --since 7th-of-May", 3, "invalid: since"),
        ("list --cursor nonsense", 3, "invalid: cursor"),
        ("show 00000000-0000-7000-8000-000000000000", 3, "not_found: "),
        ("forget nonsense", 3, "not_found: "),
        ("recall x --kin ../x", 1, "config: KINMEM_KIN"),
        ("token revoke nonsense", 3, "invalid: no token"),
        ("list --home /dev/null/x", 1, "config: /dev/null/x/config.toml"),
    ],
)
def test_every_way_to_end_has_its_code(
    kinmem: Kinmem, line: str, code: int, said: str | None
) -> None:
    done = kinmem(*line.split())

    assert done.code == code
    assert (done.err == "") if said is None else done.err.startswith(said)
    if said is not None:
        assert done.out == ""
        assert done.err.count("\n") == 1


@pytest.mark.parametrize("line", ["show nonsense", "list", "recal x"])
def test_a_process_ends_at_once_whatever_came_of_its_command(
    line: str,
) -> None:
    """The threads of a model abort a process whose libraries are torn down below them."""
    code = "import atexit, kinmem.cli as cli; atexit.register(print, 'torn down'); cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *line.split()], cwd=ROOT, capture_output=True, text=True
    )

    assert "torn down" not in done.stdout


@pytest.mark.parametrize("line", ["show nonsense", "recal x", "list --since x"])
def test_errors_are_json_for_programs(kinmem: Kinmem, line: str) -> None:
    done = kinmem(*line.split(), "--json")

    error = json.loads(done.err)["error"]
    assert set(error) == {"code", "message", "retry"}
    assert done.out == ""
    assert done.code == exit_code(error["code"]) != 0


def test_every_error_has_an_exit_code() -> None:
    def below(cls: type[KinmemError]) -> set[type[KinmemError]]:
        return {cls}.union(*map(below, cls.__subclasses__()))

    codes = {cls.code: exit_code(cls.code) for cls in below(KinmemError)}

    assert {code for code, exit in codes.items() if exit == 3} == {
        *("invalid", "too_large", "unreadable", "not_found", "conflict", "refused")
    }


def test_a_setting_that_cannot_be_meant_is_an_error(
    kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINMEM_KINN", "ana")

    done = kinmem("list")

    assert done.code == 1
    assert "did you mean KINMEM_KIN?" in done.err


def test_a_reader_that_has_seen_enough_is_no_error(kinmem: Kinmem, memorized: Memorized) -> None:
    for number in range(3):
        memorized(f"Statement number {number}")
    command = f"{sys.executable} -m kinmem list --all | head -n 1"

    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)

    assert done.stdout.startswith("id")
    assert done.stderr == ""


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_that_want_it(
    kinmem: Kinmem, memorized: Memorized, variables: dict[str, str], coloured: bool
) -> None:
    memorized("Bob is allergic to peanuts")
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **variables}

    subprocess.run(
        [*KINMEM, "recall", "peanuts", "--explain"], cwd=ROOT, stdout=slave, env=environment
    )
    os.close(slave)
    out = os.read(master, 10_000)  # in the encoding of whoever runs the tests
    os.close(master)

    assert (b"\x1b[32m" in out) == coloured
    assert "\x1b[" not in kinmem("recall", "peanuts", "--explain").out


AGE = r"\d+m ago|just now"
ODD_PLACES = [
    {"COLUMNS": "20", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"COLUMNS": "80", "TERMINAL_WIDTH": "20", "TERM": "dumb", "HOME": ""},
]


def test_what_is_not_for_a_terminal_is_the_same_everywhere(
    kinmem: Kinmem, memorized: Memorized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing wraps, cuts or pads it, however narrow the terminal or long the place is."""
    home = tmp_path / ("h" * 150)
    content = f"The handbook lies at {'/srv/shared/handbooks' * 6} and is read by everybody"
    subject = "the handbook of the northern branch office"
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("KINMEM_HOME", str(home))
    memorized(content, "--subject", subject)

    for at, words in enumerate(("list", "recall handbook", "list --help", "config")):
        usual = kinmem(*words.split()).out.splitlines()
        for place in ODD_PLACES if WHOLE else ODD_PLACES[at % 2 :][:1]:
            odd = ran(*words.split(), env={**os.environ, **place})

            assert odd.returncode == 0, odd.stderr
            odd_lines = [re.sub(AGE, "just now", line) for line in odd.stdout.splitlines()]
            assert odd_lines == [re.sub(AGE, "just now", line.rstrip()) for line in usual]
        if words in ("list", "recall handbook"):
            assert any(content in line for line in usual)
            assert any(subject in line for line in usual)
        if words == "config":
            assert any(f" {home} " in line for line in usual)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Where two Kins remember something, and the id of what ana does."""
    home = tmp_path_factory.mktemp("known")
    with opened("bob", home=home) as bob, opened("ana", home=home) as ana:
        bob.memorize("Bees sleep in winter.")
        id = ana.memorize("The boiler is in the cellar.", subject="boiler").id
    return {"home": str(home), "id": str(id)}


def completing(line: str, home: str) -> dict[str, str]:
    """What a shell sets before it asks how the line may go on."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return {"KINMEM_HOME": home, "_KINMEM_COMPLETE": "complete_bash", **words}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("kinmem install c", ["claude-code", "claude-desktop", "codex", "cursor"]),
        ("kinmem recall --mode r", ["relevance", "recent"]),
        ("kinmem list --category pre", ["preference"]),
        ("kinmem list --kin ", ["ana", "bob"]),
        ("kinmem --kin a", ["ana"]),
        ("kinmem list --kin ana --subject b", ["boiler"]),
        ("kinmem --kin ana show ", None),
        ("kinmem list --sort i", ["importance"]),
        ("kinmem sleep ta", ["tag"]),
        ("kinmem list --home /nowhere/at/all --subject ", []),
    ],
)
def test_a_shell_is_offered_values(
    known: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    offered: list[str] | None,
) -> None:
    for variable, value in completing(line, known["home"]).items():
        monkeypatch.setenv(variable, value)
    with suppress(SystemExit):
        main([])

    assert capsys.readouterr().out.split() == ([known["id"][-8:]] if offered is None else offered)


def test_a_shell_asks_a_process(known: dict[str, Any]) -> None:
    asked = completing("kinmem list --kin ana --subject b", known["home"])

    assert ran(env={**os.environ, **asked}).stdout.split() == ["boiler"]
