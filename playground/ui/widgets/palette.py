"""The command palette: type a few letters, choose, done. Knows nothing of what it offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import tokens

SHOWN = 200
ROW, MARGIN, BETWEEN = 30, 8, 16  # pixels


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to choose: its name, a word at its side (a shortcut, a kind) and what it does."""

    text: str
    side: str
    act: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Names:
    """Very many things of one kind, each an entry once it is listed; ``folded`` are their names without their case."""

    names: Sequence[str]
    folded: Sequence[str]
    side: str
    act: Callable[[str], None]


class Palette(QDialog):
    """Open it with ``open_over``. The entry chosen is carried out after the palette has closed."""

    def __init__(self, entries: Sequence[Entry | Names], hint: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._over = parent
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("palette")
        self._entries = list(entries)
        self._field = QLineEdit(placeholderText=hint)
        self._field.setAccessibleName(hint)
        self._field.textChanged.connect(self._filter)
        self._field.installEventFilter(self)
        self._list = QListWidget()
        self._list.setAccessibleName("Matches")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setItemDelegate(_Rows(self._list))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._list.itemClicked.connect(self._choose)
        self._none = QLabel("Nothing here has these words in its name.", alignment=Qt.AlignmentFlag.AlignTop)
        self._none.setProperty("kind", "muted")
        self._none.setContentsMargins(10, 6, 10, 6)
        frame = styled(QFrame(), "palette")
        in_column(self._field, (self._list, 1), (self._none, 1), of=frame, margins=MARGIN, spacing=MARGIN)
        in_column(frame, of=self, margins=0)
        self._filter("")

    @property
    def field(self) -> QLineEdit:
        """Where one types."""
        return self._field

    @property
    def matches(self) -> list[str]:
        """The names listed now."""
        return [self._entry(self._list.item(row)).text for row in range(self._list.count())]

    def open_over(self) -> None:
        """Show it near the top of its window."""
        window = self._over.window()
        width = min(560, window.width() - 40)
        height = min(420, window.height() - 120)
        self.resize(width, height)
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - width) // 2, corner.y() + 60)
        self.show()
        self.resize(width, height - self._list.viewport().height() % ROW)  # no row is cut
        self._field.setFocus()

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        self._list.clear()
        for entry in islice(chain.from_iterable(_found(one, words) for one in self._entries), SHOWN):
            item = QListWidgetItem(one_line_of(entry.text))
            item.setToolTip(tip(f"{entry.text}\n{entry.side}" if len(entry.text) > 50 else ""))
            item.setData(Qt.ItemDataRole.UserRole, entry)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._list.setVisible(self._list.count() > 0)
        self._none.setVisible(self._list.count() == 0)

    @staticmethod
    def _entry(item: QListWidgetItem) -> Entry:
        entry: Entry = item.data(Qt.ItemDataRole.UserRole)
        return entry

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            act = self._entry(item).act
            self.close()
            act()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The arrows move in the list while the cursor stays in the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}.get(
                Qt.Key(event.key())
            )
            if step is not None:
                row = min(max(self._list.currentRow() + step, 0), self._list.count() - 1)
                self._list.setCurrentRow(row)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self._list.currentItem())
                return True
        return super().eventFilter(watched, event)


def _found(entry: Entry | Names, words: list[str]) -> Iterator[Entry]:
    """What has all these words in its name or at its side."""
    if isinstance(entry, Entry):
        if all(word in f"{entry.text} {entry.side}".casefold() for word in words):
            yield entry
        return
    left = [word for word in words if word not in entry.side]
    first, others = (left or [""])[0], left[1:]
    for name, folded in zip(entry.names, entry.folded, strict=True):
        if first in folded and all(word in folded for word in others):
            yield Entry(name, entry.side, partial(entry.act, name))


class _Rows(QStyledItemDelegate):
    """The name at the left, the word at the side muted at the right; both give way where the room is short."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, ROW)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        t = tokens()
        entry: Entry = index.data(Qt.ItemDataRole.UserRole)
        rect = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.accent_background))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 6, 6)
        inner = rect.adjusted(10, 0, -10, 0)
        metrics = painter.fontMetrics()
        words, middle = one_line_of(entry.text), Qt.TextElideMode.ElideMiddle  # long names differ at their ends
        left = inner.width() - BETWEEN - metrics.horizontalAdvance(words)
        side = metrics.elidedText(one_line_of(entry.side), middle, max(left, inner.width() // 3))
        painter.setPen(QColor(t.muted))
        painter.drawText(inner, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, side)
        room = inner.width() - metrics.horizontalAdvance(side) - BETWEEN
        text = metrics.elidedText(words, middle, room)
        painter.setPen(QColor(t.text))
        painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()
