"""The delegate of lists: draws the `Row` of an item, with a control, a title, a second line, texts and icons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QHelpEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import one_line_of
from playground.ui.widgets.state_dot import SIDE as DOT
from playground.ui.widgets.state_dot import paint_dot
from playground.ui.widgets.theme import SMALL_PX, code_font, tokens

ONE_LINE, TWO_LINES, HEADING = 30, 46, 28  # pixels of height
MARGIN, GAP, ICON, END_ICON = 10, 8, 14, 16  # pixels
BOX, SWITCH = QSize(15, 15), QSize(26, 14)
ROW: Final = Qt.ItemDataRole.UserRole + 20
Index = QModelIndex | QPersistentModelIndex
_VERTICAL: Final = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
_LEFT: Final = _VERTICAL | int(Qt.AlignmentFlag.AlignLeft)
_RIGHT: Final = _VERTICAL | int(Qt.AlignmentFlag.AlignRight)
_ACTIVE: Final = QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver
_END, _MIDDLE = Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle


class Words(NamedTuple):
    """A text of a row and the name of its colour."""

    text: str
    colour: str = "muted"


NO_WORDS: Final = Words("")


class Control(NamedTuple):
    """A control at the left of a row, in a heading at the right: "box" or "switch"."""

    kind: str
    on: bool = False


class EndIcon(NamedTuple):
    """An icon at the right of a row with its tooltip; with ``on_hover`` in hovered and selected rows only."""

    name: str
    colour: str
    tip: str
    on_hover: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """The content of a row.

    ``line`` is below the title, and ``marks`` are at its right, from the right. ``side`` is a small text at the right
    of the title; with ``side_yields`` it has only the room that the title leaves. ``icons`` are names and colours at
    the right of the last line. ``dot`` is a state, ``chevron`` that of a heading that folds, "down" or "right".
    ``code`` shows the title in the font for code, ``middle`` elides it in the middle. ``indent`` is the space in pixels
    at the left of the chevron and the texts.
    """

    title: Words
    line: Words = NO_WORDS
    side: Words = NO_WORDS
    side_yields: bool = False
    marks: tuple[Words, ...] = ()
    icons: tuple[tuple[str, str], ...] = ()
    dot: str | None = None
    control: Control | None = None
    end_icon: EndIcon | None = None
    code: bool = False
    middle: bool = False
    heading: bool = False
    chevron: str = ""
    indent: int = 0


class RowDelegate(QStyledItemDelegate):
    """Draws the ``ROW`` of an item, as plain text. Subclasses may compute it in ``row``."""

    def row(self, index: Index) -> Row | None:
        """Return the content of a row."""
        row = index.data(ROW)
        return row if isinstance(row, Row) else None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = self.row(index)
        return QSize(0, HEADING if row is None or row.heading else TWO_LINES if row.line.text else ONE_LINE)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = self.row(index)
        if row is not None:
            painter.save()
            paint_row(painter, option.rect, row, option.state, option.font)
            painter.restore()

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        row, at_icon = self.row(index), end_icon_rect(option.rect).contains(event.pos())
        if event.type() == QEvent.Type.ToolTip and at_icon and row is not None and row.end_icon is not None:
            QToolTip.showText(event.globalPos(), row.end_icon.tip, view)
            return True
        return super().helpEvent(event, view, option, index)


def paint_row(painter: QPainter, rect: QRect, row: Row, state: QStyle.StateFlag, font: QFont) -> None:
    """Paint the content of a row with its background."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_background(painter, rect, state)
    inside = rect.adjusted(MARGIN + row.indent, 3, -MARGIN, -3)
    if row.chevron:
        place = QRect(inside.left() - 2, rect.center().y() - ICON // 2, ICON, ICON)
        icon(f"chevron-{row.chevron}", tokens().muted).paint(painter, place)
        inside.setLeft(place.right() + GAP)
    if row.control is not None:
        place = control_rect(rect, row.control.kind, in_heading=row.heading)
        (_paint_box if row.control.kind == "box" else _paint_switch)(painter, place, row.control.on)
        if row.heading:
            inside.setRight(place.left() - GAP)
        else:
            inside.setLeft(place.right() + GAP + 2)
    if row.dot is not None:
        paint_dot(painter, row.dot, inside.left() - 4, inside.center().y() - DOT / 2)
        inside.setLeft(inside.left() + DOT - 2)
    if row.end_icon is not None:
        if not row.end_icon.on_hover or state & _ACTIVE:
            icon(row.end_icon.name, row.end_icon.colour).paint(painter, end_icon_rect(rect))
        inside.setRight(inside.right() - END_ICON - GAP)
    _paint_texts(painter, inside, row, font)


def _paint_texts(painter: QPainter, inside: QRect, row: Row, font: QFont) -> None:
    first, second = QRect(inside), QRect(inside)
    if row.line.text:
        first.setHeight(inside.height() // 2)
        second.setTop(first.bottom() + 1)
    for name, colour in reversed(row.icons):
        icon(name, colour).paint(painter, QRect(second.right() - ICON, second.center().y() - 7, ICON, ICON))
        second.setRight(second.right() - ICON - GAP // 2)
    first = second if not row.line.text else first
    small = QFont(font)
    small.setPixelSize(SMALL_PX)
    title_font = code_font() if row.code else QFont(small if row.heading else font)
    if row.heading:
        title_font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(title_font)
    width = painter.fontMetrics().horizontalAdvance(one_line_of(row.title.text))
    spare = first.width() - width - 2 * GAP
    if row.side.text and (spare > 40 or not row.side_yields):
        most = spare if row.side_yields else max(spare, first.width() // 3)
        width_used = _paint_text(painter, first, row.side, small, most, _RIGHT, _MIDDLE)
        first.setRight(first.right() - width_used - GAP)
    mode = _MIDDLE if row.middle else _END
    _paint_text(painter, first, row.title, title_font, first.width(), _LEFT, mode)
    for words in row.marks:
        most = second.width() // 2
        width_used = _paint_text(painter, second, words, small, most, _RIGHT, _END)
        second.setRight(second.right() - width_used - GAP)
    if row.line.text:
        _paint_text(painter, second, row.line, small, second.width(), _LEFT, _END)


def paint_background(painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
    """Paint the background of a selected or hovered row, and a frame if the row has the focus."""
    colours, chosen = tokens(), bool(state & QStyle.StateFlag.State_Selected)
    if chosen or state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent_background if chosen else colours.chip))
        painter.drawRoundedRect(QRectF(rect).adjusted(0, 1, 0, -1), 6, 6)
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QColor(colours.accent))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 1.5, -0.5, -1.5), 6, 6)


def control_rect(rect: QRect, kind: str, *, in_heading: bool = False) -> QRect:
    """Return the rectangle of the control in a row: at the left, in a heading at the right."""
    size = BOX if kind == "box" else SWITCH
    left = rect.right() - MARGIN - size.width() if in_heading else rect.left() + MARGIN
    return QRect(left, rect.top() + (rect.height() - size.height()) // 2, size.width(), size.height())


def end_icon_rect(rect: QRect) -> QRect:
    """Return the rectangle of the icon at the right end of a row."""
    return QRect(rect.right() - MARGIN - END_ICON + 1, rect.center().y() - END_ICON // 2, END_ICON, END_ICON)


def _paint_text(
    painter: QPainter, rect: QRect, words: Words, font: QFont, most: int, align: int, mode: Qt.TextElideMode
) -> int:
    """Paint an elided text of at most ``most`` pixels; return its width."""
    painter.setFont(font)
    painter.setPen(QColor(getattr(tokens(), words.colour)))
    text = painter.fontMetrics().elidedText(one_line_of(words.text), mode, most)
    painter.drawText(rect, align, text)
    return painter.fontMetrics().horizontalAdvance(text)


def _paint_box(painter: QPainter, rect: QRect, on: bool) -> None:
    colours = tokens()
    painter.setPen(QColor(colours.accent if on else colours.muted))
    painter.setBrush(QColor(colours.accent if on else colours.raised))
    painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, 0.5, 0.5), 4, 4)
    if on:
        icon("check", "on_accent").paint(painter, rect.adjusted(1, 1, 0, 0))


def _paint_switch(painter: QPainter, rect: QRect, on: bool) -> None:
    colours, radius = tokens(), rect.height() / 2
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.accent if on else colours.muted))
    painter.drawRoundedRect(QRectF(rect), radius, radius)
    painter.setBrush(QColor(colours.on_accent if on else colours.raised))
    x = rect.right() - rect.height() + 3 if on else rect.left() + 2
    painter.drawEllipse(QRectF(x, rect.top() + 2, rect.height() - 4, rect.height() - 4))
