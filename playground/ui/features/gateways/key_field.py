"""Field for the key: a hidden and cleaned text, or the name of an environment variable; a line says where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from playground.engine.gateways.secrets import Keys, clean_key, variable_is_set, variable_problem
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import OfferButton, quiet_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden

MOST_OFFERED = 2  # variables; services have one or two usual ones


def variable_words(name: str) -> str:
    """Return the text about a key read from that variable, or its problem."""
    if not name:
        return "Type the name of the variable that holds the key."
    if problem := variable_problem(name):
        return problem
    if variable_is_set(name):
        return f"From the environment: {name} (set). It is read when needed and not stored."
    return f"From the environment: {name} (not set). Set it and restart the app."


async def describe_key(keys: Keys, describe: Callable[[], None]) -> None:
    """Look for a keyring, then let a dialog describe where the key is or will be."""
    await keys.check()
    describe()


class KeyField(QWidget):
    """Field for a new key, or the variable that holds it. A stored key is never shown, only that there is one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._length = 0
        self.edit = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        self.edit.setAccessibleName("Key")
        self.show_key = quiet_button("Show", "Show the key while typing", "eye")
        self.show_key.setCheckable(True)
        self.forget = quiet_button("Forget", "Forget the stored key")
        self.forget.setCheckable(True)
        self.variable_edit = QLineEdit(placeholderText="GATEWAY_API_KEY")
        self.variable_edit.setAccessibleName("Variable of the environment that holds the key")
        self.type_instead = quiet_button("Type a key", "Type a key instead of naming a variable")
        self.name_variable = quiet_button("Use a variable", "Take the key from a variable of the environment")
        self.offers = tuple(OfferButton() for _ in range(MOST_OFFERED))
        self._offered: tuple[str, ...] = ()
        self.remarks = text_label(kind="warning", wrap=True)
        self.place = text_label(kind="small", wrap=True)
        self.move_question = text_label(kind="warning", wrap=True)
        self.move_key = QCheckBox("Send the stored key there")
        self.move_key.setAccessibleName("Send the stored key there")
        self._key_row, self._variable_row = QWidget(), QWidget()
        in_row((self.edit, 1), self.show_key, parent=self._key_row, margins=0, spacing=4)
        in_row((self.variable_edit, 1), self.type_instead, parent=self._variable_row, margins=0, spacing=4)
        below = FlowLayout(gap=8)
        below.addWidget(self.name_variable)
        below.addWidget(self.forget)
        column = in_column(self._key_row, self._variable_row, self.remarks, parent=self, margins=0, spacing=8)
        for number, button in enumerate(self.offers):
            column.addLayout(in_row(button, 1))
            button.clicked.connect(partial(self._take_offer, number))
            button.hide()
        column.addWidget(self.place)
        column.addLayout(below)
        column.addWidget(self.move_question)
        column.addWidget(self.move_key)
        self._show_variable_field(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # lets a label's shortcut reach the focus proxy
        self.variable_edit.textChanged.connect(self._emit_changed)
        self.type_instead.clicked.connect(self._switch_to_key)
        self.name_variable.clicked.connect(self._switch_to_variable)
        self.edit.textChanged.connect(self._typed)
        self.edit.editingFinished.connect(self._clean)
        self.show_key.toggled.connect(self._show)
        self.forget.toggled.connect(self._forget)
        self.move_key.toggled.connect(self._emit_changed)
        say(self.remarks, "")

    def key(self) -> str:
        """Return the newly typed key, cleaned; empty if the stored one stays."""
        return clean_key(self.edit.text()).key

    def variable(self) -> str:
        """Return the name of the variable that holds the key; empty for a typed or stored key."""
        return self.variable_edit.text().strip() if self._variable_row.isVisibleTo(self) else ""

    def drop_variable(self) -> None:
        """Clear the variable, and show the field for a key."""
        self.variable_edit.clear()
        self._show_variable_field(False)

    def offer_variables(self, names: Iterable[str]) -> None:
        """Offer the variables that are set in the environment."""
        self._offered = tuple(name for name in names if variable_is_set(name))[:MOST_OFFERED]
        for button, name in zip(self.offers, (*self._offered, "", ""), strict=False):
            button.setVisible(bool(name) and self.variable() != name)
            button.set_offer(f"Use {name}", "from the environment")

    def set_key(self, key: str, *, forget: bool, move: bool, variable: str = "") -> None:
        """Show the key settings of a draft, with the key hidden."""
        self.variable_edit.setText(variable)
        self._show_variable_field(bool(variable))
        self.show_key.setChecked(False)
        self.edit.setText(key)
        self.forget.setChecked(forget)
        self.move_key.setChecked(move)
        self._show_remarks()

    def describe(self, *, stored: bool, place: str, question: str) -> None:
        """Show whether and where a key is stored; ``question`` asks for consent to send it to a new address."""
        naming = self._variable_row.isVisibleTo(self)
        stored = stored and not naming
        self.forget.setVisible(stored)
        self.name_variable.setVisible(not naming)
        self.offer_variables(self._offered)
        if self.forget.isChecked():
            self.edit.setPlaceholderText("The stored key is deleted on saving")
        else:
            self.edit.setPlaceholderText("Stored — type to replace it" if stored else "Paste the key here")
        say(self.place, variable_words(self.variable()) if naming else place)
        say(self.move_question, question)
        self.move_key.setVisible(bool(question))

    def _show_variable_field(self, on: bool) -> None:
        """Show the field for a variable, or the one for a key; the text of the hidden field stays."""
        self._key_row.setVisible(not on)
        self._variable_row.setVisible(on)
        self.remarks.setVisible(not on and bool(self.remarks.text()))
        self.setFocusProxy(self.variable_edit if on else self.edit)

    def _switch_to_variable(self) -> None:
        self._show_variable_field(True)
        self.variable_edit.setFocus()
        self.changed.emit()

    def _switch_to_key(self) -> None:
        self._show_variable_field(False)
        self.edit.setFocus()
        self.changed.emit()

    def _take_offer(self, number: int) -> None:
        self._show_variable_field(True)
        self.variable_edit.setText(self._offered[number])
        self.variable_edit.setFocus()
        self.changed.emit()

    def _typed(self, text: str) -> None:
        if text and self.forget.isChecked():
            self.forget.setChecked(False)
        pasted = len(text) > self._length + 1
        self._length = len(text)
        if pasted and clean_key(text).key != text:
            self._clean()  # edits the field, which calls this again
            return
        self._show_remarks()
        self.changed.emit()

    def _show_remarks(self) -> None:
        say(self.remarks, " ".join(clean_key(self.edit.text()).remarks))

    def _clean(self) -> None:
        """Replace the text with the cleaned key, and keep the remark, so that the user sees the change."""
        cleaned = clean_key(self.edit.text())
        if cleaned.key != self.edit.text():
            words = show_hidden(" ".join(cleaned.remarks))
            self.edit.setText(cleaned.key)
            say(self.remarks, words)

    def _show(self, on: bool) -> None:
        self.edit.setEchoMode(QLineEdit.EchoMode.Normal if on else QLineEdit.EchoMode.Password)
        self.show_key.setText("Hide" if on else "Show")

    def _forget(self, on: bool) -> None:
        if on:
            self.edit.clear()
        self.changed.emit()

    def _emit_changed(self) -> None:
        self.changed.emit()
