"""The package's page: its links lead somewhere, and it names where the project is.

KINMEM_PROJECT_URL is set by whoever publishes, https://example.org/you/kinmem; files are then below
blob/main. Without it links within the checkout become plain words, as they would be dead there.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"\[([^\]\n]+)\]\((?!https?:|#)([^)\s]+)\)")
"""To a file of the checkout."""


class PageHook(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        url = os.environ.get("KINMEM_PROJECT_URL", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": page(text, url)}
        if url:
            metadata["urls"] = {
                "Homepage": url,
                "Documentation": f"{url}/tree/main/docs",
                "Changelog": f"{url}/blob/main/CHANGELOG.md",
                "Issues": f"{url}/issues",
            }


def page(readme: str, url: str) -> str:
    """The text with absolute links, or without those that need the checkout."""
    return LINK.sub(rf"[\1]({url}/blob/main/\2)" if url else r"\1", readme)
