"""Where the result of a call is typed or chosen, and the ways to send it. Everything typed is told at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QToolButton, QWidget

from playground.domain.debugging import Answer
from playground.jsonkit.reading import READ_AT_MOST, problem_at
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.segments import Segments

LONGEST_TYPED = 20_000  # characters; a longer answer that is chosen is named instead of being put in the field
TYPE_OR_CHOOSE, CHOSEN = "Type a result, or choose one", "Prepared, see below"
_BEGINS = re.compile(r'\s*(\{|\[\s*([\[\]{"\d-]|true\b|false\b|null\b|$))')
LABEL = 48  # characters of an answer in the menu
ASK_KEY = "Ctrl+Shift+Enter"

#: Answers to choose from, each with a name.
Choices = Callable[[], "list[tuple[str, Answer]]"]


class _Field(GrowingField):
    """``server_asked`` is Ctrl+Shift+Enter."""

    server_asked = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & both == both:
            self.server_asked.emit()
        else:
            super().keyPressEvent(event)


class ResultField(QWidget):
    """``sent`` tells text and is-error, ``drafted`` what is typed; ``step_asked`` asks to answer this call only,
    ``server_asked`` to ask the tool's server.

    ``choices`` gives the answers of the menu when it opens. One that is chosen is ``prepared``: it is there to be
    looked at, and ``prepared_sent`` (whether as an error in any case) when it is sent. Typing takes its place.
    """

    sent = Signal(str, bool)
    drafted = Signal(str)
    chosen = Signal(object)  # an Answer
    prepared_sent = Signal(bool)
    stop_asked = Signal()
    step_asked = Signal()
    server_asked = Signal()
    lanes_asked = Signal()  # send it in every lane that made the same call
    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choices: Choices = list
        self.kind = Segments(("Text", "JSON"), "What the result is")
        self.kind.chosen.connect(self._kind_chosen)
        self.choose = QToolButton()
        self.choose.setText("Choose one")
        self.choose.setProperty("kind", "quiet")
        self.choose.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.choose.setAccessibleName("Choose a result")
        menu = QMenu(self.choose)
        menu.aboutToShow.connect(self._fill_choices)
        self.choose.setMenu(menu)
        self.field = _Field(code=True, most=14)
        self.field.server_asked.connect(self._ask)
        self.field.setPlaceholderText(TYPE_OR_CHOOSE)
        self.field.setAccessibleName("Result of the call")
        self.field.submitted.connect(self._send)
        self.field.cancelled.connect(self.stop_asked)
        self.field.height_changed.connect(self.height_changed)
        self.field.textChanged.connect(self._typed)
        self.prepared: Answer | None = None
        self._says = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._says.setProperty("kind", "small")
        self._says.setObjectName("preparedResult")
        self._says.hide()
        self._check = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._check.setProperty("kind", "flag-error")
        self._check.hide()
        self.send_button = _button("Send result", "Answer the call with what is typed (Ctrl+Enter)", self._send)
        self.send_button.setProperty("kind", "primary")
        self.error_button = _button(
            "Send as error", "Answer the call with what is typed, as an error", self._send_error
        )
        self.step_button = _button(
            "Step", "Answer this call only, then stop at whatever comes next", self.step_asked.emit
        )
        self.lanes_button = _button(
            "Same to all lanes", "Answer the same call in every lane that waits at it", self.lanes_asked.emit
        )
        self.lanes_button.hide()
        self.ask_button = _button("Ask the server", "", self._ask)
        self.ask_button.hide()
        head = in_row(margins=0, spacing=6)
        title = text_label("Result", "muted")
        head.addWidget(title)
        head.addWidget(self.kind)
        head.addStretch(1)
        head.addWidget(self.choose)
        buttons = QWidget()
        flow = FlowLayout(buttons)
        for button in (self.send_button, self.ask_button, self.lanes_button, self.error_button, self.step_button):
            flow.addWidget(button)
        in_column(head, self.field, self._says, self._check, buttons, of=self, margins=0, spacing=4)
        self.setFocusProxy(self.field)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.field.text()

    @property
    def head_height(self) -> int:
        """The height of the line with the caption, in pixels."""
        return max(self.kind.sizeHint().height(), self.choose.sizeHint().height())

    def set_draft(self, text: str, prepared: Answer | None) -> None:
        """Put back what was typed or chosen before, without telling."""
        if prepared != self.prepared:
            self.prepared = prepared
            self._says.setText(_prepared_words(prepared) if prepared is not None else "")
            self._says.setVisible(prepared is not None)
            self.field.setPlaceholderText(TYPE_OR_CHOOSE if prepared is None else CHOSEN)
            self.height_changed.emit()
        self._set_text(text if prepared is None else prepared.text if _is_shown(prepared) else "")

    def offer_lanes(self, others: int) -> None:
        """So many other lanes wait at the same call; an answer that comes late, or never, is one lane's own."""
        late = self.prepared is not None and (self.prepared.never or bool(self.prepared.delay))
        shown = bool(others) and not late
        if shown == self.lanes_button.isHidden():
            self.lanes_button.setVisible(shown)
            self.height_changed.emit()

    def offer_server(self, name: str, refusal: str, *, asked: bool) -> None:
        """The tool server of that name can be asked, or cannot as ``refusal`` says; empty for no server."""
        shown = bool(name) and not asked
        says = f"Ask the server {name}: what it answers is put here, and nothing is sent ({ASK_KEY})"
        self.ask_button.setToolTip(tip(refusal or says))
        self.ask_button.setAccessibleDescription(refusal)
        self.ask_button.setEnabled(not refusal)
        if shown == self.ask_button.isHidden():
            self.ask_button.setVisible(shown)
            self.height_changed.emit()

    def _ask(self) -> None:
        if not self.ask_button.isHidden() and self.ask_button.isEnabled():
            self.server_asked.emit()

    def _set_text(self, text: str) -> None:
        if text != self.text:
            with QSignalBlocker(self.field):
                self.field.set_text(text)
            self.kind.set_index(int(_looks_like_json(text)))
            self._judge()

    def _fill_choices(self) -> None:
        menu = self.choose.menu()
        menu.clear()
        for name, answer in self.choices():
            text = answer.text if not answer.size else f"{answer.size:,} characters"
            shown = show_hidden(" ".join(text.split()))
            words = f"{name}   {shown[:LABEL]}{'…' if len(shown) > LABEL else ''}" if shown else name
            menu.addAction(words.replace("&", "&&")).triggered.connect(partial(self._chosen, answer))

    def _chosen(self, answer: Answer, _checked: bool = False) -> None:
        """Put an answer into the field to be looked at; it is sent with a key of its own."""
        self.set_draft("", answer)
        self.chosen.emit(answer)
        self.field.setFocus()

    def _typed(self) -> None:
        if self.prepared is not None:
            self.set_draft(self.text, None)
        self._judge()
        self.drafted.emit(self.text)

    def _kind_chosen(self, _index: int) -> None:
        self._judge()

    def _judge(self) -> None:
        """Say whether a result that is to be JSON is; it can be sent either way."""
        words = ""
        if self.kind.index == 1 and self.text.strip() and len(self.text) <= READ_AT_MOST:
            problem = problem_at(self.text)
            if problem is not None:
                words = f"Line {problem.line}: not JSON, {problem.message}. It is sent as typed."
        changed = self._check.isHidden() == bool(words) or self._check.text() != words
        self._check.setText(words)
        self._check.setVisible(bool(words))
        if changed:
            self.height_changed.emit()

    def _send(self) -> None:
        self._send_as(False)

    def _send_error(self) -> None:
        self._send_as(True)

    def _send_as(self, is_error: bool) -> None:
        if self.prepared is not None:
            self.prepared_sent.emit(is_error)
        else:
            self.sent.emit(self.text, is_error)


def _is_shown(answer: Answer) -> bool:
    return not answer.size and len(answer.text) <= LONGEST_TYPED


def _prepared_words(answer: Answer) -> str:
    """What an answer that was chosen is, and that it is sent as it is."""
    if answer.never:
        return "Prepared: no answer ever comes. Send result (Ctrl+Enter) waits for it until Stop."
    what = "an empty result" if not answer.text else "this result"
    if not _is_shown(answer):
        what = f"a result of {answer.size or len(answer.text):,} characters"
    as_error = " as an error" if answer.is_error else ""
    after = f", {answer.delay:g} s later" if answer.delay else ""
    return f"Prepared: Send result (Ctrl+Enter) sends {what}{as_error}{after}. What you type takes its place."


def _looks_like_json(text: str) -> bool:
    """Whether it begins as JSON does; a line such as ``[Picture, not sent]`` does not."""
    return _BEGINS.match(text) is not None


def _button(text: str, words: str, act: Callable[[], None]) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip(words))
    button.clicked.connect(act)
    return button
