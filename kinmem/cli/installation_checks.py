"""The doctor's checks around the memory: Python, packages, models, settings, disk, tokens."""

import hashlib
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kinmem import __version__, llm
from kinmem.cli.tables import without_effect
from kinmem.errors import ConfigError, KinmemError
from kinmem.http.tokens import is_loopback, tokens_of
from kinmem.settings import Settings
from kinmem.settings.trust import warnings
from kinmem.wiring.open_home import lock_told
from kinmem.wiring.open_memory import asks_network, chat_models, embedders

if TYPE_CHECKING:
    from kinmem.llm.base import Embedder

REINSTALL = "reinstall kinmem, e.g. pip install --force-reinstall kinmem"
NAMED = "see MEMORY_EMBEDDING_MODEL"
LITTLE_SPACE, NO_SPACE = 1 << 30, 100 << 20  # bytes
ALIKE = ("the puppy is asleep", "a young dog is sleeping")
UNLIKE = "the invoice was paid in May"
# Folders whose files a program copies elsewhere, even while a database in them is being written.
SYNCED = re.compile(r"(?i)dropbox|onedrive|google ?drive|icloud|mobile documents|nextcloud")
FIRST_RELEASE = 1_780_000_000  # seconds; a clock that shows less is wrong


Status = Literal["ok", "warning", "error"]
PACKAGES = ("mcp", "apsw", "sqlite-vec", "onnxruntime", "tokenizers", "numpy")


@dataclass(frozen=True)
class Check:
    """One line of the doctor's report: what was checked, its state, and what helps."""

    name: str
    status: Status
    told: str
    remedy: str | None = None


def python() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("Python", "ok", f"{version} on {sys.platform}")
    missing = [name for name in PACKAGES if installed(name) is None]
    if missing:
        yield Check("packages", "error", f"not installed: {', '.join(missing)}", REINSTALL)
    else:
        told = ", ".join(f"{name} {installed(name)}" for name in PACKAGES)
        yield Check("packages", "ok", told)


def model_files() -> Iterator[Check]:
    """Check that the model files in the package are undamaged; its NOTICE has their digests."""
    folder = Path(llm.__file__).parent / "minilm"
    expected = re.findall(r"^([0-9a-f]{64}) +(\S+)$", (folder / "NOTICE").read_text(), re.MULTILINE)
    broken = [name for digest, name in expected if not _is_whole(folder / name, digest)]
    if broken or not expected:
        told = f"damaged or missing in {folder}: {', '.join(broken) or 'NOTICE'}"
        yield Check("model files", "error", told, REINSTALL)
    else:
        yield Check("model files", "ok", f"{len(expected)} files, whole")


def models(settings: Settings, *, online: bool) -> Iterator[Check]:
    """Check that each local model loads and works; models on a network only if requested."""
    try:
        configured, *standing_in = embedders(settings)
    except ConfigError as error:
        yield Check("embedder", "error", str(error), NAMED)
        return
    if standing_in and not online and asks_network(settings.embedding.model, settings):
        yield Check("embedder", "ok", f"{configured.name} is configured; --online tries it")
    else:
        yield _embeds(configured)
    for embedder in standing_in:
        yield _embeds(embedder)
    if not asks_network(settings.model.named("rerank"), settings):
        yield _reranks(settings)
    yield _judges(settings)


def settings_read(settings: Settings) -> Iterator[Check]:
    ignored = without_effect(settings)
    if ignored:
        told = f"set, but without effect: {', '.join(ignored)}"
        remedy = "unset them, or choose a profile that reads them (MEMORY_RANKING_PROFILE)"
        yield Check("settings", "warning", told, remedy)
    else:
        told = f"{len(settings.origins)} set, all valid and in use; kinmem config shows them"
        yield Check("settings", "ok", told)


def access(settings: Settings) -> Iterator[Check]:
    """Check who could use an HTTP server of this home."""
    tokens = tokens_of(settings)
    is_open, local = settings.server.insecure_local, is_loopback(settings.server.host)
    if is_open and not local:
        told = "KINMEM_INSECURE_LOCAL is for a loopback address; kinmem serve will refuse to start"
        yield Check("access", "warning", told, "set KINMEM_HOST=127.0.0.1, or leave it out")
    elif is_open:
        told = "HTTP asks for no token: every account of this machine can read and change it"
        yield Check("access", "warning", told, "leave out KINMEM_INSECURE_LOCAL")
    elif tokens.tokens() and not tokens.usable():
        told = "every token has expired or been revoked; an HTTP server will refuse to start"
        yield Check("access", "warning", told, "kinmem token add KIN")
    else:
        yield Check("access", "ok", "HTTP asks for a token")


def place(home: Path) -> Iterator[Check]:
    """Check the home folder's permissions, free space and surroundings."""
    if SYNCED.search(str(home)):
        told = f"{home} seems to be copied by a sync program, which can damage databases in use"
        yield Check("folder", "warning", told, "set KINMEM_HOME to a folder that is not synced")
    for told in warnings(home):
        yield Check("folder", "warning", told, "see docs/security.md")
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    status: Literal["ok", "warning", "error"] = "ok"
    if free < LITTLE_SPACE:
        status = "error" if free < NO_SPACE else "warning"
    remedy = None if status == "ok" else f"make room on the disk of {existing}"
    yield Check("disk", status, f"{free / (1 << 30):,.1f} GiB free", remedy)
    if not home.exists():
        yield Check("folder", "ok", f"{home} is made when it is first needed")
    elif os.name == "posix":
        yield _rights(home)


def locks(settings: Settings) -> Iterator[Check]:
    """Check who has the home, if a lock file says so."""
    if told := lock_told(settings):
        yield Check("locks", "ok", told)


def clock() -> Iterator[Check]:
    now = time.strftime("%Y-%m-%d %H:%M %Z")
    if time.time() < FIRST_RELEASE:
        yield Check("clock", "error", f"it is set to {now}", "set the system's clock")
    else:
        yield Check("clock", "ok", now)


def _rights(home: Path) -> Check:
    """Check that folders have mode 0700 and files 0600, so that no other user can read memories."""
    found = [home, *home.glob("*"), *home.glob("kins/*")]
    open_to_others = [path for path in found if path.stat().st_mode & 0o077]
    if open_to_others:
        names = ", ".join(str(path) for path in open_to_others[:3])
        told = f"{len(open_to_others)} open to others: {names}"
        return Check("rights", "error", told, f"chmod -R go-rwx {home}")
    return Check("rights", "ok", f"{home} and the {len(found) - 1} files in it are yours alone")


def _embeds(embedder: "Embedder") -> Check:
    started = time.monotonic()
    try:
        first, second, other = embedder.embed([*ALIKE, UNLIKE])
    except KinmemError as error:
        return Check("embedder", "error", str(error), f"{NAMED}; meanwhile kinmem finds by words")
    took = 1000 * (time.monotonic() - started)
    near, far = float(first @ second), float(first @ other)
    told = f"{embedder.name}, {embedder.dimension} wide, loaded and used in {took:.0f} ms"
    if near <= far:
        remedy = REINSTALL if embedder.name.startswith("builtin/") else NAMED
        return Check("embedder", "error", f"{told}, but it cannot tell likeness", remedy)
    return Check("embedder", "ok", f"{told}; alike {near:.2f}, unlike {far:.2f}")


def _reranks(settings: Settings) -> Check:
    started = time.monotonic()
    try:
        model = chat_models(settings).rerank
        assert model is not None, "models asks for it where one is configured"
        near, far = model.scores(ALIKE[0], [ALIKE[1], UNLIKE])
    except KinmemError as error:
        return Check("re-ranking", "error", str(error), "see MEMORY_RERANK_MODEL")
    took = 1000 * (time.monotonic() - started)
    told = f"{model.name}, loaded and used in {took:.0f} ms; alike {near:.2f}, unlike {far:.2f}"
    return Check("re-ranking", "ok", told)


def _judges(settings: Settings) -> Check:
    judge = chat_models(settings).judge
    if judge is None:
        return Check("judge", "ok", "off by KINMEM_JUDGE; exact rules alone decide")
    started = time.monotonic()
    try:
        near, far = judge.relations([ALIKE[0], UNLIKE], ALIKE[1])
    except KinmemError as error:
        return Check("judge", "error", str(error), REINSTALL)
    took = 1000 * (time.monotonic() - started)
    told = f"{judge.name}, loaded and used in {took:.0f} ms"
    return Check("judge", "ok", f"{told}; alike {near.same:.2f}, unlike {far.same:.2f}")


def _is_whole(file: Path, digest: str) -> bool:
    return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == digest


def versions() -> dict[str, str]:
    """Return the versions by name, kinmem's first."""
    own = {"kinmem": __version__, "Python": platform.python_version()}
    return own | {name: installed(name) or "missing" for name in PACKAGES}


def installed(name: str) -> str | None:
    """Return a package's version, or None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
