"""Editor for the adaptation rules of a gateway, which change or leave out fields that it does not accept."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from playground.domain.adaptations import AdaptationKind
from playground.domain.hidden import short_name
from playground.engine.requests.protocol_info import TITLES
from playground.ui.features.gateways.rule_row import RuleRow
from playground.ui.widgets.form_parts import keep_from_wheel, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.row_list import ListRow, RowList

WHY: Final = 200  # characters of the gateway's error message
DEEDS: Final = (
    (AdaptationKind.OMIT, "Leave out", "field, such as stream_options", ""),
    (AdaptationKind.RENAME, "Rename", "field, such as max_tokens", "its other name"),
    (AdaptationKind.REPLACE, "Replace", "field, such as tool_choice", 'value as JSON, such as "auto"'),
    (AdaptationKind.ROLE, "Role", "role, such as developer", "the role that is sent"),
)
NONE = "None yet. If a gateway refuses a field, its error offers to always omit it; the rule is listed here."
SOME = "Rules change values from the panels and the conversation. Extra body fields are sent unchanged."


class RuleEdit(ListRow[RuleRow]):
    """Fields of a rule. ``from_list`` marks a rule from the list of services."""

    def __init__(self, row: RuleRow, *, from_list: bool = False) -> None:
        super().__init__("rule")
        self._row = row
        self.on = QCheckBox()
        self.on.setChecked(row.on)
        self.on.setToolTip("Apply this rule")
        self.deed = QComboBox()
        self.deed.setAccessibleName("Action")
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
        self.note = text_label("", "small", wrap=True)
        first = in_row(self.on, self.deed, (self.field, 3), (self.to, 3), self.remove, spacing=8)
        second = in_row(self.protocol, (self.model, 1), margins=(26, 0, 32, 0), spacing=8)
        in_column(first, second, self.note, parent=self, margins=0, spacing=4)
        reason = f"“{row.why[:WHY]}”" if row.why else ""
        source = "from the list of services" if from_list else f"learned {row.learnt}" if row.learnt else ""
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

    @property
    def start(self) -> QWidget:
        """The field that gets the focus in a new rule."""
        return self.field

    def _edited(self, *_: object) -> None:
        self._update_fields()
        self.changed.emit()

    def _update_fields(self) -> None:
        kind = AdaptationKind(self.deed.currentData())
        field, to = next((field, to) for deed, _, field, to in DEEDS if deed is kind)
        self.field.setPlaceholderText(field)
        self.field.setAccessibleName("Role of the rule" if kind is AdaptationKind.ROLE else "Field of the rule")
        self.to.setPlaceholderText(to)
        self.to.setAccessibleName("Replacement")
        self.to.setVisible(kind is not AdaptationKind.OMIT)
        self.on.setAccessibleName(f"Follow the rule for {short_name(self.field.text()) or 'a new field'}")


class RulesEdit(RowList[RuleRow, RuleEdit]):
    """List of all rules, with a button to add one."""

    def __init__(self) -> None:
        self._from_list: tuple[RuleRow, ...] = ()
        super().__init__(
            "rule",
            lambda row: RuleEdit(row, from_list=row in self._from_list),
            lambda: RuleRow.blank(next(iter(TITLES))),
            spacing=12,
            about="Add a rule for a field that this gateway does not take",
        )

    def show_rules(self, rows: tuple[RuleRow, ...], from_list: tuple[RuleRow, ...]) -> None:
        """Show these rules; ``from_list`` are the rules from the list of services."""
        self._from_list = from_list
        self.set_rows(rows)

    def hint_words(self) -> str:
        """Return what rules do, or that there are none."""
        return SOME if self.edits else NONE
