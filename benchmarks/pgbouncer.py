"""A PgBouncer before a database, which lends its connections for one transaction."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

PLACES = [None, "/usr/sbin:/usr/local/sbin"]
"""PATH, and where distributions install it, which is in no user's PATH."""
SETTINGS = """
[databases]
{database} = {server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = transaction
default_pool_size = {most}
query_wait_timeout = 5
max_client_conn = 500
logfile = {log}
"""


def installed() -> str | None:
    """Where PgBouncer is."""
    return next(filter(None, (shutil.which("pgbouncer", path=path) for path in PLACES)), None)


@contextmanager
def pooled(url: str, most: int) -> Iterator[str]:
    """The same database behind a pooler with so many connections to it."""
    program = installed()
    if program is None:
        raise FileNotFoundError("PgBouncer is not installed (Debian's package pgbouncer)")
    server = conninfo_to_dict(url)
    database, user = str(server["dbname"]), str(server["user"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with TemporaryDirectory(prefix="kinmem-pgbouncer-") as name:
        folder = Path(name)
        users, written = folder / "users.txt", folder / "pgbouncer.ini"
        users.write_text(f'"{user}" ""\n')
        told = {"password": os.environ.get("PGPASSWORD")}
        told |= {key: value for key, value in server.items() if value}
        written.write_text(
            SETTINGS.format(
                database=database,
                server=" ".join(f"{key}='{value}'" for key, value in told.items() if value),
                port=port,
                users=users,
                most=most,
                log=folder / "pgbouncer.log",
            )
        )
        process = subprocess.Popen(
            [program, *_not_as_root(folder, server), str(written)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            pooled = f"postgresql://{quote(user)}@127.0.0.1:{port}/{database}"
            _await(pooled, process, folder / "pgbouncer.log")
            yield pooled
        finally:
            process.kill()
            process.wait()


def _not_as_root(folder: Path, server: dict[str, object]) -> list[str]:
    """It refuses to run as root: then it runs as whoever may reach the server's socket."""
    try:
        root, folder_of_socket = Path("/root").owner(), Path(str(server.get("host") or "/tmp"))
        if Path("/proc/self").owner() != root:
            return []
        owner = folder_of_socket.owner() if folder_of_socket.is_dir() else "nobody"
    except (KeyError, OSError):
        return []
    owner = "nobody" if owner == root else owner
    for path in (folder, *folder.iterdir()):
        shutil.chown(path, owner)
    return ["-u", owner]


def _await(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
            return
        except psycopg.OperationalError as error:
            told = log.read_text() if log.exists() else ""
            assert process.poll() is None and time.monotonic() < deadline, f"{error}\n{told}"
            time.sleep(0.05)
