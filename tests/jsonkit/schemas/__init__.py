"""Schemas of tool parameters as found in the wild, as text files in many layouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILES = sorted(Path(__file__).parent.glob("*.json"))


def read(path: Path) -> str:
    """The exact text of a schema, line ends included."""
    return path.read_bytes().decode("utf-8")


def schemas() -> list[tuple[str, Any]]:
    """The name and the value of each."""
    return [(path.stem, json.loads(read(path))) for path in FILES]
