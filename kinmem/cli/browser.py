"""Opens a browser at a link that nobody else may see: other accounts can read the arguments of its
process, so these name a private file that leads on, and is deleted."""

import signal
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from html import escape
from pathlib import Path

# Seconds that a browser has to start and follow the link, and between two looks whether it has.
SECONDS, LOOK = 30.0, 0.1


def open_at(
    link: str, is_used: Callable[[], bool], browser: Callable[[str], object] = webbrowser.open
) -> None:
    """Open the browser, and wait until the link has been used, but not for ever."""
    file = _leading_to(link)
    try:
        # Apart from the rest: a browser that runs in the terminal would hold it up.
        threading.Thread(target=browser, args=[file.as_uri()], daemon=True).start()
        ends_at = time.monotonic() + SECONDS
        while not is_used() and time.monotonic() < ends_at:
            time.sleep(LOOK)
    finally:
        with suppress(OSError):
            file.unlink()
            file.parent.rmdir()


def show_page(home: Path, kin: str, wait: Callable[[], object] = input) -> None:
    """Serve the page of a home for as long as `wait` takes, or until Ctrl-C; its link is
    printed."""
    words = ["web", "--no-browser", "--kin", kin, "--home", str(home)]
    with subprocess.Popen([sys.executable, "-m", "kinmem", *words]) as server:
        try:
            wait()
        except (EOFError, KeyboardInterrupt):
            pass
        finally:
            server.send_signal(signal.SIGINT)


def _leading_to(link: str) -> Path:
    """Return a file that only this account can read. It lies in the user's folder, not among
    temporary or hidden files: a browser from a snap sees neither."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="kinmem-page-", dir=Path.home()))
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="kinmem-page-"))
    file = folder / "open.html"
    file.touch(mode=0o600)
    where = escape(link, quote=True)
    file.write_text(
        f'<!doctype html><meta charset="utf-8"><title>kinmem</title>'
        f'<meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0;url={where}"><a href="{where}">kinmem</a>\n',
        encoding="utf-8",
    )
    return file
