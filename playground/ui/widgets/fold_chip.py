"""How a fold stands in a document: one character with a format of its own, drawn as a chip with the fold's size.

Not on the way to the first paint: the names of Qt's text formats take as long as ten widgets.
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
    """That of the character for the fold of this number, with what its chip says."""
    form = QTextCharFormat()
    form.setObjectType(KIND)
    form.setProperty(NUMBER, number)
    form.setProperty(WORDS, words)
    return form


class Chip(QPyTextObject):
    """Draws what is folded."""

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
