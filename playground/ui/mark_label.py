"""Words with an icon of ours before them: a sign that a font may lack is drawn, and the words do without it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from playground.ui.icons import icon
from playground.ui.parameters.fields import look

SIDE, GAP = 13, 4  # pixels
_MARKS: Final = {"chip-ok": ("check", "ok"), "chip-error": ("error", "error")}


class MarkLabel(QLabel):
    """A plain text whose icon stands beside its first line."""

    def __init__(self, words: str = "", parent: QWidget | None = None, *, wraps: bool = False) -> None:
        super().__init__(words, parent, textFormat=Qt.TextFormat.PlainText, wordWrap=wraps)
        self._mark: tuple[str, str] = ("", "")

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
        self._mark = name, colour
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
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
