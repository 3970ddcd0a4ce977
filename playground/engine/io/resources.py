"""Finds the files shipped with the application: in the wheel, in a checkout, in a frozen build."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path


@cache
def resource_root() -> Path:
    """The folder that holds icons, the style template and samples."""
    package = Path(__file__).resolve().parents[2]
    frozen = getattr(sys, "_MEIPASS", None)
    places = [Path(frozen) / "resources"] if frozen else []
    places += [package / "resources", package.parent / "resources"]
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError("the application's resources folder is missing; please install it again")
