"""Code for reading, in the colours of its language. What is very long is shortened here and nowhere else.

It holds no truth: whoever copies or saves takes the text from where it was made.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QWidget

from playground.ui.code_editor import CodeEditor
from playground.ui.conversation.document import code_colour
from playground.ui.exact_field import units
from playground.ui.plain_text import show_hidden

LONGEST_LINE = 5_000  # characters of one line that are shown
MOST = 300_000  # characters shown in all
COLOURED_AT_MOST = 60_000  # about 20 ms
KEPT_BEFORE, KEPT_AFTER = 400, 60


class CodeView(CodeEditor):
    """``show_code`` shows a text; the same language keeps the place that was scrolled to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, read_only=True, json=False)
        self._lexer = ""
        self._colours = _Colours(self.document())
        self.shortened = False

    def show_code(self, text: str, lexer: str) -> None:
        """Show code; ``lexer`` is Pygments' name of the language. ``shortened`` says whether all of it is shown."""
        from playground.ui.conversation.highlight import highlight

        shown, self.shortened = shorten(show_hidden(text))
        bar = self.verticalScrollBar()
        place = bar.value() if lexer == self._lexer else 0
        self._lexer = lexer
        if shown != self.text():
            self._colours.rows = highlight(shown.split("\n"), lexer, COLOURED_AT_MOST)
            self.setPlainText(shown)
        bar.setValue(place)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colours.rehighlight()


class _Colours(QSyntaxHighlighter):
    """Colours line by line, from rows that were worked out for the whole text."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.rows: list[list[tuple[str, str]]] = []

    def highlightBlock(self, _text: str) -> None:
        number = self.currentBlock().blockNumber()
        at = 0
        for kind, piece in self.rows[number] if number < len(self.rows) else ():
            width = units(piece)
            if kind:
                form = QTextCharFormat()
                form.setForeground(QColor(code_colour(kind)))
                self.setFormat(at, width, form)
            at += width


def shorten(text: str) -> tuple[str, bool]:
    """As much of the text as a window can bear, and whether something was left out."""
    lines = text.split("\n")
    out = [_short(line) for line in lines] if any(len(line) > LONGEST_LINE for line in lines) else lines
    shown = "\n".join(out)
    if len(shown) > MOST:
        return shown[: shown.rfind("\n", 0, MOST) + 1 or MOST] + "…", True
    return shown, out is not lines


def _short(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    left_out = len(line) - KEPT_BEFORE - KEPT_AFTER
    return f"{line[:KEPT_BEFORE]} … {left_out:,} characters … {line[-KEPT_AFTER:]}"
