"""Long outputs of tools go to files, and are deleted when their time is over."""

import errno
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kinmem.conversation.compact import Compact
from kinmem.models.turns import Message
from kinmem.service import Service
from tests.conftest import MovableClock

Opened = Callable[..., Compact]
LONG = "x" * 20_000


def output(text: str) -> Message:
    """Of a tool that ran years ago, for all that an imported conversation says."""
    at = datetime(2023, 1, 1, tzinfo=UTC)
    return Message(session="s", turn="../t", role="tool", tool="../../grep", text=text, said_at=at)


@pytest.fixture
def folder(home: Path) -> Path:
    return home / "kins" / "ana-outputs"


def test_a_long_output_goes_to_a_file_and_a_preview_stays(
    home: Path, folder: Path, compact_of: Opened
) -> None:
    text = "".join(f"line {number}\n" for number in range(3000))

    kept = compact_of().spill(output(text))

    assert kept.spill is not None
    path = home / kept.spill
    assert path.read_text() == text
    assert path.parent == folder
    assert path.name.startswith("output-")
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert "line 199\n" in kept.text
    assert "line 200\n" not in kept.text
    assert kept.text.endswith(
        f"[28,890 bytes in 3,001 lines; this is the beginning, read the whole in {path},"
        " for 24 hours]"
    )


@pytest.mark.parametrize(
    ("text", "lines", "preview"),
    [
        pytest.param("x" * 50_000, 200, "x" * 4000, id="an endless line"),
        pytest.param("a\nb\n" + LONG, 1, "a", id="one line"),
        pytest.param("ab\n" * 20_000, 2000, ("ab\n" * 2000)[:4000], id="many lines"),
    ],
)
def test_a_preview_has_so_many_lines_and_characters(
    compact_of: Opened, text: str, lines: int, preview: str
) -> None:
    kept = compact_of(TOOL_OUTPUT_PREVIEW_LINES=lines).spill(output(text))

    assert kept.text[: kept.text.rindex("[")].removesuffix("\n") == preview.removesuffix("\n")


def test_a_preview_of_no_lines_only_tells_where_the_output_is(compact_of: Opened) -> None:
    kept = compact_of(TOOL_OUTPUT_PREVIEW_LINES=0).spill(output(LONG))

    assert kept.text.startswith("[20,000 bytes in 1 lines;")


@pytest.mark.parametrize(
    ("text", "threshold", "spilled"),
    [
        pytest.param("x" * 10_000, 10_000, False, id="at the threshold"),
        pytest.param("x" * 10_001, 10_000, True, id="above"),
        pytest.param("é" * 5001, 10_000, True, id="counted in bytes"),
        pytest.param("x" * 100_000, 0, False, id="switched off"),
    ],
)
def test_only_what_is_above_the_threshold_is_spilled(
    compact_of: Opened, text: str, threshold: int, spilled: bool
) -> None:
    kept = compact_of(TOOL_OUTPUT_SPILL_THRESHOLD=threshold).spill(output(text))

    assert (kept != output(text)) == spilled
    assert bool(kept.spill) == spilled


def test_a_preview_is_not_spilled_again(compact_of: Opened) -> None:
    kept = compact_of().spill(output("語" * 20_000))

    assert len(kept.text.encode()) > 10_000
    assert compact_of().spill(kept) is kept


def test_the_same_output_is_written_once_and_told_alike(
    compact_of: Opened, folder: Path, clock: MovableClock
) -> None:
    kept = compact_of().spill(output(LONG))
    (path,) = folder.iterdir()
    number = path.stat().st_ino
    clock.advance(hours=20)

    assert compact_of().spill(output(LONG)) == kept
    assert compact_of().spill(output(LONG + "y")).spill != kept.spill
    assert path.stat().st_ino == number
    assert len(list(folder.iterdir())) == 2


def test_an_output_that_is_told_again_lives_as_long_as_the_younger_message(
    compact_of: Opened, folder: Path, clock: MovableClock
) -> None:
    compact_of().spill(output(LONG))
    clock.advance(hours=20)
    compact_of().spill(output(LONG))
    clock.advance(hours=20)

    assert compact_of().sweep() == 0
    assert len(list(folder.iterdir())) == 1
    clock.advance(hours=5)
    assert compact_of().sweep() == 1


def test_what_a_crash_left_is_neither_taken_for_the_whole_nor_left_for_ever(
    compact_of: Opened, folder: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    compact_of().spill(output(LONG))
    (path,) = folder.iterdir()
    path.write_text("half")  # a file system that lost its end
    monkeypatch.setattr(Path, "replace", _die)
    monkeypatch.setattr(Path, "unlink", _die)
    with pytest.raises(KeyboardInterrupt):
        compact_of().spill(output(LONG))
    monkeypatch.undo()
    assert len(list(folder.iterdir())) == 2

    compact_of().spill(output(LONG))

    assert path.read_text() == LONG
    clock.advance(hours=25)
    assert compact_of().sweep() == 2


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def in_the_way(folder: Path, elsewhere: Path) -> None:
    folder.write_text("in the way")


def linked(folder: Path, elsewhere: Path) -> None:
    folder.symlink_to(elsewhere, target_is_directory=True)


@pytest.mark.parametrize("trouble", [in_the_way, linked])
def test_what_cannot_be_written_is_told_as_a_preview(
    folder: Path,
    tmp_path: Path,
    compact_of: Opened,
    trouble: Callable[[Path, Path], None],
) -> None:
    trouble(folder, tmp_path)

    kept = compact_of().spill(output(LONG))

    assert kept.spill is None
    assert "the rest was not kept" in kept.text
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_half_file(
    folder: Path, compact_of: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "utime", full)

    kept = compact_of().spill(output(LONG))

    assert "the rest was not kept" in kept.text
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("hours", "ttl", "gone"),
    [
        pytest.param(1, 24, 0, id="new"),
        pytest.param(25, 24, 1, id="old"),
        pytest.param(2, 1.5, 1, id="hours as they are set"),
        pytest.param(100_000, 0, 0, id="0 keeps for ever"),
    ],
)
def test_outputs_are_deleted_after_their_time(
    folder: Path, clock: MovableClock, compact_of: Opened, hours: int, ttl: float, gone: int
) -> None:
    compact_of().spill(output(LONG))
    clock.advance(hours=hours)
    compact_of().spill(output(f"{LONG}y"))

    assert compact_of(TOOL_OUTPUT_TTL_HOURS=ttl).sweep() == gone
    assert len(list(folder.iterdir())) == 2 - gone
    assert compact_of(TOOL_OUTPUT_TTL_HOURS=ttl).sweep() == 0


def test_what_is_not_kinmems_own_stays(
    folder: Path, tmp_path: Path, clock: MovableClock, compact_of: Opened
) -> None:
    kept = compact_of().spill(output(LONG))
    assert kept.spill is not None
    target = tmp_path / "target.txt"
    target.write_text("precious")
    (folder / "output-mine.txt").write_text("a stranger's")
    (folder / f"output-{'0' * 32}.txt").symlink_to(target)
    (folder / f"output-{'1' * 32}.txt").mkdir()
    for path in folder.iterdir():
        os.utime(path, (0, 0), follow_symlinks=False)
    clock.advance(days=9)

    assert compact_of().sweep() == 1
    assert len(list(folder.iterdir())) == 3
    assert target.read_text() == "precious"


def test_a_folder_that_is_a_link_is_not_swept(
    folder: Path, tmp_path: Path, clock: MovableClock, compact_of: Opened
) -> None:
    compact_of().spill(output(LONG))
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved", target_is_directory=True)
    clock.advance(days=9)

    assert compact_of().sweep() == 0


def test_nothing_was_ever_spilled(compact_of: Opened) -> None:
    assert compact_of().sweep() == 0


def test_an_output_that_is_heard_twice_is_one_message_and_one_file(
    service: Service, folder: Path, clock: MovableClock
) -> None:
    service.observe("prompt", "s", "1", "What is in the log?")
    first = service.observe("tool", "s", "1", LONG, tool="grep")
    clock.advance(seconds=90)

    again = service.observe("tool", "s", "1", LONG, tool="grep")

    assert (first.status, again.status) == ("stored", "known")
    assert len(list(folder.iterdir())) == 1
