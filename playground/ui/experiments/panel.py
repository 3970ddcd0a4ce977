"""The list of experiments: New, search, then days with a title and one line of state each."""

from __future__ import annotations

import time
from datetime import date, datetime

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from playground.engine.workspace import Workspace
from playground.ui.icons import icon
from playground.ui.loop import Throttle
from playground.ui.theme import body_font, tokens

TITLE_HEIGHT = 19
ID, STATE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class ExperimentsPanel(QWidget):
    """Shows the workspace's experiments; choosing one opens it there."""

    rename_asked = Signal(str)

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._watched: set[str] = set()
        self.setMinimumWidth(196)
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._new = QPushButton("New experiment")
        self._new.setIcon(icon("plus"))
        self._new.setStyleSheet("text-align: left;")
        self._new.clicked.connect(workspace.new)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search experiments…")
        self.search.setAccessibleName("Search experiments")
        self.search.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setAccessibleName("Experiments")
        self.list.setItemDelegate(_Rows(self.list))
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.currentItemChanged.connect(self._chosen)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 5, 10, 0)
        layout.setSpacing(10)
        layout.addWidget(self._new)
        layout.addWidget(self.search)
        layout.addWidget(self.list, 1)
        self._refresh_soon = Throttle(self.refresh, self, interval=100)
        self.search.textChanged.connect(self._refresh_soon.poke)
        workspace.subscribe(self._refresh_soon.poke)
        self.refresh()

    def refresh(self) -> None:
        """Make the list equal to the workspace."""
        workspace = self._workspace
        for session in workspace.sessions:
            if session.id not in self._watched:
                self._watched.add(session.id)
                session.subscribe(self._session_changed)
        self.list.blockSignals(True)
        self.list.clear()
        day = ""
        for session in workspace.search(self.search.text()):
            if (heading := day_name(session.created_at)) != day:
                day = heading
                header = QListWidgetItem(day)
                header.setFlags(Qt.ItemFlag.NoItemFlags)
                self.list.addItem(header)
            item = QListWidgetItem(session.title)
            item.setData(ID, session.id)
            item.setData(STATE, session.summary)
            item.setToolTip("")
            self.list.addItem(item)
            if session is workspace.current:
                self.list.setCurrentItem(item)
        self.list.blockSignals(False)

    def _session_changed(self, change: object) -> None:
        from playground.engine.changes import TitleChanged

        if isinstance(change, TitleChanged):
            self._refresh_soon.poke()

    def _chosen(self, item: QListWidgetItem | None) -> None:
        if item is not None and item.data(ID):
            self._workspace.open(item.data(ID))

    def _menu(self, at: QPoint) -> None:
        item = self.list.itemAt(at)
        if item is None or not item.data(ID):
            return
        session_id: str = item.data(ID)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rename, delete = menu.addAction("Rename"), menu.addAction("Delete")
        rename.setData(session_id)
        delete.setData(session_id)
        rename.triggered.connect(self._rename)
        delete.triggered.connect(self._delete)
        menu.popup(self.list.viewport().mapToGlobal(at))

    def _rename(self) -> None:
        self.rename_asked.emit(self._asked())

    def _delete(self) -> None:
        self._workspace.delete(self._asked())

    def _asked(self) -> str:
        action = self.sender()
        return str(action.data()) if hasattr(action, "data") else ""


def day_name(moment: float, now: float | None = None) -> str:
    """The heading for a Unix time: Today, Yesterday, or the date."""
    then = datetime.fromtimestamp(moment).astimezone().date()
    today = datetime.fromtimestamp(now if now is not None else time.time()).astimezone().date()
    days = (today - then).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    return _written(then, today)


def _written(then: date, today: date) -> str:
    return f"{then.day} {then:%B}" if then.year == today.year else f"{then.day} {then:%B %Y}"


class _Rows(QStyledItemDelegate):
    """Draws a heading as a heading and an experiment as two lines."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        if not index.data(ID):
            return QSize(100, 28)
        view = self.parent()
        width = view.viewport().width() if isinstance(view, QListWidget) else 200
        font = body_font()
        font.setPixelSize(12)
        box = QRect(0, 0, max(width - 16, 60), 200)
        lines = QFontMetrics(font).boundingRect(box, Qt.TextFlag.TextWordWrap, str(index.data(STATE)))
        return QSize(100, TITLE_HEIGHT + min(lines.height(), 48) + 12)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        t = tokens()
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = body_font()
        inner = rect.adjusted(8, 6, -8, -6)
        if not index.data(ID):
            font.setPixelSize(12)
            font.setBold(True)
            painter.setFont(font)
            painter.setPen(QColor(t.muted))
            painter.drawText(inner.adjusted(0, 0, 0, 4), Qt.AlignmentFlag.AlignVCenter, str(index.data()))
            painter.restore()
            return
        selected, hover = QStyle.StateFlag.State_Selected, QStyle.StateFlag.State_MouseOver
        if state & selected or state & hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.accent_background if state & selected else t.chip))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 6, 6)
        painter.setFont(font)
        painter.setPen(QColor(t.text))
        line = painter.fontMetrics().elidedText(str(index.data()), Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignTop, line)
        font.setPixelSize(12)
        painter.setFont(font)
        painter.setPen(QColor(t.muted))
        below = inner.adjusted(0, TITLE_HEIGHT, 0, 0)
        flags = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(below, flags, str(index.data(STATE)))
        painter.restore()
