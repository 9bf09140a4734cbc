"""Models that somebody has in a folder, or that the hub has: `local:` and where."""

import re
from pathlib import Path

from kinmem.llm import hub
from kinmem.llm.onnx import OnnxModel
from kinmem.llm.onnx_files import files_in, fingerprint

PREFIX = "local"
DEFAULT = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""Kore's: 50 languages, 384 wide, 471 MB in full precision."""
AGAIN = 60.0
"""Seconds until the hub is asked once more."""
STORED = re.compile(r"#[0-9a-f]{8}$")
"""What our names of a folder end with."""
ADVICE = (
    "export the model to ONNX, e.g. with optimum-cli export onnx, name a folder that has it"
    " (local:/the/folder) in {variable}, or unset that; then start kinmem again"
)

HUB_ADVICE = (
    "it is tried again when it is needed, once a minute at most; or name a folder that has the"
    " model in ONNX form (local:/the/folder) in {variable}"
)


def is_local(name: str) -> bool:
    return name == PREFIX or name.startswith(f"{PREFIX}:")


def needs_download(name: str) -> bool:
    """Whether it is the hub's and not on this machine yet."""
    found = _hub_name(name)
    return found is not None and hub.cached(found) is None


def local_model(name: str, variable: str) -> OnnxModel:
    """The model of that name, not loaded yet. `variable`: where it is named.

    A folder's is stored with a fingerprint of its files: others in their place are another model,
    whose vectors do not mix with theirs.
    """
    found = _hub_name(name)
    if found is not None:
        full = f"{PREFIX}:{found}"
        advice = HUB_ADVICE.format(variable=variable)
        return OnnxModel(full, lambda: files_in(hub.downloaded(found)), advice, AGAIN)
    folder = Path(STORED.sub("", name).partition(":")[2]).expanduser().absolute()
    mark = fingerprint(folder)
    full = f"{PREFIX}:{folder}#{mark}" if mark else f"{PREFIX}:{folder}"
    return OnnxModel(full, lambda: files_in(folder), ADVICE.format(variable=variable))


def _hub_name(name: str) -> str | None:
    """owner/model; a folder is written with its whole path, or begins with a dot or a tilde."""
    place = name.partition(":")[2] or DEFAULT
    return place if hub.NAME.fullmatch(place) else None
