"""Other models to ask as well, ticked in one go: those the gateway lists, searched, and any id that is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QListView, QPushButton, QWidget

from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.model_picker import Ids, Offer
from playground.ui.widgets.plain_text import show_hidden

_Index = QModelIndex | QPersistentModelIndex
_CHECK = Qt.ItemDataRole.CheckStateRole
SIZE = 420, 460  # pixels


class _Ticked(Offer):
    """Ids to be ticked; what was is kept while others are looked for. An id that is typed and in no list comes last."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._ids = Ids()
        self.ticked: dict[str, None] = {}

    def show_found(self, ids: Ids, text: str = "") -> None:
        super().show_found(ids, text)
        self._ids = ids
        typed = ids.meant(text)
        if typed and typed not in ids.all:
            at = len(self._lines)
            self.beginInsertRows(QModelIndex(), at, at)
            self._lines.append(ids.spelled(typed))
            self.endInsertRows()

    def _model_of(self, index: _Index) -> str:
        return self._ids.meant(self._lines[index.row()])

    def _is_model(self, index: _Index) -> bool:
        return index.isValid() and index.row() < len(self._lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == _CHECK and self._is_model(index):
            return Qt.CheckState.Checked if self._model_of(index) in self.ticked else Qt.CheckState.Unchecked
        return super().data(index, role)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        found = super().flags(index)
        return found | Qt.ItemFlag.ItemIsUserCheckable if self._is_model(index) else found

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != _CHECK or not self._is_model(index):
            return False
        model = self._model_of(index)
        if Qt.CheckState(value) == Qt.CheckState.Checked:
            self.ticked[model] = None
        else:
            self.ticked.pop(model, None)
        self.dataChanged.emit(index, index, [role])
        return True

    def toggle(self, index: _Index) -> None:
        """Tick what is not, and the other way round."""
        on = self.data(index, _CHECK) == Qt.CheckState.Checked
        self.setData(index, Qt.CheckState.Unchecked if on else Qt.CheckState.Checked, _CHECK)


class ModelsDialog(QDialog):
    """``picked`` carries the models, a list, at most ``room`` of them; each becomes a ``what``, set as ``how`` says."""

    picked = Signal(object)

    def __init__(
        self,
        ids: Sequence[str],
        gateway: str,
        room: int,
        parent: QWidget,
        *,
        what: str = "lane",
        how: str = "each in a lane set as the one in front",
    ) -> None:
        super().__init__(parent)
        self._what = what
        self.setWindowTitle(f"Add {what}s of other models")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._ids, self._room = Ids(ids), room
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a model, or type an id")
        self.search.setAccessibleName("Find a model, or type an id")
        self.search.setClearButtonEnabled(True)
        self.offer = _Ticked(self)
        self.list = QListView()
        self.list.setModel(self.offer)
        self.list.setUniformItemSizes(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName("Models; Space ticks one")
        self._said = text_label("", "small", wrap=True)
        self.add = styled(QPushButton(), "primary")
        cancel = QPushButton("Cancel")
        where = text_label(f"Listed by {show_hidden(gateway)}, {how}", "small", wrap=True)
        row = in_row((self._said, 1), cancel, self.add, spacing=8)
        in_column(where, self.search, (self.list, 1), row, of=self, margins=(18, 14, 18, 14), spacing=8)
        self.resize(*SIZE)
        self._pressed: object = None
        self.search.textChanged.connect(self._find)
        self.search.returnPressed.connect(self._take_first)
        self.list.pressed.connect(self._note)
        self.list.clicked.connect(self._clicked)
        self.offer.dataChanged.connect(self._count)
        self.add.clicked.connect(self._add)
        cancel.clicked.connect(self.reject)
        for button in (self.add, cancel):
            button.setAutoDefault(False)
        self._find("")
        self._count()
        self.search.setFocus()

    def _find(self, text: str) -> None:
        self.offer.show_found(self._ids, text)
        if self.offer.rowCount():
            self.list.setCurrentIndex(self.offer.index(0))

    def _take_first(self) -> None:
        """Enter ticks what is found first; without anything to find it adds what is ticked."""
        if self.search.text():
            self.offer.toggle(self.offer.index(0))
            self.search.selectAll()
        elif self.add.isEnabled():
            self._add()

    def _note(self, index: QModelIndex) -> None:
        self._pressed = self.offer.data(index, _CHECK)

    def _clicked(self, index: QModelIndex) -> None:
        """A click beside the box ticks as well; one into it did already."""
        if self.offer.data(index, _CHECK) == self._pressed:
            self.offer.toggle(index)

    def _count(self) -> None:
        count = len(self.offer.ticked)
        self.add.setText(f"Add {count} {self._what}s" if count > 1 else f"Add a {self._what}")
        self.add.setEnabled(0 < count <= self._room)
        room = f"There is room for {self._room} more {self._what}{'s' * (self._room != 1)}."
        self._said.setText(", ".join(map(show_hidden, self.offer.ticked)) if 0 < count <= self._room else room)

    def _add(self) -> None:
        self.accept()  # first, so that the focus goes where the lanes are
        self.picked.emit(list(self.offer.ticked))
