"""What each client's calls say, and what each may be told. No memory is needed for that."""

import json
from pathlib import Path
from typing import Any

import pytest

from kinmem.hooks.dialects import heard, recognised, reply
from kinmem.hooks.events import Compacted, Ended, Opened, Said
from tests.hooks.conftest import CLIENTS, recorded
from tests.hooks.golden import golden
from tests.tables import each

NOTES = "<notes>"
CLAUDE = {"session_id": "s", "cwd": "/w", "prompt_id": "p1"}


def claude(event: str, **fields: Any) -> dict[str, Any]:
    return {**CLAUDE, "hook_event_name": event, **fields}


def texts(given: object) -> list[str]:
    return [one.text for one in heard(given).heard if isinstance(one, Said)]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_recorded_session_is_understood(client: str) -> None:
    calls = []
    for given in recorded(client):
        hook = heard(given, client)
        said = [{type(one).__name__: one._asdict()} for one in hook.heard]
        calls.append({"hook": hook.event, "heard": said, "printed": reply(hook, NOTES)})

    golden(f"{client}.heard.json", calls)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_client_is_recognised_without_being_named(client: str) -> None:
    """But where two send the same: then it does not matter which of them it is."""
    for given in recorded(client):
        named, guessed = heard(given, client), heard(given)

        assert named.heard == guessed.heard
        assert reply(named, NOTES) == reply(guessed, NOTES)


@each("client", CLIENTS)
@each("wrong", CLIENTS)
def test_a_wrong_name_is_no_harm(client: str, wrong: str) -> None:
    """Claude Code's hooks, with their `claude`, are run by Cursor and VS Code as well."""
    for given in recorded(client):
        assert heard(given, wrong).heard == heard(given, client).heard


@each(
    ("given", "hint", "client"),
    [
        pytest.param({"prompt_id": "p"}, "codex", "claude", id="a prompt_id is Claude Code's"),
        pytest.param({"turn_id": "t"}, "claude", "codex", id="a turn_id is Codex'"),
        pytest.param({}, "codex", "codex", id="neither: as named"),
        pytest.param({}, None, "claude", id="neither, nobody named"),
        pytest.param({"conversation_id": "c"}, "claude", "cursor", id="a conversation is Cursor's"),
        pytest.param({"sessionId": "s"}, "claude", "vscode", id="a sessionId is VS Code's"),
        pytest.param({"timestamp": "t"}, "vscode", "vscode", id="a time, and named"),
        pytest.param({"timestamp": "t", "source": "new"}, None, "vscode", id="a new session"),
        pytest.param({"timestamp": "t", "source": "startup"}, None, "gemini", id="a time"),
    ],
)
def test_what_tells_clients_apart(given: dict[str, Any], hint: str | None, client: str) -> None:
    assert recognised("SessionStart", given, hint) == client


@each(
    "prompt",
    [
        pytest.param("/compact", id="slash command"),
        pytest.param("  /review-pr 12", id="slash command with words"),
        pytest.param("/plugin:do it", id="plugin's command"),
        pytest.param("<local-command-stdout>3 files</local-command-stdout>", id="local output"),
        pytest.param("<command-name>/clear</command-name>", id="command"),
        pytest.param("<task-notification>done</task-notification>", id="news of a task"),
        pytest.param("", id="nothing"),
        pytest.param(" \n\t", id="white space"),
        pytest.param("${prompt}", id="placeholder"),
        pytest.param(12, id="no text"),
    ],
)
def test_what_no_person_said_is_not_heard(prompt: object) -> None:
    assert heard(claude("UserPromptSubmit", prompt=prompt)).heard == ()


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param("/home/ana/notes.txt is broken", id="path"),
        pytest.param("<b>bold</b> is what I want", id="markup"),
        pytest.param("What does ${HOME} mean?", id="variable in a sentence"),
        pytest.param("a / b", id="division"),
    ],
)
def test_what_a_person_said_is_heard(prompt: str) -> None:
    assert texts(claude("UserPromptSubmit", prompt=prompt)) == [prompt]


@pytest.mark.parametrize("source", [None, "user", "sdk", ""])
def test_people_speak_themselves_or_through_programs(source: str | None) -> None:
    given = claude("UserPromptSubmit", prompt="I live in Lyon", source=source)

    assert texts(given) == ["I live in Lyon"]


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event", "x"])
def test_what_a_client_asks_itself_is_not_heard(source: str) -> None:
    assert texts(claude("UserPromptSubmit", prompt="Check the build", source=source)) == []


@each(
    "fields",
    [
        pytest.param({"agent_id": "a1", "agent_type": "Explore"}, id="sub-agent"),
        pytest.param({"agent_id": 7}, id="sub-agent with a number"),
        pytest.param({"agentId": "a1"}, id="sub-agent of VS Code"),
        pytest.param({"agent_type": ""}, id="the client's own helper"),
        pytest.param({"agent_id": "", "agent_type": ""}, id="helper with an empty id"),
    ],
)
@each("event", ["Stop", "PostToolUse", "UserPromptSubmit", "SubagentStop"])
def test_sub_agents_are_not_heard(event: str, fields: dict[str, Any]) -> None:
    given = claude(
        event, prompt="x", last_assistant_message="x", tool_name="Bash", tool_response="x"
    )

    assert heard({**given, **fields}).heard == ()


def test_a_main_agent_of_a_type_is_heard() -> None:
    """claude --agent reviewer."""
    given = claude("Stop", last_assistant_message="Done", agent_type="reviewer")

    assert texts(given) == ["Done"]


@pytest.mark.parametrize("absent", [None, "", "${prompt_id}", 7])
def test_a_turn_without_an_id_has_none(absent: object) -> None:
    (said,) = heard(claude("UserPromptSubmit", prompt="Hello", prompt_id=absent)).heard

    assert isinstance(said, Said) and said.turn is None


@pytest.mark.parametrize("absent", [None, "", "${session_id}", ["s"]])
def test_without_a_session_nothing_is_heard(absent: object) -> None:
    assert heard(claude("UserPromptSubmit", prompt="Hello", session_id=absent)).heard == ()


def test_names_are_of_one_line_and_short() -> None:
    (said,) = heard(claude("UserPromptSubmit", prompt="Hello", session_id="s" * 999)).heard

    assert len(said.session) < 100


def test_texts_hold_nothing_that_cannot_be_stored() -> None:
    assert texts(claude("UserPromptSubmit", prompt="a\0b\ud800c")) == ["ab\ufffdc"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("startup", [Opened("s")]),
        ("resume", [Opened("s")]),
        ("fork", [Opened("s")]),
        ("clear", [Compacted("s"), Opened("s")]),
        ("compact", [Compacted("s"), Opened("s")]),
    ],
)
def test_an_emptied_context_is_told_anew(source: str, expected: list[object]) -> None:
    assert list(heard(claude("SessionStart", source=source)).heard) == expected


def test_an_answer_after_a_hook_made_the_agent_go_on_is_another_part() -> None:
    first = heard(claude("Stop", last_assistant_message="One", stop_hook_active=False)).heard
    second = heard(claude("Stop", last_assistant_message="Two", stop_hook_active=True)).heard

    assert [one.part for one in (*first, *second) if isinstance(one, Said)][0] == ""
    assert len({one.part for one in (*first, *second) if isinstance(one, Said)}) == 2


@each(
    ("response", "text"),
    [
        pytest.param("plain", "plain", id="text"),
        pytest.param({"stdout": "out", "stderr": "err"}, "out\nerr", id="shell"),
        pytest.param([{"type": "text", "text": "a"}, {"type": "image"}], "a", id="blocks"),
        pytest.param({"content": [{"type": "text", "text": "a"}], "isError": False}, "a", id="mcp"),
        pytest.param({"type": "text", "file": {"content": "a"}}, "a", id="file"),
        pytest.param({"llmContent": "a", "returnDisplay": "b"}, "a", id="gemini"),
        pytest.param({"success": True}, '{"success": true}', id="anything else"),
        pytest.param([1, 2], "[1, 2]", id="list"),
    ],
)
def test_tool_outputs_are_read_as_text(response: object, text: str) -> None:
    given = claude("PostToolUse", tool_name="Bash", tool_use_id="u", tool_response=response)

    assert texts(given) == [text]


@pytest.mark.parametrize("response", [None, "", "  ", [], {}, [{"type": "image", "data": "…"}]])
def test_empty_tool_outputs_are_not_heard(response: object) -> None:
    given = claude("PostToolUse", tool_name="Bash", tool_use_id="u", tool_response=response)

    assert texts(given) in ([], ["[]"], ["{}"]) and texts(given) != ["…"]


@pytest.mark.parametrize(
    "tool",
    [
        "mcp__kinmem__recall",
        "mcp__plugin_kinmem_kinmem__memorize",
        "mcp_kinmem_recall",
        "MCP:recall",
    ],
)
def test_our_own_tools_are_not_heard(tool: str) -> None:
    given = claude("PostToolUse", tool_name=tool, tool_use_id="u", tool_response="x")

    assert heard(given).heard == ()


def test_a_long_tool_output_is_cut() -> None:
    given = claude("PostToolUse", tool_name="Bash", tool_use_id="u", tool_response="é" * 5_000_000)

    assert len(texts(given)[0].encode()) < 8 * 1024 * 1024


def test_a_stop_never_makes_the_agent_go_on() -> None:
    for client in CLIENTS:
        for given in recorded(client):
            hook = heard(given, client)
            if "Start" not in hook.event and "Prompt" not in hook.event:
                told = reply(hook, NOTES)
                assert told == {} or hook.event == "BeforeAgent"


def test_the_end_of_a_session_is_heard() -> None:
    assert heard(claude("SessionEnd", reason="other")).heard == (Ended("s"),)


@each(
    "given",
    [None, [], "x", 1, True, {}, {"hook_event_name": 3}, {"hook_event_name": "Nonsense"}],
    ids=json.dumps,
)
def test_what_is_no_hook_says_nothing(given: object) -> None:
    assert heard(given).heard == ()
    assert reply(heard(given), NOTES) == {}


# the transcript, where a call does not bring the answer


def lines(path: Path, *said: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")
    return str(path)


def stopped(path: str) -> list[str]:
    return texts({"session_id": "s", "hook_event_name": "Stop", "transcript_path": path})


USER = {"type": "user", "message": {"role": "user", "content": "Where?"}}
ANSWER = {
    "type": "assistant",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "Lyon."}]},
}


def test_an_older_client_s_answer_is_read_from_its_transcript(tmp_path: Path) -> None:
    thinking = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}
    path = lines(tmp_path / "t", USER, ANSWER, {"type": "assistant", "message": thinking})

    assert stopped(path) == ["Lyon."]


def test_codex_rollouts_are_read_too(tmp_path: Path) -> None:
    payload = {"type": "message", "role": "assistant", "content": [{"text": "Lyon."}]}

    assert stopped(lines(tmp_path / "t", {"type": "response_item", "payload": payload})) == [
        "Lyon."
    ]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([ANSWER, USER], id="the user spoke since"),
        pytest.param([{**ANSWER, "isSidechain": True}], id="a sub-agent's"),
        pytest.param([{**ANSWER, "isApiErrorMessage": True}], id="an error"),
        pytest.param([{"type": "assistant"}, {"role": "assistant", "content": 7}], id="no text"),
        pytest.param([], id="empty"),
    ],
)
def test_a_transcript_without_an_answer_gives_none(
    tmp_path: Path, said: list[dict[str, Any]]
) -> None:
    assert stopped(lines(tmp_path / "t", *said)) == []


def test_of_a_huge_transcript_only_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text(("x" * 999 + "\n") * 5000 + json.dumps(ANSWER) + '\n{"type":"assis')

    assert stopped(str(path)) == ["Lyon."]


@pytest.mark.parametrize("path", ["/nowhere", "/dev/zero", "/", "a\0b", "\ud800"], ids=repr)
def test_what_is_no_transcript_gives_none(path: str) -> None:
    assert stopped(path) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "<hook_context> </hook_context> Where does Clara live?",
        "Where does Clara live?\n<hook_context>It is raining.</hook_context>",
        "<hook_context>a</hook_context>\n<hook_context>b\nc</hook_context>\nWhere does Clara live?",
    ],
)
@pytest.mark.parametrize("event", ["BeforeAgent", "AfterAgent"])
def test_what_gemini_wraps_for_hooks_is_nobodys_prompt(prompt: str, event: str) -> None:
    given = {"session_id": "s", "hook_event_name": event, "prompt": prompt}

    said = heard(given, "gemini").heard[0]

    assert isinstance(said, Said) and said.text == "Where does Clara live?"


def test_a_prompt_may_speak_of_the_wrapper() -> None:
    prompt = "Why does <hook_context>x</hook_context> stand in my prompt?"
    given = {"session_id": "s", "hook_event_name": "BeforeAgent", "prompt": prompt}

    (said,) = heard(given, "gemini").heard

    assert isinstance(said, Said) and said.text == prompt
