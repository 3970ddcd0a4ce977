"""Draw a fold in a document: one character with its own format, shown as a chip with the size of the fold.

The first paint must not import this module: loading Qt's text formats is slow.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
)

from playground.ui.widgets.theme import tokens

KIND: Final = QTextFormat.ObjectTypes.UserObject.value + 1
NUMBER: Final = QTextFormat.Property.UserProperty.value + 1
WORDS: Final = NUMBER + 1


def chip_format(number: int, words: str) -> QTextCharFormat:
    """Return the format of the character of fold ``number``; ``words`` is the text of its chip."""
    text_format = QTextCharFormat()
    text_format.setObjectType(KIND)
    text_format.setProperty(NUMBER, number)
    text_format.setProperty(WORDS, words)
    return text_format


class Chip(QPyTextObject):
    """Text object that draws the chip of a fold."""

    def intrinsicSize(self, doc: QTextDocument, posInDocument: int, format: QTextFormat) -> QSizeF:  # noqa: N803 - Qt's
        metrics = QFontMetricsF(doc.defaultFont())
        return QSizeF(metrics.horizontalAdvance(format.stringProperty(WORDS)) + 14, metrics.ascent())

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        doc: QTextDocument,
        posInDocument: int,  # noqa: N803 - Qt's
        format: QTextFormat,
    ) -> None:
        t = tokens()
        font = doc.defaultFont()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(rect).adjusted(1.5, 0.5, -1.5, QFontMetricsF(font).descent())
        painter.setPen(QColor(t.line))
        painter.setBrush(QColor(t.chip))
        painter.drawRoundedRect(box, 4, 4)
        painter.setFont(font)
        painter.setPen(QColor(t.accent))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, format.stringProperty(WORDS))
        painter.restore()
