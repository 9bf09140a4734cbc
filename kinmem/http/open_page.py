"""The page that some process serves for a home: where it is, links to it that others make, and a
browser that opens one.

A folder `page` in the home holds its address, locked while it is served, and the links that wait.
Whoever may write there may read every memory anyway. On Windows, which lacks these locks, no page
is ever found.
"""

import hashlib
import json
import os
import secrets
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
from typing import get_args

from kinmem.http.tokens import Bearer, Scope

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FOLDER, ADDRESS = "page", "address"
LINK_SECONDS = 120


def announce(home: Path, address: str) -> None:
    """Note where this process serves the page, until it ends. Another one that was there first
    stays noted."""
    if fcntl is None:
        return
    handle = os.open(_address_file(home), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return
    os.ftruncate(handle, 0)
    os.write(handle, address.encode())  # the handle stays open, and the lock with it


def running(home: Path) -> str | None:
    """Return the address of the page that is served for this home now."""
    if fcntl is None:
        return None
    try:
        handle = os.open(_address_file(home), os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except OSError:
        return os.read(handle, 1000).decode() or None
    finally:
        os.close(handle)


def leave_link(home: Path, bearer: Bearer) -> str:
    """Leave a link for the process that serves the page, and return its key: it opens one session,
    once, within two minutes."""
    key = secrets.token_urlsafe(24)
    for old in _folder(home).iterdir():
        if old.name != ADDRESS and old.stat().st_mtime < time.time() - LINK_SECONDS:
            old.unlink(missing_ok=True)
    told = {"kin": bearer.kin, "scope": bearer.scope, "until": time.time() + LINK_SECONDS}
    file = _link_file(home, key)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as written:
        json.dump(told, written)
    return key


def is_waiting(home: Path, key: str) -> bool:
    """Return whether the link has not been used yet."""
    return _link_file(home, key).exists()


def take_link(home: Path, key: str) -> Bearer | None:
    """Return whom the link was left for, and take it away; None if there is none or it is too
    old."""
    file = _link_file(home, key)
    taken = file.with_suffix(f".{secrets.token_hex(8)}")
    try:
        file.rename(taken)  # of two that come at once one succeeds
        told = json.loads(taken.read_text())
    except (OSError, ValueError):
        return None
    finally:
        with suppress(OSError):
            taken.unlink()
    scope: Scope = told["scope"]
    is_valid = scope in get_args(Scope) and time.time() < told["until"]
    return Bearer(told["kin"], scope) if is_valid else None


def _address_file(home: Path) -> Path:
    return _folder(home) / ADDRESS


def _link_file(home: Path, key: str) -> Path:
    return _folder(home) / hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _folder(home: Path) -> Path:
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


# Seconds that a browser has to start and follow the link, and between two looks whether it has.
SECONDS, LOOK = 30.0, 0.1


def open_at(
    link: str, is_used: Callable[[], bool], browser: Callable[[str], object] = webbrowser.open
) -> None:
    """Open the browser, and wait until the link has been used, but not for ever.

    Other accounts can read the arguments of a process: the browser's name a private file that leads
    on to the link, and is deleted.
    """
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
