"""The line below a large text that is shown in part: how large it is, what of it is seen, and the ways to the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from playground.ui.features.conversation.large import MeasuredText, Part, line_number
from playground.ui.widgets.dialogs import ask_where
from playground.ui.widgets.figures import size
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.loop import spawn

FILES = "Text files (*.txt *.json *.md);;All files (*)"
FEW_LINES = 10  # a text of fewer lines is counted in characters


class FoldRow(QWidget):
    """``say`` what is shown. ``source`` gives the text: all of it is copied and saved, exactly.

    ``asked`` tells where to: "all", "fold", "before", "after" or "last".
    """

    asked = Signal(str)
    reworded = Signal()  # and may be of another height

    def __init__(self, source: Callable[[], MeasuredText], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("foldRow")
        self._source = source
        self._said = Part(0, 0), False
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self._count)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.words = text_label("", "small")
        self.words.setObjectName("foldedText")
        self._buttons = {
            key: self._button(text, words)
            for key, text, words in (
                ("all", "Show all", "Show all of this text, part by part, exactly as it is"),
                ("fold", "Fold", "Show the beginning only"),
                ("before", "Back", "The part before this one"),
                ("after", "Next", "The part behind this one"),
                ("last", "End", "The last part"),
            )
        }
        for key, button in self._buttons.items():
            button.clicked.connect(lambda _checked=False, key=key: self.asked.emit(key))
        self.copy = self._button("Copy", "Copy all of this text, exactly as it is")
        self.save = self._button("Save as…", "Write all of this text to a file, exactly as it is")
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(lambda: spawn(self._save(), name="save a text"))
        flow = FlowLayout(self, 6)
        for widget in (self.words, *self._buttons.values(), self.copy, self.save):
            flow.addWidget(widget)

    def say(self, part: Part, *, opened: bool) -> None:
        """What is shown: a part of the text, opened or folded to its beginning."""
        self._said = part, opened
        source = self._source()
        if not source.counted:
            self._later.start()
            self._put(self.words.text() or size(source.length))
        else:
            self._put(self._words(source, part, opened=opened))
        shown = {"before": part.start > 0, "after": part.stop < source.length, "last": part.stop < source.length}
        for key, button in self._buttons.items():
            button.setVisible((key == "all") is not opened)
            button.setEnabled(shown.get(key, True))

    def _count(self) -> None:
        """The figures of a text of megabytes come one turn of the event loop later than the rest."""
        source, (part, opened) = self._source(), self._said
        self._put(self._words(source, part, opened=opened))

    def _words(self, source: MeasuredText, part: Part, *, opened: bool) -> str:
        lines = source.lines
        whole = f"{size(source.bytes)}, {lines:,} lines" if lines > 1 else size(source.bytes)
        if opened:
            text = source.text
            first, last = line_number(text, part.start), min(line_number(text, part.stop), lines)
            if lines >= FEW_LINES and last > first:
                seen = f"lines {first:,} to {last:,}"
            else:
                seen = f"characters {part.start + 1:,} to {part.stop:,} of {source.length:,}"
            return f"{whole} · {seen}"
        return f"{whole} · this is the beginning"

    def _put(self, words: str) -> None:
        self.words.setText(words)
        self.reworded.emit()

    def _button(self, text: str, words: str) -> QPushButton:
        button = styled(QPushButton(text), "quiet")
        button.setToolTip(words)
        button.setAccessibleName(words)
        return button

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._source().text)
        self._put(f"Copied {size(self._source().bytes)}")

    async def _save(self) -> None:
        text = self._source().text
        path = await ask_where(self.window(), "Save the text", "text.txt", FILES, "txt")
        if path is None:
            return
        try:
            await asyncio.to_thread(_write, path, text)
        except OSError as error:
            self._put(f"{path.name} cannot be written: {error.strerror or error}")
        else:
            self._put(f"Saved as {path.name}")


def _write(path: Path, text: str) -> None:
    from playground.engine.io.whole_file import write_whole

    write_whole(path, text.encode("utf-8", "surrogatepass"))
