"""The editor of one answer: its text, checked as JSON where it looks like it, error, delay, length, or none at all.

It gets an ``Answer`` and hands back a new one; it holds no truth. Any text can be sent: what is said of it is advice.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QSizePolicy, QWidget

from playground.domain.debugging import Answer
from playground.jsonkit.reading import problem_at
from playground.ui.features.debugger.number_field import NumberField
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import look, paragraph, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import tip

FRAME = 18  # pixels of border and padding above and below the lines
LONGEST_CHECKED = 200_000  # characters; a longer text is not judged while it is typed


class AnswerField(QWidget):
    """``set_answer`` shows an answer, ``changed`` tells the one a person made of it.

    ``least`` and ``most`` lines are shown; with ``fills`` the text takes whatever room there is.
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
        self.format_button = IconButton("format", "Format: lay the JSON out anew (Ctrl+Shift+F)")
        self.format_button.setFixedSize(22, 22)
        self.kind = text_label("", "small")
        self.problem = paragraph("", "flag")
        self.is_error = _box("is an error", "The result is marked as an error (is_error)")
        self.never = _box("never answers", "No answer comes; the loop waits until Stop")
        self.delay = NumberField("Delay in seconds", "0", whole=False)
        self.length = NumberField("Length in characters, the text repeated", "as it is", whole=True)
        self._options = QWidget()
        self._arrange(caption)
        self._connect()
        self._grow()
        self._judge()

    @property
    def answer(self) -> Answer:
        """The answer as edited."""
        return self._answer

    def set_answer(self, answer: Answer) -> None:
        """Show an answer without telling anyone. The same text keeps its cursor and its undo history."""
        self._answer = answer
        self._showing = True
        self.text.setPlainText(answer.text)
        self.is_error.setChecked(answer.is_error)
        self.never.setChecked(answer.never)
        self.delay.show_value(answer.delay)
        self.length.show_value(answer.size)
        self._showing = False
        self._grow()
        self._judge()

    # Inside

    def _arrange(self, caption: str) -> None:
        title = text_label(caption, "group")
        title.setBuddy(self.text)
        head = in_row(title, 1, self.kind, self.format_button, spacing=6)
        options = FlowLayout(self._options, 10)
        for widget in (
            self.is_error,
            _group("Delay", self.delay, "s"),
            _group("Length", self.length, ""),
            self.never,
        ):
            options.addWidget(widget)
        self._options.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        in_column(
            head, (self.text, 1 if self._fills else 0), self.problem, self._options, of=self, margins=0, spacing=4
        )
        self.setFocusProxy(self.text)

    def _connect(self) -> None:
        self.text.textChanged.connect(self._edited)
        self.format_button.clicked.connect(self.text.format_json)
        for box in (self.is_error, self.never):
            box.toggled.connect(self._edited)
        for field in (self.delay, self.length):
            field.edited.connect(self._edited)

    def _edited(self, *_: object) -> None:
        if self._showing:
            return
        changes = {
            "text": self.text.text(),
            "is_error": self.is_error.isChecked(),
            "never": self.never.isChecked(),
            "delay": self.delay.value(),
            "size": int(self.length.value()),
        }
        answer = self._answer.model_copy(update=changes)
        self._grow()
        self._answer, before = answer, self._answer
        self._judge()
        if answer != before:
            self.changed.emit(answer)

    def _judge(self) -> None:
        """Say what the text is; one that looks like JSON and is none is pointed out and sent all the same."""
        answer, text = self._answer, self._answer.text
        words = problem = ""
        if answer.never:
            words = "not sent"
        elif not text:
            words = "empty"
        elif answer.size:
            words = f"text, {len(answer.body):,} characters"
        elif len(text) > LONGEST_CHECKED:
            words = f"{len(text):,} characters"
        elif text.lstrip()[:1] not in ("{", "["):
            words = "text"
        elif (broken := problem_at(text)) is None:
            words = "JSON"
        else:
            words = "text"
            problem = f"Not JSON: line {broken.line}, column {broken.column}: {broken.message}. It is sent as typed."
        self.kind.setText(words)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.text.setEnabled(not answer.never)
        self.format_button.setEnabled(words == "JSON")
        look(self.kind, "small")

    def _grow(self) -> None:
        height = self.text.fontMetrics().lineSpacing()
        if self._fills:
            self.text.setMinimumHeight(self._least * height + FRAME)
            return
        lines = min(max(self.text.document().blockCount(), self._least), self._most)
        self.text.setFixedHeight(lines * height + FRAME)


def _box(title: str, says: str) -> QCheckBox:
    box = QCheckBox(title)
    box.setToolTip(tip(says))
    box.setAccessibleDescription(says)
    return box


def _group(title: str, field: NumberField, unit: str) -> QWidget:
    group = QWidget()
    row = in_row(of=group, margins=0, spacing=4)
    for part in (title, field, unit):
        if isinstance(part, str):
            if part:
                row.addWidget(QLabel(part))
        else:
            row.addWidget(part)
    return group
