"""Locks between processes: contention, killed holders, removed files, file systems without locks."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from playground.engine.io import file_lock
from playground.engine.io.file_lock import FileLock, LockedError


def test_lock_is_free_again_after_its_holder_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    command = [sys.executable, "-m", "tests.engine.io.lock_holder", str(path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdin is not None
    with holder.stdin, holder.stdout:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockedError):
            FileLock(path, temporary=True).acquire()
        holder.kill()
        holder.wait()
    lock = FileLock(path, temporary=True)
    lock.acquire()
    lock.release()
    assert not path.exists()


def test_release_of_a_temporary_lock_leaves_no_file_and_others_one(tmp_path: Path) -> None:
    for temporary in (True, False):
        path = tmp_path / f"{temporary}.lock"
        lock = FileLock(path, temporary=temporary)
        lock.acquire()
        with pytest.raises(LockedError):
            FileLock(path, temporary=temporary).acquire()
        lock.release()
        lock.release()
        assert path.exists() is not temporary


def test_lock_is_not_taken_on_a_file_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, locking = tmp_path / "a.lock", file_lock._lock
    removed: list[Path] = []

    def lock_late(handle: int) -> None:
        if not removed:
            path.unlink()
            removed.append(path)
        locking(handle)

    monkeypatch.setattr(file_lock, "_lock", lock_late)
    lock = FileLock(path, temporary=True)
    lock.acquire()
    with pytest.raises(LockedError):
        FileLock(path).acquire()
    lock.release()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EINVAL])
def test_file_system_without_locks_raises_another_error_than_a_held_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(_handle: int) -> None:
        raise OSError(code, "No locks available")

    monkeypatch.setattr(file_lock, "_lock", refuse)
    with pytest.raises(OSError, match="No locks available"):
        FileLock(tmp_path / "a.lock").acquire()
