"""What a user installs: a wheel with everything it needs, which works away from the checkout."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


def run(command: Sequence[str], **changes: str) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, **changes},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with what is installed: no network."""
    folder = tmp_path_factory.mktemp("dist")
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    run([sys.executable, "-m", "pip", *build, "--wheel-dir", str(folder), str(ROOT)])
    (wheel,) = folder.glob("kinmem-*.whl")
    return wheel


def page_of(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("/METADATA"))
        return archive.read(name).decode()


def page_at(url: str, folder: Path) -> str:
    """What a wheel would have that is built for this address; the rest of it takes seconds."""
    code = "import sys, hatchling.build as it; it.prepare_metadata_for_build_wheel(sys.argv[1])"
    run([sys.executable, "-c", code, str(folder)], KINMEM_PROJECT_URL=url)
    (page,) = folder.glob("*/METADATA")
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("url", ["", "https://example.org/you/kinmem"])
def test_no_link_of_the_package_page_is_dead(wheel: Path, tmp_path: Path, url: str) -> None:
    told = page_at(url, tmp_path) if url else page_of(wheel)

    assert not re.search(r"\]\((?!https?:|#)", told)
    assert ("Project-URL: Homepage, https://example.org/you/kinmem" in told) == bool(url)
    assert (f"]({url}/blob/main/docs/cli.md)" in told) == bool(url)
    assert "docs/cli.md" in told


@pytest.fixture(scope="module")
def names(wheel: Path) -> frozenset[str]:
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


def test_it_holds_the_whole_package(names: frozenset[str]) -> None:
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "kinmem").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert {name for name in names if name.startswith("kinmem/")} >= sources
    assert {"kinmem/llm/minilm/model_int8.onnx", "kinmem/llm/minilm/tokenizer.json"} <= names
    judge = (
        "judge.onnx",
        "relations.onnx",
        "judge.json",
        "words.npy",
        "scales.npy",
        "pieces.txt",
        "scores.npy",
    )
    assert {f"kinmem/llm/e5/{name}" for name in judge} <= names
    languages = ("embedder.onnx", "map.npy", "foreign.npy")
    assert {f"kinmem/llm/e5/{name}" for name in languages} <= names
    assert "kinmem/store/sqlite/migrations/0001_first.sql" in names


def test_it_holds_the_prompts(names: frozenset[str]) -> None:
    prompts = {path.name for path in (ROOT / "prompts").glob("*.md")}

    assert {f"kinmem/_prompts/{name}" for name in prompts} <= names


def test_it_holds_nothing_else(names: frozenset[str]) -> None:
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"kinmem"}
    assert not any(name.endswith((".db", ".pyc")) for name in names)


def test_it_carries_its_licences(names: frozenset[str]) -> None:
    licences = {name.split("/licenses/")[1] for name in names if "/licenses/" in name}

    assert "LICENSE" in licences
    assert any(name.startswith("kinmem/llm/minilm/") for name in licences)
    assert "kinmem/web/NOTICE" in licences


def test_it_works_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """Unpacked into an empty folder: nothing is found in the checkout by luck."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import kinmem, pathlib\n"
        f"assert pathlib.Path(kinmem.__file__).is_relative_to({str(tmp_path)!r}), kinmem.__file__\n"
        "with kinmem.open('ana') as memory:\n"
        "    memory.memorize('Ana drinks green tea in the morning')\n"
        "    print(memory.recall('favourite beverage at breakfast').hits[0].memory.content)"
    )

    out = run([sys.executable, "-P", "-c", code], PYTHONPATH=str(tmp_path / "site"))

    assert out == "Ana drinks green tea in the morning\n"


LOCK = ROOT / "requirements-dev.lock"
PINNED = re.compile(r"^([a-z0-9.-]+)==(\S+?)(?: ;.*?)? \\$", re.M)


def test_the_lock_has_a_hash_of_everything_and_no_address() -> None:
    text = LOCK.read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())

    assert len(entries) == len(PINNED.findall(text)) > 100
    assert [one.split()[0] for one in entries if "--hash=sha256:" not in one] == []
    assert not re.search(r"://|--(?:extra-)?index|--find-links|^-", text, re.M)


def test_the_lock_is_within_what_pyproject_allows() -> None:
    """`make lock` writes it anew."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [
        Requirement(line)
        for line in project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    ]
    locked: dict[str, list[str]] = {}
    for name, version in PINNED.findall(LOCK.read_text(encoding="utf-8")):
        locked.setdefault(name, []).append(version)

    for one in wanted:
        found = locked.get(canonicalize_name(one.name), [])
        assert found, one.name
        assert all(version in one.specifier for version in found), (one, found)
