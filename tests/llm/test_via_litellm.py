"""Through litellm's real code, against a provider on this machine that fails on purpose."""

import shutil
import ssl
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from kinmem.errors import ConfigError, ModelError
from kinmem.llm import litellm_client as litellm_tamed
from kinmem.llm.deadline import FAILURES, PAUSE, Breaker, Once
from kinmem.llm.litellm_client import scrubbed
from kinmem.llm.litellm_models import LitellmEmbedder, Manner
from tests.llm.conftest import KEY, connecting
from tests.llm.fault_provider import LEAKED, WIDTH, FaultProvider, vector_of
from tests.tables import each

MODEL = "openai/text-embedding-3-small"
SHORT = 1.0

pytestmark = pytest.mark.usefixtures("litellm_imported")

Connect = Callable[..., LitellmEmbedder]


@pytest.fixture
def provider() -> Iterator[FaultProvider]:
    with FaultProvider() as provider:
        yield provider


@pytest.fixture
def connect(provider: FaultProvider) -> Connect:
    return connecting(LitellmEmbedder, provider, MODEL)


@pytest.mark.parametrize("mode", ["ok", "backwards", "unnumbered"])
def test_one_unit_vector_per_text_in_order(connect: Connect, mode: str) -> None:
    texts = ["a", "bbb", "cc"]

    vectors = connect(mode).embed(texts)

    expected = np.array([vector_of(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_many_texts_go_in_batches(connect: Connect, provider: FaultProvider) -> None:
    texts = ["x" * n for n in range(1, 8)]

    vectors = connect("ok", batch=3).embed(texts)

    assert [len(body["input"]) for body in provider.bodies] == [3, 3, 1]
    lengths = np.round(vectors[:, 0] / vectors[:, 1])
    assert lengths.tolist() == [1, 2, 3, 4, 5, 6, 7]


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
    "html": (1, "cannot be read"),
    "redirect": (1, "redirects"),
    "endless": (1, "more than"),
    "no-data": (1, "something else|cannot be read"),
    "fewer": (1, "2 vectors for 3 texts"),
    "wrong-width": (1, "5 numbers instead of 8"),
    "uneven": (1, "something else"),
    "one-twice": (1, "something else"),
    "nan": (1, "not numbers"),
    "infinite": (1, "not numbers"),
    "zero": (1, "zeros"),
    "booleans": (1, "true or false"),
    "too-large": (1, "too large"),
    "strings": (1, "something else|cannot be read"),  # where warnings are errors: the latter
}


@pytest.mark.parametrize("mode", FAULTS)
def test_a_fault_is_a_model_error_in_time(
    mode: str, connect: Connect, provider: FaultProvider, capfd: pytest.CaptureFixture[str]
) -> None:
    tries, words = FAULTS[mode]
    embedder = connect(mode, dimension=WIDTH)

    with pytest.raises(ModelError, match=words) as caught:
        embedder.embed(["a", "b", "c"], deadline=SHORT if "took" in words else 10)

    assert provider.hits[mode] == tries
    assert provider.hits["landed"] == 0
    assert KEY not in str(caught.value) and LEAKED not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_passing_fault_is_tried_again(connect: Connect, provider: FaultProvider) -> None:
    assert connect("500then").embed(["a"]).shape == (1, WIDTH)
    assert provider.hits["500then"] == 2


def test_a_provider_that_asks_to_wait_is_given_the_time(
    connect: Connect, provider: FaultProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("kinmem.llm.litellm_client.time.sleep", pauses.append)

    with pytest.raises(ModelError, match="HTTP 429, and asks to wait 0.2 s"):
        connect("429", attempts=3).embed(["a"])

    assert len(pauses) == 2
    assert min(pauses) >= 0.2
    assert provider.hits["429"] == 3


def test_pauses_between_tries_are_anything_up_to_twice_the_last(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[tuple[float, float]] = []
    monkeypatch.setattr("random.uniform", lambda *bounds: pauses.append(bounds) or 0.0)

    with pytest.raises(ModelError, match="HTTP 500"):
        connect("500", attempts=4).embed(["a"])

    assert pauses[:3] == [(0, 0.5), (0, 1.0), (0, 2.0)]


def test_nothing_is_tried_beyond_the_attempts(connect: Connect, provider: FaultProvider) -> None:
    with pytest.raises(ModelError):
        connect("500", attempts=1).embed(["a"])

    assert provider.hits["500"] == 1


@pytest.mark.parametrize(
    "model",
    ["ollama/m", "mistral/m", "jina_ai/m", "voyage/m", "azure/m", "cohere/m", "together_ai/m"]
    + ["fireworks_ai/m", "openrouter/a/m", "nomic/m"],
)
def test_limits_hold_on_every_way_litellm_takes(
    model: str, connect: Connect, provider: FaultProvider
) -> None:
    manner = Manner({"memory": {"task_type": "search_document"}} if model == "nomic/m" else {})
    with pytest.raises(ModelError, match="redirects"):
        connect("redirect", model, manner=manner).embed(["a"])
    seconds = 0.3
    while not provider.hits["drip"]:  # the time is over before a busy machine has reached it
        with pytest.raises(ModelError, match="took longer"):
            connect("drip", model, manner=manner).embed(["a"], deadline=seconds)
        seconds *= 2

    assert provider.hits == {"redirect": 1, "drip": 1}


def test_no_thread_stays_behind_with_a_dripping_provider(connect: Connect) -> None:
    with pytest.raises(ModelError):
        connect("dripping-head").embed(["a"], deadline=0.2)

    until = time.monotonic() + 60
    while [t for t in threading.enumerate() if t.name == "kinmem-model"]:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_dead_provider_is_left_alone_after_three_failures(
    connect: Connect, provider: FaultProvider
) -> None:
    embedder = connect("401")

    for _ in range(5):
        with pytest.raises(ModelError, match="check its key"):
            embedder.embed(["a"])

    assert provider.hits["401"] == FAILURES


@pytest.mark.parametrize("mode", ["hang", "drip"])
def test_one_that_never_answers_is_left_alone_by_questions_too(
    mode: str, connect: Connect, provider: FaultProvider
) -> None:
    """A question has less time than the setting gives; what has much more may still ask."""
    embedder = connect(mode, deadline_seconds=2.4)

    for _ in range(FAILURES + 2):
        with pytest.raises(ModelError, match="took longer than the 0.8 seconds"):
            embedder.embed(["a"], deadline=0.8)
    assert provider.hits[mode] == FAILURES
    with pytest.raises(ModelError, match="took longer than the 2.4 seconds"):
        embedder.embed(["a"], deadline=2.4)

    assert provider.hits[mode] == FAILURES + 1


def test_impatience_is_no_failure_of_the_provider(
    connect: Connect, provider: FaultProvider
) -> None:
    embedder = connect("hang")

    for _ in range(FAILURES + 2):
        with pytest.raises(ModelError, match="took longer than the 0.5 seconds"):
            embedder.embed(["a"], deadline=0.5)  # time enough to reach it on a busy machine

    assert provider.hits["hang"] == FAILURES + 2


def test_a_slow_import_is_not_the_providers_fault_nor_counted_where_nobody_waits(
    connect: Connect, provider: FaultProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    litellm, imported = litellm_tamed._litellm.get(), threading.Event()
    slow = Once("importing litellm", lambda: (imported.wait(30), litellm)[1])
    monkeypatch.setattr(litellm_tamed, "_litellm", slow)
    embedder = connect("ok", deadline_seconds=1.0)
    for _ in range(FAILURES + 1):
        with pytest.raises(ModelError, match="took longer than the 0.3 seconds"):
            embedder.embed(["a"], deadline=0.3)
    assert provider.hits["ok"] == 0

    threading.Timer(1.2, imported.set).start()

    assert embedder.embed(["a"]).shape == (1, WIDTH)


def test_after_the_pause_one_call_may_try() -> None:
    now = [0.0]
    breaker = Breaker("m", lambda: now[0])
    for _ in range(FAILURES):
        breaker.admit()
        breaker.failed("down")
    with pytest.raises(ModelError, match=f"for {PAUSE:.0f} seconds; the last time: down"):
        breaker.admit()

    now[0] += PAUSE
    breaker.admit()
    with pytest.raises(ModelError):
        breaker.admit()

    breaker.succeeded()
    breaker.admit()
    breaker.admit()


def test_the_width_is_learned_from_the_model(connect: Connect, provider: FaultProvider) -> None:
    embedder = connect("ok")

    assert embedder.dimension == embedder.dimension == WIDTH
    assert embedder.embed([]).shape == (0, WIDTH)
    assert embedder.name == MODEL
    assert provider.hits["ok"] == 1


def test_a_width_that_is_asked_for_is_part_of_the_name(
    connect: Connect, provider: FaultProvider
) -> None:
    embedder = connect("ok", dimension=WIDTH)

    assert embedder.name == f"{MODEL}:{WIDTH}"
    assert embedder.dimension == WIDTH
    assert provider.hits["ok"] == 0
    embedder.embed(["a"])
    assert provider.bodies[0]["dimensions"] == WIDTH


def test_a_model_litellm_does_not_know_is_named(connect: Connect) -> None:
    with pytest.raises(ModelError, match="no-such-model gave no vectors: litellm does not ask it"):
        connect("ok", "no-such-model").embed(["a"])


def test_an_address_without_a_server_is_told(provider: FaultProvider) -> None:
    embedder = LitellmEmbedder(MODEL, api_base="http://127.0.0.1:9/v1", api_key=KEY)

    with pytest.raises(ModelError, match="cannot be reached: .*refused"):
        embedder.embed(["a"])


def test_credentials_of_a_cloud_machine_are_not_fetched() -> None:
    embedder = LitellmEmbedder(MODEL, api_base="http://169.254.169.254/v1", api_key=KEY)

    with pytest.raises(ModelError, match=r"169\.254\.169\.254 is not one where models are served"):
        embedder.embed(["a"])


def test_a_proxy_of_the_environment_is_used(
    provider: FaultProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", provider.address)
    embedder = LitellmEmbedder(MODEL, api_base="http://provider.invalid/ok/v1", api_key=KEY)

    assert embedder.embed(["a"]).shape == (1, WIDTH)


def test_this_machine_is_asked_without_the_proxy(
    provider: FaultProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    for host in ("127.0.0.1", "localhost"):
        base = provider.base("ok").replace("127.0.0.1", host)
        embedder = LitellmEmbedder(MODEL, api_base=base, api_key=KEY)
        assert embedder.embed(["a"]).shape == (1, WIDTH)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")
def test_a_certificate_nobody_vouches_for_is_refused(
    provider: FaultProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = _certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    provider.encrypt(context)
    embedder = LitellmEmbedder(MODEL, api_base=provider.base("ok"), api_key=KEY)

    with pytest.raises(ModelError, match="(?i)certificate"):
        embedder.embed(["a"])


def _certificate(folder: Path) -> Path:
    """Key and certificate of 127.0.0.1, signed by itself."""
    both = folder / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x"]
        + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", both, "-out", folder / "c.pem"],
        check=True,
        capture_output=True,
    )
    both.write_text(both.read_text() + (folder / "c.pem").read_text())
    return both


@each(
    ("text", "told"),
    [
        ("Incorrect API key provided: sk-abc***xyz. See", "Incorrect API key provided: [key] See"),
        ("'Authorization: Bearer abc.def'", "'Authorization: [key]"),
        ("hf_abcdefABCDEF1234567890abcd is bad", "[key] is bad"),
        ("AIzaSyA1234567890abcdefghijk-x", "[key]"),
        (f"you sent {KEY[3:9]}", "you sent secret"),
        ("Error code: 400 - {'error': {'message': 'too long', 'type': 'x'}}", "too long"),
        ("nomic-ai/nomic-embed-text-v1.5 is gone", "nomic-ai/nomic-embed-text-v1.5 is gone"),
        ("first\nsecond", "first"),
        ("no \x1b[31mcolours\x00, no \ud800", "no [31mcolours, no \ufffd"),
        ("", ""),
    ],
)
def test_what_a_provider_says_is_told_without_keys(text: str, told: str) -> None:
    assert scrubbed(text) == told


def test_the_own_key_is_known_whatever_it_looks_like() -> None:
    assert scrubbed("not open-sesame, please", "open-sesame") == "not [key], please"


@pytest.mark.parametrize("release", ["1.82.7", "1.82.8"])
def test_a_compromised_litellm_is_refused(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm_tamed, "version", lambda name: release)

    with pytest.raises(ConfigError, match="change every key"):
        LitellmEmbedder(MODEL)


@pytest.mark.parametrize("release", litellm_tamed.COMPROMISED)
def test_a_compromised_litellm_is_never_installed(release: str) -> None:
    project = Path(__file__).parents[2] / "pyproject.toml"
    wanted = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    (litellm,) = [one for one in map(Requirement, wanted) if one.name == "litellm"]

    assert release not in litellm.specifier


def test_pieces_are_bounded_in_characters(connect: Connect) -> None:
    text = "Ana likes tea. Bob likes coffee! Both dislike cocoa, which is sweet."

    parts = connect("ok").pieces(text, 40)

    assert parts == ["Ana likes tea. Bob likes coffee!", "Both dislike cocoa, which is sweet."]


def test_litellm_is_imported_by_the_first_call_only() -> None:
    code = (
        "import sys; from kinmem.llm.litellm_models import LitellmEmbedder;"
        "e = LitellmEmbedder('text-embedding-3-small'); e.pieces('a b', 1); assert not e.ready;"
        "print(*{'litellm', 'openai', 'httpx', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "\n"
