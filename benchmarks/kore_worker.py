"""Kore measured in a Python that has kore-memory: `python kore_worker.py IN.json`, answers in JSON.

It knows nothing of kinmem. With vectors given, Kore gets them in place of its model, which is
neither small nor there; without, it works by words, as pip installs it.
"""

import json
import os
import sys
import tempfile
import time
import types


def main() -> None:
    """The seconds of each operation, by its name."""
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123
        asked = json.load(file)
    with tempfile.TemporaryDirectory(prefix="kore-bench-") as folder:
        os.environ["KORE_DB_PATH"] = os.path.join(folder, "memory.db")  # noqa: PTH118
        if asked["vectors"]:
            _give_vectors(asked["vectors"])
        print(json.dumps(_measured(asked)))


def _give_vectors(path: str) -> None:
    """In place of sentence-transformers a model that looks the vectors up."""
    import numpy as np

    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        known = {text: np.array(vector, np.float32) for text, vector in json.load(file)}
    other = next(iter(known.values()))

    class Model:
        def __init__(self, *_: object, **__: object) -> None: ...

        def get_embedding_dimension(self) -> int:
            return len(other)

        get_sentence_embedding_dimension = get_embedding_dimension

        def encode(self, texts: object, **_: object) -> object:
            if isinstance(texts, str):
                return known.get(texts, other)
            return np.array([known.get(text, other) for text in texts])  # type: ignore[attr-defined]

    stub = types.ModuleType("sentence_transformers")
    stub.SentenceTransformer = Model  # type: ignore[attr-defined]
    sys.modules["sentence_transformers"] = stub


def _measured(asked: dict) -> dict:  # type: ignore[type-arg]
    import kore_memory
    from kore_memory.compressor import run_compression
    from kore_memory.database import init_db
    from kore_memory.models import MemorySaveRequest
    from kore_memory.repository import run_decay_pass, save_memory, save_memory_batch
    from kore_memory.repository.search import search_memories

    init_db()
    texts, singles = asked["texts"], asked["singles"]
    batches = []
    for start in range(0, len(texts), 100):
        wanted = [MemorySaveRequest(content=text) for text in texts[start : start + 100]]
        batches.append(_timed(lambda wanted=wanted: save_memory_batch(wanted)))
    saves = [_timed(lambda text=t: save_memory(MemorySaveRequest(content=text))) for t in singles]
    searches = [_timed(lambda q=q: search_memories(q, limit=5)) for q in asked["questions"]]
    found: list[object] = []
    decay = _timed(run_decay_pass)
    compress = _timed(lambda: found.append(run_compression()))
    merged = getattr(found[0], "clusters_found", None)
    return {
        "version": getattr(kore_memory, "__version__", "?"),
        "save": saves,
        "batch of 100": batches,
        "search": searches,
        "decay run": [decay],
        "compression": [compress],
        "merged": merged,
    }


def _timed(work) -> float:  # type: ignore[no-untyped-def]
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
