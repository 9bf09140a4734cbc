"""Models that run in this process: how onnxruntime and tokenizers are asked to open one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def opened(model: Path) -> Any:
    """An onnxruntime session on one thread. Raises whatever onnxruntime does."""
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model,
        options,
        providers=["CPUExecutionProvider"],
        # Its fused kernel takes five times as long as the two it replaces (onnxruntime 1.31):
        # 10 to 17 % of the whole, whatever the length.
        disabled_optimizers=["SkipLayerNormFusion"],
    )


def tokenizer_of(file: Path) -> "Tokenizer":
    """It cuts and fills nothing. Raises whatever tokenizers does, a bare Exception."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is five letters like any others
    return tokenizer


def reason(error: Exception) -> str:
    """What it is and the first line of what it says."""
    first, *_ = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {first}"
