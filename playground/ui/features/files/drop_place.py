"""Drop target for files that covers the window, with a hint of what a drop does.

Images are dropped on the composer, which takes them first.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDragMoveEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from playground.ui.features.conversation.documents import documents
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import body_font, tokens

MARGIN = 10  # pixels between the frame and the edge of the window


class DropTarget(QObject):
    """Accept files dropped on the window; ``dropped`` carries their paths."""

    dropped = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.hint = _Hint(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self.hint.hide()
            if files := documents(event.mimeData()):
                event.acceptProposedAction()
                self.dropped.emit(files)
                return True
        elif isinstance(event, QDragEnterEvent | QDragMoveEvent):
            if files := documents(event.mimeData()):
                event.acceptProposedAction()
                name = f"“{files[0].name}”" if len(files) == 1 else f"{len(files)} files"
                self.hint.say(f"Drop to open {name}")
                return True
        elif event.type() == QEvent.Type.DragLeave:
            self.hint.hide()
        return super().eventFilter(watched, event)


class _Hint(QWidget):
    """An overlay of the whole window while files are dragged over it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.words = ""
        self.hide()

    def say(self, words: str) -> None:
        """Show ``words`` over everything."""
        self.words = show_hidden(words)
        self.setAccessibleName(self.words)
        window = self.parentWidget()
        if window is not None:
            self.setGeometry(window.rect())
        self.raise_()
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(t.window)
        veil.setAlphaF(0.82)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QPen(QColor(t.accent), 2, Qt.PenStyle.DashLine))
        inner = self.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        painter.drawRoundedRect(inner.toRectF(), 9, 9)
        font = body_font(18)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(t.text))
        words = painter.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideMiddle, inner.width() - 40)
        painter.drawText(inner, Qt.AlignmentFlag.AlignCenter, words)
        painter.end()
