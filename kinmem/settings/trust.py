"""Whose a home is: what others may write could say or do anything in its owner's name.

Refused is what belongs to another account, and what accounts beside it may write. Let through, and
told when a server starts and by the doctor:

- what belongs to others while kinmem runs as root, as in a container whose volume is somebody's;
- what everybody may write on a file system without rights of its own (FAT, a drive of Windows).

Nothing is said about what belongs to root, who may change everything anyway, and about a group of
which nobody else is a member, as systems with umask 002 make one for each account. Windows keeps
others out of a profile by itself.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from kinmem.errors import ConfigError

NAMES = (".", "config.toml", "kins", "shared.db")
WITHOUT_RIGHTS = frozenset(
    "vfat msdos exfat ntfs ntfs3 fuseblk drvfs 9p cifs smb3 vboxsf virtiofs fuse.grpcfuse".split()
)
NETWORKED = frozenset(
    "nfs nfs4 cifs smb3 smbfs afs ceph lustre glusterfs fuse.glusterfs fuse.sshfs".split()
)
MOUNTS = Path("/proc/self/mountinfo")


def refuse_others(home: Path, *names: str) -> None:
    """Raise ConfigError if somebody else owns, or may write, what there is of a home."""
    for path in (home / name for name in names or NAMES):
        wrong = _wrong(path)
        if wrong and not _is_let_through(path):
            raise ConfigError(f"{wrong}; to mend it: {_remedy(path)}")


def warnings(home: Path) -> Iterator[str]:
    """Yield what is let through although it is worth knowing."""
    for path in (home / name for name in NAMES):
        if wrong := _wrong(path):
            yield f"{wrong}, who can change what kinmem remembers" if "belongs" in wrong else wrong
            break
    if (kind := file_system(home)) in NETWORKED:
        yield (
            f"{home} is on a network file system ({kind}): databases in use break if two machines"
            " write them; use it from one machine at a time"
        )


def file_system(path: Path) -> str:
    """Return the type of the file system that the path is, or would be, on; empty if unknown."""
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        return ""
    found, kind = "", ""
    whole = str(path.absolute())
    for line in mounts:
        left, _, right = line.partition(" - ")
        point = left.split()[4].replace("\\040", " ")
        is_above = point == "/" or whole == point or whole.startswith(f"{point}/")
        if is_above and len(point) >= len(found):
            found, kind = point, right.split()[0]
    return kind


def _wrong(path: Path) -> str | None:
    """Say who else could change it; None: nobody."""
    if os.name != "posix":
        return None
    try:
        status = path.stat()
    except OSError:  # whoever needs it says what is wrong
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to another account ({_account(status.st_uid)})"
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return f"every account may write {path}"
    if status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid):
        return f"a group of accounts may write {path}"
    return None


def _is_let_through(path: Path) -> bool:
    if path.stat().st_uid != os.geteuid():
        return os.geteuid() == 0
    return file_system(path) in WITHOUT_RIGHTS


def _remedy(path: Path) -> str:
    if path.stat().st_uid not in (os.geteuid(), 0):
        return (
            f"sudo chown -R {_account(os.geteuid())} {path}, or set KINMEM_HOME to your own folder"
        )
    return f"chmod go-w {path}"


def _account(uid: int) -> str:
    import pwd  # late: hooks never need it

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:  # as in a container
        return str(uid)


def _is_own_group(gid: int) -> bool:
    """Return whether nobody but this account, and root, is in the group."""
    if gid == 0:
        return True
    import grp
    import pwd

    try:
        group = grp.getgrgid(gid)
        account = pwd.getpwuid(os.geteuid())
    except KeyError:  # no such group here: nobody is in it
        return gid == os.getegid()
    return group.gr_name == account.pw_name and set(group.gr_mem) <= {account.pw_name}
