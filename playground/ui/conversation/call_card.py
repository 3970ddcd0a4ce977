"""A tool call: its arguments as they form, whether they fit the schema, and its result."""

from __future__ import annotations

import json
from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from playground.domain.parts import ToolCall
from playground.domain.tools import Problem, check_arguments, parse_json
from playground.domain.values import JSON, JSONObject
from playground.ui.conversation.inline_editor import GrowingField, InlineEditor
from playground.ui.conversation.markdown import Line, Span, Style
from playground.ui.conversation.rows import Answer
from playground.ui.conversation.text_view import TextView
from playground.ui.elided_label import ElidedLabel
from playground.ui.flow_layout import FlowLayout
from playground.ui.plain_text import tip
from playground.ui.theme import code_font, tokens

VERDICT_LENGTH = 64  # characters of the first problem shown in the head; the rest is in its tooltip
ONE_LINE = 48  # characters of JSON that fit into half a card; an answered call needs no more room
PRETTY_LIMIT = 20_000  # characters of arguments that are laid out as a tree; longer ones are shown as they came


class CallCard(QFrame):
    """One call. ``waiting`` cards have a place for the result; answered ones show it."""

    answered = Signal(str, str, bool)  # call id, result, is error
    arguments_edited = Signal(str, str)  # call id, raw arguments
    result_edited = Signal(str, str)  # turn id of the result, text
    result_deleted = Signal(str)  # turn id of the result
    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.call = ToolCall(id="", name="", arguments="")
        self._answer: Answer | None = None
        self._waiting = False
        self._growing = True
        self._drawn = 0
        self._editor: InlineEditor | None = None
        self._hidden: TextView | None = None

        self._name = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._id = ElidedLabel("Call id")
        self._verdict = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._verdict.setProperty("kind", "chip")  # from the start: Qt gives a label its padding only once
        self._state = QLabel(textFormat=Qt.TextFormat.PlainText)
        head = QHBoxLayout()
        head.setContentsMargins(10, 4, 10, 4)
        head.setSpacing(8)
        head.addWidget(self._name)
        head.addWidget(self._id)
        head.addWidget(self._verdict, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addStretch(1)
        head.addWidget(self._state)

        self._arguments = TextView(mode="raw")
        self._arguments.setAccessibleName("Arguments")
        self._arguments.height_changed.connect(self.height_changed)
        self._edit = _quiet("edit", "Edit the arguments")
        self._edit.clicked.connect(self._edit_arguments)
        self._left = QVBoxLayout()
        self._left.setContentsMargins(10, 4, 10, 8)
        self._left.setSpacing(4)
        self._left_head = _row(_caption("Arguments"), self._edit)
        self._left.addLayout(self._left_head)
        self._left.addWidget(self._arguments)
        self._left.addStretch(1)

        self._result = TextView(mode="raw")
        self._result.setAccessibleName("Result")
        self._result.height_changed.connect(self.height_changed)
        self._input = GrowingField(code=True, most=14)
        self._input.setPlaceholderText("Type a result")
        self._input.setAccessibleName("Result of the call")
        self._input.submitted.connect(self._send)
        self._input.height_changed.connect(self.height_changed)
        self._send_button = QPushButton("Send result")
        self._send_button.setProperty("kind", "primary")
        self._send_button.setToolTip("Ctrl+Enter")
        self._send_button.clicked.connect(self._send)
        self._error_button = QPushButton("Send as error")
        self._error_button.clicked.connect(self._send_error)
        self._change = _quiet("edit", "Edit the result")
        self._change.clicked.connect(self._edit_result)
        self._remove = _quiet("delete", "Delete the result, so that the call waits again")
        self._remove.clicked.connect(self._delete_result)
        self._right = QVBoxLayout()
        self._right.setContentsMargins(10, 4, 10, 8)
        self._right.setSpacing(4)
        self._right_title = _caption("Result")
        self._right_title.setMinimumHeight(self._change.sizeHint().height())  # on a line with "Arguments"
        self._right.addLayout(_row(self._right_title, self._change, self._remove))
        self._right.addWidget(self._result)
        self._right.addWidget(self._input)
        self._buttons = QWidget()
        flow = FlowLayout(self._buttons)
        for button in (self._send_button, self._error_button):
            flow.addWidget(button)
        self._right.addWidget(self._buttons)
        self._right.addStretch(1)

        self._line = QFrame()
        self._line.setProperty("kind", "line")
        body = QHBoxLayout()
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        body.addWidget(_column(self._left), 1)
        body.addWidget(_column(self._right), 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.setSpacing(0)
        outer.addLayout(head)
        outer.addWidget(self._line)
        outer.addLayout(body)
        self._restyle()

    # Content

    def grow(self, call_id: str, name: str, fragments: list[str]) -> None:
        """More of the call has arrived; ``fragments`` are all pieces of its arguments so far."""
        self.call = ToolCall(id=call_id, name=name, arguments="")
        self._name.setText(name or "…")
        self._id.set_text(call_id)
        if len(fragments) > self._drawn:
            self._arguments.append("".join(fragments[self._drawn :]))
            self._drawn = len(fragments)
        self._growing = True
        self._refresh()

    def show_call(
        self, call: ToolCall, schema: JSONObject | None, answer: Answer | None, *, waiting: bool, known: bool
    ) -> None:
        """Show a whole call. ``schema`` is the tool's; ``known`` says whether such a tool is defined at all."""
        self.call, self._answer = call, answer
        self._growing, self._waiting = False, waiting and answer is None
        self._name.setText(call.name or "(no name)")
        self._id.set_text(f"{call.id} (made here)" if call.id_is_ours else call.id)
        problems = check_arguments(call.arguments, schema)
        self._judge(problems, known)
        brief = "" if answer is None or problems else _brief(call.arguments)
        lines = argument_lines(call.arguments, problems)
        if brief and "\n" not in brief:
            lines = [Line("raw", (Span(brief, Style.CODE),))]
        self._arguments.set_lines(call.arguments, lines)
        if answer is not None:
            self._result.set_text(_brief(answer.result.text) or "(empty)")
        self._refresh()

    def _judge(self, problems: list[Problem], known: bool) -> None:
        if problems:
            first = problems[0]
            more = f" · and {len(problems) - 1} more" if len(problems) > 1 else ""
            where = f"{first.where}: " if first.where else ""
            self._verdict.setText(_clipped(f"✗ {where}{first.message}") + more)
            self._verdict.setProperty("kind", "chip-error")
        elif not known:
            self._verdict.setText("no tool of this name is defined")
            self._verdict.setProperty("kind", "chip")
        else:
            self._verdict.setText("✓ matches schema")
            self._verdict.setProperty("kind", "chip-ok")
        lines = [f"{p.where}: {p.message}" if p.where else p.message for p in problems]
        self._verdict.setToolTip(tip("\n".join(lines)))
        self._verdict.style().unpolish(self._verdict)
        self._verdict.style().polish(self._verdict)

    def _refresh(self) -> None:
        answered, waiting = self._answer is not None, self._waiting
        if self._growing:
            self._state.setText("arriving…")
        elif self._answer is not None:
            self._state.setText("answered · error" if self._answer.result.is_error else "answered")
        else:
            self._state.setText("waiting for you" if waiting else "not answered")
        self._result.setVisible(answered)
        self._change.setVisible(answered)
        self._remove.setVisible(answered)
        self._input.setVisible(waiting)
        self._buttons.setVisible(waiting)
        self._right_title.setVisible(answered or waiting)
        self._edit.setVisible(not self._growing)
        self._verdict.setVisible(not self._growing)
        self.setAccessibleName(f"Tool call {self.call.name}, {self._state.text()}")
        self._restyle()
        self.height_changed.emit()

    # Doing

    def focus_result(self) -> None:
        """Put the cursor where the result is typed."""
        self._input.setFocus()

    @property
    def waiting(self) -> bool:
        """Whether the call waits for a result."""
        return self._waiting

    @property
    def pending_result(self) -> str:
        """What is typed and not sent."""
        return self._input.toPlainText()

    def set_pending_result(self, text: str) -> None:
        """Put back what was typed and not sent."""
        if text and not self._input.toPlainText():
            self._input.setPlainText(text)

    def _send(self) -> None:
        self.answered.emit(self.call.id, self._input.toPlainText(), False)

    def _send_error(self) -> None:
        self.answered.emit(self.call.id, self._input.toPlainText(), True)

    def _edit_arguments(self) -> None:
        text = _pretty(self.call.arguments)
        if self._begin_edit(self._left, self._arguments, text, "Arguments of the call"):
            self._editor_kept(self._keep_arguments)

    def _keep_arguments(self, text: str) -> None:
        self._end_edit()
        if text != _pretty(self.call.arguments):
            self.arguments_edited.emit(self.call.id, text)

    def _edit_result(self) -> None:
        text = self._answer.result.text if self._answer is not None else ""
        if self._begin_edit(self._right, self._result, text, "Result of the call"):
            self._editor_kept(self._keep_result)

    def _keep_result(self, text: str) -> None:
        self._end_edit()
        if self._answer is not None and text != self._answer.result.text:
            self.result_edited.emit(self._answer.turn_id, text)

    def _delete_result(self) -> None:
        if self._answer is not None:
            self.result_deleted.emit(self._answer.turn_id)

    def _begin_edit(self, column: QVBoxLayout, shown: TextView, text: str, name: str) -> bool:
        if self._editor is not None:
            self._editor.setFocus()
            return False
        self._hidden = shown
        self._editor = InlineEditor(text, name, code=True)
        column.insertWidget(column.indexOf(shown) + 1, self._editor)
        shown.hide()
        self._editor.cancelled.connect(self._end_edit)
        self._editor.height_changed.connect(self.height_changed)
        self._editor.setFocus()
        self.height_changed.emit()
        return True

    def _editor_kept(self, slot: Callable[[str], None]) -> None:
        if self._editor is not None:
            self._editor.kept.connect(slot)

    def _end_edit(self) -> None:
        if self._editor is not None and self._hidden is not None:
            self._editor.hide()
            self._editor.deleteLater()
            self._editor = None
            self._hidden.show()
            self.height_changed.emit()

    @property
    def editing(self) -> bool:
        """Whether something typed here is not kept yet."""
        return self._editor is not None or bool(self._waiting and self._input.toPlainText())

    # Looks

    def _restyle(self) -> None:
        t = tokens()
        self._name.setStyleSheet(f"color: {t.tool}; font-weight: 600;")
        self._name.setFont(code_font())
        self._id.setFont(code_font())
        self._state.setStyleSheet(f"color: {t.tool if self._waiting else t.muted};")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(t.tool if self._waiting else t.line))
        painter.setBrush(QColor(t.raised))
        painter.drawRoundedRect(rect, 7, 7)
        head = rect.adjusted(0.5, 0.5, -0.5, 0)
        head.setHeight(self._line.y() - 1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.code))
        painter.drawRoundedRect(head, 6, 6)
        painter.drawRect(head.adjusted(0, 7, 0, 0))
        if self._right_title.isVisibleTo(self):
            x = self.width() // 2
            painter.setPen(QColor(t.line))
            painter.drawLine(x, self._line.y() + 1, x, self.height() - 2)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_line"):
            self._restyle()


def argument_lines(arguments: str, problems: list[Problem]) -> list[Line]:
    """Arguments laid out a member a line, those with a problem in the colour of errors; raw when not JSON."""
    try:
        value = parse_json(arguments) if arguments.strip() else {}
    except ValueError:
        value = None
    if value is None or len(arguments) > PRETTY_LIMIT:
        return [Line("raw", (Span(line, Style.CODE),)) for line in arguments.split("\n")]
    bad = {problem.path for problem in problems if problem.path}
    out: list[Line] = []
    for path, text in json_lines(value):
        wrong = path in bad
        out.append(Line("raw", (Span(text, Style.CODE, token="deleted" if wrong else ""),)))
    return out


def json_lines(value: JSON) -> list[tuple[tuple[str | int, ...], str]]:
    """Pretty JSON as (path of what the line holds, line); closing brackets have the path of their opening one."""
    out: list[tuple[tuple[str | int, ...], str]] = []

    def write(item: JSON, path: tuple[str | int, ...], indent: int, key: str, comma: str) -> None:
        pad = "  " * indent
        if isinstance(item, dict | list) and item and indent < 60:
            opening, closing = ("{", "}") if isinstance(item, dict) else ("[", "]")
            out.append((path, f"{pad}{key}{opening}"))
            pairs = list(item.items()) if isinstance(item, dict) else list(enumerate(item))
            for number, (name, inner) in enumerate(pairs):
                label = f"{json.dumps(name, ensure_ascii=False)}: " if isinstance(item, dict) else ""
                write(inner, (*path, name), indent + 1, label, "," if number + 1 < len(pairs) else "")
            out.append((path, f"{pad}{closing}{comma}"))
        else:
            out.append((path, f"{pad}{key}{json.dumps(item, ensure_ascii=False)}{comma}"))

    write(value, (), 0, "", "")
    return out


def _column(layout: QVBoxLayout) -> QWidget:
    """Half of the card, however wide what is in it would like to be."""
    column = QWidget()
    column.setLayout(layout)
    column.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return column


def _clipped(text: str) -> str:
    return text if len(text) <= VERDICT_LENGTH else text[: VERDICT_LENGTH - 1] + "…"


def _pretty(text: str) -> str:
    try:
        return "\n".join(line for _, line in json_lines(parse_json(text))) if len(text) <= PRETTY_LIMIT else text
    except ValueError:
        return text


def _brief(text: str) -> str:
    """As ``_pretty``, on one line where that is short."""
    try:
        line = json.dumps(parse_json(text), ensure_ascii=False) if len(text) <= PRETTY_LIMIT else ""
    except ValueError:
        return text
    return line if 0 < len(line) <= ONE_LINE else _pretty(text)


def _quiet(text: str, words: str) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("kind", "quiet")
    button.setToolTip(words)
    button.setAccessibleName(words)
    return button


def _caption(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("kind", "muted")
    return label


def _row(*widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return row
