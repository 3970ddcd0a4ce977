"""Resident memory of a process, as the kernel counts it."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path


def resident(process: int | str) -> int:
    """Return the bytes of resident memory of a process, by its id or "self". Raises OSError where it is unknown."""
    return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def resident_mb() -> float:
    """Return the megabytes of resident memory, after a collection and a trim; 0 where unknown."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        return resident("self") / 2**20
    except (OSError, AttributeError):
        return 0.0
