"""Base of the rows of a form: a name, a reset button, and a line for warnings.

A row shows one value and emits ``edited`` with the value that a person enters. For a parameter that is sent, None is
the default and nothing is sent. A setting that is not sent shows its default, and keeps its last value while the typed
text is invalid.
"""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from playground.domain.hints import Hint
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSON, is_number, same
from playground.ui.widgets.form_parts import FIELD_HEIGHT, look, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import escape_hidden, show_hidden, tip


def as_text(value: JSON) -> str:
    """Return a string unchanged and any other value as JSON; empty for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else escape_hidden(json.dumps(value, ensure_ascii=False))


#: The tooltip of a value that the app sends by default.
APP_DEFAULT = "Sent by default. Remove to omit."


class FieldRow(QWidget):
    """Base of the rows. ``edited`` carries the field's name and the new value.

    ``problem_changed`` is emitted for an edit that leaves the value, but not the problem.
    """

    edited = Signal(str, object)
    problem_changed = Signal(str)
    #: True for a control that is as wide as its row in a dialog.
    fills_row = False

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self.hint = hint
        self._default: JSON = None if hint.sent else hint.start
        self._value: JSON = None
        self._problem = ""
        self._flag = self._note = ""
        self._showing = False  # the content of the control is set, not edited
        self._is_app_default = self._is_wide = False
        self.title = hint.label.replace("&", "")
        self.label = QLabel(hint.label, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.reset = IconButton("close", f"Back to default: {self.title} (Delete)", size=12)
        self.reset.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.reset.setFixedSize(20, 20)
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)
        self.reset.clicked.connect(self.clear)
        self.flag_label = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True, indent=0)
        self.flag_label.setObjectName("problem")
        self.flag_label.hide()
        self.head = in_row((self.label, 1), self.reset, spacing=4)
        self.body = in_column(self.head, margins=0, spacing=0)
        self._halves = in_row((self.body, 1), parent=self, margins=0, spacing=16)
        self.setToolTip(tip(self._help()))
        self._update_style()

    @property
    def value(self) -> JSON:
        """The value; for a parameter that is sent, None means the default or a text that cannot be sent yet."""
        return self._value

    @property
    def problem(self) -> str:
        """The reason why the content of the field is not used; empty if it is used."""
        return self._problem

    def show_value(self, value: JSON, flag: str = "", note: str = "", *, fresh: bool = False) -> None:
        """Show a value. Unfinished text is preserved while the value is the last one emitted, unless ``fresh``."""
        if fresh or not same(value, self._value, exact=False):
            self._value = value
            self._problem = ""
            self._display(value)
        self.set_flag(flag, note)

    def set_flag(self, flag: str, note: str = "") -> None:
        """Show a warning about a value that is sent nevertheless, or else a note."""
        self._flag, self._note = flag, note
        text = self._problem or flag or note
        self.flag_label.setText(show_hidden(text))
        look(self.flag_label, "flag-error" if self._problem else "flag" if flag else "small")
        self.flag_label.setVisible(bool(text))
        self._update_style()

    def set_app_default(self, is_app_default: bool) -> None:
        """Show that the app sends the value by default; a person did not set it."""
        self._is_app_default = is_app_default
        self.setToolTip(tip("\n".join(filter(None, (self._help(), APP_DEFAULT if is_app_default else "")))))
        self._update_style()

    def clear(self) -> None:
        """Set the default."""
        self._display(self._default)
        self._tell(self._default)

    def refuse(self, problem: str, value: JSON) -> None:
        """Show why the last edit was rejected and restore ``value``; the typed text stays in the field."""
        self._problem, self._value = problem, value
        self.set_flag(self._flag, self._note)

    def spread(self, width: int) -> None:
        """Put the name beside the control, in a column of this width in pixels, and the unit after the control."""
        self._is_wide = True
        self.head.removeWidget(self.label)
        self.reset.setParent(None)  # an emptied field is at its default
        self.reset.deleteLater()
        self._halves.insertWidget(0, self.label, 0, Qt.AlignmentFlag.AlignTop)
        self.label.setFixedWidth(width)
        self.label.setMinimumHeight(FIELD_HEIGHT)
        self.head.setSpacing(8)
        self.body.setSpacing(4)
        if self.hint.unit:
            self.head.addWidget(text_label(self.hint.unit, "small", wrap=True), 1)
        elif not self.fills_row:
            self.head.addStretch(1)

    def main_field(self) -> QWidget:
        """Return the control that takes the focus for this row."""
        raise NotImplementedError

    def _show(self, value: JSON) -> None:
        """Show a value in the control; signals of the control change nothing meanwhile."""
        raise NotImplementedError

    def _display(self, value: JSON) -> None:
        self._showing = True
        self._show(value)
        self._showing = False

    def _tell(self, value: JSON, problem: str = "") -> None:
        """Take ``value`` from a person and emit ``edited``; with a ``problem`` the text stays and nothing is set."""
        if self._showing:
            return
        if not self.hint.sent and not problem:
            problem = self._out_of_range(value)
        problem_changed = problem != self._problem
        self._problem = problem
        new = value if not problem else None if self.hint.sent else self._value
        changed = not same(new, self._value, exact=False)
        self._value = new
        self.set_flag(*(("", "") if changed else (self._flag, self._note)))
        if changed:
            self.edited.emit(self.name, new)
        elif problem_changed:
            self.problem_changed.emit(self.name)

    def _set_typed(self, text: str) -> None:
        """Take typed JSON as the value, or show its syntax error."""
        try:
            value = read_typed(text)
        except JsonTextError as error:
            self._tell(None, f"not JSON: {error.message}")
        else:
            self._tell(value)

    def _out_of_range(self, value: JSON) -> str:
        low, high = self.hint.low, self.hint.high
        if not is_number(value) or ((low is None or value >= low) and (high is None or value <= high)):
            return ""
        return self._range

    @property
    def _range(self) -> str:
        low, high = self.hint.low, self.hint.high
        least, most = (f"{bound:,.10g}" if bound is not None else "" for bound in (low, high))
        return f"from {least} to {most}" if least and most else f"{least} or more" if least else f"at most {most}"

    def _introduce(self, *fields: QWidget) -> None:
        """Give the row's controls their names for screen readers and put the flag's line last."""
        for field in fields:
            field.setAccessibleName(self.title)
            field.setAccessibleDescription(self._help())
        self.label.setBuddy(self.main_field())
        self.setFocusProxy(self.main_field())
        self.body.addWidget(self.flag_label)

    def _help(self) -> str:
        hint = self.hint
        lines = [hint.help]
        if not hint.sent:
            bounded = hint.low is not None or hint.high is not None
            return f"{hint.help}\n{self._range[:1].upper()}{self._range[1:]}." if bounded else hint.help
        if hint.low is not None and hint.high is not None:
            lines.append(f"Documented range: {hint.low:g} to {hint.high:g}.")
        lines.append(f"Sent as {hint.path or self.name}; left out while it is at default.")
        return "\n".join(line for line in lines if line)

    def _update_style(self) -> None:
        is_set = not same(self._value, self._default) or bool(self._problem)
        look(self.label, "" if (is_set and not self._is_app_default) or not self.hint.sent else "muted")
        if not self._is_wide:
            self.reset.setVisible(is_set)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the focus to the field after a click on its name."""
        if self.label.geometry().contains(event.position().toPoint()):
            self.main_field().setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)
