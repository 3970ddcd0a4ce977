"""Dialog of a sampling request (MCP, "Sampling"): the user edits the messages, asks a model, and edits the answer.

Nothing is sent to a model or to the server before a button is pressed. A closed dialog keeps its input, and its
request stays pending.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QDialog, QFrame, QPushButton, QScrollArea, QWidget
from shiboken6 import isValid

from playground.domain.errors import RunRefusedError
from playground.domain.tool_servers import Sampling
from playground.engine.session.session import Session
from playground.engine.tool_servers.content import BY_HAND, Question, Reply, SamplingMessage, ask, prepare, question_of
from playground.jsonkit.texts import cut, listed
from playground.jsonkit.values import JSONObject
from playground.ui.features.server_asks.model_choice import ModelChoice
from playground.ui.widgets import figures
from playground.ui.widgets.dialogs import MARGINS
from playground.ui.widgets.form_parts import push_button, say, styled, text_label, thin_line
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import show_hidden, shown_name
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.rows.schema_form import SchemaForm

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 640, 640  # pixels
MAX_MESSAGES = 30  # messages that can be edited
MAX_TEXT = 20_000  # characters of a text that can be edited
CLOCK_MS = 200
NOTHING_YET = "“Ask model” sends the request to a model. “Send to the server” gives the answer to the server."
REFUSED = "The person refused to have a model asked."
SETTINGS: Final[JSONObject] = {
    "properties": {
        "limit": {"type": "integer", "title": "Max tokens", "minimum": 1},
        "temperature": {"type": "number", "title": "Temperature"},
        "stop": {"type": "array", "title": "Stop sequences", "items": {"type": "string"}},
    }
}


class _Message(QWidget):
    """Editor of a message; a text that is too long for it is sent unchanged."""

    def __init__(self, message: SamplingMessage) -> None:
        super().__init__()
        self._message = message
        self.field = styled(GrowingField(most=10, compact=True), "field")
        is_long = len(message.text) > MAX_TEXT
        if is_long:
            self.field.hide()
        else:
            self.field.set_text(message.text)
        self.field.setAccessibleName(f"Message of the {message.role.value}")
        size = f"{len(message.text):,} characters, too long to edit here; sent unchanged"
        parts = [size] * is_long + [f"{len(message.images)} pictures attached"] * bool(message.images)
        note = text_label(" · ".join(parts), "small", wrap=True)
        if not parts:
            note.hide()
        role = text_label(ROLE_WORDS.get(message.role, message.role.value), "group")
        in_column(role, self.field, note, parent=self, margins=0, spacing=3)

    @property
    def message(self) -> SamplingMessage:
        """The edited message."""
        if len(self._message.text) > MAX_TEXT:
            return self._message
        return self._message.model_copy(update={"text": self.field.text()})


class SamplingDialog(QDialog):
    """Editors of a sampling request and of its answer.

    ``answered`` carries the text, the model and the stop reason; ``refused`` declines the request. ``save_requested``
    carries the experiment that asked the model, to be added to the list.
    """

    answered = Signal(str, str, str)
    refused = Signal()
    save_requested = Signal(object)

    def __init__(self, request: Sampling, choice: ModelChoice, make: Callable[[str], Session], parent: QWidget) -> None:
        """Create the dialog. ``make`` returns an empty experiment for the id of a gateway."""
        super().__init__(parent)
        self.ask = request
        self._create_session = make
        self._question = question_of(request)
        self._session: Session | None = None
        self._reply = Reply(model=BY_HAND, stop_reason="endTurn")
        self._started_at = 0.0
        self.choice = choice
        server = shown_name(request.server)
        self.setWindowTitle(f"{server} requests a model")
        self.setObjectName("modelRequestDialog")
        self._fill_fields(server)
        self._clock = QTimer(self, interval=CLOCK_MS)
        self._clock.timeout.connect(self._tick)
        window_size = parent.window().size()
        self.resize(min(SIZE[0], window_size.width() - 40), min(SIZE[1], window_size.height() - 60))
        self._refresh()

    def _fill_fields(self, server: str) -> None:
        question, request = self._question, self.ask
        self.system = styled(GrowingField(most=6, compact=True), "field")
        self.system.set_text(question.system[:MAX_TEXT])
        self.system.setReadOnly(len(question.system) > MAX_TEXT)
        self.system.setAccessibleName("System prompt")
        self.system.setPlaceholderText("No system prompt")
        self.messages = [_Message(message) for message in question.turns[:MAX_MESSAGES]]
        remaining = len(question.turns) - len(self.messages)
        more = text_label(f"{remaining:,} more messages are sent unchanged." if remaining else "", "small", wrap=True)
        if not remaining:
            more.hide()
        self.settings = SchemaForm(SETTINGS)
        self.settings.set_value(
            {"limit": question.limit, "temperature": question.temperature, "stop": list(question.stop) or None}
        )
        self.wrong = text_label("", "flag-error", wrap=True)
        self.wrong.setObjectName("problem")
        self.wrong.hide()
        self.ask_button = push_button("Ask model")
        self.ask_button.setToolTip("Ask this model. The server does not get the answer yet")
        self.ask_button.clicked.connect(self._ask)
        self.stop_button = push_button("Stop")
        self.stop_button.clicked.connect(self._stop)
        self.status = text_label("", "small", wrap=True)
        self.status.hide()
        self.answer = styled(GrowingField(most=12), "field")
        self.answer.setAccessibleName("Answer for the server")
        self.answer.setPlaceholderText("The model's answer, or type your own")
        self.answer.textChanged.connect(self._refresh_send)
        self.keep_button = push_button("Save as experiment")
        self.keep_button.setToolTip("Add the request and its answer to the list of experiments")
        self.keep_button.clicked.connect(self._save)
        self.refuse_button = push_button("Refuse")
        self.refuse_button.setToolTip("Tell the server that you refuse")
        self.refuse_button.clicked.connect(self._refuse)
        self.send_button = styled(QPushButton("Send to the server"), "primary")
        self.send_button.clicked.connect(self._send)
        content = QWidget()
        in_column(
            text_label("System", "group"), self.system, *self.messages, more, self.settings, self._wishes(request),
            thin_line(), text_label("Model", "group"), self.choice, self.wrong,
            text_label("Answer", "group"), self.status, self.answer, 1,
            parent=content, margins=0, spacing=8,
        )  # fmt: skip
        area = self._area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(content)
        for widget in (content, area.viewport()):
            widget.setAutoFillBackground(False)
        title = text_label(f"The server {server} requests an answer from a model", "heading", wrap=True)
        note = text_label(NOTHING_YET, "small", wrap=True)
        buttons = in_row(
            self.ask_button, self.stop_button, self.keep_button, 1, self.refuse_button, self.send_button, spacing=8
        )
        in_column(title, note, (area, 1), buttons, parent=self, margins=MARGINS, spacing=10)

    def _wishes(self, request: Sampling) -> QWidget:
        """Create the label for the server's preferences, which also names those that have no effect."""
        sentences = []
        if request.models:
            sentences.append(f"Preferred: {listed([shown_name(name) for name in request.models[:5]], 'or')}.")
        if request.tools:
            names = listed([shown_name(tool.name) for tool in request.tools[:5]])
            sentences.append(f"Tools are not offered to the model: {names}.")
        if request.rest:
            members = show_hidden(cut(json.dumps(request.rest, ensure_ascii=False), 500))
            sentences.append(f"Ignored: {members}.")
        label = text_label(" ".join(sentences), "small", wrap=True)
        if not sentences:
            label.hide()
        return label

    # Values

    @property
    def question(self) -> Question:
        """The edited request; the settings without problems."""
        question, settings = self._question, self.settings.value or {}
        turns = (*(editor.message for editor in self.messages), *question.turns[MAX_MESSAGES:])
        system = question.system if self.system.isReadOnly() else self.system.text()
        return question.model_copy(
            update={
                "turns": turns,
                "system": system,
                "limit": settings.get("limit"),
                "temperature": settings.get("temperature"),
                "stop": tuple(settings.get("stop", ())),
            }
        )

    @property
    def busy(self) -> bool:
        """True while a model answers."""
        return self._clock.isActive()

    # Actions

    def _ask(self) -> None:
        if not self.settings.is_valid:
            self.settings.show_missing()
            return
        question = self.question
        say(self.wrong, "" if self.choice.model else "Choose a model first.")
        if self.choice.model:
            session = self._session = self._create_session(self.choice.profile_id)
            prepare(session, question, self.choice.protocol_name, self.choice.model)
            self._started_at = time.monotonic()
            self._clock.start()
            self._refresh()
            self._area.ensureWidgetVisible(self.answer)
            spawn(self._run(session), name="ask a model for a tool server")

    async def _run(self, session: Session) -> None:
        try:
            reply = await ask(session)
        except RunRefusedError as error:
            reply = Reply(failure=str(error))
        if not isValid(self) or session is not self._session:
            return
        self._clock.stop()
        say(self.status, "")
        if reply.failure:
            say(self.wrong, f"No answer: {reply.failure}")
        else:
            self._reply = reply
            say(self.status, f"From {shown_name(reply.model)} in {figures.seconds(self._elapsed)}.")
            self.answer.set_text(reply.text)
        self._refresh()

    def _stop(self) -> None:
        if self._session is not None:
            self._session.stop()

    def stop_asking(self) -> None:
        """Stop the model when the request is no longer pending."""
        if self.busy:
            self._stop()

    def _send(self) -> None:
        self.hide()
        self.answered.emit(self.answer.text(), self._reply.model, self._reply.stop_reason)

    def _refuse(self) -> None:
        self.stop_asking()
        self.hide()
        self.refused.emit()

    def _save(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            self.save_requested.emit(session)
        self._refresh()

    # Display

    def _tick(self) -> None:
        session = self._session
        growing = next(iter(session.growing.values()), None) if session is not None else None
        received = sum(len("".join(part.fragments)) for part in growing.parts) if growing is not None else 0
        progress = f" · {received:,} characters so far" if received else ""
        say(self.status, f"Asking {shown_name(self.choice.model)}… {figures.seconds(self._elapsed)}{progress}")

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._started_at

    def _refresh(self) -> None:
        busy = self.busy
        self.ask_button.setEnabled(not busy)
        self.choice.setEnabled(not busy)
        self.stop_button.setVisible(busy)
        self.answer.setReadOnly(busy)
        self.keep_button.setVisible(self._session is not None and not busy)
        self._refresh_send()

    def _refresh_send(self) -> None:
        has_answer = bool(self.answer.text().strip())
        self.send_button.setEnabled(has_answer and not self.busy)
        self.send_button.setToolTip("" if has_answer else "No answer yet")
