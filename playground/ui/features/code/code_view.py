"""Code for reading, in the colours of its language. What is very long is shortened here and nowhere else.

It holds no truth: whoever copies or saves takes the text from where it was made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QColor, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QWidget

from playground.ui.features.conversation.document import code_colour
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.exact_field import units
from playground.ui.widgets.late_colours import SLICE_S, LateColours
from playground.ui.widgets.plain_text import show_hidden

LONGEST_LINE = 5_000  # characters of one line that are shown
MOST = 300_000  # characters shown in all
MOST_LINES = 4_000  # and lines: a short one costs as much as a long one
COLOURED_AT_MOST = 60_000  # characters
COLOURED_AT_ONCE = 3_000  # of them before anything else is done: 5 µs each
KEPT_BEFORE, KEPT_AFTER = 400, 60

Row = list[tuple[str, str]]


class CodeView(CodeEditor):
    """``show_code`` shows a text; the same language keeps the place that was scrolled to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, read_only=True, json=False)
        self._lexer = ""
        self._colours = _Colours(self.document())
        self.shortened = False

    def show_code(self, text: str, lexer: str) -> None:
        """Show code; ``lexer`` is Pygments' name of the language. ``shortened`` says whether all of it is shown."""
        shown, self.shortened = shorten(text)
        shown = show_hidden(shown)
        bar = self.verticalScrollBar()
        place = bar.value() if lexer == self._lexer else 0
        self._lexer = lexer
        if shown != self.text():
            self._colours.begin(shown, lexer)
            self.setPlainText(shown)
        bar.setValue(place)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colours.rehighlight()


class _Colours(LateColours):
    """Colours line by line, from rows that are worked out for the whole text as there is time."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._rows: list[Row] = []
        self._coming: Iterator[Row] = iter(())
        self._reading = QTimer(self)
        self._reading.setSingleShot(True)
        self._reading.timeout.connect(self._read_on)

    def begin(self, text: str, language: str) -> None:
        """The text will be this one."""
        from playground.engine.files.lexers import lexer_for
        from playground.ui.widgets.highlight import rows

        lexer = lexer_for(language) if len(text) <= COLOURED_AT_MOST else None
        self._rows, size = [], 0
        self._coming = rows(lexer, text) if lexer is not None else iter(())
        while size < COLOURED_AT_ONCE and (row := self._row()) is not None:
            size += sum(len(piece) for _, piece in row) + 1
        self._reading.start(0)

    def colour(self, text: str) -> None:
        number, at = self.currentBlock().blockNumber(), 0
        row = self._rows[number] if number < len(self._rows) else []
        if "".join([piece for _, piece in row]) != text:
            return
        for kind, piece in row:
            width = units(piece)
            if kind:
                form = QTextCharFormat()
                form.setForeground(QColor(code_colour(kind)))
                self.setFormat(at, width, form)
            at += width

    def _row(self) -> Row | None:
        """The next line's; None at the end, and where the lexer fails on hostile input."""
        try:
            row = next(self._coming, None)
        except Exception:  # noqa: BLE001 - it must not cost the text
            row = None
        if row is not None:
            self._rows.append(row)
        return row

    def _read_on(self) -> None:
        end = time.perf_counter() + SLICE_S
        while time.perf_counter() < end:
            if self._row() is None:
                return
            self.colour_now(self.document().findBlockByNumber(len(self._rows) - 1))
        self._reading.start(0)


def shorten(text: str) -> tuple[str, bool]:
    """As much of the text as a window can bear, and whether something was left out."""
    out: list[str] = []
    size = at = 0
    left_out = False
    while at <= len(text):
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        line = _short(text, at, end)
        left_out |= len(line) != end - at
        size += len(line) + 1
        if size > MOST + 1 or len(out) >= MOST_LINES:
            return "\n".join([*out, "…"]), True
        out.append(line)
        at = end + 1
    return "\n".join(out), left_out


def _short(text: str, start: int, end: int) -> str:
    """A line of the text, its middle left out where it is very long."""
    if end - start <= LONGEST_LINE:
        return text[start:end]
    left_out = end - start - KEPT_BEFORE - KEPT_AFTER
    return f"{text[start : start + KEPT_BEFORE]} … {left_out:,} characters … {text[end - KEPT_AFTER : end]}"
