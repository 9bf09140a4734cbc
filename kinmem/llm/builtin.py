"""The embedder that comes with kinmem: all-MiniLM-L6-v2 in 8 bits, run on one thread.

Measured on one core of a Xeon with VNNI, onnxruntime 1.31, in ms per text: 0.8 for 12 words, 3 for
60 word pieces, 6.3 for the longest; each text alone (embed_onnx.py says why).
"""

from pathlib import Path

from kinmem.llm.base import NEAR, NOISE, Calibration
from kinmem.llm.embed_onnx import OnnxEmbedder
from kinmem.llm.onnx import OnnxModel
from kinmem.llm.onnx_files import Files
from kinmem.llm.orders import Axis

FOLDER = Path(__file__).parent / "minilm"
NAME = "builtin/all-MiniLM-L6-v2-int8"
WIDTH = 384
WINDOW = 126
"""Word pieces of a text it reads; with the two marks around them the 128 it was trained with."""
ADVICE = "reinstall kinmem with its dependencies, or name another model in MEMORY_EMBEDDING_MODEL"


class BuiltinEmbedder(OnnxEmbedder):
    """Implements Embedder without key, network or download. English first; needs about 100 MB."""

    # noise: made-up words stay below 0.2 with any text; real questions whose answer shares no word
    # with them reach 0.25-0.35. duplicate: with the atoms agreeing, precision on SICK and STS-B is
    # the same from 0.85 up (1.00 and .98 on its halves), and 0.95 would miss 39 % of harmless
    # rewordings, 0.90 15 % (docs/benchmarks.md).
    calibration = Calibration(
        noise=NOISE,
        duplicate=0.9,
        near=NEAR,
        cluster=0.6,
        orders=Axis.read(FOLDER / "orders.npy"),
    )

    def __init__(self, folder: Path = FOLDER) -> None:
        files = Files(folder / "model_int8.onnx", folder / "tokenizer.json", length=WINDOW + 2)
        super().__init__(OnnxModel(NAME, lambda: files, ADVICE), WIDTH)
