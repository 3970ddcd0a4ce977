"""How much memory a process has in use, as the kernel counts it."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path


def resident(process: int | str) -> int:
    """Bytes of resident memory of a process, by its id, or "self"; raises OSError where none is told."""
    return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def resident_mb() -> float:
    """Megabytes of resident memory, after garbage has been collected and free pages handed back; 0 where unknown."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        return resident("self") / 2**20
    except (OSError, AttributeError):
        return 0.0
