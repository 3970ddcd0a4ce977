"""The log of the application: a few small files in the platform's folder for logs, and nowhere else.

It holds names, places in the program and times, and no secret, prompt or answer. The start of the window calls
``begin`` once, after the first paint; modules only ask ``logging`` for their logger below ``playground``.
"""

from __future__ import annotations

import logging
import platform
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from platformdirs import user_log_path

from playground import __version__
from playground.system.private import make_file, make_folder

NAME = "playground.log"
BYTES, FILES = 256 * 1024, 3  # of one file, and how many there are


def log_path() -> Path:
    """Return the file that is written now; older ones have a number after their name."""
    return user_log_path("gateway-playground", appauthor=False) / NAME


def begin() -> None:
    """Write what is logged below ``playground`` to the file; without a writable folder, drop it.

    A second call changes nothing.
    """
    logger = logging.getLogger("playground")
    if logger.handlers:
        return
    logger.setLevel(logging.INFO)
    logger.propagate = False
    handler: logging.Handler

    class PrivateFileHandler(RotatingFileHandler):
        def _open(self) -> TextIOWrapper:
            make_file(Path(self.baseFilename))
            return super()._open()

    try:
        path = log_path()
        make_folder(path.parent)
        handler = PrivateFileHandler(
            path, maxBytes=BYTES, backupCount=FILES - 1, encoding="utf-8", errors="replace", delay=True
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logging.raiseExceptions = False  # a full disk is no reason to fill the terminal


def versions() -> str:
    """Return the versions of program, Python and system in one line, for the head of an entry."""
    return f"Gateway Playground {__version__}, Python {platform.python_version()}, {platform.system()}"
