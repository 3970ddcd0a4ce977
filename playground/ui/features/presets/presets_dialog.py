"""The presets to look at and to look after: what is in each, names, order, deleting with a way back."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from playground.engine.files.presets import Preset
from playground.ui.features.presets.contents import PresetContents
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.plain_text import show_hidden, tip

WIDE, TALL = 680, 460


class PresetsDialog(QDialog):
    """Shows what it is given by ``show_presets`` and says what a person wants; it keeps nothing itself."""

    applied = Signal(str)  # ids of presets
    renamed = Signal(str, str)
    overwritten = Signal(str)
    deleted = Signal(str)
    undone = Signal()
    moved = Signal(str, int)  # id and the place it is to have

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._presets: tuple[Preset, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Presets")
        self.list = _List()
        self.contents = PresetContents()
        self.apply_button = styled(QPushButton("Use"), "primary")
        self.apply_button.setToolTip("Set all this in the experiment you look at; one undo takes it back")
        self.rename_button = QPushButton("Rename")
        self.rename_button.setToolTip("F2")
        self.overwrite_button = QPushButton("Replace with what is set now")
        self.up_button = IconButton("up", "Move up (Alt+Up)", quiet=False)
        self.down_button = IconButton("down", "Move down (Alt+Down)", quiet=False)
        self.delete_button = IconButton("delete", "Delete (Delete)", quiet=False)
        self.said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.undo_button = styled(QPushButton("Undo"), "quiet")
        self.undo_bar = styled(QFrame(), "undo")
        self._arrange()
        self._connect()

    def _arrange(self) -> None:
        left = QWidget()
        side = in_column((self.list, 1), of=left, margins=0, spacing=6)
        tools = in_row(self.rename_button, 1, spacing=4)
        for button in (self.up_button, self.down_button, self.delete_button):
            button.setFixedSize(24, 24)
            tools.addWidget(button)
        side.addLayout(tools)
        halves = split(left, self.contents, sizes=[220, 430])
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        bottom = in_row(self.overwrite_button, 1, close, self.apply_button, spacing=8)
        in_row((self.said, 1), self.undo_button, of=self.undo_bar, margins=(12, 4, 8, 4))
        self.undo_bar.hide()
        in_column((halves, 1), self.undo_bar, bottom, of=self, margins=(14, 12, 14, 12), spacing=10)
        for plain in (self.rename_button, self.overwrite_button, self.undo_button, close):
            plain.setAutoDefault(False)
        window = self.parentWidget()
        room = window.window().size() if window is not None else self.size()
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 40))

    def _connect(self) -> None:
        self.list.currentRowChanged.connect(self._look_at)
        self.list.itemChanged.connect(self._named)
        self.list.itemActivated.connect(self._apply)
        self.list.delete_asked.connect(self._delete)
        self.list.move_asked.connect(self._move)
        self.rename_button.clicked.connect(self.rename)
        self.up_button.clicked.connect(self._move_up)
        self.down_button.clicked.connect(self._move_down)
        self.delete_button.clicked.connect(self._delete)
        self.overwrite_button.clicked.connect(self._overwrite)
        self.apply_button.clicked.connect(self._apply)
        self.undo_button.clicked.connect(self.undone)

    def show_presets(self, presets: Sequence[Preset], current: str = "") -> None:
        """Show these, ``current`` (an id) selected; without one what was selected stays."""
        current = current or self.selected
        row = max(self.list.currentRow(), 0)
        self._presets = tuple(presets)
        self.list.blockSignals(True)
        self.list.clear()
        for at, preset in enumerate(presets):
            item = QListWidgetItem(show_hidden(preset.name))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            item.setToolTip(tip(preset.name))
            self.list.addItem(item)
            row = at if preset.id == current else row
        self.list.setCurrentRow(min(row, len(presets) - 1))
        self.list.blockSignals(False)
        self._look_at(self.list.currentRow())

    def say(self, words: str, *, undo: bool = False) -> None:
        """Say what became of something, with a way back for ``undo``; empty takes it away."""
        self.said.setText(show_hidden(words))
        self.undo_button.setVisible(undo)
        self.undo_bar.setVisible(bool(words))

    @property
    def selected(self) -> str:
        """The id of the preset looked at; empty for none."""
        row = self.list.currentRow()
        return self._presets[row].id if 0 <= row < len(self._presets) else ""

    def rename(self) -> None:
        """Edit the name in the list."""
        if (item := self.list.currentItem()) is not None:
            self.list.setFocus()
            self.list.editItem(item)

    def _look_at(self, row: int) -> None:
        there = 0 <= row < len(self._presets)
        self.contents.show_preset(self._presets[row] if there else None)
        for button in (self.apply_button, self.rename_button, self.overwrite_button, self.delete_button):
            button.setEnabled(there)
        self.up_button.setEnabled(there and row > 0)
        self.down_button.setEnabled(there and row < len(self._presets) - 1)

    def _named(self, item: QListWidgetItem) -> None:
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
        to = self.list.currentRow() + step
        if self.selected and 0 <= to < len(self._presets):
            self.moved.emit(self.selected, to)

    def _move_up(self) -> None:
        self._move(-1)

    def _move_down(self) -> None:
        self._move(1)


class _List(QListWidget):
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
