"""A label for one line of untrusted text that is elided to fit; its tooltip has the full text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from playground.domain.hidden import LONGEST_NAME
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import tokens

SAID_MS = 8000  # duration of a message, before the count is shown again


class ElidedLabel(QWidget):
    """An elided line of text. ``colour`` is the name of a token; ``name`` precedes the text in the accessible name."""

    def __init__(
        self,
        name: str = "",
        *,
        colour: str = "muted",
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> None:
        super().__init__()
        self._name = name
        self._colour = colour
        self._align = align
        self._elide = elide
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    @property
    def text(self) -> str:
        """The full text."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show ``text``, elided to fit."""
        if text == self._text:
            return
        self._text = text
        self.setToolTip(tip(text))
        line = one_line_of(text) if len(text) > LONGEST_NAME else text
        self.setAccessibleName(f"{self._name}: {line}" if self._name else line)
        self.updateGeometry()
        self.update()

    def set_colour(self, colour: str) -> None:
        """Set the colour by the name of a token."""
        if colour != self._colour:
            self._colour = colour
            self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(one_line_of(self._text)) + 2, metrics.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(40, self.sizeHint().width()), self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QColor(getattr(tokens(), self._colour)))
        painter.drawText(self.rect(), self._align | Qt.AlignmentFlag.AlignVCenter, self.fitting())
        painter.end()

    def fitting(self) -> str:
        """Return the text elided to the width of the label."""
        return self.fontMetrics().elidedText(one_line_of(self._text), self._elide, self.width())


class CountLabel(ElidedLabel):
    """The count of a list; the result of a command replaces it for a while."""

    def __init__(self, name: str) -> None:
        super().__init__(name, elide=Qt.TextElideMode.ElideRight)
        self._count = ""
        self._message_timer = QTimer(self, singleShot=True, interval=SAID_MS)
        self._message_timer.timeout.connect(lambda: self.set_text(self._count))

    def set_count(self, text: str) -> None:
        """Show a count: at once, or after the current message."""
        self._count = text
        if not self._message_timer.isActive():
            self.set_text(text)

    def say(self, text: str) -> None:
        """Show the result of a command for ``SAID_MS``."""
        self.set_text(text)
        self._message_timer.start()
