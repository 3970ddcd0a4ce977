"""Colours for JSON and for server-sent events that carry JSON; cheap enough to run while text streams in.

Line by line and without state: a JSON string never spans lines. Very long lines stay plain. Of very many lines that
come together the first are coloured at once, the others in steps.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextCursor, QTextDocument

from playground.ui.exact_field import units
from playground.ui.theme import tokens

LONGEST_LINE = 5_000
STEP_LINES = 300  # that are coloured between two turns of the loop: a few milliseconds

_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<text>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<number>-?\b\d[\d.eE+-]*)|(?P<word>\b(?:true|false|null)\b)"
)
_FIELD = re.compile(r"(?:data|event|id|retry)?:")


class JsonHighlighter(QSyntaxHighlighter):
    """Keys, texts, numbers and words; the field names and comments of server-sent events in grey."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self._last = self._on_end = 0  # the number of the line that came last, and how many lines came on end
        self._left: QTextCursor | None = None  # at the first line that waits for its colours, whatever is edited above
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.timeout.connect(self._go_on)
        self._load()

    def recolour(self) -> None:
        """Take the colours now in force."""
        self._load()
        self.rehighlight()

    def _load(self) -> None:
        t = tokens()
        for kind, colour in (
            ("key", t.accent),
            ("text", t.ok),
            ("number", t.tool),
            ("word", t.system),
            ("field", t.muted),
        ):
            form = QTextCharFormat()
            form.setForeground(QColor(colour))
            self._formats[kind] = form

    def _go_on(self) -> None:
        """Colour the next lines that wait; all behind them wait, too."""
        self._last = -2  # a new beginning
        left, self._left = self._left, None
        if left is None:
            return
        block = left.block()
        with QSignalBlocker(left.document()):  # colours are nothing that was typed
            while block.isValid() and self._left is None:
                self.rehighlightBlock(block)
                block = block.next()

    def _waits(self) -> bool:
        """Whether this line has to wait, since there were enough on end."""
        block = self.currentBlock()
        before, self._last = self._last, block.blockNumber()
        self._on_end = self._on_end + 1 if self._last == before + 1 else 1
        if self._on_end <= STEP_LINES:
            return False
        if self._left is None or block.position() < self._left.position():
            self._left = QTextCursor(block)
            self._turn.start(0)
        return True

    def highlightBlock(self, text: str) -> None:
        if self._waits() or len(text) > LONGEST_LINE:
            return
        start = 0
        field = _FIELD.match(text)
        if field:
            if field[0] == ":":
                self.setFormat(0, units(text), self._formats["field"])
                return
            start = field.end()
            self.setFormat(0, start, self._formats["field"])
        at = place = start  # the same place in characters, and as the document counts it
        for match in _TOKEN.finditer(text, start):
            kind = match.lastgroup
            if kind:
                place, width = place + units(text[at : match.start()]), units(match[0])
                self.setFormat(place, width, self._formats[kind])
                at, place = match.end(), place + width
