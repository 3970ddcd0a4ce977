"""A field for plain text that gives back exactly what was typed or put into it, and how Qt counts what a text takes.

Qt's own ``toPlainText`` turns no-break spaces into spaces and line separators into new lines, and copying does the
same: what is sent would not be what stands there. Nothing else reads the text of an editor.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

LONG_LINE = 10_000  # characters of a line that is not broken at words any more
_LONG = re.compile(rf"[^\n]{{{LONG_LINE}}}")
#: Characters at which Qt ends a line, kept in a document under noncharacters that no text may hold.
_KEPT = {0x2029: "\ufdd2", 0xFDD0: "\ufdd3", 0xFDD1: "\ufdd4"}
_GIVEN_BACK = {0x2029: "\n", 0xFDD2: "\u2029", 0xFDD3: "\ufdd0", 0xFDD4: "\ufdd1"}


def units(text: str) -> int:
    """How many places a text takes in a document, which counts in UTF-16."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def index_at(text: str, place: int) -> int:
    """How many characters of a text stand in its first ``place`` places: the reverse of ``units``."""
    if text.isascii():
        return place
    return len(text.encode("utf-16-le", "replace")[: 2 * place].decode("utf-16-le", "replace"))


def readable(text: str) -> str:
    """A line of a document as it is meant; as many places as before."""
    return text if text.isascii() else text.translate(_GIVEN_BACK)


def holdable(text: str) -> str:
    """A text as a document can hold it."""
    return text if text.isascii() else text.translate(_KEPT)


class ExactField(QPlainTextEdit):
    """What goes in comes out: by hand, from the clipboard, from the program, and into the clipboard.

    Lines typed or pasted end with LF, whatever the clipboard had; ``set_text`` and ``text`` keep every kind of end
    until somebody types.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._given = self._held = ""

    def text(self) -> str:
        """The text."""
        held = self.document().toRawText()
        return self._given if held == self._held else held.translate(_GIVEN_BACK)

    def set_text(self, text: str) -> None:
        """Show another text. As ``setPlainText``: undo goes back no further than this."""
        self._wrap_for(text, short=True)
        self.setPlainText(holdable(text))
        self._given, self._held = text, self.document().toRawText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste as plain text only."""
        text = source.text()
        self._wrap_for(text, short=False)
        self.textCursor().insertText(holdable(text))
        self.ensureCursorVisible()

    def _wrap_for(self, text: str, *, short: bool) -> None:
        """Break long lines anywhere: looking for words in one, Qt's time grows with the square of its length.

        ``short``: break at words again where no line is long.
        """
        mode = QTextOption.WrapMode
        if len(text) > LONG_LINE and _LONG.search(text):
            self.setWordWrapMode(mode.WrapAnywhere)
        elif short and self.wordWrapMode() == mode.WrapAnywhere:
            self.setWordWrapMode(mode.WrapAtWordBoundaryOrAnywhere)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy exactly what is selected."""
        data = QMimeData()
        data.setText(self.textCursor().selectedText().translate(_GIVEN_BACK))
        return data
