"""Words with an icon of ours before them: a sign that a font may lack is drawn, and the words do without it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QToolTip, QWidget

from playground.ui.widgets.form_parts import look
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import one_line_of, tip

SIDE, GAP = 13, 4  # pixels
LONG = 1_000  # characters
_MARKS: Final = {"chip-ok": ("check", "ok"), "chip-error": ("error", "error")}


class MarkLabel(QLabel):
    """A plain text whose icon stands beside its first line."""

    def __init__(self, words: str = "", parent: QWidget | None = None, *, wraps: bool = False) -> None:
        super().__init__(words, parent, textFormat=Qt.TextFormat.PlainText, wordWrap=wraps)
        self._mark: tuple[str, str] = ("", "")
        self._left = 0  # the margin with room for the icon

    @property
    def mark(self) -> str:
        """The name of the icon; empty without one."""
        return self._mark[0]

    def set_mark(self, name: str, colour: str = "text") -> None:
        """Another icon, in the colour of a token; without a name there is none."""
        if (name, colour) == self._mark:
            return
        margins = self.contentsMargins()  # the frame's own are among them
        margins.setLeft(margins.left() + (SIDE + GAP) * (bool(name) - bool(self._mark[0])))
        self.setContentsMargins(margins)
        self._mark, self._left = (name, colour), margins.left()
        self.update()

    def setText(self, text: str) -> None:
        """What no line has room for is not measured either."""
        super().setText(text if self.wordWrap() else one_line_of(text) if len(text) > LONG else text)

    @property
    def cut(self) -> bool:
        """Whether there is less room than its one line takes."""
        return not self.wordWrap() and self.fontMetrics().horizontalAdvance(self.text()) > self._line().width()

    def _line(self) -> QRect:
        """Where its one line goes; Qt indents what has a frame by half an x."""
        indent = self.fontMetrics().horizontalAdvance("x") // 2 if self.indent() < 0 and self.frameWidth() else 0
        return self.contentsRect().adjusted(indent, 0, 0, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.cut:
            self._paint_cut()
        else:
            super().paintEvent(event)
        if not self.mark:
            return
        inner, line = self.contentsRect(), self.fontMetrics().height()
        text = line
        if self.wordWrap():
            text = self.heightForWidth(self.width()) - (self.height() - inner.height())
        top = inner.top() + max(inner.height() - text, 0) // 2 + (line - SIDE + 1) // 2
        painter = QPainter(self)
        # Not kept: Python may take an icon apart before its engine where both are part of a cycle, and Qt crashes then.
        icon(*self._mark).paint(painter, inner.left() - SIDE - GAP, top, SIDE, SIDE)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """What is cut is read whole where the pointer rests, unless there is more to say."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.cut and not self.toolTip():
            QToolTip.showText(event.globalPos(), tip(self.text()), self)
            return True
        handled = super().event(event)
        if event.type() in (QEvent.Type.Polish, QEvent.Type.StyleChange) and self.mark:
            margins = self.contentsMargins()
            if margins.left() == self._left - SIDE - GAP:  # a style sheet gives a label new margins
                margins.setLeft(self._left)
                self.setContentsMargins(margins)
        return handled

    def _paint_cut(self) -> None:
        """As Qt paints it, but that one sees that there is more."""
        inner = self._line()
        painter = QPainter(self)
        self.drawFrame(painter)
        words = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, inner.width())
        where = Qt.AlignmentFlag(self.alignment()).value
        self.style().drawItemText(painter, inner, where, self.palette(), self.isEnabled(), words, self.foregroundRole())
        painter.end()


class Chip(MarkLabel):
    """A few words in a frame of their own; those of success and of failure have their icon."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setProperty("kind", "chip")  # from the start: Qt gives a label its padding only once

    def say(self, words: str, kind: str = "chip") -> None:
        """Show these in a look of the style sheet: "chip", "chip-ok" or "chip-error"."""
        self.setText(words)
        self.set_mark(*_MARKS.get(kind, ("", "")) if words else ("", ""))
        look(self, kind)
