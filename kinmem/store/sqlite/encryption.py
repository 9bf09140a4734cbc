"""The keys of encrypted homes: where they are kept, and which one a file is opened with.

`encryption.json` in the home says where the keys are, in the keyring or in a file, and by its
fingerprint which one is in use. Files in use open with that key alone; copies, as in backups, also
with an earlier one, or without any from the time before. A key is 256 random bits.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from kinmem.errors import ConfigError

try:
    import fcntl
except ImportError:  # Windows: two processes that both make the first key may collide
    fcntl = None  # type: ignore[assignment]

MARKER = "encryption.json"
KEYRING = "keyring"
SERVICE = "kinmem"
TO_INSTALL = (
    "encryption needs two more packages: pip install 'kinmem[encrypted]', then once"
    " pip install --force-reinstall --no-deps apsw-sqlite3mc"
)


@dataclass(frozen=True, slots=True)
class Marker:
    """What a home says about its encryption."""

    where: str
    """`keyring`, or the path of a file."""
    key: str | None
    """Fingerprint of the key in use; None: decrypted since."""
    before: str | None = None
    """The one before it, while the files are being changed."""
    is_changing: bool = False


@dataclass(frozen=True, slots=True)
class _Held:
    in_use: Sequence[str | None]
    """Keys of the files in use. There are two while they are being changed."""
    earlier: Sequence[str | None]


_held: dict[Path, _Held] = {}


def hold(home: Path, in_use: Sequence[str | None], earlier: Sequence[str | None] = ()) -> None:
    """Let this process open what is in the home with these keys; None stands for none."""
    _held[home.absolute()] = _Held(in_use, [*in_use, *earlier])


def keys_for(path: Path) -> Sequence[str | None]:
    """Return the keys to try a file with; only None if it is in no encrypted home."""
    path = path.absolute()
    for folder in path.parents:
        if (held := _held.get(folder)) is not None:
            name = path.relative_to(folder)
            is_live = name.parent == Path("kins") or str(name) == "shared.db"
            return held.in_use if is_live else held.earlier
    return (None,)


def is_encrypted(home: Path) -> bool:
    """Return whether the home's files in use have a key."""
    held = _held.get(home.absolute())
    return held is not None and held.in_use[0] is not None


def unlock(home: Path, wanted: str | None, *, can_encrypt: bool) -> None:
    """Find the keys of the home, and make one for a home that is to be encrypted and has no files.

    `wanted` is KINMEM_KEY. Raises ConfigError if a key that is needed is not there.
    """
    marker = read_marker(home)
    if marker is None:
        if wanted is None:
            _held.pop(home.absolute(), None)
            return
        if any((home / "kins").glob("*.db")) or (home / "shared.db").exists():
            raise ConfigError(
                f"KINMEM_KEY is set, but {home} is not encrypted; run kinmem key set, or unset it"
            )
        _need(can_encrypt)
        marker = _first_marker(home, place_of(wanted))
    where = place_of(wanted or marker.where)
    if marker.key is None and not marker.is_changing:
        if wanted is not None:
            raise ConfigError(
                f"KINMEM_KEY is set, but {home} was decrypted; run kinmem key set, or unset it"
            )
        hold(home, [None], [*_keys_for_backups(where), None])
        return
    known = stored_keys(where)
    wanted_now = [marker.key, *([marker.before] if marker.is_changing else [])]
    for mark in wanted_now:
        if mark is not None and mark not in known:
            raise ConfigError(
                f"{home} is encrypted, and its key {mark} is not in {_spoken(where)}; KINMEM_KEY"
                " says where it is: keyring, or the path of a file"
            )
    if any(wanted_now):
        _need(can_encrypt)
    in_use = [None if mark is None else known[mark] for mark in wanted_now]
    hold(home, in_use, [*(key for key in known.values() if key not in in_use), None])


def place_of(where: str) -> str:
    """Return a place for keys as it is noted: `keyring`, or an absolute path."""
    return where if where == KEYRING else str(Path(where).expanduser().absolute())


def _first_marker(home: Path, where: str) -> Marker:
    """Make a key for a new home, unless another process has just done so."""
    with _alone(home):
        if (marker := read_marker(home)) is None:
            marker = Marker(where, fingerprint(new_key(where)))
            write_marker(home, marker)
        return marker


def _keys_for_backups(where: str) -> Iterable[str]:
    """Return the keys of a home that was decrypted; it can do without them."""
    try:
        return stored_keys(where).values()
    except ConfigError:
        return ()


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Let one process at a time make a key for the home."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(home / f".{MARKER}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def begin_change(home: Path, where: str | None) -> str | None:
    """Note that the files get a new key, kept in that place, or none; return it. A change that was
    cut short is taken up again. Raises ConfigError."""
    old = read_marker(home)
    if old is not None and old.is_changing:
        if (old.key is None) != (where is None):
            command = "remove" if old.key is None else "set"
            raise ConfigError(f"a change was cut short; run kinmem key {command} again first")
        return None if old.key is None else stored_keys(old.where)[old.key]
    if where is None:
        if old is None or old.key is None:
            raise ConfigError(f"{home} is not encrypted")
        write_marker(home, Marker(old.where, None, old.key, is_changing=True))
        return None
    key = new_key(where, stored_keys(old.where).values() if old else ())
    before = old.key if old else None
    write_marker(home, Marker(where, fingerprint(key), before, is_changing=True))
    return key


def end_change(home: Path) -> None:
    """Note that all files have the new key."""
    marker = read_marker(home)
    assert marker is not None
    write_marker(home, Marker(marker.where, marker.key))


def _need(can_encrypt: bool) -> None:
    if not can_encrypt:
        raise ConfigError(TO_INSTALL)


def read_marker(home: Path) -> Marker | None:
    """Return what the home says about its encryption; None if it was never encrypted."""
    try:
        return Marker(**json.loads((home / MARKER).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{home / MARKER} cannot be read: {error}; bring it back") from error


def write_marker(home: Path, marker: Marker) -> None:
    """Note it in the home, as a whole or not at all."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _put(home / MARKER, json.dumps(asdict(marker), indent=1))


def fingerprint(key: str) -> str:
    """Return what a key is called; it does not say what the key is."""
    return hashlib.sha256(f"kinmem {key}".encode()).hexdigest()[:16]


def new_key(where: str, others: Iterable[str] = ()) -> str:
    """Make a key and keep it there, beside those that are, and others. Raises ConfigError."""
    key = secrets.token_hex(32)
    kept = list(dict.fromkeys([*stored_keys(where).values(), *others, key]))
    if where == KEYRING:
        _keyring("set_password", SERVICE, "keys", " ".join(kept))
    else:
        path = Path(where).expanduser()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _put(path, "\n".join(kept) + "\n")
    if fingerprint(key) not in stored_keys(where):
        raise ConfigError(f"{_spoken(where)} does not keep what is put into it")
    return key


def stored_keys(where: str) -> dict[str, str]:
    """Return the keys that are kept there, by fingerprint. Raises ConfigError."""
    if where == KEYRING:
        text = _keyring("get_password", SERVICE, "keys") or ""
    else:
        text = _private_text(Path(where).expanduser())
    return {fingerprint(key): key for key in text.split()}


def _private_text(path: Path) -> str:
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ConfigError(f"others may read the key in {path}; run chmod 600 on it")
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as a file of keys: {error}") from error


def _keyring(what: str, *arguments: str) -> str | None:
    """Ask the keyring of the system. Raises ConfigError."""
    try:
        import keyring  # late: the package is optional, and takes 0.1 s
    except ImportError as error:
        raise ConfigError(TO_INSTALL) from error
    try:
        answer: str | None = getattr(keyring, what)(*arguments)
    except Exception as error:  # each backend has its own
        raise ConfigError(
            f"the keyring cannot be used: {error}; a file can keep the key as well"
        ) from error
    return answer


def _spoken(where: str) -> str:
    return "the keyring" if where == KEYRING else where


def _put(path: Path, text: str) -> None:
    """Replace a file atomically; only its owner may read it."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(f"{path} cannot be written: {error}") from error
