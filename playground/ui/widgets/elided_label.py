"""One line of text, often written by others, that gives way where the room is short; its tooltip is whole."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from playground.domain.hidden import LONGEST_NAME
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import tokens

SAID_MS = 8000  # what was said is read in that time, whatever else there is to show


class ElidedLabel(QWidget):
    """``colour`` names a token; ``name`` stands before the text for people who cannot see it."""

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
        """The whole text as given."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show ``text``, as much of it as fits."""
        if text == self._text:
            return
        self._text = text
        self.setToolTip(tip(text))
        said = one_line_of(text) if len(text) > LONGEST_NAME else text
        self.setAccessibleName(f"{self._name}: {said}" if self._name else said)
        self.updateGeometry()
        self.update()

    def set_colour(self, colour: str) -> None:
        """Another token."""
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
        """As much of the text as there is room for."""
        return self.fontMetrics().elidedText(one_line_of(self._text), self._elide, self.width())


class CountLabel(ElidedLabel):
    """How many there are of what a list shows; for a while what came of a command to it stands there instead."""

    def __init__(self, name: str) -> None:
        super().__init__(name, elide=Qt.TextElideMode.ElideRight)
        self._count = ""
        self._said = QTimer(self, singleShot=True, interval=SAID_MS)
        self._said.timeout.connect(lambda: self.set_text(self._count))

    def set_count(self, text: str) -> None:
        """Show ``text``: at once, or when what was said has stood long enough."""
        self._count = text
        if not self._said.isActive():
            self.set_text(text)

    def say(self, text: str) -> None:
        """Show what came of a command."""
        self.set_text(text)
        self._said.start()
