"""Atomic replacement of files: old or new content, modes, links, and no other file left."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from playground.engine.io.files import write_whole


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_file_is_created_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_whole(path, b"one\n")
    write_whole(path, b"\xff\r\n")
    assert path.read_bytes() == b"\xff\r\n"
    assert list(tmp_path.iterdir()) == [path]


def test_unwritable_path_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (folder, tmp_path / "none" / "a.json"):
        with pytest.raises(OSError, match="director"):
            write_whole(path, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs the modes of POSIX")
def test_replaced_file_keeps_mode_and_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "link"
    write_whole(path, b"one")
    assert mode(path) & 0o400
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, b"two")
    assert (link.is_symlink(), path.read_bytes(), mode(path)) == (True, b"two", 0o640)


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs the modes of POSIX")
def test_private_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "made" / "a.json"
    write_whole(path, b"one", private=True)
    assert mode(path) == 0o600
    path.chmod(0o644)
    write_whole(path, b"two", private=True)
    assert mode(path) == 0o600
