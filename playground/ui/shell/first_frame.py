"""Paints the window first and does everything else after: the way from the process's start to a window is kept short.

The steps after the first paint lead to the event loop. They are carried out one at a time between Qt's events; what a
person types meanwhile arrives. No step may wait for anything but the processor.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

UNSEEN_MS = 500  # a window that opens minimised, or on another desktop, is not painted


class FirstFrame(QObject):
    """Waits for ``window``'s first paint, then goes through ``steps``."""

    def __init__(self, qt: QApplication, window: QWidget, steps: Iterator[None]) -> None:
        super().__init__(qt)
        self._qt = qt
        self._window = window
        self._steps = steps
        self._failure: BaseException | None = None
        self._begun = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._step)
        window.installEventFilter(self)

    def show(self) -> None:
        """Open the window; returns when the last step is done. Raises what a step raised."""
        self._window.show()
        QTimer.singleShot(UNSEEN_MS, self, self._begin)
        self._qt.exec()
        if self._failure is not None:
            raise self._failure

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Sees the first paint, then looks no more."""
        if event.type() == QEvent.Type.Paint:
            self._begin()
        return False

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._window.removeEventFilter(self)
            self._timer.start(0)

    def _step(self) -> None:
        try:
            next(self._steps)
        except StopIteration:
            self._end()
        except BaseException as failure:  # noqa: BLE001 - raised again by ``show``: Qt would only print it
            self._failure = failure
            self._end()

    def _end(self) -> None:
        self._timer.stop()
        self._qt.exit()
