"""Row below a partly shown text: the size of the visible part, and commands on the whole text."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from playground.engine.io.files import write_whole
from playground.ui.features.conversation.shown_text import ShownText
from playground.ui.widgets.dialogs import ask_where
from playground.ui.widgets.figures import size
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.save_text import open_in_editor

FILES = "Text files (*.txt *.json *.md);;All files (*)"
FULL_TEXT = "Collapsed; full text is sent"


class LongTextRow(QWidget):
    """Row for ``shown_text``; call ``refresh`` after its visible part changes. Commands use the whole text exactly."""

    more_asked = Signal()
    collapse_asked = Signal()
    reworded = Signal()  # and possibly of another height

    def __init__(self, shown_text: ShownText, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("longTextRow")
        self._shown = shown_text
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.words = text_label("", "small")
        self.words.setObjectName("longTextSize")
        self.words.setToolTip(FULL_TEXT)
        flow = FlowLayout(self, 6)
        flow.addWidget(self.words)
        buttons = [
            self._button(*words)
            for words in (
                ("Show more", "Show more of this text"),
                ("Collapse", "Show only the beginning of this text"),
                ("Open in editor", "Open all of this text in another program"),
                ("Copy", "Copy all of this text"),
                ("Save…", "Save all of this text"),
            )
        ]
        for button in buttons:
            flow.addWidget(button)
        self.more, self.collapse, self.open, self.copy, self.save = buttons
        self.more.clicked.connect(self.more_asked)
        self.collapse.clicked.connect(self.collapse_asked)
        self.open.clicked.connect(self._open)
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(lambda: spawn(self._save(), name="save a text"))

    def refresh(self) -> None:
        """Show the size of the visible part."""
        shown_text = self._shown
        start, stop = shown_text.part
        if start:
            words = f"Characters {start + 1:,} to {stop:,} of {shown_text.length:,}"
        else:
            words = f"First {size(shown_text.part_size)} of {size(shown_text.size)}"
        self.more.setVisible(shown_text.may_show_more)
        self.collapse.setVisible(not shown_text.is_collapsed)
        self._set_words(words)

    def _set_words(self, words: str) -> None:
        self.words.setText(words)
        self.reworded.emit()

    def _button(self, text: str, name: str) -> QPushButton:
        button = styled(QPushButton(text), "quiet")
        button.setToolTip(name)
        button.setAccessibleName(name)
        return button

    def _open(self) -> None:
        if problem := open_in_editor(self._shown.text, "text.txt"):
            self._set_words(problem)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._shown.text)
        self._set_words(f"Copied {size(self._shown.size)}")

    async def _save(self) -> None:
        data = _encoded(self._shown.text)
        path = await ask_where(self.window(), "Save the text", "text.txt", FILES, "txt")
        if path is None:
            return
        try:
            await asyncio.to_thread(write_whole, path, data)
        except OSError as error:
            self._set_words(f"{path.name} could not be saved: {error.strerror or error}")
        else:
            self._set_words(f"Saved as {path.name}")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
