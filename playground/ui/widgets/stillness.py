"""A window with nothing to do: what looks after it on a clock stops the clock, and is told when something comes.

While a person looks at the window its caret may blink, Qt may throw away pictures that it kept, and that is all; no
Python runs in it, so nothing can go wrong or pile up. Whatever else comes, a key, a socket, another thread's word or a
timer, comes as an event.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject

#: What draws the window anew; and PySide marks an object that is seen by a filter here for the first time.
_DRAWING = (QEvent.Type.UpdateRequest, QEvent.Type.UpdateLater, QEvent.Type.Paint, QEvent.Type.DynamicPropertyChange)
#: The objects of Qt that have timers for no affair of ours: a caret's, and that of pictures kept for half a minute.
_OF_QT = ("QPlainTextEditControl", "QWidgetTextControl", "QWidgetLineControl", "QPMCache")


class Keeper(QObject):
    """Has a ``timerEvent`` every so many milliseconds from ``keep`` on. After ``rest`` none comes before something
    happens: the first event that is neither Qt's own affair nor another keeper's calls ``keep`` before it is seen to.
    """

    def __init__(self, every: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._every = every
        self._clock = 0

    def keep(self) -> None:
        """Let the clock run; called once at the beginning, and by itself after each rest."""
        self._clock = self.startTimer(self._every)

    def rest(self) -> None:
        """Stop the clock. Events are looked at here only while there are none to speak of."""
        self.leave()
        app = QCoreApplication.instance()
        if app is not None:
            app.installEventFilter(self)

    def leave(self) -> None:
        """Stop the clock for good."""
        if self._clock:
            self.killTimer(self._clock)
            self._clock = 0
        app = QCoreApplication.instance()
        if app is not None:
            app.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        apart = kind == QEvent.Type.Timer and (
            isinstance(watched, Keeper) or watched.metaObject().className() in _OF_QT
        )
        if kind not in _DRAWING and not apart:
            self.leave()
            self.keep()
        return False
