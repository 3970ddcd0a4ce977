"""The form of a protocol's parameters, made by walking their fields.

It gets a ``Parameters`` value and hands back a new one; it holds no truth and knows no protocol. Adding a parameter
must not touch this folder.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from playground.domain.parameters import Parameters
from playground.jsonkit.values import JSON
from playground.ui.widgets.form_parts import paragraph, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.rows.kinds import ToolChoiceRow, row_for
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.scroll_page import ScrollPage, column_of

NOTHING: Mapping[str, str] = {}
ROW_GAP = 12
GROUP_GAP = 16


class ParameterPanel(ScrollPage):
    """``set_value`` shows parameters, ``changed`` tells the new value. Each type has a form of its own."""

    changed = Signal(object)

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        kind: type[Parameters] = Parameters,
        only: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
    ) -> None:
        """``kind`` is shown first; ``only`` these groups (all of them when empty), and ``without`` those shown
        elsewhere.
        """
        super().__init__(parent)
        self._only = only
        self._without = without
        self._value: Parameters = kind()
        self._flags: Mapping[str, str] = NOTHING
        self._notes: Mapping[str, str] = NOTHING
        self._type: type[Parameters] | None = None
        self._tool_names: tuple[str, ...] = ()
        self._extras: list[tuple[str, QWidget]] = []
        self._forms: dict[type[Parameters], _Form] = {}
        self.rows: dict[str, FieldRow] = {}
        self.also_sent = paragraph("", "small")
        self._show_form(kind)

    @property
    def value(self) -> Parameters:
        """The parameters as shown."""
        return self._value

    def set_value(
        self,
        parameters: Parameters,
        flags: Mapping[str, str] = NOTHING,
        notes: Mapping[str, str] = NOTHING,
        *,
        fresh: bool = False,
    ) -> None:
        """Show parameters. Unfinished text (a number half typed) stays unless ``fresh`` says they are another's.

        ``flags`` say of fields, by name, what else does not go with them, ``notes`` what else is known of them.
        """
        if type(parameters) is not self._type:
            self._show_form(type(parameters))
            fresh = True
        self._value, self._flags, self._notes = parameters, flags, notes
        for name, row in self.rows.items():
            row.show_value(getattr(parameters, name), self._flag(name), self._note(name), fresh=fresh)
        others = ", ".join(parameters.model_extra or {})
        self.also_sent.setText(f"Also sent as it is: {show_hidden(others)}")
        self.also_sent.setVisible(bool(others))

    def show_row(self, *names: str) -> None:
        """Bring a parameter into view, ready to be changed: of those named as in the body, one that is set first."""
        hints = dict((self._type or Parameters).hints())
        wanted = [name.partition(".")[0].partition("[")[0] for name in names]
        found = [field for field in self.rows if (hints[field].path or field).partition(".")[0] in wanted]
        if found:
            row = self.rows[next((field for field in found if getattr(self._value, field) is not None), found[0])]
            self.ensureWidgetVisible(row)
            row.main_field().setFocus(Qt.FocusReason.OtherFocusReason)

    def set_tool_names(self, names: list[str]) -> None:
        """The tools a tool choice may name."""
        self._tool_names = tuple(names)
        for row in self.rows.values():
            if isinstance(row, ToolChoiceRow):
                row.set_tool_names(self._tool_names)

    def add_extra(self, group: str, label: str, field: QWidget) -> None:
        """Put a control that is no parameter at the end of a group, in the look of the rows; it stays on rebuilds."""
        row = QWidget()
        name = QLabel(label, wordWrap=True)
        name.setBuddy(field)
        if not field.accessibleName():
            field.setAccessibleName(label)
        in_row((name, 1), field, of=row, margins=0, spacing=8)
        self._extras.append((group, row))
        self._group(group).addWidget(row)

    def _show_form(self, kind: type[Parameters]) -> None:
        """The form of a type, made once, with the extras."""
        self._type = kind
        if (before := self.takeWidget()) is not None:
            before.hide()
            before.setParent(self)  # goes when the panel goes
        made = self._forms.get(kind)
        self._form = form = made or _Form()
        self.setWidget(form.content)
        form.content.show()
        self.rows = form.rows
        form.column.insertWidget(len(form.groups), self.also_sent)
        if made is None:
            form.column.addStretch(1)
            self._forms[kind] = form
            for name, hint in kind.hints():
                if hint.group in self._without or (self._only and hint.group not in self._only):
                    continue
                row = row_for(name, hint, kind, form.content)
                row.edited.connect(self._edited)
                self.rows[name] = row
                self._group(hint.group).addWidget(row)
        for group, extra in self._extras:
            self._group(group).addWidget(extra)
        self.set_tool_names(list(self._tool_names))
        self.also_sent.hide()

    def _group(self, title: str) -> QVBoxLayout:
        form = self._form
        if title not in form.groups:
            heading = text_label(title, "group")
            box = in_column(heading, spacing=ROW_GAP)
            form.groups[title] = box
            form.column.insertLayout(len(form.groups) - 1, box)
        return form.groups[title]

    def _edited(self, name: str, value: JSON) -> None:
        self._value = self._value.with_value(name, value)
        for known, row in self.rows.items():  # one field may decide whether another is sent
            row.set_flag(self._flag(known), self._note(known))
        self.changed.emit(self._value)

    def _note(self, name: str) -> str:
        return "\n".join(filter(None, (self._value.note(name), self._notes.get(name, ""))))

    def _flag(self, name: str) -> str:
        return "\n".join(filter(None, (self._value.flag(name), self._flags.get(name, ""))))


class _Form:
    """What is made for one type of parameters."""

    def __init__(self) -> None:
        self.content, self.column = column_of(GROUP_GAP)
        self.groups: dict[str, QVBoxLayout] = {}
        self.rows: dict[str, FieldRow] = {}
