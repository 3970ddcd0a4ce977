"""The field for the model: a searchable list that takes any text. Escape goes back to the model in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QSizePolicy, QToolButton

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.kept_line import KeptLine
from playground.ui.widgets.plain_text import show_hidden, tip

SHOWN: Final = 200  # lines of a list
LONGEST: Final = 1_000  # characters of an id that stands in a field as it is
_ENDS: Final = 100
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT: Final = QModelIndex()


class Ids:
    """The ids of one list, searched and spelled for a field of one line."""

    def __init__(self, ids: Sequence[str] = ()) -> None:
        self.all = tuple(ids)
        self._odd: dict[str, str] = {}  # by how it is spelled here

    @cached_property
    def folded(self) -> list[str]:
        """Each id without its case, as far as it is searched."""
        return [one[:LONGEST].casefold() for one in self.all]

    def found(self, text: str) -> Iterator[str]:
        """The ids that have ``text`` in them, in their order."""
        part = text.strip().casefold()
        if not part:
            return iter(self.all)
        return (one for one, folded in zip(self.all, self.folded, strict=True) if part in folded)

    def spelled(self, model: str) -> str:
        """As it stands in a field: whole, or, of one that is too long to be edited, both ends and its length."""
        if len(model) <= LONGEST and model == model.strip():
            return model
        spelled, number = model, 1
        while len(model) > LONGEST and (number == 1 or self._odd.get(spelled, model) != model):
            which = f", no. {number}" if number > 1 else ""
            spelled = f"{model[:_ENDS]}… ‹{len(model):,} characters{which}› …{model[-_ENDS:]}"
            number += 1
        self._odd[spelled] = model
        return spelled

    def meant(self, text: str) -> str:
        """The id that text in a field stands for: what somebody typed, but for what ``spelled`` gave."""
        return self._odd.get(text, text.strip())


class Offer(QAbstractListModel):
    """Some ids, a line each; a last line that cannot be chosen says that there are more."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lines: list[str] = []
        self._more = ""

    def show_found(self, ids: Ids, text: str = "") -> None:
        """Offer the first ids that have ``text`` in them."""
        found = ids.found(text)
        self.beginResetModel()
        self._lines = [ids.spelled(one) for one in islice(found, SHOWN)]
        self._more = "" if next(found, None) is None else "… more: type to find"
        self.endResetModel()

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._lines) + bool(self._more)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = index.row()
        if role == Qt.ItemDataRole.DisplayRole:
            return show_hidden(self._lines[row]) if row < len(self._lines) else self._more
        if role == Qt.ItemDataRole.EditRole and row < len(self._lines):
            return self._lines[row]
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if index.row() < len(self._lines):
            return super().flags(index)
        return Qt.ItemFlag.ItemNeverHasChildren


class ModelCompleter(QCompleter):
    """Offers what is found as one types; nothing is chosen before a person goes to it."""

    def __init__(self, parent: QObject) -> None:
        self._offer = Offer(parent)
        self.ids = Ids()
        super().__init__(self._offer, parent)

    def splitPath(self, path: str) -> list[str]:
        """What Qt searches for in the lines: nothing, for all of them are what was found of the text."""
        self._offer.show_found(self.ids, path)
        return [""]


class ModelPicker(QComboBox):
    """``chosen`` tells the model a person settled on; ``refresh_asked`` that the list was opened and is empty.

    ``unlisted`` stands beside it, wherever it is put, and is seen while the model is in no list.
    """

    chosen = Signal(str)
    refresh_asked = Signal()

    def __init__(self, least: int = 190) -> None:
        super().__init__()
        line = KeptLine()
        self._line = line
        self._ids = Ids()
        self._model = ""
        self._offer = Offer(self)
        self.setModel(self._offer)
        self.setEditable(True)
        self.setLineEdit(line)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setAccessibleName("Model")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(least)
        self.setMaximumWidth(320)
        self._found = ModelCompleter(self)
        self.setCompleter(self._found)
        line.setPlaceholderText("Model id")
        line.editingFinished.connect(self._settled)
        line.given_up.connect(self._go_back)
        self.activated.connect(self._settled)
        self.unlisted = styled(QToolButton(), "flag")
        self.unlisted.setIcon(icon("warning", "tool"))
        self.unlisted.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.unlisted.clicked.connect(self.showPopup)
        self.unlisted.hide()

    def show_models(self, ids: Sequence[str]) -> None:
        """The ids to choose from; what is typed stays, and so does what is marked in it."""
        if ids is self._ids.all or (len(ids) == len(self._ids.all) and tuple(ids) == self._ids.all):
            return
        line = self._line
        self._ids = self._found.ids = Ids(ids)
        before, line.kept = line.kept, self._ids.spelled(self._model)
        text, typing, at = self.currentText(), line.isModified(), line.cursorPosition()
        begin, marked = line.selectionStart(), len(line.selectedText())
        self.blockSignals(True)
        self._offer.show_found(self._ids)
        self._put(line.kept if text == before else text)
        line.setModified(typing)
        line.setCursorPosition(at)
        if marked:
            line.setSelection(begin, marked)
        self.blockSignals(False)

    @property
    def listed(self) -> Ids:
        """The ids offered, to be searched."""
        return self._ids

    @property
    def ids(self) -> list[str]:
        """The ids offered."""
        return list(self._ids.all)

    @property
    def shown(self) -> str:
        """The model in use, as it was shown last."""
        return self._model

    def show_model(self, model: str, missing_at: str = "") -> None:
        """The model in use. ``missing_at`` names the gateway whose list does not have it; it is asked for all the same.

        What a person is typing just now is left alone.
        """
        line = self._line
        self.unlisted.setVisible(bool(missing_at))
        words = f"“{model}” is not in the list of {missing_at}."
        self.unlisted.setToolTip(tip(f"{words} It is asked for all the same. Click for the list."))
        self.unlisted.setAccessibleName(f"{words} Show the list")
        self._model, line.kept = model, self._ids.spelled(model)
        if line.kept != self.currentText() and not (line.hasFocus() and line.isModified()):
            marked = line.hasSelectedText()
            self.setEditText(line.kept)
            line.setCursorPosition(0)  # a long one is read from its beginning
            if marked:
                line.selectAll()

    def showPopup(self) -> None:
        if not self.count():
            self.refresh_asked.emit()
        super().showPopup()

    def _settled(self) -> None:
        self.chosen.emit(self._ids.meant(self.currentText()))

    def _put(self, text: str) -> None:
        """That text, and its line in the list if it has one."""
        self.setCurrentIndex(self.findData(text, Qt.ItemDataRole.EditRole, Qt.MatchFlag.MatchExactly))
        self.setEditText(text)

    def _go_back(self) -> None:
        completer = self.completer()
        popup = completer.popup() if completer is not None else None
        if popup is not None:
            popup.hide()
        self._put(self._line.kept)
        self._line.selectAll()
