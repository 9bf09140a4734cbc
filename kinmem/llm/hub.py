"""Models of the hub (huggingface.co), kept where its own library keeps them."""

import logging
import re
from pathlib import Path

from kinmem.errors import ModelError
from kinmem.llm.onnx_files import CONFIGURATION, TOKENIZER

NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
WANTED = [TOKENIZER, *CONFIGURATION, "model.onnx", "onnx/model.onnx", "*model.onnx_data"]
"""Full precision: right on every processor, which the 8-bit files of the hub are not."""


def cached(name: str) -> Path | None:
    """Its folder, if it was downloaded before; asks nobody."""
    try:
        return _folder(name, cached_only=True)
    except (ImportError, OSError, ValueError):
        return None


def downloaded(name: str) -> Path:
    """Its folder; what is there already is not asked for again. Raises ModelError."""
    found = cached(name)
    if found is not None:
        return found
    try:
        return _folder(name, cached_only=False)
    except ImportError as error:
        raise ModelError("huggingface_hub is not installed: pip install 'kinmem[local]'") from error
    except Exception as error:  # of the library, its HTTP client, or the disk
        first, *_ = str(error).splitlines() or [""]
        raise ModelError(f"{name} is not downloaded, and the hub gave nothing: {first}") from error


def _folder(name: str, *, cached_only: bool) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return Path(snapshot_download(name, allow_patterns=WANTED, local_files_only=cached_only))
