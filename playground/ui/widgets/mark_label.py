"""Labels with an icon before their text, drawn because a font may lack the sign."""

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
    """A plain-text label with an icon before its first line."""

    def __init__(self, words: str = "", parent: QWidget | None = None, *, wraps: bool = False) -> None:
        super().__init__(words, parent, textFormat=Qt.TextFormat.PlainText, wordWrap=wraps)
        self._mark: tuple[str, str] = ("", "")
        self._icon_margin = 0  # the left margin, including the icon

    @property
    def mark(self) -> str:
        """The name of the icon; empty for none."""
        return self._mark[0]

    def set_mark(self, name: str, colour: str = "text") -> None:
        """Set the icon in the colour of a token; an empty name removes it."""
        if (name, colour) == self._mark:
            return
        margins = self.contentsMargins()  # including those of the frame
        margins.setLeft(margins.left() + (SIDE + GAP) * (bool(name) - bool(self._mark[0])))
        self.setContentsMargins(margins)
        self._mark, self._icon_margin = (name, colour), margins.left()
        self.update()

    def setText(self, text: str) -> None:
        """Show a text; a long one is shortened first, so that Qt does not measure all of it."""
        super().setText(text if self.wordWrap() else one_line_of(text) if len(text) > LONG else text)

    @property
    def cut(self) -> bool:
        """True if the text is wider than its single line."""
        return not self.wordWrap() and self.fontMetrics().horizontalAdvance(self.text()) > self._line_rect().width()

    def _line_rect(self) -> QRect:
        """Return the rectangle of the single line; Qt indents a framed label by half an x."""
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
        # Not stored: Python may destroy the icon of a reference cycle before its engine, and Qt would crash.
        icon(*self._mark).paint(painter, inner.left() - SIDE - GAP, top, SIDE, SIDE)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Show the full text of an elided label as its tooltip, unless it has another one."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.cut and not self.toolTip():
            QToolTip.showText(event.globalPos(), tip(self.text()), self)
            return True
        handled = super().event(event)
        if event.type() in (QEvent.Type.Polish, QEvent.Type.StyleChange) and self.mark:
            margins = self.contentsMargins()
            if margins.left() == self._icon_margin - SIDE - GAP:  # a style sheet gives a label new margins
                margins.setLeft(self._icon_margin)
                self.setContentsMargins(margins)
        return handled

    def _paint_cut(self) -> None:
        """Paint the label like Qt, but elide its text."""
        inner = self._line_rect()
        painter = QPainter(self)
        self.drawFrame(painter)
        words = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, inner.width())
        flags = Qt.AlignmentFlag(self.alignment()).value
        self.style().drawItemText(painter, inner, flags, self.palette(), self.isEnabled(), words, self.foregroundRole())
        painter.end()


class Chip(MarkLabel):
    """A short text in a frame; success and failure have an icon."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setProperty("kind", "chip")  # at once: Qt sets the padding of a label only once

    def say(self, words: str, kind: str = "chip") -> None:
        """Show ``words`` in a style kind: "chip", "chip-ok" or "chip-error"."""
        self.setText(words)
        self.set_mark(*_MARKS.get(kind, ("", "")) if words else ("", ""))
        look(self, kind)
