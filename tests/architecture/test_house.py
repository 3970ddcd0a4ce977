"""``docs/house.md`` has one line for each folder there is, and none for one that is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs" / "house.md").read_text(encoding="utf-8"), re.MULTILINE)
#: Their folders are those of what they test.
MIRRORS = ("engine", "ui")


def folders(top: str) -> Iterator[str]:
    """Those with files of ours, from the root on."""
    for path in sorted(ROOT.glob(f"{top}/**/")):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(ROOT).parts)
        if not hidden and any(inner.is_file() for inner in path.iterdir()):
            yield path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("top", ["playground", "resources", "packaging", "tests"])
def test_each_folder_has_its_line_and_no_line_is_of_one_that_is_gone(top: str) -> None:
    found = {name for name in folders(top) if not (top == "tests" and is_mirror(name))}
    assert found == {name for name in LINES if name.split("/")[0] == top}


def is_mirror(name: str) -> bool:
    """Whether a folder of tests is called as what it tests."""
    parts = name.split("/")[1:]
    return len(parts) > 1 and parts[0] in MIRRORS and (ROOT / "playground").joinpath(*parts).is_dir()


def test_each_has_one_line() -> None:
    assert len(LINES) == len(set(LINES)) > 50
