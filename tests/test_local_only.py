"""Nothing leaves this machine: not by default, and with KINMEM_LOCAL_ONLY not even by mistake."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kinmem.errors import ConfigError
from kinmem.settings import load
from kinmem.wiring.open_memory import chat_models, embedders

REPOSITORY = Path(__file__).parent.parent
REMOTE = {
    "KINMEM_MODEL": ["gpt-4.1-mini", "anthropic/claude-x", "box:qwen"],
    "MEMORY_EMBEDDING_MODEL": ["text-embedding-3-small", "local:owner/never-downloaded", "box:e"],
    "MEMORY_RERANK_MODEL": ["cohere/rerank-v3.5", "local:owner/never-downloaded"],
}
# A life of a memory in one process, and how it is asked over stdio.
LIFE = """
import json, sys
reached = []
def note(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        if isinstance(arguments[1], tuple):
            reached.append(repr(arguments[1]))
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        reached.append(repr(arguments[0]))
sys.addaudithook(note)
import kinmem
with kinmem.open() as memory:
    memory.memorize("Ana is allergic to peanuts")
    memory.observe("prompt", "s", "t", "My sister Lena plays the cello in an orchestra.")
    memory.observe("answer", "s", "t", "How lovely.")
    memory.add_document("# Bees\\n\\nThe hives stand behind the barn.")
    memory.sleep()
    found = memory.recall("who must not eat nuts?")
print(json.dumps({"found": [hit.memory.content for hit in found.hits], "reached": reached}))
"""


def lived(home: Path, *before: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-c", LIFE],
        cwd=REPOSITORY,
        env={**os.environ, "KINMEM_HOME": str(home), "KINMEM_LOCAL_ONLY": "on", **environment},
        capture_output=True,
        text=True,
        timeout=280,
    )


@pytest.mark.parametrize(
    ("variable", "name"), [(variable, name) for variable, names in REMOTE.items() for name in names]
)
def test_a_model_that_is_asked_elsewhere_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, name: str
) -> None:
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "COHERE_API_KEY"):
        monkeypatch.setenv(key, "sk-test")
    home.mkdir()
    table = '[providers.box]\ntype = "openai"\nbase_url = "http://192.168.1.7:8080/v1"\n'
    (home / "config.toml").write_text(table, encoding="utf-8")
    settings = load({"KINMEM_HOME": home, "KINMEM_LOCAL_ONLY": "on", variable: name})

    with pytest.raises(ConfigError, match="KINMEM_LOCAL_ONLY is on"):
        embedders(settings)
        chat_models(settings)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8080/v1", "http://localhost:11434"])
def test_a_model_of_this_machine_is_allowed(home: Path, address: str) -> None:
    home.mkdir()
    table = f'[providers.desk]\ntype = "openai"\nbase_url = "{address}"\n'
    (home / "config.toml").write_text(table, encoding="utf-8")
    given = {"KINMEM_MODEL": "desk:qwen", "MEMORY_EMBEDDING_MODEL": "desk:e"}
    settings = load({"KINMEM_HOME": home, "KINMEM_LOCAL_ONLY": "on", **given})

    assert embedders(settings) and chat_models(settings).extraction


def test_no_address_is_reached_or_looked_up(home: Path) -> None:
    """As an audit hook of Python sees it."""
    done = lived(home)

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["found"][0] == "Ana is allergic to peanuts"
    assert told["reached"] == []


def has_namespaces() -> bool:
    tried = shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], check=False)
    return bool(tried) and tried.returncode == 0


@pytest.mark.skipif(not has_namespaces(), reason="an empty network namespace cannot be made here")
def test_everything_works_where_there_is_no_network(home: Path) -> None:
    done = lived(home, "unshare", "-rn")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["found"][0] == "Ana is allergic to peanuts"


def test_a_server_with_a_remote_model_says_why_it_refuses(home: Path) -> None:
    remote = {"KINMEM_MODEL": "gpt-4.1-mini", "OPENAI_API_KEY": "sk-test"}
    done = lived(home, **remote)

    assert done.returncode == 1
    assert "KINMEM_LOCAL_ONLY is on, and gpt-4.1-mini would be asked" in done.stderr
