"""Item delegate of the list of experiments: headings, titles with a summary, and passages with marked matches.

All texts are drawn as plain text, because users and models wrote them.
"""

from __future__ import annotations

from functools import lru_cache, partial

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QLineEdit, QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from playground.ui.features.experiments.model import ROW
from playground.ui.features.experiments.rows import Heading, Hit, Line, More
from playground.ui.widgets.icons import icon
from playground.ui.widgets.row_delegate import paint_background
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

TITLE, LINE = 19, 16  # pixels; line heights of body and small text
HEADING = 28
PADDING = 6
INDENT = 10  # pixels; passages below their experiment
MAX_LINES = 2
MAX_DRAWN = 1_000  # characters laid out in a line, more than any list shows

Index = QModelIndex | QPersistentModelIndex
Marks = tuple[tuple[int, int], ...]


class Rows(QStyledItemDelegate):
    """Draws and edits the rows of the list. ``typed`` carries the id of an experiment and its unfinished title."""

    typed = Signal(str, str)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(ROW)
        if isinstance(row, Heading | More):
            return QSize(60, HEADING)
        view = self.parent()
        width = view.viewport().width() if isinstance(view, QListView) else 200
        if isinstance(row, Hit):
            return QSize(60, _lines(row.text, width - 16 - INDENT) * LINE + PADDING)
        if not isinstance(row, Line):
            return QSize(60, TITLE + LINE + 2 * PADDING)
        titles = _title_lines(row, width - 16)
        return QSize(60, titles * TITLE + _lines(row.experiment.summary, width - 16) * LINE + 2 * PADDING)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Heading):
            painter.setFont(_bold())
            painter.setPen(QColor(tokens().muted))
            painter.drawText(rect.adjusted(8, 4, -8, 0), Qt.AlignmentFlag.AlignVCenter, row.text)
        else:
            paint_background(painter, rect, option.state)
            if isinstance(row, Line):
                self._draw_experiment(painter, rect, row)
            elif isinstance(row, More):
                painter.setFont(body_font(SMALL_PX))
                painter.setPen(QColor(tokens().accent))
                painter.drawText(rect.adjusted(8, 0, -8, 0), Qt.AlignmentFlag.AlignVCenter, row.text)
            elif isinstance(row, Hit):
                inner = rect.adjusted(8 + INDENT, PADDING // 2, -8, -PADDING // 2)
                _draw(painter, inner, row.text, row.marks, body_font(SMALL_PX), tokens().muted, MAX_LINES)
        painter.restore()

    def _draw_experiment(self, painter: QPainter, rect: QRect, row: Line) -> None:
        t = tokens()
        inner = rect.adjusted(8, PADDING, -8, -PADDING)
        icon_names = [name for name, on in (("pin", row.experiment.pinned), ("archive", row.experiment.archived)) if on]
        for number, name in enumerate(icon_names):
            place = QRect(inner.right() - 13 - 17 * number, inner.top() + 2, 14, 14)
            icon(name, "muted").paint(painter, place)
        title_rect = inner.adjusted(0, 0, -18 * len(icon_names), 0)
        titles = _title_lines(row, inner.width())
        _draw(painter, title_rect, row.title, row.marks, body_font(), t.text, titles, TITLE)
        summary_rect = inner.adjusted(0, titles * TITLE, 0, 0)
        _draw(painter, summary_rect, row.experiment.summary, (), body_font(SMALL_PX), t.muted, MAX_LINES)

    # Renaming in place

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        field = QLineEdit(parent, placeholderText="First words")
        field.setAccessibleName("Title of the experiment")
        field.textEdited.connect(partial(self.typed.emit, index.data(ROW).experiment.id))
        return field

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QLineEdit) and not editor.isModified():  # A refresh must not discard typed text.
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole) or ""))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit) and editor.isModified():
            model.setData(index, editor.text())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        editor.setGeometry(rect.adjusted(0, 1, 0, -1))


def _lines(text: str, width: int) -> int:
    """Return the number of lines of a small text, at most ``MAX_LINES``."""
    return MAX_LINES if text and _metrics().horizontalAdvance(text[:400]) > width else 1


def _title_lines(row: Line, width: int) -> int:
    """Return the number of lines of a title: one, unless a marked match might be cut off."""
    if not row.marks:
        return 1
    room = width - 17 * (row.experiment.pinned + row.experiment.archived)
    return MAX_LINES if QFontMetrics(body_font()).horizontalAdvance(row.title[:400]) > room else 1


def _draw(
    painter: QPainter, rect: QRect, text: str, marks: Marks, font: QFont, colour: str, most: int, height: int = LINE
) -> None:
    """Draw a text in at most ``most`` lines of ``height`` pixels; the last line is elided."""
    metrics = QFontMetrics(font)
    y = float(rect.top())
    offset = 0
    for number in range(most):
        rest = text[offset : offset + MAX_DRAWN]
        if not rest:
            return
        last = number == most - 1
        visible_text = metrics.elidedText(rest, Qt.TextElideMode.ElideRight, rect.width()) if last else rest
        layout = QTextLayout(visible_text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap if last else QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats(
            [_range(start - offset, end - offset, len(visible_text)) for start, end in marks if end > offset]
        )
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(rect.width())
        layout.endLayout()
        painter.setPen(QColor(colour))
        painter.setFont(font)
        line.draw(painter, QPointF(rect.left(), y))
        offset += line.textLength()
        y += height


def _range(start: int, end: int, length: int) -> QTextLayout.FormatRange:
    t = tokens()
    shape = QTextCharFormat()
    shape.setBackground(QBrush(QColor(t.search_match)))
    shape.setForeground(QBrush(QColor(t.text)))
    format_range = QTextLayout.FormatRange()
    format_range.start = max(start, 0)
    format_range.length = max(min(end, length) - max(start, 0), 0)
    format_range.format = shape
    return format_range


@lru_cache(maxsize=1)
def _metrics() -> QFontMetrics:
    return QFontMetrics(body_font(SMALL_PX))


def _bold() -> QFont:
    font = body_font(SMALL_PX)
    font.setBold(True)
    return font
