"""The lines of a table, painted behind its text.

Qt's own are dear: it looks every edge of every cell up in the document again, at each painting. It must not change
the document.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import takewhile

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QAbstractTextDocumentLayout, QColor, QPainter, QTextTable

from playground.ui.features.conversation.document import CELL_PAD
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
    """Draw the lines between the cells, and what stands behind the first row if it is a ``header``.

    With ``goes_on`` another one joins below it, and the end has no line.
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
