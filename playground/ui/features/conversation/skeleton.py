"""What is drawn of a row for which there is no card yet."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter

from playground.ui.features.conversation.rows import Row
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.theme import body_font, tokens

EXCERPT = 600  # characters at most
HEAD = 32  # pixels of the line with the role


def paint_skeleton(painter: QPainter, rect: QRect, row: Row, zoom: float) -> None:
    """Draw a row where its card will be."""
    t = tokens()
    turn = row.turn
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(t.line))
    painter.setBrush(QColor(t.raised))
    painter.drawRoundedRect(rect.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(t.role(turn.role)))
    painter.drawRect(QRect(rect.left(), rect.top() + 4, 3, max(rect.height() - 8, 0)))
    font = body_font()
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor(t.role(turn.role)))
    inner = rect.adjusted(18, 0, -14, -10)
    flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(QRect(inner.left(), inner.top() + 4, inner.width(), HEAD - 8), flags, ROLE_WORDS[turn.role])
    font.setBold(False)
    font.setPixelSize(round(font.pixelSize() * zoom))
    painter.setFont(font)
    painter.setPen(QColor(t.muted))
    words = next((part.text for part in turn.parts if part.kind in ("text", "tool_result")), "")[:EXCERPT]
    wrap = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop
    painter.drawText(inner.adjusted(0, HEAD, 0, 0), wrap, show_hidden(words))
    painter.restore()
