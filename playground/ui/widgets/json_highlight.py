"""Syntax highlighting for JSON and for server-sent events with JSON, cheap enough for streamed text.

Line by line and without state: a JSON string never spans lines. Very long lines stay plain.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from playground.ui.widgets.exact_field import units
from playground.ui.widgets.theme import tokens

LONGEST_LINE = 5_000

_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<text>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<number>-?\b\d[\d.eE+-]*)|(?P<word>\b(?:true|false|null)\b)"
)
_FIELD = re.compile(r"(?:data|event|id|retry)?:")


class JsonHighlighter(QSyntaxHighlighter):
    """Highlights keys, strings, numbers and literals; event fields and comments are grey."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self._load()

    def recolour(self) -> None:
        """Use the colours of the current theme. The document emits no change: its text stays."""
        self._load()
        with QSignalBlocker(self.document()):
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
            text_format = QTextCharFormat()
            text_format.setForeground(QColor(colour))
            self._formats[kind] = text_format

    def highlightBlock(self, text: str) -> None:
        if len(text) > LONGEST_LINE:
            return
        start = 0
        field = _FIELD.match(text)
        if field:
            if field[0] == ":":
                self.setFormat(0, units(text), self._formats["field"])
                return
            start = field.end()
            self.setFormat(0, start, self._formats["field"])
        index = position = start  # one place, in characters and in UTF-16 units
        for match in _TOKEN.finditer(text, start):
            kind = match.lastgroup
            if kind:
                position, width = position + units(text[index : match.start()]), units(match[0])
                self.setFormat(position, width, self._formats[kind])
                index, position = match.end(), position + width
