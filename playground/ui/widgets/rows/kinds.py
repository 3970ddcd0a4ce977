"""The kinds of rows, one for each ``Hint.editor``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit, QSizePolicy, QWidget

from playground.domain.hints import Hint
from playground.domain.parameters import Parameters
from playground.jsonkit.reading import problem_at, read_typed
from playground.jsonkit.values import JSON, is_number
from playground.ui.widgets.choice_fields import (
    DEFAULT,
    FIELD_ROOM,
    LINE_ROOM,
    ChoiceField,
    CompactCombo,
    QuietSlider,
    SwitchPill,
    ValueField,
)
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.dialogs import file_dialog
from playground.ui.widgets.form_parts import FIELD_HEIGHT, look, quiet_button, styled, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.numbers import plain_number, read_number, show_number, stepped
from playground.ui.widgets.rows.row import FieldRow, as_text
from playground.ui.widgets.segments import Segments

NUMBER_WIDTH = 140  # pixels, of a number in a dialog
UNFINISHED = {"-", "+", ".", ",", "-.", "-,", '"'}


class NumberRow(FieldRow):
    """A number field, with a slider below it if the range is known."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self._is_integer = hint.editor == "integer"
        self._step = hint.step or (1 if self._is_integer else 0.01)
        self.field = ValueField(room=LINE_ROOM if hint.zero else FIELD_ROOM)
        self.slider: QuietSlider | None = None
        self._low = hint.low if hint.low is not None else 0
        high = hint.soft_high if hint.soft_high is not None or self._is_integer else hint.high
        if high is not None and high > self._low:
            self.slider = QuietSlider(round((high - self._low) / self._step))
        self.field.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if not hint.sent:
            empty = hint.nullable or hint.start is None
            self.field.setPlaceholderText(
                hint.zero or hint.placeholder or ("none" if empty else show_number(hint.start, self._step))
            )
        self.head.addWidget(self.field)
        if self.slider is not None:
            self.body.addWidget(self.slider)
            self.slider.moved.connect(self._set_from_slider)
            self.slider.cleared.connect(self.clear)
            self._introduce(self.field, self.slider)
            self.slider.setAccessibleName(f"{hint.label}, slider")
        else:
            self._introduce(self.field)
        self.field.textEdited.connect(self._take_typed)
        self.field.editingFinished.connect(self._finish_edit)
        self.field.cleared.connect(self.clear)
        self.field.stepped.connect(self._step_value)
        self._show(None)

    def spread(self, width: int) -> None:
        self._step = self.hint.step or 1
        self.field.setFixedSize(NUMBER_WIDTH, FIELD_HEIGHT)
        self.field.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        if self.slider is not None:
            self.slider.hide()
        super().spread(width)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        is_empty = value is None or (value == 0 and bool(self.hint.zero))
        self.field.setText(
            "" if is_empty else show_number(value, self._step, self._is_integer and self.slider is not None)
        )
        self._place_slider(value)

    def _place_slider(self, value: JSON) -> None:
        if self.slider is None:
            return
        numeric = is_number(value)
        start = self.hint.start if self.hint.start is not None else self._low
        offset = (value if numeric else start) - self._low
        most = self.slider.maximum()
        self.slider.show_step(round(min(max(offset / self._step, 0), most)), numeric)

    def _take_typed(self, text: str) -> None:
        if not text.strip() or (self.hint.nullable and text.strip() == self.hint.placeholder):
            self._tell(0 if self.hint.zero else None if self.hint.nullable else self._default)
        else:
            try:
                self._tell(
                    read_number(text, self._is_integer) if self.hint.sent else plain_number(text, self._is_integer)
                )
            except ValueError as error:
                unfinished = text.strip() in UNFINISHED
                self._tell(None if self.hint.sent else self._value, "" if unfinished else str(error))
        self._place_slider(self._value)

    def _finish_edit(self) -> None:
        if self._value is not None and not self._problem:
            self._show(self._value)
        elif self.field.text().strip() in UNFINISHED:
            self._tell(None, "not a number, so it is not sent" if self.hint.sent else "not a number")

    def _set_from_slider(self, step: int) -> None:
        value = stepped(self._low + step * self._step, self._step)
        self._tell(value)
        self._show(value)

    def _step_value(self, steps: int) -> None:
        value = self._value
        if is_number(value):
            value = stepped(value + steps * self._step, self._step)
        elif self._problem:
            return
        else:
            value = self.hint.start if self.hint.start is not None else stepped(self._low, self._step)
        self._tell(value)
        self._show(value)


class SwitchRow(FieldRow):
    """A switch with the states on, off and default."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.pill = SwitchPill(hint.start if isinstance(hint.start, bool) else True)
        self.head.addWidget(self.pill)
        self.pill.switched.connect(self._set_state)
        self.pill.cleared.connect(self.clear)
        self._introduce(self.pill)
        self._show(None)

    def main_field(self) -> QWidget:
        return self.pill

    def _show(self, value: JSON) -> None:
        if value is None or isinstance(value, bool):
            self.pill.show_state(value)
        else:
            self.pill.show_state(None, as_text(value))
        self.pill.setAccessibleName(f"{self.hint.label}: {self.pill.text()}")

    def _set_state(self, state: bool) -> None:
        self._show(state)
        self._tell(state)


class TextRow(FieldRow):
    """A field for one line of text, sent as typed."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.field = ValueField(widest=160)
        self.head.addWidget(self.field)
        self.field.textEdited.connect(self._take_typed)
        self.field.cleared.connect(self.clear)
        self._introduce(self.field)
        self._show(None)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        self.field.setText(as_text(value))
        self.field.setCursorPosition(0)

    def _take_typed(self, text: str) -> None:
        self._tell(text or (None if self.hint.sent else ""))


class LineRow(FieldRow):
    """A field for one line of text of any length, exactly as typed; with a dialog for a file or folder."""

    fills_row = True

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.field = QLineEdit(placeholderText=hint.placeholder)
        if hint.secret:
            self.field.setEchoMode(QLineEdit.EchoMode.Password)
        if hint.most:
            self.field.setMaxLength(hint.most)
        self.head.addWidget(self.field, 1)
        self.browse = quiet_button("Choose…", f"Choose: {self.title}")
        self.browse.setVisible(hint.editor in ("file", "folder"))
        self.browse.clicked.connect(self._choose)
        self.head.addWidget(self.browse)
        self.field.textChanged.connect(self._take_typed)
        self._introduce(self.field)

    def spread(self, width: int) -> None:
        if self.hint.unit:
            self.head.setStretchFactor(self.field, 0)
            self.field.setFixedWidth(NUMBER_WIDTH)
        super().spread(width)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        if as_text(value) != self.field.text():
            self.field.setText(as_text(value))
            self.field.setCursorPosition(0)

    def _take_typed(self, text: str) -> None:
        self._tell(text or (None if self.hint.nullable else ""))

    def _choose(self) -> None:
        dialog = file_dialog(self, self.title, self.field.text(), self.hint.files)
        if self.hint.editor == "folder":
            dialog.setFileMode(dialog.FileMode.Directory)
            dialog.setOption(dialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.field.setText)
        dialog.open()


class WordsRow(LineRow):
    """A line with texts without spaces, separated by spaces, commas or semicolons."""

    def _show(self, value: JSON) -> None:
        if value != self._words(self.field.text()):
            super()._show(", ".join(value or ()))

    def _take_typed(self, text: str) -> None:
        self._tell(self._words(text))

    def _words(self, text: str) -> tuple[str, ...]:
        return tuple(filter(None, re.split(r"[\s,;]+", text)))


class CheckRow(FieldRow):
    """A check box with the label of the row; its help is shown below it while it is on."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.box = QCheckBox(hint.label)
        self.help = text_label(hint.help, "small", wrap=True)
        self.label.clear()
        self.label.hide()
        self.head.insertWidget(0, self.box, 1)
        self.body.addWidget(self.help)
        self.box.toggled.connect(self._set_state)
        self._introduce(self.box)
        self._show(None)

    def spread(self, width: int) -> None:
        self.label.show()
        super().spread(width)

    def main_field(self) -> QWidget:
        return self.box

    def _show(self, value: JSON) -> None:
        self.box.setChecked(value is True)
        self.help.setVisible(value is True and bool(self.hint.help))

    def _set_state(self, state: bool) -> None:
        self.help.setVisible(state and bool(self.hint.help))
        self._tell(state)


class PickRow(FieldRow):
    """A row to pick one of the choices in a combo box."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.field = CompactCombo()
        for _, words in hint.choices:
            self.field.addItem(words)
        self.field.activated.connect(self._picked)
        self.head.addWidget(self.field)
        self._introduce(self.field)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        values = [choice for choice, _ in self.hint.choices]
        self.field.setCurrentIndex(values.index(value) if value in values else -1)

    def _picked(self, index: int) -> None:
        self._tell(self.hint.choices[index][0])


class SegmentsRow(FieldRow):
    """A row to pick one of a few choices, all in view."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.field = Segments(tuple(words for _, words in hint.choices), self.title, tall=True)
        self.field.chosen.connect(self._picked)
        self.head.addWidget(self.field)
        self._introduce(self.field)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        values = [choice for choice, _ in self.hint.choices]
        self.field.set_index(values.index(value) if value in values else 0)

    def _picked(self, index: int) -> None:
        self._tell(self.hint.choices[index][0])


class LinesRow(FieldRow):
    """A field for a text of several lines, below its name."""

    MOST_LINES = 8
    fills_row = True

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.field = styled(GrowingField(most=self.MOST_LINES, compact=True), "field")
        self.field.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.field.setPlaceholderText(hint.placeholder)
        self.body.addSpacing(2)
        self.body.addWidget(self.field)
        self._introduce(self.field)
        self.field.textChanged.connect(self._take_typed)
        self._show(None)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        text = as_text(value)
        if text != self.field.text():
            self.field.set_text(text)

    def _take_typed(self) -> None:
        self._tell(self.field.text() or (None if self.hint.sent or self.hint.nullable else ""))


class ChoiceRow(FieldRow):
    """A field with suggestions that takes any text."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.field = ChoiceField() if hint.sent else ChoiceField(hint.placeholder or f"default ({as_text(hint.start)})")
        self.field.set_choices(hint.suggestions)
        self.head.addWidget(self.field)
        self.field.picked.connect(self._set_choice)
        self._introduce(self.field)
        self._show(None)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        self.field.show_text(as_text(value))

    def _set_choice(self, text: str | None) -> None:
        self._tell(self._default if text is None else text)
        if text is None:
            self._show(self._default)


class ToolChoiceRow(ChoiceRow):
    """A choice of the protocol's words and tool names; each is sent in the spelling of the protocol."""

    WORDS = ("auto", "none", "required")

    def __init__(
        self,
        name: str,
        hint: Hint,
        spell_tool: Callable[[str], JSON],
        parent: QWidget | None = None,
    ) -> None:
        self._words = hint.suggestions or self.WORDS
        self._names: tuple[str, ...] = ()
        self._spell_tool = spell_tool
        super().__init__(name, hint, parent)
        self.set_tool_names(())

    def set_tool_names(self, names: tuple[str, ...]) -> None:
        """Offer tools by name; a name equal to one of the protocol's words means the word."""
        self._names = tuple(dict.fromkeys(name for name in names if name and name not in self._words))
        self.field.set_choices((*self._words, *self._names))

    def _show(self, value: JSON) -> None:
        self.field.show_text(self._read(value))

    def _read(self, value: JSON) -> str:
        if isinstance(value, dict):
            inner = value.get("function")
            name = value.get("name") or (inner.get("name") if isinstance(inner, dict) else None)
            if isinstance(name, str) and value == self._spell_tool(name):
                return name
        return as_text(value)

    def _set_choice(self, text: str | None) -> None:
        if text is None or text in self._words:
            self._tell(text)
        elif text in self._names:
            self._tell(self._spell_tool(text))
        elif text.lstrip().startswith("{"):
            self._set_typed(text)
        else:
            self._tell(text)


class JsonRow(FieldRow):
    """A small JSON editor. Invalid text stays in the editor, is marked, and is not sent."""

    MOST_LINES = 10
    fills_row = True

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.editor = CodeEditor()
        self.editor.setPlaceholderText(DEFAULT if hint.sent else "{…}")
        self.editor.set_wheel_needs_focus()
        self.editor.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.body.addSpacing(4)
        self.body.addWidget(self.editor)
        self._introduce(self.editor)
        self.editor.setAccessibleDescription(f"{self._help()}\nTab indents. Shift+Tab or Ctrl+Tab leaves the field.")
        self.editor.textChanged.connect(self._take_typed)
        self._grow()

    def main_field(self) -> QWidget:
        return self.editor

    def _help(self) -> str:
        start = self.hint.start
        example = "" if start is None else f"\nFor example {json.dumps(start, ensure_ascii=False)}"
        return super()._help() + example

    def _show(self, value: JSON) -> None:
        text = "" if value is None else pretty_value(value)
        self.editor.setPlainText(text)
        self.editor.clear_marks()
        look(self.editor, "false", "bad")
        self._grow()

    def _take_typed(self) -> None:
        self._grow()
        if self._showing:
            return
        text = self.editor.text()
        self.editor.clear_marks()
        problem = problem_at(text) if text.strip() else None
        look(self.editor, "true" if problem else "false", "bad")
        if problem is not None:
            self.editor.mark(problem.line, problem.column, problem.message)
            suffix = ", so it is not sent" if self.hint.sent else ""
            self._tell(None, f"not JSON yet{suffix}: line {problem.line}, {problem.message}")
        else:
            self._tell(read_typed(text) if text.strip() else None)

    def _grow(self) -> None:
        lines = min(max(self.editor.document().blockCount(), 1), self.MOST_LINES)
        self.editor.setFixedHeight(lines * self.editor.fontMetrics().lineSpacing() + 18)


def row_for(name: str, hint: Hint, kind: type[Parameters] = Parameters, parent: QWidget | None = None) -> FieldRow:
    """Create the row of a field, for parameters of a ``kind``.

    An unknown editor gets the JSON row, which can show every value.
    """
    from playground.ui.widgets.rows.list_row import ListRow
    from playground.ui.widgets.rows.model_row import ModelRow
    from playground.ui.widgets.rows.thinking_row import ThinkingRow

    if hint.editor == "tool_choice":
        return ToolChoiceRow(name, hint, kind.tool_choice_for, parent)
    rows: dict[str, Callable[[str, Hint, QWidget | None], FieldRow]] = {
        "number": NumberRow,
        "integer": NumberRow,
        "switch": SwitchRow,
        "check": CheckRow,
        "line": LineRow,
        "words": WordsRow,
        "file": LineRow,
        "folder": LineRow,
        "pick": PickRow,
        "segments": SegmentsRow,
        "text": TextRow,
        "lines": LinesRow,
        "choice": ChoiceRow,
        "list": ListRow,
        "model": ModelRow,
        "thinking": ThinkingRow,
    }
    return rows.get(hint.editor, JsonRow)(name, hint, parent)
