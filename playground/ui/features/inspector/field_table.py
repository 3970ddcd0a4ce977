"""Tables of a request: headers with their values, and the fields of the next request with their origins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from playground.domain.hidden import short_name
from playground.engine.requests.protocol_info import conversation_members, message_lists
from playground.engine.requests.view import FieldRow, Origin, RequestView
from playground.jsonkit.merge import MemberPath
from playground.jsonkit.texts import quantity
from playground.jsonkit.values import JSON
from playground.ui.widgets.form_parts import push_button, styled
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.page_parts import look_like_rows, set_row_height
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import code_font, tokens

Headers = tuple[tuple[str, str], ...]
ROW_HEIGHT = 22
MAX_HEADER_VALUE = 4_000  # characters of a value that are shown
MAX_FIELD_VALUE = 200

NAME = Qt.ItemDataRole.UserRole
EDITABLE = Qt.ItemDataRole.UserRole + 1  # the value as JSON; None if it is edited in the text only
PATH = Qt.ItemDataRole.UserRole + 2  # the members that lead to the field in the body
FIELD, VALUE, FROM = range(3)
MAX_SHARES = {FIELD: 0.42, FROM: 0.34}  # of the table's width that a column takes at most
ORIGINS = {
    Origin.SET: ("You", "accent", "You set it in {place}."),
    Origin.INHERITED: ("Gateway settings", "system", "Inherited from the settings of “{gateway}”."),
    Origin.EXTRA: ("Extra fields", "tool", "From the extra fields of this experiment."),
    Origin.RULE: ("Gateway rule", "system", "A rule in the settings of “{gateway}” changes it."),
    Origin.DEFAULT: ("Default", "muted", "Not sent. The gateway uses its default."),
    Origin.OURS: ("App", "muted", "Sent by default. Remove it to omit it."),
}


class HeaderTable(QTableWidget):
    """Name and value; Ctrl+C copies the selected rows as ``name: value`` lines."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(0, 2, parent)
        self._headers: Headers = ()
        self.setAccessibleName(name)
        look_like_rows(self)
        set_row_height(self, ROW_HEIGHT)
        self.horizontalHeader().setVisible(False)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)

    def show_headers(self, headers: Headers) -> None:
        """Show these headers; the same ones again change nothing."""
        if headers == self._headers:
            return
        self._headers = headers
        self.setRowCount(len(headers))
        for row, pair in enumerate(headers):
            for column, text in enumerate(pair):
                item = QTableWidgetItem(show_hidden(text[:MAX_HEADER_VALUE]))
                item.setToolTip(tip(item.text()))
                if column == 1:
                    item.setFont(code_font())
                self.setItem(row, column, item)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = sorted({index.row() for index in self.selectedIndexes()})
            text = "\n".join(f"{self._headers[row][0]}: {self._headers[row][1]}" for row in rows)
            QGuiApplication.clipboard().setText(text)
        else:
            super().keyPressEvent(event)


class HeaderSplit(QSplitter):
    """A page with a table of headers at its side, which ``button`` opens and closes."""

    def __init__(self, page: QWidget, name: str, *, opened: bool) -> None:
        super().__init__(Qt.Orientation.Horizontal, childrenCollapsible=False, handleWidth=1)
        self.table = HeaderTable(name)
        self.button = push_button("Headers", "quiet")
        self.button.setCheckable(True)
        self.button.setChecked(opened)
        self.button.setAccessibleName(name)
        self._side = styled(QWidget(), "surface")
        in_row((self.table, 1), parent=self._side, margins=(9, 0, 0, 0))
        self.addWidget(page)
        self.addWidget(self._side)
        self.setSizes([620, 380])
        self.button.toggled.connect(self._show_table)
        self.show_headers(())

    def show_headers(self, headers: Headers) -> None:
        """Show these headers; without any, neither the table nor the button is shown."""
        self.table.show_headers(headers)
        self.button.setText(f"Headers {len(headers)}")
        self.button.setVisible(bool(headers))
        self._show_table()

    def _show_table(self, _checked: bool = False) -> None:
        self._side.setVisible(self.button.isChecked() and not self.button.isHidden())


class Line(NamedTuple):
    """One row. ``source`` and ``description`` are the origin in short and in full, ``editable`` the value to edit."""

    name: str
    value: str
    origin: Origin
    source: str
    description: str
    problem: bool = False
    editable: str | None = None
    label: str = ""
    path: MemberPath = ()


class FieldTable(QTreeWidget):
    """``edited`` carries the path of a field and the typed text, empty to omit it; ``text_asked`` a path to show."""

    edited = Signal(object, str)
    text_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._groups: list[tuple[str, list[Line]]] = []
        self._pending: list[tuple[str, list[Line]]] | None = None  # shown after the open edit
        self._collapsed: set[str] = set()
        self.setAccessibleName("Fields of the next request")
        self.setAccessibleDescription("Enter edits a value. Delete omits the field.")
        self.setColumnCount(3)
        self.setHeaderLabels(["Field", "Value", "From"])
        self.setUniformRowHeights(True)
        self.setIndentation(12)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Stretch)
        self._delegate = _ValueDelegate(self)
        self.setItemDelegateForColumn(VALUE, self._delegate)
        self._delegate.committed.connect(self.edited)
        self.itemDoubleClicked.connect(self._open)
        self.itemCollapsed.connect(self._note_collapsed)
        self.itemExpanded.connect(self._note_collapsed)

    def show_preview(self, view: RequestView, gateway: str) -> None:
        """Show the fields of a request; ``gateway`` is the name of the one that settings are inherited from."""
        groups = _groups(view, short_name(gateway))
        if self.state() == QAbstractItemView.State.EditingState:
            self._pending = groups
        elif groups != self._groups:
            self._rebuild(groups)

    def _rebuild(self, groups: list[tuple[str, list[Line]]]) -> None:
        self._groups = groups
        current = self.currentItem()
        selected = str(current.data(FIELD, NAME)) if self.topLevelItemCount() and current is not None else ""
        place = self.verticalScrollBar().value()
        self.clear()
        for title, lines in groups:
            top = QTreeWidgetItem([f"{title} ({len(lines)})"])
            top.setData(FIELD, NAME, title)
            top.setForeground(FIELD, QColor(tokens().muted))
            self.addTopLevelItem(top)
            top.setFirstColumnSpanned(True)
            for line in lines:
                item = _item(line)
                top.addChild(item)
                if line.name == selected:
                    self.setCurrentItem(item)
            top.setExpanded(title not in self._collapsed)
        self._fit()
        self.verticalScrollBar().setValue(place)

    def _fit(self) -> None:
        """Keep the origin of a field in view; long values are cut off."""
        for column, share in MAX_SHARES.items():
            width = min(self.sizeHintForColumn(column) + 4, int(self.viewport().width() * share))
            self.header().resizeSection(column, max(width, self.header().minimumSectionSize()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def line(self, name: str) -> QTreeWidgetItem | None:
        """Return the row of a field."""
        return next((item for item in self._items() if item.data(FIELD, NAME) == name), None)

    def _items(self) -> Iterator[QTreeWidgetItem]:
        for number in range(self.topLevelItemCount()):
            group = self.topLevelItem(number)
            for row in range(group.childCount() if group is not None else 0):
                item = group.child(row) if group is not None else None
                if item is not None:
                    yield item

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        editing = self.state() == QAbstractItemView.State.EditingState  # Enter in the field arrives here as well
        if item is not None and item.parent() is not None and not editing:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
                self._open(item)
                return
            if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and item.data(FIELD, EDITABLE) is not None:
                self.edited.emit(tuple(item.data(FIELD, PATH)), "")
                return
        super().keyPressEvent(event)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        pending, self._pending = self._pending, None
        if pending is not None and pending != self._groups:
            self._rebuild(pending)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._groups:
            self._rebuild(self._groups)

    def _open(self, item: QTreeWidgetItem) -> None:
        if item.parent() is None:
            return
        if item.data(FIELD, EDITABLE) is None:
            self.text_asked.emit(tuple(item.data(FIELD, PATH)))
        else:
            self.editItem(item, VALUE)

    def _note_collapsed(self, item: QTreeWidgetItem) -> None:
        title = str(item.data(FIELD, NAME))
        (self._collapsed.discard if item.isExpanded() else self._collapsed.add)(title)


class _ValueDelegate(QStyledItemDelegate):
    """Edit a value as JSON in its row; ``committed`` carries the result, which the model does not keep."""

    committed = Signal(object, str)

    def createEditor(
        self, parent: QWidget, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        field = QLineEdit(parent, frame=False)
        field.setFont(code_font())
        field.setTextMargins(0, 0, 0, 0)
        field.setAccessibleName(f"Value of {index.sibling(index.row(), FIELD).data(NAME)}")
        return field

    def setEditorData(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        if isinstance(editor, QLineEdit):
            editor.setText(str(index.sibling(index.row(), FIELD).data(EDITABLE) or ""))
            editor.selectAll()

    def setModelData(
        self, editor: QWidget, _model: QAbstractItemModel, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        field = index.sibling(index.row(), FIELD)
        if isinstance(editor, QLineEdit) and editor.text().strip() != str(field.data(EDITABLE) or ""):
            self.committed.emit(tuple(field.data(PATH)), editor.text().strip())


def _item(line: Line) -> QTreeWidgetItem:
    item = QTreeWidgetItem([show_hidden(line.name), show_hidden(line.value), show_hidden(line.source)])
    item.setData(FIELD, NAME, line.name)
    item.setData(FIELD, EDITABLE, line.editable)
    item.setData(FIELD, PATH, line.path)
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
    item.setFont(FIELD, code_font())
    item.setFont(VALUE, code_font())
    if line.origin in (Origin.DEFAULT, Origin.INHERITED, Origin.OURS):
        for column in (FIELD, VALUE):
            item.setForeground(column, QColor(tokens().muted))
    colour = "error" if line.problem else ORIGINS[line.origin][1]
    item.setForeground(FROM, QColor(getattr(tokens(), colour)))
    item.setToolTip(FIELD, tip(line.label or line.name))
    item.setToolTip(VALUE, tip(line.value))
    item.setToolTip(FROM, tip(line.description))
    item.setData(FROM, Qt.ItemDataRole.AccessibleTextRole, line.description)
    return item


def _groups(view: RequestView, gateway: str) -> list[tuple[str, list[Line]]]:
    lines = [_line(row, gateway) for row in view.fields]
    headers = [
        Line(header.name, header.value, header.origin, *_origin_words(header.origin, "the extra headers", gateway))
        for header in view.headers
    ]
    groups = [
        ("Body", [line for line in lines if line.editable != ""]),
        ("Not sent", [line for line in lines if line.editable == ""]),
        ("Headers", headers),
    ]
    return [(title, group) for title, group in groups if group]


def _line(row: FieldRow, gateway: str) -> Line:
    """Return the row of a field. A field that is not sent has nothing to edit yet."""
    absent = row.origin in (Origin.DEFAULT, Origin.RULE) and row.value is None
    source, description = _origin_words(row.origin, row.place, gateway)
    if row.origin is Origin.DEFAULT and not absent:
        description = "The protocol requires this value."
    for remark in filter(None, (row.odd, row.note)):
        source, description = f"{source} · {remark}", f"{description} {remark[:1].upper()}{remark[1:]}."
    if absent:
        return Line(row.name, "", row.origin, source, description, editable="", label=row.label, path=row.path)
    editable = None if row.name in {"tools"} | conversation_members() else json.dumps(row.value, ensure_ascii=False)
    value = _preview(row.name, row.value)
    return Line(row.name, value, row.origin, source, description, bool(row.odd), editable, row.label, row.path)


def _origin_words(origin: Origin, place: str, gateway: str) -> tuple[str, str]:
    """Return the origin of a field in short and as a sentence."""
    place = {"turns": "conversation"}.get(place, place)
    source, _, description = ORIGINS[origin]
    named = f"{source}: {place}" if origin is Origin.SET and place else source
    return named, description.format(place=place or "the conversation", gateway=gateway)


def _preview(name: str, value: JSON) -> str:
    if name in message_lists() and isinstance(value, list):
        return "1 message" if len(value) == 1 else f"{len(value):,} messages"
    if name == "tools" and isinstance(value, list):
        names = [_tool_name(tool) for tool in value[:5]]
        more = ", …" if len(value) > 5 else ""
        return f"{quantity(len(value), 'tool')}: {', '.join(names)}{more}"
    return json.dumps(value, ensure_ascii=False)[:MAX_FIELD_VALUE]


def _tool_name(tool: JSON) -> str:
    for place in (tool, tool.get("function") if isinstance(tool, dict) else None):
        if isinstance(place, dict) and place.get("name"):
            return short_name(str(place["name"]))
    return "…"
