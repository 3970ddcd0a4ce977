"""Painting behind a text: frames of code, bars of quotes, rules, lines of tables.

Only lines in view are looked at: a text may be very long, and this runs at every painting.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QAbstractTextDocumentLayout, QColor, QFont, QPainter, QTextTable

from playground.ui.features.conversation.document import CELL_PAD, CODE_HEAD, CODE_PAD, QUOTE_INDENT, DocumentWriter
from playground.ui.widgets.theme import tokens


def paint_grid(
    painter: QPainter,
    clip: QRectF,
    layout: QAbstractTextDocumentLayout,
    table: QTextTable,
    *,
    header: bool,
    goes_on: bool,
) -> None:
    """Draw the lines between the cells of a table, and the ground of the first row if it is a ``header``.

    With ``goes_on`` another table joins below it, and the end has no line.
    """

    def top_of(row: int) -> int:
        cell = table.cellAt(row, 0).firstCursorPosition().block()
        return round(layout.blockBoundingRect(cell).top()) - CELL_PAD

    top, size = top_of(0), layout.frameBoundingRect(table).size()  # of a table, only the size is right
    bottom = top + round(size.height())
    if bottom < clip.top() or top > clip.bottom():
        return
    rows, columns, colour = table.rows(), table.columns(), QColor(tokens().line)
    width = round(size.width()) - 1
    first = max(bisect_left(range(1, rows), clip.top(), key=top_of), 0) if top < clip.top() else 0
    tops = list(takewhile(lambda y: y <= clip.bottom(), (top_of(row) for row in range(first, rows))))
    if header and first == 0:
        painter.fillRect(QRect(0, top, width, (top_of(1) if rows > 1 else bottom) - top), QColor(tokens().code))
    if not goes_on:
        tops.append(bottom)
    for y in tops:
        painter.fillRect(QRect(0, y, width, 1), colour)
    for column in range(columns + 1):
        painter.fillRect(QRect(round(width * column / columns), top, 1, bottom - top), colour)


@dataclass(frozen=True, slots=True)
class LineGeometry:
    """Places of lines: the line at a height, the rectangle of a line, that of a code block by its first and last."""

    line_at: Callable[[float], int]
    line_rect: Callable[[int], QRectF]
    code_rect: Callable[[int, int], QRectF]


def paint_frames(
    painter: QPainter,
    clip: QRectF,
    writer: DocumentWriter,
    layout: QAbstractTextDocumentLayout,
    places: LineGeometry,
    width: int,
    font: QFont,
) -> None:
    """Paint behind the lines in ``clip``; ``width`` and ``font`` are those of the text."""
    lines, colour = writer.lines, QColor(tokens().line)
    if not lines:
        return
    # One line more on top: a frame reaches into the gap below its last line.
    top, bottom = max(places.line_at(clip.top()) - 1, 0), places.line_at(clip.bottom())
    blocks = writer.code_blocks
    for number in range(bisect_left(blocks, top, key=lambda b: b.last), len(blocks)):
        block = blocks[number]
        if block.first > bottom + 1:
            break
        _paint_code(painter, places.code_rect(block.first, block.last), block.language, font)
    for index in range(max(top - 1, 0), min(bottom + 2, len(lines))):
        line = lines[index]
        table = writer.table(index)
        if table is not None:
            goes_on = index + 1 < len(lines) and lines[index + 1].kind == "table" and lines[index + 1].joins
            paint_grid(painter, clip, layout, table, header=line.header, goes_on=goes_on)
        if not line.quote and line.kind != "rule":
            continue
        rect = places.line_rect(index)
        if line.kind == "rule":
            painter.setPen(colour)
            y = round(rect.center().y())
            painter.drawLine(0, y, width, y)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for depth in range(line.quote):
            painter.drawRoundedRect(QRectF(depth * QUOTE_INDENT + 1, rect.top(), 3, rect.height()), 1.5, 1.5)


def _paint_code(painter: QPainter, rect: QRectF, language: str, font: QFont) -> None:
    t = tokens()
    painter.setPen(QColor(t.line))
    painter.setBrush(QColor(t.code))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
    small = QFont(font)
    small.setPixelSize(11)
    painter.setFont(small)
    painter.setPen(QColor(t.muted))
    head = QRectF(rect.left() + CODE_PAD, rect.top() + 3, rect.width() - 90, CODE_HEAD - 4)
    painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, language or "text")
