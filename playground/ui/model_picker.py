"""The field for the model: a searchable list that takes any text. Escape goes back to the model in use."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QSizePolicy

from playground.ui.kept_line import KeptLine


class ModelPicker(QComboBox):
    """``chosen`` tells the model a person settled on; ``refresh_asked`` that the list was opened and is empty."""

    chosen = Signal(str)
    refresh_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        line = KeptLine()
        self._line = line
        self._ids: tuple[str, ...] = ()
        self._model = ""
        self.setEditable(True)
        self.setLineEdit(line)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setAccessibleName("Model")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(190)
        self.setMaximumWidth(320)
        self._names = QStringListModel(self)
        completer = QCompleter(self._names, self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)
        line.setPlaceholderText("Model id")
        line.editingFinished.connect(self._settled)
        line.given_up.connect(self._go_back)
        self.activated.connect(self._settled)

    def show_models(self, ids: Sequence[str]) -> None:
        """The ids to choose from; what is typed stays, and so does what is marked in it."""
        ids = tuple(ids)
        if ids == self._ids:
            return
        self._ids = ids
        line = self._line
        text, typing, at = self.currentText(), line.isModified(), line.cursorPosition()
        begin, marked = line.selectionStart(), len(line.selectedText())
        self._names.setStringList(list(ids))
        self.blockSignals(True)
        self.clear()
        self.addItems(list(ids))
        self.setCurrentIndex(self.findText(text))
        self.setEditText(text)
        line.setModified(typing)
        line.setCursorPosition(at)
        if marked:
            line.setSelection(begin, marked)
        self.blockSignals(False)

    @property
    def ids(self) -> list[str]:
        """The ids offered."""
        return list(self._ids)

    def show_model(self, model: str) -> None:
        """The model in use; what a person is typing just now is left alone."""
        self._model = self._line.kept = model
        line = self._line
        if model != self.currentText() and not (line.hasFocus() and line.isModified()):
            marked = line.hasSelectedText()
            self.setEditText(model)
            line.setCursorPosition(0)  # a long one is read from its beginning
            if marked:
                line.selectAll()

    def showPopup(self) -> None:
        if not self.count():
            self.refresh_asked.emit()
        super().showPopup()

    def _settled(self) -> None:
        self.chosen.emit(self.currentText().strip())

    def _go_back(self) -> None:
        completer = self.completer()
        popup = completer.popup() if completer is not None else None
        if popup is not None:
            popup.hide()
        self.setCurrentIndex(self.findText(self._model))
        self.setEditText(self._model)
        self._line.selectAll()
