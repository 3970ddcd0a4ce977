"""Where the application keeps its log: a few small files in the platform's folder for logs, and nowhere else.

What goes in must hold no secret, no prompt and no answer: names, places in the program, times. Set up once, by whoever
starts the window, after the first paint; modules only ask ``logging`` for their logger below ``playground``.
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
    """The file that is written now; older ones stand beside it with a number."""
    return user_log_path("gateway-playground", appauthor=False) / NAME


def begin() -> None:
    """Send what is logged below ``playground`` to the file. Without a writable folder nothing is kept, and no more.

    Called once more, it changes nothing.
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
    """What runs here, in one line, for the head of an entry."""
    return f"Gateway Playground {__version__}, Python {platform.python_version()}, {platform.system()}"
