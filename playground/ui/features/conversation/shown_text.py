"""The part of a text that is shown, written into a document, and the row below a text that is shown in part.

A text is shown whole up to a size; of a larger one a part is shown, and more of it on request. See ``caps``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from playground.engine.io.files import write_whole
from playground.ui.features.conversation.caps import (
    AROUND,
    BEGINNING,
    BEGINNING_LINES,
    GROWING,
    LARGE,
    LARGE_MARKDOWN,
    LINES,
    MARKDOWN_LINES,
    PER_FRAME,
)
from playground.ui.features.conversation.document import DocumentWriter
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.markdown_stream import MarkdownStream, exact_lines
from playground.ui.widgets.dialogs import ask_where
from playground.ui.widgets.figures import size
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.save_text import open_in_editor

_LINE_END = re.compile(r"\r\n|\n|\r")


class Part(NamedTuple):
    """Characters of a text from ``start`` to ``stop``, without the last."""

    start: int
    stop: int


def is_large(text: str, mode: str) -> bool:
    """Return whether only a part of a text is shown in this mode."""
    return beginning(text, mode) < len(text)


def beginning(text: str, mode: str) -> int:
    """Return where the part ends that is shown of a text at first: all of it if it is not large."""
    if mode == "markdown":
        return _end(text, 0, LARGE_MARKDOWN, len(text))
    if _end(text, 0, LARGE, LINES) == len(text):
        return len(text)
    return _end(text, 0, BEGINNING, BEGINNING_LINES)


def byte_count(text: str) -> int:
    """Return the length of a text as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _end(text: str, start: int, size: int, lines: int) -> int:
    """Return where a part of at most ``size`` characters and ``lines`` lines ends: before a line end if possible."""
    end = min(start + size, len(text))
    ends = [match.start() for match in islice(_LINE_END.finditer(text, start, end), lines + 1)]
    if len(ends) > lines:
        return ends[lines - 1]
    if end < len(text) and ends and ends[-1] > start + size // 2:
        return ends[-1]
    return end


class ShownText:
    """A text that may grow, and the ``part`` of it that ``writer`` has written."""

    def __init__(self, writer: DocumentWriter, mode: str) -> None:
        self._writer = writer
        self.mode = mode
        self.part = Part(0, 0)
        self.length = 0
        self.size = self.part_size = 0  # bytes of the text and of the part, as UTF-8
        self.is_collapsed = False  # a large text is shown as at first
        self.by_lines = False  # the lines were made elsewhere
        self._pieces: list[str] = []
        self._exact = mode != "markdown"
        self._follows = True  # more of the text is drawn when it is received
        self._stream = MarkdownStream()
        self._after_return = False  # the drawn text ends with the first half of a line end

    @property
    def text(self) -> str:
        """The whole text."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def is_behind(self) -> bool:
        """Return whether ``draw_more`` has more to draw of a text that is being received."""
        return self._follows and self.part.stop < self.length

    @property
    def is_capped(self) -> bool:
        """Return whether only a part of the text is shown."""
        return not self._follows and self.part != (0, self.length)

    @property
    def may_show_more(self) -> bool:
        """Return whether ``show_more`` has more to show."""
        return self.part.stop < self.length and self.part.stop - self.part.start < GROWING

    def set_text(self, text: str) -> None:
        """Show another text from its beginning."""
        self.share_text(text)
        self.by_lines = False
        self.collapse()

    def share_text(self, text: str) -> None:
        """Keep ``text``, equal to this text, instead of a copy."""
        self._pieces, self.length, self.size = [text], len(text), byte_count(text)

    def set_lines(self, source: str, lines: Sequence[Line]) -> None:
        """Show lines that the caller laid out for ``source``."""
        self.share_text(source)
        self.by_lines, self._follows, self.part = True, False, Part(0, len(source))
        self._writer.write(0, lines)

    def collapse(self) -> None:
        """Show only the beginning."""
        self._show(Part(0, beginning(self.text, self.mode)), exact=self.mode != "markdown")
        self._follows = self.part.stop == self.length
        self.is_collapsed = True

    def show_more(self) -> int:
        """Show the next part as well. Return the first line that may differ."""
        text = self.text
        return self._write(text[self.part.stop : _end(text, self.part.stop, LARGE, LINES)])

    def show_place(self, place: int) -> bool:
        """Show the exact text around a character, unless it is shown. Return whether that is another part."""
        if self.part.start <= place < self.part.stop or not self.is_capped:
            return False
        text, start = self.text, max(place - AROUND, 0)
        line_end = text.find("\n", start, place)
        start = line_end + 1 if line_end >= 0 else start
        self._show(Part(start, min(place + BEGINNING, len(text))), exact=True)
        return True

    def append(self, text: str) -> int | None:
        """Add more text. Return the first line that may differ; None if nothing was drawn, see ``is_behind``."""
        at_end = self._follows and self.part.stop == self.length
        self._pieces.append(text)
        self.length += len(text)
        self.size += byte_count(text)
        if at_end and len(text) <= PER_FRAME and self._is_within_cap():
            return self._write(text)
        return None

    def draw_more(self) -> int | None:
        """Draw more of what was received."""
        if not self._is_within_cap():
            return None
        start = self.part.stop
        return self._write(self.text[start : start + PER_FRAME])

    def _is_within_cap(self) -> bool:
        """Return whether more is drawn of a text that grows; that ends for good when it is large."""
        if self._exact:
            self._follows &= self.part.stop < LARGE and len(self._writer.lines) < LINES
        else:
            self._follows &= self.part.stop < GROWING
        return self._follows

    def _write(self, text: str) -> int:
        self.part = Part(self.part.start, self.part.stop + len(text))
        self.part_size += byte_count(text)
        self.is_collapsed = False
        if not self._exact:
            first = self._stream.append_markdown(text)
            self._writer.write(first, self._stream.lines[first:])
            return first
        # A line end received in two pieces counts once: the first piece has drawn it.
        if text.startswith("\n") and self._after_return:
            text = text[1:]
        self._after_return = text.endswith("\r")
        drawn = self._writer.lines
        last = drawn[-1] if drawn else Line(self._kind)
        first = max(len(drawn) - 1, 0)
        self._writer.write(first, exact_lines(last.text + text, self._kind, joins=last.joins))
        return first

    def _show(self, part: Part, *, exact: bool) -> None:
        self.part, self._exact = part, exact
        piece = self.text[part.start : part.stop]
        self.part_size, self.is_collapsed = byte_count(piece), False
        self._stream, self._after_return = MarkdownStream(), piece.endswith("\r")
        if exact:
            self._writer.write(0, exact_lines(piece, self._kind))
        else:
            self._show_markdown(piece)

    def _show_markdown(self, piece: str) -> None:
        """Show as much of a piece as is quickly drawn."""
        lines, end = self._stream.lines, 0
        while end < len(piece) and len(lines) + sum([line.cell_count for line in lines]) < MARKDOWN_LINES:
            self._stream.append_markdown(piece[end : end + PER_FRAME])
            end = min(end + PER_FRAME, len(piece))
        self.part, self.part_size = Part(0, end), byte_count(piece[:end])
        self._writer.write(0, lines)

    @property
    def _kind(self) -> str:
        return "plain" if self.mode == "plain" else "raw"


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
