"""Form of a hand-written call: the tool's name, the id, and the arguments, validated while typing."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.engine.questions.kinds import ArgumentsFit, SampleOf
from playground.jsonkit.reading import read_typed
from playground.ui.features.conversation.calls.call_text import FREE_TEXT, judged
from playground.ui.features.conversation.text_check import TextCheck
from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.mark_label import Chip
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import code_font
from playground.ui.widgets.widget_questions import WidgetQuestions

NAME_WIDTH, ID_WIDTH = 150, 110  # pixels at least
LONGEST_FORM = 100_000  # characters of arguments that a form can show
ID_HINT = "Id (optional)"


class CallForm(QFrame):
    """Edit one call, complete or not. ``submitted`` and ``cancelled`` are Ctrl+Enter and Escape."""

    edited = Signal()
    removed = Signal()
    submitted = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None, *, removable: bool = True) -> None:
        super().__init__(parent)
        self.setObjectName("callForm")
        self.setProperty("kind", "card")
        self._tools: tuple[ToolDefinition, ...] = ()
        self._shown_call = ("", "", ToolCall(id="", name="", arguments=""))  # shown name, shown id, and their call
        self.name = _name_field()
        self.id = QLineEdit()
        self.id.setProperty("kind", "field")
        self.id.setFont(code_font())
        self.id.setPlaceholderText(ID_HINT)
        self.id.setToolTip("The id that the result refers to. Leave empty for a new one.")
        self.id.setMinimumWidth(ID_WIDTH)
        self._check = TextCheck(ArgumentsFit, self)
        self._check.checked.connect(self._judge)
        self._questions = WidgetQuestions(self)
        self._questions.answered.connect(self._fill_in)
        self.verdict = Chip()
        self.verdict.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.example = push_button("Sample", "quiet")
        self.example.setToolTip("Fill in arguments that match the tool's schema")
        self.form_button = push_button("Form…", "quiet")
        self.form_button.setToolTip("Fill in the arguments field by field")
        self.remove = IconButton("close", "Remove this call")
        self.remove.setVisible(removable)
        self.arguments = GrowingField(code=True, most=8, compact=True)
        self.arguments.setPlaceholderText('Arguments as JSON, such as {"city": "Lisbon"}')
        head = in_row((self.name, 3), (self.id, 3), self.example, self.form_button, self.remove, spacing=6)
        column = in_column(head, self.arguments, parent=self, margins=(8, 6, 8, 6), spacing=4)
        below = QHBoxLayout()
        below.addWidget(self.verdict, 1, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(below)
        self.setFocusProxy(self.name)
        self.set_number(1)
        self.name.editTextChanged.connect(self._changed)
        self.id.textEdited.connect(self.edited)
        self.arguments.textChanged.connect(self._changed)
        self.arguments.submitted.connect(self.submitted)
        self.arguments.cancelled.connect(self.cancelled)
        self.arguments.height_changed.connect(self.height_changed)
        self.example.clicked.connect(self._fill_in)
        self.form_button.clicked.connect(self._open_form)
        self.remove.clicked.connect(self.removed)
        self._judge()

    @property
    def call(self) -> ToolCall:
        """The call in the form; its name and id may be empty, its arguments invalid.

        A name or an id that a field cannot hold stays unchanged until the field is edited.
        """
        name, call_id = self.name.currentText(), self.id.text()
        shown_name, shown_id, original = self._shown_call
        return ToolCall(
            id=original.id if call_id == shown_id else call_id,
            name=original.name if name == shown_name else name,
            arguments=self.arguments.text(),
            free_text=original.free_text,
        )

    def set_call(self, call: ToolCall) -> None:
        """Show a call without emitting `edited`; fields with the same content are not touched."""
        now = self.call
        with QSignalBlocker(self.name), QSignalBlocker(self.id), QSignalBlocker(self.arguments):
            if call.name != now.name:
                self.name.setEditText(call.name)
            if call.id != now.id:
                self.id.setText(call.id)
            if call.arguments != now.arguments:
                self.arguments.set_text(call.arguments)
        self._shown_call = (self.name.currentText(), self.id.text(), call)
        self._judge()

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Set the tools whose names are suggested and whose schemas validate the arguments."""
        if tools == self._tools:
            return
        self._tools = tools
        typed = self.name.currentText()
        with QSignalBlocker(self.name):
            self.name.clear()
            self.name.addItems(list(dict.fromkeys(tool.name for tool in tools if tool.name)))
            self.name.setEditText(typed)
        self._judge()

    def set_number(self, number: int, count: int = 1) -> None:
        """Set the number among several calls in the accessible names."""
        which = f"call {number}" if count > 1 else "the call"
        self.name.setAccessibleName(f"Tool of {which}")
        self.id.setAccessibleName(f"Id of {which}")
        self.arguments.setAccessibleName(f"Arguments of {which}")
        self.example.setAccessibleName(f"Fill in a sample for {which}")
        self.form_button.setAccessibleName(f"Fill in {which} in a form")
        self.remove.say(f"Remove {which}")

    @property
    def _tool(self) -> ToolDefinition | None:
        name = self.name.currentText().strip()
        return next((tool for tool in self._tools if tool.name == name), None)

    def _changed(self) -> None:
        self._judge()
        self.edited.emit()

    def _judge(self) -> None:
        """Show whether the arguments are JSON and match the tool's schema."""
        tool, text = self._tool, self.arguments.text()
        schema = tool.parameters if tool is not None else None
        hidden = self.verdict.isHidden()
        free_text = self._shown_call[2].free_text
        problems = [] if free_text else self._check.problems(text, schema)
        if free_text:
            words, kind, says = FREE_TEXT
        elif text.strip() or (tool is not None and problems):
            words, kind, says = judged(problems, text, has_tool=tool is not None)
        else:
            words, kind, says = "", "chip", ""
        self.verdict.say(words, kind)
        self.verdict.setToolTip(tip(says))
        self.verdict.setVisible(bool(words))
        self.example.setVisible(bool(schema) and not text.strip())
        self.form_button.setVisible(bool(schema) and not free_text and _is_object(text))
        if hidden is not self.verdict.isHidden():
            self.height_changed.emit()

    def _open_form(self) -> None:
        """Fill in the arguments in a form of the tool's schema."""
        from playground.ui.widgets.arguments_dialog import ArgumentsDialog

        if (tool := self._tool) is not None:
            text = self.arguments.text()
            dialog = ArgumentsDialog(tool.name, tool.parameters, self, copies=False, text=text)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.taken.connect(self.arguments.set_text)
            dialog.open()

    def _fill_in(self) -> None:
        tool = self._tool
        if tool is None or not tool.parameters or self.arguments.text().strip():
            return
        sample = self._questions.ask(SampleOf(tool.parameters), alone=True)
        if sample:
            self.arguments.set_text(sample)
        elif sample is not None:
            self.verdict.say("No sample", "chip")
            self.verdict.setToolTip("No value was found that matches this schema. Enter the arguments yourself.")
            self.verdict.show()
            self.height_changed.emit()
        if sample is not None:
            self.arguments.setFocus()


def _is_object(text: str) -> bool:
    """Return whether a text is empty or a short JSON object, which a form can show."""
    if not text.strip():
        return True
    try:
        return len(text) <= LONGEST_FORM and isinstance(read_typed(text), dict)
    except ValueError:
        return False


def _name_field() -> QComboBox:
    field = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
    field.setProperty("kind", "field")
    field.setMinimumWidth(NAME_WIDTH)
    field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    field.setToolTip("The tool to call: one on offer, or any other name")
    line, completer = field.lineEdit(), field.completer()
    if line is not None:
        line.setPlaceholderText("Tool name")
    if completer is not None:
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)  # never completes the text inline
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
    return field
