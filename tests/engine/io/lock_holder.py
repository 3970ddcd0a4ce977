"""Hold a lock on the file named by the argument until standard input ends."""

from __future__ import annotations

import sys
from pathlib import Path

from playground.engine.io.file_lock import FileLock

FileLock(Path(sys.argv[1]), temporary=True).acquire()
print("held", flush=True)
sys.stdin.read()
