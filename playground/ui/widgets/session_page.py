"""A page of the inspector about the whole experiment. A hidden page does no work."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from playground.engine.session.changes import Change
from playground.engine.session.session import Session
from playground.ui.widgets.loop import Throttle

READ_MS = 100  # between two readings of a session that changes


class SessionPage(QWidget):
    """Base of pages about the experiment. It reads the session and never changes it."""

    #: The changes after which the page reads the session again.
    FOLLOWED: ClassVar[tuple[type[Change], ...]]

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session: Session | None = None
        self._cancel: Callable[[], None] | None = None
        self._stale = False  # the content may be out of date
        self.throttle = Throttle(self._read, self, READ_MS)

    def show_session(self, session: Session) -> None:
        """Show another experiment."""
        if session is self._session:
            return
        if self._cancel is not None:
            self._cancel()
        self._session = session
        self._cancel = session.subscribe(self._changed, *self.FOLLOWED)
        self.throttle.cancel()
        self._begin(session)
        self._outdated()

    def _begin(self, session: Session) -> None:
        """Prepare for another experiment, of which nothing has been read yet."""

    def _read(self) -> None:
        """Read the session and show the result."""
        raise NotImplementedError

    def _changed(self, _change: Change) -> None:
        self._outdated()

    def _outdated(self) -> None:
        self._stale = True
        if self.isVisible():
            self.throttle.poke()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.throttle.poke()
