"""Opens networks for onnxruntime so that they give the same numbers on every processor."""

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.settings.heap import give_back

# The product of two matrices of 8-bit numbers, to see how this processor adds.
SUMS = Path(__file__).parent / "e5" / "sums.onnx"

# The networks in the package. Hashing one takes a tenth of the time that opening it takes.
SHIPPED = {
    "minilm/model_int8.onnx": "bf395cccca81e1006c62eba846ff88b182a472fa87c86e4747794e84886a5a2a",
    "e5/embedder.onnx": "8abeb820d17532abfe73b71e83167f697e0e94d77832c1cd9eab050967cf1807",
    "e5/judge.onnx": "7c53690bc08db564fbe01e39ffaadbecffba263836701f0a027b8f763b901ad5",
    "e5/sums.onnx": "3721dd19de9210fd097561fea6ec709261d662a9dae5d6b7709ec08718802925",
}


def check_shipped(path: Path) -> None:
    """Raise ModelError if it is a network of the package, but not the one that was released."""
    expected = SHIPPED.get(f"{path.parent.name}/{path.name}")
    if expected is None or path.parent.parent != Path(__file__).parent:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ModelError(
            f"{path} is not the file that was released; reinstall kinmem, e.g. with"
            " pip install --force-reinstall kinmem"
        )


def session_of(path: Path) -> Any:
    """Open the network in a file, to run on one thread. Raises whatever onnxruntime raises, and
    ModelError for a network of the package that was changed."""
    session = _opened(path, slower_sums=not adds_exactly())
    give_back()
    return session


@cache
def adds_exactly() -> bool:
    """Whether this processor adds 8-bit products without cutting off sums that are too large.

    Those without VNNI add them by pairs in 16 bits.
    """
    left, right = np.full((8, 64), 255, np.uint8), np.full((64, 16), 127, np.int8)
    session = _opened(SUMS, slower_sums=False)
    (found,) = session.run(None, {"left": left, "right": right})
    return bool((found == left.astype(np.int32) @ right.astype(np.int32)).all())


def _opened(path: Path, slower_sums: bool) -> Any:
    check_shipped(path)
    # From 1.32 on, onnxruntime reports the machine it runs on to its maker unless this is set.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Sums that were cut off give cosines of .99 to the vectors of other machines, and other
    # verdicts. This avoids them everywhere, and also makes a processor that adds exactly take 1.6
    # times as long (onnxruntime 1.32, EPYC with AVX-512 VNNI), for the same numbers to the bit.
    options.add_session_config_entry("session.x64quantprecision", "1" if slower_sums else "0")
    options.log_severity_level = 4
    # An arena of its own keeps what the longest text took, and is no faster (68 and 66 ms a text).
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(
        path,
        options,
        providers=["CPUExecutionProvider"],
        # The fused kernel takes five times as long as the two it replaces (onnxruntime 1.31), 10 to
        # 17 % of the whole at any length.
        disabled_optimizers=["SkipLayerNormFusion"],
    )
