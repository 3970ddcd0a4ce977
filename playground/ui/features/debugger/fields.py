"""Fields of the debugger's dialogs: a number, a JSONPath, and an answer with its options."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QLabel, QLineEdit, QSizePolicy, QWidget

from playground.domain.debugging import Answer
from playground.domain.hints import Hint
from playground.engine.questions.kinds import Fit, PathFits
from playground.jsonkit.reading import problem_at
from playground.jsonkit.values import JSON
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import keep_from_wheel, look, paragraph, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.rows.row import FieldRow, as_text
from playground.ui.widgets.theme import code_font
from playground.ui.widgets.widget_questions import WidgetQuestions

LARGEST = 64_000_000
EXAMPLE_PATH = "$[?@.city == 'Oslo']"
FRAME = 18  # pixels of border and padding above and below the lines of an editor
MAX_CHECKED = 200_000  # characters; longer texts are not checked while typing


class NumberField(QDoubleSpinBox):
    """A number from 0 on, where 0 shows as a word. An emptied field is 0; a comma counts as the decimal point.

    `edited` after each change by a person.
    """

    edited = Signal()

    def __init__(self, name: str, zero: str, *, whole: bool, most: float = LARGEST, help_text: str = "") -> None:
        super().__init__()
        styled(self, "field")
        self._whole = whole
        self.setLocale(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
        self.setDecimals(0 if whole else 3)
        self.setRange(0, most)
        self.setSpecialValueText(zero)
        self.setGroupSeparatorShown(whole)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setAccessibleName(name)
        self.setAccessibleDescription(help_text)
        self.setToolTip(tip(help_text or name))
        keep_from_wheel(self)
        self.valueChanged.connect(self.edited)

    def show_value(self, value: float) -> None:
        """Show a number without a signal."""
        if value != self.value():
            self.blockSignals(True)
            self.setValue(value)
            self.blockSignals(False)

    def textFromValue(self, value: float) -> str:
        text = super().textFromValue(value)
        return text if self._whole or "." not in text else text.rstrip("0").rstrip(".")

    def valueFromText(self, text: str) -> float:
        return super().valueFromText(self._plain(text)) if text.strip() else 0

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        return super().validate(self._plain(text), position) if text.strip() else (QValidator.State.Acceptable, text, 0)

    def _plain(self, text: str) -> str:
        return text if self._whole else text.replace(",", ".")


class PathField(QWidget):
    """A JSONPath, checked while it is typed against the latest call. `edited` carries each text, valid or not."""

    edited = Signal(str)

    def __init__(self, name: str, placeholder: str = EXAMPLE_PATH) -> None:
        super().__init__()
        self._latest: str | None = None
        self._questions = WidgetQuestions(self)
        self._questions.answered.connect(self._check)
        self.line = styled(QLineEdit(), "field")
        self.line.setFont(code_font())
        self.line.setPlaceholderText(placeholder)
        self.line.setAccessibleName(name)
        self.line.setMaxLength(10_000)
        self.message = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.message.hide()
        in_column(self.line, self.message, parent=self, margins=0, spacing=2)
        self.setFocusProxy(self.line)
        self.line.textEdited.connect(self._type)

    def show_path(self, path: str, latest: str | None = None) -> None:
        """Show a path, and check it against `latest`, the raw arguments of a call."""
        self._latest = latest
        if path != self.line.text():
            self.line.setText(path)
        self._check()

    def _type(self, text: str) -> None:
        self._check()
        self.edited.emit(text)

    def _check(self) -> None:
        text = self.line.text()
        fit = self._questions.ask(PathFits(text, self._latest), alone=True) if text else Fit()
        words, invalid = _path_words(fit), bool(fit is not None and fit.problem)
        self.message.setText(words)
        self.message.setVisible(bool(words))
        look(self.message, "flag-error" if invalid else "small")
        look(self.line, "true" if invalid else "false", "bad")
        self.line.setAccessibleDescription(words)


def _path_words(fit: Fit | None) -> str:
    if fit is None:
        return "Checking…"
    if fit.problem:
        return f"Not a JSONPath: {show_hidden(fit.problem)}"
    if fit.costly:
        return f"Too costly to check against the latest call: {fit.costly}."
    return {True: "Matches the latest call.", False: "Does not match the latest call.", None: ""}[fit.fits]


class PathRow(FieldRow):
    """The row of a JSONPath. ``latest`` are the raw arguments of the latest call, against which it is checked."""

    fills_row = True

    def __init__(self, name: str, hint: Hint) -> None:
        super().__init__(name, hint)
        self.latest: str | None = None
        self.field = PathField(self.title, hint.placeholder)
        self.body.addWidget(self.field)
        self._introduce(self.field.line)
        self.field.edited.connect(self._tell)

    def main_field(self) -> QWidget:
        return self.field.line

    def show_latest(self, arguments: str | None) -> None:
        """Check the path against the arguments of another call; None: there is none."""
        if arguments != self.latest:
            self.latest = arguments
            self._display(self.value)

    def _show(self, value: JSON) -> None:
        self.field.show_path(as_text(value), self.latest)


class AnswerField(QWidget):
    """An answer: its text with `least` to `most` lines, or filling its parent, and its options.

    A text that looks like JSON and is not is pointed out; any text can be sent. `changed` carries the edited answer.
    """

    changed = Signal(object)

    def __init__(
        self,
        caption: str = "Answer",
        parent: QWidget | None = None,
        *,
        least: int = 3,
        most: int = 12,
        fills: bool = False,
    ) -> None:
        super().__init__(parent)
        self._answer = Answer()
        self._showing = False
        self._least, self._most, self._fills = least, most, fills
        self.text = CodeEditor()
        self.text.setAccessibleName(caption)
        self.text.setPlaceholderText('Text or JSON: {"temp": 21}')
        self.text.set_wheel_needs_focus()
        policy = QSizePolicy.Policy.Expanding
        self.text.setSizePolicy(policy, policy if fills else QSizePolicy.Policy.Fixed)
        self.format_button = IconButton("format", "Format JSON (Ctrl+Shift+F)")
        self.format_button.setFixedSize(22, 22)
        self.kind = text_label("", "small")
        self.problem = paragraph("", "flag")
        self.is_error = _check_box("Error", "Mark the result as an error (is_error)")
        self.never = _check_box("No reply (time out)", "Simulates a timeout until Stop")
        self.delay = NumberField("Delay in seconds", "0", whole=False)
        self.length = NumberField("Length in characters; the text is repeated", "text", whole=True)
        self._arrange(caption)
        self.text.textChanged.connect(self._edit)
        self.format_button.clicked.connect(self.text.format_json)
        for box in (self.is_error, self.never):
            box.toggled.connect(self._edit)
        for field in (self.delay, self.length):
            field.edited.connect(self._edit)
        self._fit_height()
        self._check()

    @property
    def answer(self) -> Answer:
        """The answer as edited."""
        return self._answer

    def set_answer(self, answer: Answer) -> None:
        """Show an answer without a signal. The same text keeps its cursor and its undo history."""
        self._answer = answer
        self._showing = True
        self.text.setPlainText(answer.text)
        self.is_error.setChecked(answer.is_error)
        self.never.setChecked(answer.never)
        self.delay.show_value(answer.delay)
        self.length.show_value(answer.size)
        self._showing = False
        self._fit_height()
        self._check()

    def _arrange(self, caption: str) -> None:
        title = text_label(caption, "group")
        title.setBuddy(self.text)
        head = in_row(title, 1, self.kind, self.format_button, spacing=6)
        options = QWidget()
        flow = FlowLayout(options, 10)
        delay, length = QWidget(), QWidget()
        in_row(QLabel("Delay"), self.delay, QLabel("s"), parent=delay, margins=0, spacing=4)
        in_row(QLabel("Length"), self.length, parent=length, margins=0, spacing=4)
        for widget in (self.is_error, delay, length, self.never):
            flow.addWidget(widget)
        options.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        in_column(head, (self.text, int(self._fills)), self.problem, options, parent=self, margins=0, spacing=4)
        self.setFocusProxy(self.text)

    def _edit(self, *_: object) -> None:
        if self._showing:
            return
        changes = {
            "text": self.text.text(),
            "is_error": self.is_error.isChecked(),
            "never": self.never.isChecked(),
            "delay": float(self.delay.value()),
            "size": int(self.length.value()),
        }
        before, self._answer = self._answer, self._answer.model_copy(update=changes)
        self._fit_height()
        self._check()
        if self._answer != before:
            self.changed.emit(self._answer)

    def _check(self) -> None:
        """Show what the text is: JSON, or text with the place where it stops to be JSON."""
        answer, text = self._answer, self._answer.text
        words, problem = "text", ""
        if answer.never:
            words = "not sent"
        elif not text:
            words = "empty"
        elif answer.size:
            words = f"text, {len(answer.body):,} characters"
        elif len(text) > MAX_CHECKED:
            words = f"{len(text):,} characters"
        elif text.lstrip()[:1] in ("{", "["):
            error = problem_at(text)
            if error is None:
                words = "JSON"
            else:
                problem = f"Not JSON: line {error.line}, column {error.column}: {error.message}. Sent as typed."
        self.kind.setText(words)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.text.setEnabled(not answer.never)
        self.format_button.setEnabled(words == "JSON")

    def _fit_height(self) -> None:
        height = self.text.fontMetrics().lineSpacing()
        if self._fills:
            self.text.setMinimumHeight(self._least * height + FRAME)
            return
        lines = min(max(self.text.document().blockCount(), self._least), self._most)
        self.text.setFixedHeight(lines * height + FRAME)


def _check_box(title: str, description: str) -> QCheckBox:
    box = QCheckBox(title)
    box.setToolTip(tip(description))
    box.setAccessibleDescription(description)
    return box
