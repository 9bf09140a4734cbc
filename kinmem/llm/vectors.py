"""The gate every vector passes: sqlite-vec takes NaN, infinity and zero without a word."""

import numpy as np

from kinmem.errors import ModelError
from kinmem.models import Vectors

SMALLEST_NORM = 1e-6


def unit_rows(rows: object, count: int, width: int | None, model: str) -> Vectors:
    """The rows as float32, each scaled to length 1; width None takes any.

    Raises ModelError, which names the model, unless they are `count` rows of `width` finite
    numbers, none of them all zeros.
    """
    found = _numbers(rows)
    if found is None or found.ndim != 2:
        raise _fault(model, "something else than rows of numbers")
    if len(found) != count:
        raise _fault(model, f"{len(found)} vectors for {count} texts")
    if found.shape[1] != (width or found.shape[1]) or not found.shape[1]:
        wanted = f" instead of {width}" if width else ""
        raise _fault(model, f"vectors of {found.shape[1]} numbers{wanted}")
    with np.errstate(over="ignore", invalid="ignore"):  # what is squared may be too large
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise _fault(model, "numbers that are infinite, too large, or not numbers")
    if (lengths <= SMALLEST_NORM).any():
        raise _fault(model, "a vector of zeros")
    return np.asarray(found / lengths, dtype=np.float32)


def _numbers(rows: object) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None":
    try:
        found = np.asarray(rows)
    except ValueError:  # rows of different widths
        return None
    return found.astype(np.float64) if found.dtype.kind in "iuf" else None


def _fault(model: str, what: str) -> ModelError:
    return ModelError(f"the embedding model {model} gave {what}; nothing of it was stored")
