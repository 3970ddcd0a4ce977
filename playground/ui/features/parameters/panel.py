"""The form of a protocol's parameters, made by walking their fields.

It gets a ``Parameters`` value and hands back a new one; it holds no truth and knows no protocol. Adding a parameter
must not touch this folder.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from playground.domain.parameters import Parameters
from playground.jsonkit.values import JSON
from playground.ui.widgets.fold import Fold
from playground.ui.widgets.form_parts import paragraph, text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.rows.kinds import ToolChoiceRow, row_for
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.scroll_page import ScrollPage

NOTHING: Mapping[str, str] = {}
MORE = "More parameters"
UNAVAILABLE = "Not in this API"
ROW_GAP = 12
GROUP_GAP = 16


class ParameterPanel(ScrollPage):
    """``set_value`` shows parameters, ``changed`` reports a new value. Each protocol has a form of its own.

    ``fold_toggled`` reports the title of a fold that a person opened or closed.
    """

    changed = Signal(object)
    fold_toggled = Signal(str, bool)

    def __init__(
        self, parent: QWidget | None = None, *, kind: type[Parameters] = Parameters, without: tuple[str, ...] = ()
    ) -> None:
        """``kind`` is shown first; the groups ``without`` are shown elsewhere."""
        super().__init__(parent)
        self._without = without
        self._value: Parameters = kind()
        self._flags: Mapping[str, str] = NOTHING
        self._notes: Mapping[str, str] = NOTHING
        self._tool_names: tuple[str, ...] = ()
        self._more_open = False
        self._forms: dict[type[Parameters], ParameterForm] = {}
        self._sections: dict[str, Fold] = {}
        self.also_sent = paragraph("", "small")
        self._column = self.fill(GROUP_GAP)
        self._column.addWidget(self.also_sent)
        self._column.addStretch(1)
        self._show_form(kind)

    @property
    def value(self) -> Parameters:
        """The parameters as shown."""
        return self._value

    @property
    def rows(self) -> Mapping[str, FieldRow]:
        """The rows of the form in view, by field."""
        return self._form.rows

    def set_value(
        self,
        parameters: Parameters,
        flags: Mapping[str, str] = NOTHING,
        notes: Mapping[str, str] = NOTHING,
        *,
        fresh: bool = False,
    ) -> None:
        """Show parameters. Unfinished text (a number half typed) stays unless ``fresh``: for another experiment.

        ``flags`` are further warnings and ``notes`` further remarks, by field.
        """
        if type(parameters) is not type(self._value):
            self._show_form(type(parameters))
            fresh = True
        self._value, self._flags, self._notes = parameters, flags, notes
        for name, row in self.rows.items():
            row.show_value(getattr(parameters, name), self._flag(name), self._note(name), fresh=fresh)
            row.set_app_default(parameters.is_ours(name))
        self._form.show_changed(self._changed_fields())
        others = ", ".join(parameters.model_extra or {})
        self.also_sent.setText(f"Also sent unchanged: {show_hidden(others)}")
        self.also_sent.setVisible(bool(others))

    def show_row(self, *names: str) -> None:
        """Move to the row of one of these body members, first to one that is set."""
        hints = dict(type(self._value).hints())
        members = [name.partition(".")[0].partition("[")[0] for name in names]
        fields = [field for field in self.rows if (hints[field].path or field).partition(".")[0] in members]
        if fields:
            field = next((field for field in fields if getattr(self._value, field) is not None), fields[0])
            if field in self._form.uncommon:
                self._form.more.set_open(True)
            self._move_to(self.rows[field].main_field(), self.rows[field])

    def show_section(self, title: str, field: QWidget) -> None:
        """Open the section of this title and move to a field in it."""
        self._sections[title].set_open(True)
        self._move_to(field, field)

    def _move_to(self, field: QWidget, row: QWidget) -> None:
        """Put the cursor into a field; scroll its row into view."""
        self._column.activate()  # an opened fold has its height now, not after the next layout pass
        self.ensureWidgetVisible(row)
        field.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_tool_names(self, names: list[str]) -> None:
        """Offer these tools as tool choice."""
        self._tool_names = tuple(names)
        for row in self.rows.values():
            if isinstance(row, ToolChoiceRow):
                row.set_tool_names(self._tool_names)

    def add_section(self, title: str, content: QWidget) -> Fold:
        """Put further settings below the parameters, in a fold."""
        fold = self._sections[title] = Fold(title, content)
        fold.toggled.connect(lambda is_open: self.fold_toggled.emit(title, is_open))
        self._column.insertWidget(self._column.count() - 1, fold)
        return fold

    def section(self, title: str) -> Fold:
        """Return the fold of a section."""
        return self._sections[title]

    def set_open(self, title: str, is_open: bool) -> None:
        """Open or close the fold of this title."""
        if title in self._sections:
            self._sections[title].set_open(is_open)
        else:
            self._more_open = is_open
            self._form.more.set_open(is_open)

    def _show_form(self, kind: type[Parameters]) -> None:
        for form in self._forms.values():
            form.hide()
        form = self._forms.get(kind) or self._make_form(kind)
        self._form = form
        form.more.set_open(self._more_open)
        form.show()
        self.set_tool_names(list(self._tool_names))
        self.also_sent.hide()

    def _make_form(self, kind: type[Parameters]) -> ParameterForm:
        form = self._forms[kind] = ParameterForm(kind, self._without)
        for row in form.rows.values():
            row.edited.connect(self._edited)
        form.more.toggled.connect(self._more_toggled)
        self._column.insertWidget(0, form)
        return form

    def _more_toggled(self, is_open: bool) -> None:
        self._more_open = is_open
        self.fold_toggled.emit(MORE, is_open)

    def _edited(self, name: str, value: JSON) -> None:
        self._value = self._value.with_value(name, value)
        for field, row in self.rows.items():  # whether a field is sent may depend on another one
            row.set_flag(self._flag(field), self._note(field))
            row.set_app_default(self._value.is_ours(field))
        self._form.show_changed(self._changed_fields())
        self.changed.emit(self._value)

    def _changed_fields(self) -> frozenset[str]:
        """The fields whose value is neither omitted nor the app's default."""
        values = {name: getattr(self._value, name) for name in self.rows}
        return frozenset(name for name, row in self.rows.items() if values[name] not in (None, row.hint.ours))

    def _note(self, name: str) -> str:
        note = "" if self._value.is_ours(name) else self._value.note(name)
        return "\n".join(filter(None, (note, self._notes.get(name, ""))))

    def _flag(self, name: str) -> str:
        return "\n".join(filter(None, (self._value.flag(name), self._flags.get(name, ""))))


class ParameterForm(QWidget):
    """The rows of one protocol: the common ones, then a fold with the others in their groups."""

    def __init__(self, kind: type[Parameters], without: tuple[str, ...]) -> None:
        super().__init__()
        hints = [(name, hint) for name, hint in kind.hints() if hint.group not in without]
        others = QWidget()
        self.rows: dict[str, FieldRow] = {}
        self.more = Fold(MORE, others)
        self._changed: frozenset[str] = frozenset()
        column = in_column(parent=self, margins=0, spacing=ROW_GAP)
        for name, hint in sorted(hints, key=lambda item: item[1].common):
            if hint.common:
                row = self.rows[name] = row_for(name, hint, kind, self)
                column.addWidget(row)
        column.addWidget(self.more)
        below = in_column(parent=others, margins=(0, 6, 0, 0), spacing=GROUP_GAP)
        groups: dict[str, QVBoxLayout] = {}
        for name, hint in hints:
            if not hint.common:
                if hint.group not in groups:
                    groups[hint.group] = in_column(text_label(hint.group, "group"), spacing=ROW_GAP)
                    below.addLayout(groups[hint.group])
                row = self.rows[name] = row_for(name, hint, kind, others)
                groups[hint.group].addWidget(row)
        if kind.unavailable:
            reasons = (paragraph(f"{label}: {reason}", "small") for label, reason in kind.unavailable.items())
            below.addLayout(in_column(text_label(UNAVAILABLE, "group"), *reasons, spacing=ROW_GAP))
        self.uncommon = frozenset(name for name, hint in hints if not hint.common)
        self.more.setVisible(bool(self.uncommon))
        self.show_changed(frozenset())

    def show_changed(self, fields: frozenset[str]) -> None:
        """Show how many of the folded parameters are changed; open the fold when there is a new one."""
        changed = fields & self.uncommon
        if changed - self._changed:
            self.more.set_open(True)
        self._changed = changed
        count = str(len(self.uncommon))
        self.more.set_count(f"{count} · {len(changed)} changed" if changed else count)
