"""Colours for a text that may be long: what is typed has them at once, the rest of a long text a slice at a time.

Qt asks for the colours of every line as soon as there is a text, and each is a call into Python.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Final

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtGui import QSyntaxHighlighter, QTextBlock, QTextCursor, QTextDocument

AT_ONCE: Final = 10_000  # characters that have their colours before anything else is done
LINE: Final = 50  # characters that an empty line costs as much as
SLICE_S: Final = 0.004  # seconds of work between two looks at what else is to do


class LateColours(QSyntaxHighlighter):
    """``colour`` gives one line its colours. What is too much for now follows in the order of the text."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._left = AT_ONCE
        self._next: QTextCursor | None = None  # the first line without its colours
        self._passed = False  # whether the lines that are gone through now are behind that one
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._go_on)
        document.contentsChange.connect(self._gone_through)

    @abstractmethod
    def colour(self, text: str) -> None:
        """Set the formats of the line under way, whose text this is."""

    @property
    def whole(self) -> bool:
        """Whether every line has its colours."""
        return self._next is None

    def colour_now(self, block: QTextBlock) -> None:
        """Give this line its colours."""
        self._left = AT_ONCE
        with self._untold():
            self.rehighlightBlock(block)

    def colour_from(self, block: QTextBlock) -> None:
        """Give this line and all behind it their colours, soon."""
        if self._next is None or block.position() < self._next.position():
            self._next = QTextCursor(block)
        if not self._timer.isActive():
            self._timer.start(0)

    def highlightBlock(self, text: str) -> None:
        if self._left <= 0:
            if not self._passed:
                self._passed = True
                self.colour_from(self.currentBlock())
            return
        self._left -= len(text) + LINE
        if not self._timer.isActive():
            self._timer.start(0)
        self.colour(text)

    def rehighlight(self) -> None:
        """Take all colours anew."""
        self._passed = False
        with self._untold():
            super().rehighlight()
        self._passed = False

    def _untold(self) -> QSignalBlocker:
        """Nobody is told of another text: colours are nothing that was typed."""
        return QSignalBlocker(self.document())

    def _gone_through(self, _at: int, _removed: int, _added: int) -> None:
        self._passed = False

    def _go_on(self) -> None:
        self._passed = False
        end = time.perf_counter() + SLICE_S
        while self._next is not None and self.document() is not None and time.perf_counter() < end:
            cursor = self._next
            block = cursor.block()
            self._next = cursor if cursor.movePosition(QTextCursor.MoveOperation.NextBlock) else None
            self.colour_now(block)
        self._left = AT_ONCE
        if self.document() is None:
            self._next = None
        elif self._next is not None:
            self._timer.start(0)
