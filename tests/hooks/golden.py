"""Files that say what is expected; UPDATE_GOLDEN=1 writes them anew, for a look at git diff."""

import json
import os
from typing import Any

from tests.hooks.conftest import RECORDINGS


def golden(name: str, found: Any) -> None:
    """Fail unless the file says the same."""
    path = RECORDINGS / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(path.read_text(encoding="utf-8"))
