"""The field in which a message is written: as tall as its text, with a key that runs, and images passed on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QFocusEvent, QInputMethodEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame

from playground.ui.widgets.exact_field import ExactField
from playground.ui.widgets.theme import body_font

MOST_LINES = 12


class MessageField(ExactField):
    """The text. Enter that ends an input-method composition never runs. Images are passed on, not taken as text."""

    run_pressed = Signal()
    images_pasted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.enter_runs = False
        self._composing = False
        self._composed = QTimer(self)  # runs from the end of a composition to the next turn of the event loop
        self._composed.setSingleShot(True)
        self.setFont(body_font())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QPlainTextEdit { background: transparent; border: none; padding: 0; }")
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.textChanged.connect(self._fit)
        self._fit()

    @property
    def run_keys(self) -> str:
        """The keys that run, for a button's text."""
        return "Enter" if self.enter_runs else "Ctrl+Enter"

    def _fit(self) -> None:
        lines, block = 0, self.document().firstBlock()
        while block.isValid() and lines < MOST_LINES:
            lines += max(block.lineCount(), 1)
            block = block.next()
        self.setFixedHeight(min(max(lines, 1), MOST_LINES) * self.fontMetrics().lineSpacing() + 12)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        composing = bool(event.preeditString())
        if self._composing and not composing:
            # Some systems deliver the Enter that ends a composition right behind what it composed.
            self._composed.start()
        self._composing = composing
        super().inputMethodEvent(event)

    def event(self, event: QEvent) -> bool:
        """Enter comes here, although the window has a shortcut on it."""
        overrides = event.type() == QEvent.Type.ShortcutOverride
        if overrides and isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            return True
        return super().event(event)

    def runs(self, event: QKeyEvent) -> bool:
        """Whether it is the key that runs."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        if self.enter_runs:
            return not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and self._composed.isActive():
            return
        if enter and not self._composing:
            if self.runs(event):
                self.run_pressed.emit()
                return
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.insertPlainText("\n")
                return
        super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return _offers_images(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        from playground.ui.features.conversation.images import sources_of

        images = sources_of(source)
        if images:
            self.images_pasted.emit(images)
        else:
            super().insertFromMimeData(source)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Images dragged over the text are the whole pane's business, other files the window's."""
        if _offers_files(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if _offers_files(event.mimeData()):
            event.ignore()
        else:
            super().dragMoveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._frame_changed()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._frame_changed()

    def _frame_changed(self) -> None:
        frame = self.parentWidget()
        if frame is not None:
            frame.update()


def _offers_images(data: QMimeData) -> bool:
    from playground.ui.features.conversation.images import offers_images

    return offers_images(data)


def _offers_files(data: QMimeData) -> bool:
    from playground.ui.features.conversation.documents import documents

    return _offers_images(data) or bool(documents(data))
