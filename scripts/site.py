"""Adds the pages beside docs/ to the site; the README becomes its front page.

A hook of mkdocs, named in mkdocs.yml. Links between all pages are rewritten to pages of the site.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "vulnerabilities.md",
    "training/README.md": "training.md",
    "scripts/README.md": "scripts.md",
}
LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages above to those of docs/."""
    checkout = Path(config.docs_dir).parent
    for source, page in PAGES.items():
        text = (checkout / source).read_text(encoding="utf-8")
        content = _linked(text, posixpath.dirname(source))
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Lead links of docs/ to the pages above."""
    if page.file.src_uri in PAGES.values():
        return markdown
    return _linked(markdown, "docs")


def _linked(text: str, folder: str) -> str:
    """The text of a page in `folder` of the checkout, with links as the site needs them."""

    def page(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        return f"]({PAGES.get(path, path.removeprefix('docs/'))}"

    return LINK.sub(page, text)
