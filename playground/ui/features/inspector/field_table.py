"""Every field of the next request with where it comes from: set, inherited, extra, or left at the default.

It holds no truth: a value that is typed is told, and comes back with the next ``show_preview``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from playground.domain.hidden import short_name
from playground.engine.requests.protocol_info import MESSAGES
from playground.jsonkit.merge import MemberPath
from playground.jsonkit.values import JSON
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import code_font, tokens

if TYPE_CHECKING:
    from playground.engine.requests.view import RequestView

NAME = Qt.ItemDataRole.UserRole
WHOLE = Qt.ItemDataRole.UserRole + 1  # the value as JSON, to be edited; None where it is not edited here
PATH = Qt.ItemDataRole.UserRole + 2  # the way to the field in the body
FIELD, VALUE, FROM = range(3)
LONGEST = 200  # characters of a value that are shown
WIDEST = {FIELD: 0.42, FROM: 0.32}  # of the table that a column takes at most
OURS = "the program's own"
RULE = "rule"
COLOURS = {"set": "accent", "inherited": "system", "extra": "tool", "default": "muted", OURS: "muted", RULE: "system"}
IN_TEXT = frozenset({MESSAGES, "system", "tools"})  # too large to be edited in one line


class Line(NamedTuple):
    """One row. ``words`` and ``says`` tell in short and in full where it comes from; ``whole`` is the value to edit.

    ``path`` is the way to a field of the body, empty for what is none.
    """

    name: str
    value: str
    origin: str
    words: str
    says: str
    odd: bool = False
    whole: str | None = None
    label: str = ""
    path: MemberPath = ()


class FieldTable(QTreeWidget):
    """``edited`` tells the path of a field and the text typed for its value, empty to leave it out.

    ``asked`` tells the path of a field that is to be looked at in the text.
    """

    edited = Signal(object, str)
    asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: list[tuple[str, list[Line]]] = []
        self._waiting: list[tuple[str, list[Line]]] | None = None
        self._folded: set[str] = set()
        self.setAccessibleName("Fields of the next request")
        self.setAccessibleDescription("Enter edits a value, Delete leaves the field out.")
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
        self.itemCollapsed.connect(self._fold)
        self.itemExpanded.connect(self._fold)

    def show_preview(self, view: RequestView, gateway: str) -> None:
        """Show the fields of that request; ``gateway`` is the name of the one whose settings are inherited."""
        groups = _groups(view, short_name(gateway))
        if self.state() == QAbstractItemView.State.EditingState:
            self._waiting = groups
        elif groups != self._shown:
            self._rebuild(groups)

    def _rebuild(self, groups: list[tuple[str, list[Line]]]) -> None:
        self._shown = groups
        current = self.currentItem()
        chosen = str(current.data(FIELD, NAME)) if self.topLevelItemCount() and current is not None else ""
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
                if line.name == chosen:
                    self.setCurrentItem(item)
            self.blockSignals(True)
            top.setExpanded(title not in self._folded)
            self.blockSignals(False)
        self._fit()
        self.verticalScrollBar().setValue(place)

    def _fit(self) -> None:
        """Where a field comes from is always in view; what is long gives way."""
        for column in (FIELD, FROM):
            width = min(self.sizeHintForColumn(column) + 4, int(self.viewport().width() * WIDEST[column]))
            self.header().resizeSection(column, max(width, self.header().minimumSectionSize()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def line(self, name: str) -> QTreeWidgetItem | None:
        """The row of that field."""
        for number in range(self.topLevelItemCount()):
            group = self.topLevelItem(number)
            for row in range(group.childCount() if group is not None else 0):
                item = group.child(row) if group is not None else None
                if item is not None and item.data(FIELD, NAME) == name:
                    return item
        return None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        editing = self.state() == QAbstractItemView.State.EditingState  # Enter in the field comes here as well
        if item is not None and item.parent() is not None and not editing:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
                self._open(item)
                return
            if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and item.data(FIELD, WHOLE) is not None:
                self.edited.emit(tuple(item.data(FIELD, PATH)), "")
                return
        super().keyPressEvent(event)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        waiting, self._waiting = self._waiting, None
        if waiting is not None and waiting != self._shown:
            self._rebuild(waiting)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._shown:
            self._rebuild(self._shown)

    def _open(self, item: QTreeWidgetItem) -> None:
        if item.parent() is None:
            return
        if item.data(FIELD, WHOLE) is None:
            self.asked.emit(tuple(item.data(FIELD, PATH)))
        else:
            self.editItem(item, VALUE)

    def _fold(self, item: QTreeWidgetItem) -> None:
        title = str(item.data(FIELD, NAME))
        (self._folded.discard if item.isExpanded() else self._folded.add)(title)


class _ValueDelegate(QStyledItemDelegate):
    """Edits a value as JSON in its row, and tells rather than keeps it."""

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
            editor.setText(str(index.sibling(index.row(), FIELD).data(WHOLE) or ""))
            editor.selectAll()

    def setModelData(
        self, editor: QWidget, _model: QAbstractItemModel, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        at = index.sibling(index.row(), FIELD)
        if isinstance(editor, QLineEdit) and editor.text().strip() != str(at.data(WHOLE) or ""):
            self.committed.emit(tuple(at.data(PATH)), editor.text().strip())


def _item(line: Line) -> QTreeWidgetItem:
    item = QTreeWidgetItem([show_hidden(line.name), show_hidden(line.value), show_hidden(line.words)])
    item.setData(FIELD, NAME, line.name)
    item.setData(FIELD, WHOLE, line.whole)
    item.setData(FIELD, PATH, line.path)
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
    item.setFont(FIELD, code_font())
    item.setFont(VALUE, code_font())
    grey = QColor(tokens().muted)
    if line.origin in ("default", "inherited", OURS):
        item.setForeground(FIELD, grey)
        item.setForeground(VALUE, grey)
    item.setForeground(FROM, QColor(tokens().error if line.odd else getattr(tokens(), COLOURS[line.origin])))
    item.setToolTip(FIELD, tip(line.label or line.name))
    item.setToolTip(VALUE, tip(line.value))
    item.setToolTip(FROM, tip(line.says))
    item.setData(FROM, Qt.ItemDataRole.AccessibleTextRole, line.says)
    return item


def _groups(view: RequestView, gateway: str) -> list[tuple[str, list[Line]]]:
    body, absent = [], []
    for row in view.fields:
        origin = row.origin.value
        unsent = origin in ("default", RULE) and row.value is None
        words, says = _word(origin), _says(origin, gateway) if unsent or origin != "default" else origin
        if row.place:
            words, says = f"{words} · {row.place}", f"{says}: {row.place}"
        for more in filter(None, (row.odd, row.note)):
            words, says = f"{words} · {more}", f"{says}; {more}"
        if unsent:
            absent.append(Line(row.name, "", origin, words, says, whole="", label=row.label, path=row.path))
        else:
            whole = None if row.name in IN_TEXT else _text(row.value)
            shown = _value(row.name, row.value)
            body.append(Line(row.name, shown, origin, words, says, bool(row.odd), whole, row.label, row.path))
    headers = []
    for header in view.headers:
        origin = header.origin.value
        headers.append(Line(header.name, header.value, origin, _word(origin), _says(origin, gateway)))
    groups = [("Body", body), ("Not sent", absent), ("Headers", headers)]
    return [(title, lines) for title, lines in groups if lines]


def _word(origin: str) -> str:
    return "program" if origin == OURS else origin


def _says(origin: str, gateway: str) -> str:
    return {
        "default": "default: the field is absent, and the gateway decides",
        "set": "set in a panel or in the conversation",
        RULE: f"a rule in the settings of “{gateway}”",
        "inherited": f"inherited from the settings of “{gateway}”",
        "extra": "extra: from this experiment's Raw tab",
        OURS: "the program's own: nobody set it",
    }.get(origin, origin)


def _value(name: str, value: JSON) -> str:
    if name == MESSAGES and isinstance(value, list):
        return "1 message" if len(value) == 1 else f"{len(value)} messages"
    if name == "tools" and isinstance(value, list):
        names = [_tool_name(tool) for tool in value[:5]]
        more = ", …" if len(value) > 5 else ""
        return f"{len(value)} tool{'s' * (len(value) != 1)}: {', '.join(names)}{more}"
    return _text(value)[:LONGEST]


def _tool_name(tool: JSON) -> str:
    for place in (tool, tool.get("function") if isinstance(tool, dict) else None):
        if isinstance(place, dict) and place.get("name"):
            return short_name(str(place["name"]))
    return "…"


def _text(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
