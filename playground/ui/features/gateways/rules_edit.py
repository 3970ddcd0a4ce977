"""Editor for the adaptation rules of a gateway, which change or leave out fields that it does not accept."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QVBoxLayout, QWidget

from playground.domain.adaptations import AdaptationKind
from playground.domain.hidden import short_name
from playground.engine.requests.protocol_info import TITLES
from playground.ui.features.gateways.rule_row import RuleRow
from playground.ui.widgets.form_parts import keep_from_wheel, quiet_button, say, text_label
from playground.ui.widgets.layouts import discard, in_column, in_row

MOST: Final = 25  # rules shown at first, and added by each press of "Show more"
WHY: Final = 200  # characters of the gateway's error message
DEEDS: Final = (
    (AdaptationKind.OMIT, "Leave out", "field, such as stream_options", ""),
    (AdaptationKind.RENAME, "Rename", "field, such as max_tokens", "its other name"),
    (AdaptationKind.REPLACE, "Replace", "field, such as tool_choice", 'value as JSON, such as "auto"'),
    (AdaptationKind.ROLE, "Role", "role, such as developer", "the role that is sent"),
)
NONE = "None yet. Where a gateway refuses a field, the error offers to leave it out always: that is listed here."
SOME = "They change what panels and conversation say. What stands in an extra body is sent all the same."


class RuleEdit(QWidget):
    """Fields of a rule. ``from_list`` marks a rule from the list of services."""

    changed = Signal()
    removed = Signal(object)

    def __init__(self, row: RuleRow, *, from_list: bool = False) -> None:
        super().__init__()
        self._row = row
        self.on = QCheckBox()
        self.on.setChecked(row.on)
        self.on.setToolTip("Whether the rule is followed")
        self.deed = QComboBox()
        self.deed.setAccessibleName("What is done")
        for kind, words, _field, _to in DEEDS:
            self.deed.addItem(words, kind)
        self.deed.setCurrentIndex(self.deed.findData(row.kind))
        self.field = QLineEdit(row.field)
        self.to = QLineEdit(row.to)
        self.protocol = QComboBox()
        self.protocol.setAccessibleName("Protocol of the rule")
        for name, title in TITLES.items():
            self.protocol.addItem(title, name)
        self.protocol.setCurrentIndex(max(self.protocol.findData(row.protocol), 0))
        for combo in (self.deed, self.protocol):
            keep_from_wheel(combo)
        self.model = QLineEdit(row.model, placeholderText="all models")
        self.model.setAccessibleName("Model that the rule is for")
        self.remove = quiet_button("", "Remove this rule", "delete")
        self.note = text_label("", "small", wrap=True)
        first = in_row(self.on, self.deed, (self.field, 3), (self.to, 3), self.remove, spacing=8)
        second = in_row(self.protocol, (self.model, 1), margins=(26, 0, 32, 0), spacing=8)
        in_column(first, second, self.note, of=self, margins=0, spacing=4)
        reason = f"“{row.why[:WHY]}”" if row.why else ""
        source = "from the list of services" if from_list else f"learnt {row.learnt}" if row.learnt else ""
        say(self.note, " · ".join(filter(None, (source, reason))))
        self.note.setContentsMargins(26, 0, 0, 0)
        for line in (self.field, self.to, self.model):
            line.setCursorPosition(0)
        self._update_fields()
        for line in (self.field, self.to, self.model):
            line.textChanged.connect(self._edited)
        self.on.toggled.connect(self._edited)
        for combo in (self.deed, self.protocol):
            combo.currentIndexChanged.connect(self._edited)
        self.remove.clicked.connect(partial(self.removed.emit, self))

    def row(self) -> RuleRow:
        """Return the rule as typed. An unknown protocol is kept until another one is chosen."""
        is_known = self._row.protocol in TITLES or self.protocol.currentIndex() > 0
        return replace(
            self._row,
            kind=AdaptationKind(self.deed.currentData()),
            field=self.field.text(),
            to=self.to.text(),
            protocol=str(self.protocol.currentData()) if is_known else self._row.protocol,
            model=self.model.text(),
            on=self.on.isChecked(),
        )

    def tab_order(self) -> tuple[QWidget, ...]:
        """Return the fields in tab order."""
        return self.on, self.deed, self.field, self.to, self.remove, self.protocol, self.model

    def _edited(self, *_: object) -> None:
        self._update_fields()
        self.changed.emit()

    def _update_fields(self) -> None:
        kind = AdaptationKind(self.deed.currentData())
        field, to = next((field, to) for deed, _, field, to in DEEDS if deed is kind)
        self.field.setPlaceholderText(field)
        self.field.setAccessibleName("Role of the rule" if kind is AdaptationKind.ROLE else "Field of the rule")
        self.to.setPlaceholderText(to)
        self.to.setAccessibleName("What is sent instead")
        self.to.setVisible(kind is not AdaptationKind.OMIT)
        self.on.setAccessibleName(f"Follow the rule for {short_name(self.field.text()) or 'a new field'}")


class RulesEdit(QWidget):
    """List of all rules, with a button to add one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.edits: list[RuleEdit] = []
        self._remaining_rows: tuple[RuleRow, ...] = ()  # rules without fields so far
        self._from_list: tuple[RuleRow, ...] = ()
        self.hint = text_label("", "small", wrap=True)
        self.add = quiet_button("Add rule", "Add a rule for a field that this gateway does not take", "plus")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(12)
        layout = in_column(self._rows, of=self, margins=0, spacing=8)
        self.more = quiet_button("", "Show more rules", "")
        layout.addLayout(in_row(self.add, self.more, 1))
        layout.addWidget(self.hint)
        self.add.clicked.connect(self._add_row)
        self.more.clicked.connect(self._show_more)
        self._describe()

    def rows(self) -> tuple[RuleRow, ...]:
        """Return the rules as typed, without empty new ones."""
        typed = (edit.row() for edit in self.edits)
        return (*(row for row in typed if row.field or row.to or row.model or row.why), *self._remaining_rows)

    def set_rows(self, rows: tuple[RuleRow, ...], from_list: tuple[RuleRow, ...]) -> None:
        """Show these rules; ``from_list`` are the rules from the list of services."""
        for edit in list(self.edits):
            self._remove_edit(edit)
        self._remaining_rows, self._from_list = rows, from_list
        self._show_more()

    def _show_more(self) -> None:
        """Add the fields of the next rules."""
        rows, self._remaining_rows = self._remaining_rows[:MOST], self._remaining_rows[MOST:]
        for row in rows:
            self._append(row, from_list=row in self._from_list)
        self._describe()

    def _append(self, row: RuleRow, *, from_list: bool = False) -> RuleEdit:
        edit = RuleEdit(row, from_list=from_list)
        edit.changed.connect(self.changed)
        edit.removed.connect(self._remove)
        before = self.edits[-1].tab_order()[-1] if self.edits else None
        self.edits.append(edit)
        self._rows.addWidget(edit)
        edit.show()  # a widget that is not visible yet gets no focus
        for widget in (*edit.tab_order(), self.add):
            if before is not None:
                QWidget.setTabOrder(before, widget)
            before = widget
        return edit

    def _add_row(self) -> None:
        self._append(RuleRow.blank(next(iter(TITLES)))).field.setFocus()
        self._describe()

    def _remove(self, edit: RuleEdit) -> None:
        self._remove_edit(edit)
        self.add.setFocus()
        self._describe()
        self.changed.emit()

    def _remove_edit(self, edit: RuleEdit) -> None:
        self.edits.remove(edit)
        discard(self._rows, edit)

    def _describe(self) -> None:
        self.more.setVisible(bool(self._remaining_rows))
        self.more.setText(f"Show {min(MOST, len(self._remaining_rows)):,} more of {len(self._remaining_rows):,}")
        more = f" {len(self._remaining_rows):,} more are kept and not shown." if self._remaining_rows else ""
        say(self.hint, f"{SOME}{more}" if self.edits else NONE)
