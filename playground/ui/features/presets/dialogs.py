"""The dialogs of presets: save the settings as one, and manage those there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from playground.domain.hints import hints_of, setting
from playground.domain.values import Value
from playground.engine.files.presets import Preset
from playground.ui.features.presets.texts import rows
from playground.ui.widgets.form_parts import paragraph, push_button, quiet_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.list_detail import ListDetail, ListEntry
from playground.ui.widgets.outline_tree import OutlineTree
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.rows.form import Form, form_for

CONTENT = "Content of the preset"


class NewPreset(Value):
    """The input of the dialog that saves a preset."""

    name: Annotated[str, setting("Name", placeholder="For example Strict JSON")] = ""
    with_model: Annotated[bool, setting("With protocol and model")] = False

    @property
    def plain_name(self) -> str:
        """The name without spaces around it."""
        return self.name.strip()


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
        hints = hints_of(NewPreset)
        words = f"Using the preset then also chooses {show_hidden(model) or 'no model'}."
        self.form: Form[NewPreset] = form_for(
            NewPreset, hints={**hints, "with_model": replace(hints["with_model"], help=words)}
        )
        self._replaces = paragraph("", "warning")
        self._content = OutlineTree(CONTENT)
        self._save_button = styled(QPushButton("Save", default=True), "primary")
        cancel = push_button("Cancel")
        in_column(
            self.form,
            self._replaces,
            text_label("Content", "group"),
            (self._content, 1),
            text_label("Without messages, gateway and key.", "small"),
            in_row(1, cancel, self._save_button, spacing=8),
            parent=self,
            margins=(18, 14, 18, 14),
            spacing=8,
        )
        self.resize(480, 460)
        self.form.set_value(NewPreset())
        self.form.changed.connect(self._show)
        cancel.clicked.connect(self.reject)
        self._save_button.clicked.connect(self._save)
        self._show()

    def _show(self) -> None:
        name = self.form.value.plain_name
        replaces = self._named(name) is not None
        say(self._replaces, f"“{name}” exists. Saving replaces it." if replaces else "")
        self._save_button.setText("Replace" if replaces else "Save")
        self._save_button.setEnabled(bool(name))
        self._content.show_groups(rows(self._make(name or "-", self.form.value.with_model)))

    def _save(self) -> None:
        name = self.form.value.plain_name
        preset, existing = self._make(name, self.form.value.with_model), self._named(name)
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
        self._selected = ""
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Presets")
        self.setObjectName("presetsDialog")
        self.setMinimumSize(560, 320)
        self.resize(720, 460)
        self._content = OutlineTree(CONTENT)
        page = QWidget()
        in_column(text_label(CONTENT, "group"), (self._content, 1), parent=page, margins=(24, 12, 24, 12), spacing=8)
        rename = quiet_button("Rename", "Rename this preset (F2)")
        apply, close = push_button("Use", "primary"), push_button("Close")
        overwrite = push_button("Replace with current settings")
        apply.setToolTip("Use these settings in the current experiment; one undo restores the old ones")
        self._buttons = apply, rename, overwrite
        body = ListDetail(
            "Presets",
            "preset",
            {CONTENT: page},
            ("up", "down", "remove"),
            parent=self,
            extra=(rename,),
            buttons=(overwrite, 1, close, apply),
            empty="No presets. Save the settings of an experiment as one.",
            editable=True,
        )
        self.body, self.list = body, body.list
        in_row(body, parent=self, margins=0)
        body.selected.connect(self._select)
        body.entered.connect(self._apply)
        body.removed.connect(lambda: self.deleted.emit(self._selected))
        body.moved.connect(self._move)
        body.list.renamed.connect(self.renamed)
        rename.clicked.connect(body.list.rename_current)
        overwrite.clicked.connect(lambda: self.overwritten.emit(self._selected))
        apply.clicked.connect(self._apply)
        close.clicked.connect(self.reject)

    def show_presets(self, presets: Sequence[Preset], current: str = "") -> None:
        """Show these; ``current`` (an id) is selected, else the selection stays."""
        ids, before = [preset.id for preset in presets], [preset.id for preset in self._presets]
        place = before.index(self._selected) if self._selected in before else 0
        self._presets, current = tuple(presets), current or self._selected
        if current not in ids:
            current = ids[min(place, len(ids) - 1)] if ids else ""
        self.body.show_entries((ListEntry(preset.id, preset.name) for preset in presets), current)
        self._select(current)

    def show_message(self, words: str, *, undo: bool = False) -> None:
        """Show what was done, with a button to undo it; empty hides the line."""
        if words:
            self.body.notice.offer(show_hidden(words), *([("Undo", self.undone.emit)] if undo else []))
        else:
            self.body.notice.hide()

    def _select(self, preset_id: str) -> None:
        self._selected = preset_id
        preset = next((preset for preset in self._presets if preset.id == preset_id), None)
        self._content.show_groups(rows(preset) if preset is not None else ())
        self.body.show_page(0 if preset is not None else -1)
        self.body.set_enabled(selected=preset is not None)
        for button in self._buttons:
            button.setEnabled(preset is not None)

    def _apply(self) -> None:
        if self._selected:
            self.applied.emit(self._selected)
            self.accept()

    def _move(self, preset_id: str, step: int) -> None:
        self.moved.emit(preset_id, self.list.currentRow() + step)
