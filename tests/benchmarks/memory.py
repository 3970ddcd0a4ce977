"""How much memory the process has in use, as the kernel counts it."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident_mb() -> float:
    """Megabytes of resident memory, after garbage has been collected and free pages handed back; 0 where unknown."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, AttributeError):
        return 0.0
