"""The gateways at the left: two lines each, with a word (not only a mark) for what is unsaved."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from playground.ui.features.gateways.draft import Draft
from playground.ui.widgets.plain_text import one_line_of, show_hidden
from playground.ui.widgets.theme import SMALL_PX, tokens

_LINE = Qt.ItemDataRole.UserRole
_ID = Qt.ItemDataRole.UserRole + 1
HEIGHT = 48


class GatewayList(QListWidget):
    """Shows drafts in the order given; the current one is the one in the form."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Gateways")
        self.setItemDelegate(_TwoLines(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)

    def show_drafts(self, drafts: list[Draft], unsaved: set[str], current: str) -> None:
        """Show the drafts and select ``current``, without saying that the selection changed."""
        self.blockSignals(True)
        while self.count() > len(drafts):
            self.takeItem(self.count() - 1)
        while self.count() < len(drafts):
            self.addItem(QListWidgetItem())
        for row, draft in enumerate(drafts):
            item = self.item(row)
            name = show_hidden(draft.title)
            host = show_hidden(draft.host) or "no address yet"
            line = f"{'unsaved · ' if draft.profile.id in unsaved else ''}{host}"
            item.setText(name)
            item.setData(_LINE, line)
            item.setData(_ID, draft.profile.id)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{name}, {line}")
            if draft.profile.id == current:
                self.setCurrentRow(row)
        self.blockSignals(False)
        self.viewport().update()

    def current_id(self) -> str:
        """The id of the selected gateway; empty when there is none."""
        item = self.currentItem()
        return str(item.data(_ID)) if self.count() else ""


class _TwoLines(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = tokens()
        rect = QRectF(option.rect).adjusted(0, 2, 0, -2)
        state: QStyle.StateFlag = option.state
        font: QFont = option.font
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_background))
            painter.drawRoundedRect(rect, 6, 6)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.chip))
            painter.drawRoundedRect(rect, 6, 6)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        inside = rect.adjusted(10, 4, -10, -4)
        small = QFont(font)
        small.setPixelSize(SMALL_PX)
        half = inside.height() / 2
        for text, face, colour, top in (
            (str(index.data(Qt.ItemDataRole.DisplayRole) or ""), font, colours.text, inside.top()),
            (str(index.data(_LINE) or ""), small, colours.muted, inside.top() + half),
        ):
            painter.setFont(face)
            painter.setPen(QColor(colour))
            elide, room = Qt.TextElideMode.ElideRight, int(inside.width())
            shown = painter.fontMetrics().elidedText(one_line_of(text), elide, room)
            line = QRectF(inside.left(), top, inside.width(), half)
            painter.drawText(line, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
        painter.restore()
