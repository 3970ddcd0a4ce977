"""The first window's end of a second start: it listens, takes what it understands and nothing else, and says so."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal

from playground.ui.shell.second_start import ANSWER, address

if TYPE_CHECKING:
    from playground.ui.shell.second_start_pipe import PipeListener
    from playground.ui.shell.second_start_socket import SocketListener

MOST_BYTES: Final = 65_536
PIPES = sys.platform == "win32"  # Qt's network, 3 MiB in memory, is loaded where there is no socket in a file


class SecondStarts(QObject):
    """Listens for them. ``asked`` carries the path of a file, or nothing, and what lets the window come forward."""

    asked = Signal(str, str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._listener: PipeListener | SocketListener | None = None

    def listen(self, store: Path) -> bool:
        """Listen for starts with that store, which this process has locked. Returns whether that is possible."""
        self.close()
        listener = self._made()
        if not listener.listen(address(store)):
            listener.deleteLater()
            return False
        self._listener = listener
        return True

    def _made(self) -> PipeListener | SocketListener:
        if PIPES:
            from playground.ui.shell.second_start_pipe import PipeListener

            return PipeListener(self._heard, self)
        from playground.ui.shell.second_start_socket import SocketListener

        return SocketListener(self._heard, self)

    def close(self) -> None:
        """Listen no longer."""
        if self._listener is not None:
            self._listener.close()
            self._listener.deleteLater()
            self._listener = None

    def _heard(self, received: bytes) -> bytes | None:
        """What is said to somebody who said that: nothing where it is no such start, None while more is to come."""
        line, end, _ = received.partition(b"\n")
        if not end and len(received) <= MOST_BYTES:
            return None
        asked = _understood(line) if end and len(received) <= MOST_BYTES else None
        if asked is None:
            return b""
        QTimer.singleShot(0, self, partial(self.asked.emit, *asked))  # the answer goes first: the other one waits
        return ANSWER


def _understood(line: bytes) -> tuple[str, str] | None:
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(asked, dict):
        return None
    file, activation = asked.get("open", ""), asked.get("activation", "")
    if not isinstance(file, str) or not isinstance(activation, str) or (file and not Path(file).is_absolute()):
        return None
    return file, activation
