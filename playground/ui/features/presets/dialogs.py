"""The dialogs of presets: save the settings as one, and manage those there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QFrame, QLineEdit, QListWidget, QListWidgetItem, QPushButton, QWidget

from playground.engine.files.presets import Preset
from playground.ui.features.presets.texts import rows
from playground.ui.widgets.form_parts import paragraph, push_button, say, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.outline_tree import OutlineTree
from playground.ui.widgets.plain_text import show_hidden, tip

CONTENT = "Content of the preset"


class SavePresetDialog(QDialog):
    """Asks for the name of a new preset and shows its content. An existing name replaces that preset.

    ``make`` returns the preset with or without protocol and model; ``named`` the existing one of a name. ``saved``
    carries the preset to store.
    """

    saved = Signal(object)

    def __init__(
        self, make: Callable[[str, bool], Preset], named: Callable[[str], Preset | None], model: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._make = make
        self._named = named
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Save as preset")
        self.name = QLineEdit(placeholderText="Name, for example Strict JSON")
        self.name.setAccessibleName("Name of the preset")
        self.with_model = QCheckBox("With protocol and model")
        self.with_model.setToolTip(f"Using the preset then also chooses {show_hidden(model) or 'no model'}")
        self._replaces = paragraph("", "warning")
        self._content = OutlineTree(CONTENT)
        self._save_button = styled(QPushButton("Save", default=True), "primary")
        cancel = push_button("Cancel")
        in_column(
            self.name,
            self._replaces,
            text_label("Content", "group"),
            (self._content, 1),
            text_label("Without messages, gateway and key.", "small"),
            self.with_model,
            in_row(1, cancel, self._save_button, spacing=8),
            of=self,
            margins=(18, 14, 18, 14),
            spacing=8,
        )
        self.resize(480, 460)
        self.name.textChanged.connect(self._show)
        self.with_model.toggled.connect(self._show)
        cancel.clicked.connect(self.reject)
        self._save_button.clicked.connect(self._save)
        self._show()

    def _show(self) -> None:
        name = self.name.text().strip()
        replaces = self._named(name) is not None
        say(self._replaces, f"“{name}” exists. Saving replaces it." if replaces else "")
        self._save_button.setText("Replace" if replaces else "Save")
        self._save_button.setEnabled(bool(name))
        self._content.show_groups(rows(self._make(name or "-", self.with_model.isChecked())))

    def _save(self) -> None:
        name = self.name.text().strip()
        preset, existing = self._make(name, self.with_model.isChecked()), self._named(name)
        self.saved.emit(preset if existing is None else preset.model_copy(update={"id": existing.id}))
        self.accept()


class PresetsDialog(QDialog):
    """Shows the presets given to ``show_presets`` and reports what is to be done with them, by their ids."""

    applied = Signal(str)
    renamed = Signal(str, str)
    overwritten = Signal(str)
    deleted = Signal(str)
    undone = Signal()
    moved = Signal(str, int)  # to this row

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._presets: tuple[Preset, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Presets")
        self.list = PresetList()
        self._content = OutlineTree(CONTENT)
        self._apply_button = styled(QPushButton("Use"), "primary")
        self._apply_button.setToolTip("Use these settings in the current experiment; one undo restores the old ones")
        self._rename_button = push_button("Rename")
        self._rename_button.setToolTip("F2")
        self._overwrite_button = push_button("Replace with current settings")
        self._up_button = IconButton("up", "Move up (Alt+Up)", quiet=False)
        self._down_button = IconButton("down", "Move down (Alt+Down)", quiet=False)
        self._delete_button = IconButton("delete", "Delete (Delete)", quiet=False)
        self._message = paragraph()
        self._undo_button = push_button("Undo", "quiet")
        self._message_bar = styled(QFrame(), "undo")
        self._arrange()
        self._connect()

    def _arrange(self) -> None:
        icon_buttons = (self._up_button, self._down_button, self._delete_button)
        for button in icon_buttons:
            button.setFixedSize(24, 24)
        left = QWidget()
        in_column(
            (self.list, 1), in_row(self._rename_button, 1, *icon_buttons, spacing=4), of=left, margins=0, spacing=6
        )
        close = push_button("Close")
        close.clicked.connect(self.reject)
        in_row((self._message, 1), self._undo_button, of=self._message_bar, margins=(12, 4, 8, 4))
        self._message_bar.hide()
        in_column(
            (split(left, self._content, sizes=[220, 430]), 1),
            self._message_bar,
            in_row(self._overwrite_button, 1, close, self._apply_button, spacing=8),
            of=self,
            margins=(14, 12, 14, 12),
            spacing=10,
        )
        window = self.parentWidget()
        room = window.window().size() if window is not None else self.size()
        self.resize(min(680, room.width() - 40), min(460, room.height() - 40))

    def _connect(self) -> None:
        self.list.currentRowChanged.connect(self._show_row)
        self.list.itemChanged.connect(self._rename_item)
        self.list.itemActivated.connect(self._apply)
        self.list.delete_asked.connect(self._delete)
        self.list.move_asked.connect(self._move)
        self._rename_button.clicked.connect(self._edit_name)
        self._up_button.clicked.connect(lambda: self._move(-1))
        self._down_button.clicked.connect(lambda: self._move(1))
        self._delete_button.clicked.connect(self._delete)
        self._overwrite_button.clicked.connect(self._overwrite)
        self._apply_button.clicked.connect(self._apply)
        self._undo_button.clicked.connect(self.undone)

    def show_presets(self, presets: Sequence[Preset], current: str = "") -> None:
        """Show these; ``current`` (an id) is selected, else the selection stays."""
        current = current or self.selected
        row = max(self.list.currentRow(), 0)
        self._presets = tuple(presets)
        self.list.blockSignals(True)
        self.list.clear()
        for index, preset in enumerate(presets):
            item = QListWidgetItem(show_hidden(preset.name))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            item.setToolTip(tip(preset.name))
            self.list.addItem(item)
            row = index if preset.id == current else row
        self.list.setCurrentRow(min(row, len(presets) - 1))
        self.list.blockSignals(False)
        self._show_row(self.list.currentRow())

    def show_message(self, words: str, *, undo: bool = False) -> None:
        """Show what was done, with a button to undo it; empty hides the line."""
        self._message.setText(show_hidden(words))
        self._undo_button.setVisible(undo)
        self._message_bar.setVisible(bool(words))

    @property
    def selected(self) -> str:
        """The id of the selected preset; empty for none."""
        row = self.list.currentRow()
        return self._presets[row].id if 0 <= row < len(self._presets) else ""

    def _edit_name(self) -> None:
        if (item := self.list.currentItem()) is not None:
            self.list.setFocus()
            self.list.editItem(item)

    def _show_row(self, row: int) -> None:
        exists = 0 <= row < len(self._presets)
        self._content.show_groups(rows(self._presets[row]) if exists else ())
        for button in (self._apply_button, self._rename_button, self._overwrite_button, self._delete_button):
            button.setEnabled(exists)
        self._up_button.setEnabled(exists and row > 0)
        self._down_button.setEnabled(exists and row < len(self._presets) - 1)

    def _rename_item(self, item: QListWidgetItem) -> None:
        preset = self._presets[self.list.row(item)]
        if item.text().strip() != show_hidden(preset.name):
            self.renamed.emit(preset.id, item.text().strip())

    def _apply(self) -> None:
        if self.selected:
            self.applied.emit(self.selected)
            self.accept()

    def _overwrite(self) -> None:
        if self.selected:
            self.overwritten.emit(self.selected)

    def _delete(self) -> None:
        if self.selected:
            self.deleted.emit(self.selected)

    def _move(self, step: int) -> None:
        row = self.list.currentRow() + step
        if self.selected and 0 <= row < len(self._presets):
            self.moved.emit(self.selected, row)


class PresetList(QListWidget):
    """Keys as in the other lists: Delete, F2, Alt+Up and Alt+Down; Enter uses the preset."""

    delete_asked = Signal()
    move_asked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Presets")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListWidget.EditTrigger.EditKeyPressed)
        self.setMinimumWidth(150)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_asked.emit()
        elif alt and step:
            self.move_asked.emit(step)
        else:
            super().keyPressEvent(event)
