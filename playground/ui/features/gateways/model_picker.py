"""The field for the model: a searchable list that takes any text. Escape goes back to the model in use."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy

from playground.ui.features.gateways.model_offer import Ids, ModelCompleter, Offer
from playground.ui.widgets.kept_line import KeptLine


class ModelPicker(QComboBox):
    """``chosen`` tells the model a person settled on; ``refresh_asked`` that the list was opened and is empty."""

    chosen = Signal(str)
    refresh_asked = Signal()

    def __init__(self) -> None:
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
        self.setMinimumWidth(190)
        self.setMaximumWidth(320)
        self._found = ModelCompleter(self)
        self.setCompleter(self._found)
        line.setPlaceholderText("Model id")
        line.editingFinished.connect(self._settled)
        line.given_up.connect(self._go_back)
        self.activated.connect(self._settled)

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

    def show_model(self, model: str) -> None:
        """The model in use; what a person is typing just now is left alone."""
        line = self._line
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
