"""A shared folder for compiled modules, where the environment forbids Python to write them beside their sources.

Without it, each process of a test run would compile all modules again. Must run before most modules are imported, so it
imports none of ours.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def share_bytecode() -> None:
    """Replace ``PYTHONDONTWRITEBYTECODE``, for this process and those it starts, by a folder in the user's cache."""
    if not sys.dont_write_bytecode:
        return
    cache = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    folder = str(Path(cache, "gateway-playground-tests", "bytecode"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder
    sys.dont_write_bytecode = False
