"""The QApplication, and the files that the system hands to it: on macOS they come as events, never as arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """Keeps the files the system hands over until ``take_files`` is called: they come before the window is built."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self._waiting: list[Path] = []
        self._take: Callable[[Path], None] | None = None

    def take_files(self, take: Callable[[Path], None]) -> None:
        """Call ``take`` with each file handed over until now and from now on."""
        self._take = take
        waiting, self._waiting = self._waiting, []
        for path in waiting:
            take(path)

    def event(self, event: QEvent) -> bool:
        """Called for what is sent to the application itself, not for what its windows get."""
        if isinstance(event, QFileOpenEvent) and event.file():
            path = Path(event.file())
            if self._take is None:
                self._waiting.append(path)
            else:
                self._take(path)
            return True
        return super().event(event)
