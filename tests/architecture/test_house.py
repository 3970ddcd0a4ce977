"""``docs/house.md`` has one line for each folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs" / "house.md").read_text(encoding="utf-8"), re.MULTILINE)
#: Folders of tests whose subfolders mirror those of ``playground``.
MIRRORS = ("engine", "ui")


def folders(top: str) -> Iterator[str]:
    """The folders below ``top`` that hold files, as paths from the root."""
    for path in sorted(ROOT.glob(f"{top}/**/")):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(ROOT).parts)
        if not hidden and any(inner.is_file() for inner in path.iterdir()):
            yield path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("top", ["playground", "resources", "packaging", "tests"])
def test_page_has_exactly_the_folders_that_exist(top: str) -> None:
    expected = {name for name in folders(top) if not (top == "tests" and is_mirror(name))}
    assert expected == {name for name in LINES if name.split("/")[0] == top}


def is_mirror(name: str) -> bool:
    """Return whether a folder of tests has the path of the folder it tests."""
    parts = name.split("/")[1:]
    return len(parts) > 1 and parts[0] in MIRRORS and (ROOT / "playground").joinpath(*parts).is_dir()


def test_folder_has_no_second_line() -> None:
    assert len(LINES) == len(set(LINES)) > 50
