"""Through litellm's real code, against a chat model on this machine that fails on purpose."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from os.path import commonprefix

import pytest
from pydantic import BaseModel

from kinmem.errors import ModelError
from kinmem.learn.findings import Findings
from kinmem.llm.deadline import FAILURES
from kinmem.llm.litellm_models import LitellmChat
from kinmem.llm.prompts import read
from kinmem.llm.rerankers import ChatReranker
from tests.llm.conftest import KEY, connecting
from tests.llm.fault_provider import LEAKED
from tests.llm.model_server import GOOD, LOUD, ModelServer

MODEL = "openai/gpt-4.1-mini"
SHORT = 1.0

pytestmark = [
    pytest.mark.usefixtures("litellm_imported"),
    # litellm's own affairs; _tamed keeps them from users, but pytest resets that for each test.
    pytest.mark.filterwarnings(
        "ignore:Items? '.+' on TypedDict class:UserWarning",
        "ignore:Pydantic serializer warnings:UserWarning",
    ),
]

Connect = Callable[..., LitellmChat]


class Drink(BaseModel):
    """What to bring."""

    name: str
    cups: int


TEA = {"name": "tea", "cups": 2}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def connect(server: ModelServer) -> Connect:
    return connecting(LitellmChat, server, MODEL)


@pytest.mark.parametrize("mode", ["ok", "fenced", "thinking"])
def test_a_good_answer_comes_back_in_shape(
    connect: Connect, mode: str, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = connect(mode).answer("what was said?", Findings)

    assert [one.content for one in answer.items] == ["Ana drinks green tea every morning"]
    assert capfd.readouterr() == ("", "")


def test_it_is_asked_for_json_of_the_shape_and_no_chance(
    connect: Connect, server: ModelServer
) -> None:
    server.replies = lambda prompt: TEA
    connect("ok").answer("what to drink?", Drink)

    (body,) = server.bodies
    assert body["model"] == "gpt-4.1-mini"
    assert body["temperature"] == 0
    (message,) = body["messages"]
    assert message["content"].endswith("what to drink?")
    schema = json.loads(message["content"].splitlines()[1])
    assert schema == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "cups": {"type": "integer"}},
        "required": ["name", "cups"],
    }
    told = {"name": "Drink", "schema": schema, "strict": False}
    assert body["response_format"] == {"type": "json_schema", "json_schema": told}


def test_who_is_not_known_to_take_a_schema_is_asked_for_an_object(
    connect: Connect, server: ModelServer
) -> None:
    server.replies = lambda prompt: TEA
    connect("ok", model="openai/a-model-of-ours").answer("what to drink?", Drink)

    assert server.bodies[0]["response_format"] == {"type": "json_object"}


def test_who_refuses_a_format_is_asked_without_it_from_then_on(
    connect: Connect, server: ModelServer
) -> None:
    server.replies = lambda prompt: TEA
    model = connect("no-formats")

    assert [model.answer("what to drink?", Drink).cups for _ in range(2)] == [2, 2]

    formats = [body.get("response_format", {}).get("type") for body in server.bodies]
    assert formats == ["json_schema", "json_object", None, None]


def test_what_is_the_same_in_two_calls_stands_first(connect: Connect, server: ModelServer) -> None:
    server.replies = lambda prompt: {"scores": [{"id": 1, "score": 9}]}
    reranker = ChatReranker(connect("ok"))
    for question, text in (("where?", "Ana lives in Lyon."), ("when?", "Ben came on Monday.")):
        reranker.scores(question, [text])

    first, second = server.prompts
    shared = commonprefix([first, second])
    assert '"type":"object"' in shared
    assert read("rerank").text.split("$today")[0].strip() in shared


FAULTS = {
    "hang": (1, "took longer than"),
    "drip": (1, "took longer than"),
    "dripping-head": (1, "took longer than"),
    "429": (2, "HTTP 429"),
    "429long": (1, "asks to wait 3600 s"),
    "500": (2, "HTTP 500"),
    "reset": (2, "cannot be reached"),
    "401": (1, "check its key"),
    "garbage": (1, "cannot be read"),
    "html": (1, "cannot be read|empty answer"),
    "redirect": (1, "redirects"),
    "endless": (1, "more than 2,097,152 bytes"),
    "huge": (1, "more than 2,097,152 bytes"),
    "truncated": (1, "broke off at its limit"),
    "filtered": (1, "refused to answer"),
    "refused": (1, "refused to answer"),
    "empty": (1, "empty answer"),
    "nothing": (1, "empty answer"),
    "no-choices": (1, "empty answer|cannot be read"),
    "prose": (2, "no Findings, also when told"),
    "wrong-shape": (2, "no Findings, also when told"),
}


@pytest.mark.parametrize("mode", FAULTS)
def test_a_fault_is_a_model_error_in_time(
    mode: str,
    connect: Connect,
    server: ModelServer,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    tries, words = FAULTS[mode]
    model = connect(mode)

    with caplog.at_level(logging.INFO), pytest.raises(ModelError, match=words) as caught:
        model.answer("what was said?", Findings, deadline=SHORT if "took" in words else 10)

    assert server.hits[mode] == tries
    assert server.hits["landed"] == 0
    told = str(caught.value) + caplog.text
    assert not [secret for secret in (KEY, LEAKED, LOUD, "sorry") if secret in told]
    assert capfd.readouterr() == ("", "")


def test_a_passing_fault_is_tried_again(connect: Connect, server: ModelServer) -> None:
    assert connect("500then").answer("what was said?", Findings).items
    assert server.hits["500then"] == 2


def test_the_pause_a_provider_asks_for_is_kept(
    connect: Connect, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("kinmem.llm.litellm_client.time.sleep", pauses.append)

    with pytest.raises(ModelError, match="HTTP 429, and asks to wait 0.2 s"):
        connect("429").answer("what was said?", Findings)

    assert len(pauses) == 1
    assert pauses[0] >= 0.2
    assert server.hits["429"] == 2


def test_nothing_is_tried_beyond_the_attempts(connect: Connect, server: ModelServer) -> None:
    with pytest.raises(ModelError):
        connect("500", attempts=1).answer("what was said?", Findings)

    assert server.hits["500"] == 1


def test_an_unfit_answer_is_mended_once(connect: Connect, server: ModelServer) -> None:
    answers = iter([{"name": "tea", "cups": "many"}, TEA])
    server.replies = lambda prompt: next(answers)

    assert connect("ok").answer("what to drink?", Drink) == Drink(name="tea", cups=2)

    question, reply, mend = server.bodies[1]["messages"]
    assert question == server.bodies[0]["messages"][0]
    assert reply == {"role": "assistant", "content": '{"name": "tea", "cups": "many"}'}
    assert "cups: Input should be a valid integer" in mend["content"]
    assert len(mend["content"]) < 400


def test_one_deadline_holds_for_the_answer_and_its_mending(
    connect: Connect, server: ModelServer
) -> None:
    def slowly(prompt: str) -> str:
        server.over.wait(2)
        return "no JSON"

    server.replies = slowly

    with pytest.raises(ModelError, match="took longer than the 3 seconds"):
        connect("ok", deadline_seconds=3).answer("what to drink?", Drink)

    assert server.hits["ok"] == 2


@pytest.mark.parametrize("mode", ["redirect", "drip"])
@pytest.mark.parametrize(
    "model", ["ollama/m", "ollama_chat/m", "mistral/m", "anthropic/m", "deepseek/m", "groq/m"]
)
def test_limits_hold_on_every_way_litellm_takes(
    model: str,
    mode: str,
    connect: Connect,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", server.base("elsewhere"))
    # What drips never ends; a redirect is told at once, however busy the machine.
    seconds = 0.5 if mode == "drip" else 30.0
    while not server.hits:  # the time is over before a busy machine has reached it
        with pytest.raises(ModelError, match="redirects|took longer"):
            connect(mode, model).answer("what was said?", Findings, deadline=seconds)
        seconds *= 2

    assert server.hits == {mode: 1}


def test_ollama_is_told_to_read_the_whole_prompt(connect: Connect, server: ModelServer) -> None:
    server.replies = lambda prompt: TEA
    with pytest.raises(ModelError):  # it answers in OpenAI's shape, which is not Ollama's
        connect("ok", "ollama_chat/m").answer("word " * 8000, Drink)

    assert server.bodies[-1]["options"]["num_ctx"] == 16_384


def test_a_dead_provider_is_left_alone_after_three_failures(
    connect: Connect, server: ModelServer
) -> None:
    model = connect("401")

    for _ in range(5):
        with pytest.raises(ModelError, match="check its key"):
            model.answer("what was said?", Findings)

    assert server.hits["401"] == FAILURES


def test_a_model_that_answers_nonsense_is_not_dead(connect: Connect, server: ModelServer) -> None:
    model = connect("prose")

    for _ in range(FAILURES + 1):
        with pytest.raises(ModelError, match="no Findings"):
            model.answer("what was said?", Findings)

    assert server.hits["prose"] == 2 * (FAILURES + 1)


def test_it_is_called_what_the_user_calls_it(connect: Connect) -> None:
    model = connect("401", name="local:llama3")

    assert model.name == "local:llama3"
    with pytest.raises(ModelError, match="^local:llama3 gave no answer: HTTP 401"):
        model.answer("what was said?", Findings)


def test_a_model_litellm_does_not_know_is_named(connect: Connect) -> None:
    with pytest.raises(ModelError, match="no-such-model gave no answer: litellm does not ask it"):
        connect("ok", "no-such-model").answer("what was said?", Findings)


def test_what_a_reply_holds_is_logged_at_no_level_above_debug(
    connect: Connect, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.replies = lambda prompt: LOUD if len(prompt) < 5000 else GOOD
    with caplog.at_level(logging.INFO), pytest.raises(ModelError):
        connect("ok").answer("what was said?", Findings)

    assert "asked to mend" in caplog.text
    assert LOUD not in caplog.text


def test_litellm_is_imported_by_the_first_call_only() -> None:
    code = (
        "import sys; from kinmem.llm.litellm_models import LitellmChat;"
        "LitellmChat('gpt-4.1-mini');"
        "print(*{'litellm', 'openai', 'httpx', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "\n"
