"""The bar of a paused exchange, with its time left and one main button, and the editors of what is paused."""

from __future__ import annotations

import time
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QSpinBox, QWidget

from playground.domain.durations import countdown
from playground.engine.listen.answer_parts import AnswerParts, read_parts, with_parts
from playground.engine.listen.pauses import Decision, Fail, GoOn, Pause, Reply, ReplyBody, SendRequest
from playground.jsonkit.reading import parse_json, problem_at
from playground.ui.features.listen import texts
from playground.ui.features.listen.reply_editor import ReplyEditor
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import keep_from_wheel, push_button, say, styled, text_label, thin_line
from playground.ui.widgets.icons import icon
from playground.ui.widgets.json_text import pretty
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.theme import tokens

if TYPE_CHECKING:
    from playground.engine.listen.exchanges import Listened

MOST_EDITED: Final = 2 * 1024 * 1024  # bytes of a body that can be edited in the window
NOT_EDITABLE: Final = (
    "This body cannot be edited here: it is larger than 2 MB, compressed or not text. "
    "Continue, answer by hand, or fail it."
)
NOTHING_WRITTEN: Final = "Write a text or add a call."
NOT_JSON: Final = "Not valid JSON."
HEADERS_ABOUT: Final = "One header a line. Hidden values are sent as the program gave them, unless you replace them."
BAD_HEADER: Final = "A line is no header: “name: value”."
EDITED_MS: Final = 120  # between two checks while a person types
FIRST_STATUS, LAST_STATUS, USUAL_STATUS = 400, 599, 529
USUAL_MESSAGE: Final = "Overloaded"


class Mode(IntEnum):
    """The segments of the bar."""

    EDIT = 0
    BY_HAND = 1
    FAIL = 2
    INSPECT = 3


TITLES: Final = ("Edit", "Answer by hand", "Fail", "Inspect")


class RequestEditor(QWidget):
    """Body and headers of a paused request."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._body = self._headers = ""
        self._raw = b""
        self._can_edit = True
        self.switch = Segments(("Body", "Headers"), "Part of the request")
        self.body, self.headers = CodeEditor(), CodeEditor(json=False)
        self.body.setAccessibleName("Body of the request")
        self.headers.setAccessibleName("Headers of the request")
        self._cannot = empty_words(NOT_EDITABLE)
        self.about = text_label(HEADERS_ABOUT, "muted")
        self._pages = in_pages(self.body, self.headers, self._cannot)
        bar = in_row(self.switch, (self.about, 1), margins=(12, 4, 12, 4), spacing=8)
        in_column(bar, (self._pages, 1), parent=self, margins=0, spacing=0)
        self.switch.chosen.connect(self._show_part)
        self.body.textChanged.connect(self.edited)
        self.headers.textChanged.connect(self.edited)

    def show_pause(self, pause: Pause) -> None:
        """Show a paused request."""
        text = body_text(pause.body)
        self._raw, self._can_edit = pause.body, text is not None
        self.blockSignals(True)
        self.body.setPlainText(text or "")
        self.headers.setPlainText("\n".join(f"{name}: {value}" for name, value in pause.headers))
        self._body, self._headers = self.body.text(), self.headers.text()
        self.blockSignals(False)
        self.switch.set_index(0)
        self._show_part()

    def _show_part(self, _index: int = 0) -> None:
        on_body = self.switch.index == 0
        self.about.setVisible(not on_body)
        self._pages.setCurrentWidget(self.headers if not on_body else self.body if self._can_edit else self._cannot)

    @property
    def decision(self) -> Decision:
        """Send the request as edited, or as it is."""
        headers = self.headers.text()
        body, is_body_edited = self.body.text(), self._can_edit and self.body.text() != self._body
        if not is_body_edited and headers == self._headers:
            return GoOn()
        sent_body = body.encode("utf-8", "surrogatepass") if is_body_edited else self._raw
        return SendRequest(sent_body, _parse_headers(headers) if headers != self._headers else None)

    @property
    def problem(self) -> str:
        """The reason why it cannot be sent; empty if it can."""
        if self._can_edit and self.body.text() != self._body and problem_at(self.body.text()) is not None:
            return NOT_JSON
        return BAD_HEADER if _parse_headers(self.headers.text()) is None else ""


class AnswerEditor(QWidget):
    """Text and calls of a paused answer, or its whole body as JSON."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._parts: AnswerParts | None = None
        self._protocol = ""
        self._raw = b""
        self._body = ""
        self.switch = Segments(("Text and calls", "Raw JSON"), "View of the answer")
        self.fields = ReplyEditor()
        self.body = CodeEditor()
        self.body.setAccessibleName("Body of the answer")
        self._cannot = empty_words(NOT_EDITABLE)
        self._pages = in_pages(self.fields, self.body, self._cannot)
        bar = in_row(self.switch, 1, margins=(12, 4, 12, 4))
        in_column(bar, (self._pages, 1), parent=self, margins=0, spacing=0)
        self.switch.chosen.connect(self._pages.setCurrentIndex)
        self.fields.edited.connect(self.edited)
        self.body.textChanged.connect(self.edited)

    def show_pause(self, pause: Pause, protocol: str) -> None:
        """Show a paused answer."""
        text = body_text(pause.body)
        self._raw, self._protocol = pause.body, protocol
        self._parts = read_parts(protocol, pause.body) if text is not None else None
        self.blockSignals(True)
        self.fields.set_parts(self._parts or AnswerParts())
        self.body.setPlainText(text or "")
        self._body = self.body.text()
        self.blockSignals(False)
        for button, is_possible in zip(self.switch.buttons, (self._parts is not None, text is not None), strict=True):
            button.setEnabled(is_possible)
        self.switch.set_index(0 if self._parts is not None else 1)
        self._pages.setCurrentIndex(self.switch.index if self._parts is not None or text is not None else 2)

    @property
    def decision(self) -> Decision:
        """Send the answer as edited, or as it is."""
        if self.switch.index == 0:
            parts = self.fields.parts
            if self._parts is None or parts == self._parts:
                return GoOn()
            return ReplyBody(with_parts(self._protocol, self._raw, parts))
        if self.body.text() == self._body:
            return GoOn()
        value = parse_json(self.body.text())
        return ReplyBody(value) if isinstance(value, dict) else GoOn()

    @property
    def problem(self) -> str:
        """The reason why it cannot be sent; empty if it can."""
        if self.switch.index == 0:
            return self.fields.problem or self._refusal
        if self.body.text() == self._body:
            return ""
        return NOT_JSON if problem_at(self.body.text()) is not None or self.body.text().lstrip()[:1] != "{" else ""

    @property
    def _refusal(self) -> str:
        """The reason why the protocol cannot express the edited parts; empty if it can."""
        parts = self.fields.parts
        if self._parts is None or parts == self._parts:
            return ""
        try:
            with_parts(self._protocol, self._raw, parts)
        except ValueError as error:
            return str(error)
        return ""


class FailFields(QWidget):
    """Status and message of an error."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.status = styled(QSpinBox(), "field")
        self.status.setRange(FIRST_STATUS, LAST_STATUS)
        self.status.setValue(USUAL_STATUS)
        self.status.setAccessibleName("HTTP status")
        keep_from_wheel(self.status)
        self.message = styled(QLineEdit(USUAL_MESSAGE), "field")
        self.message.setAccessibleName("Message of the error")
        about = text_label(
            "The program gets an error of this status, in the shape of its API. Most programs retry 429 and 5xx.",
            "muted",
            wrap=True,
        )
        in_column(
            about,
            in_row(self.status, (self.message, 1), spacing=8),
            1,
            parent=self,
            margins=(12, 10, 12, 10),
            spacing=8,
        )

    @property
    def decision(self) -> Decision:
        """The error to send."""
        return Fail(self.status.value(), self.message.text())


class PausePanel(QWidget):
    """The panel of one paused exchange. ``decided`` carries the decision, ``table_asked`` asks for the mock table.

    ``inspect_asked`` tells whether the inspector is to be shown in the place of the editors.
    """

    decided = Signal(object)
    table_asked = Signal()
    inspect_asked = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._pause: Pause | None = None
        self.setObjectName("pausePanel")
        self.words = ElidedLabel("Paused", colour="tool")
        self.words.setObjectName("pauseWords")
        self.switch = Segments(TITLES, "Decision")
        self.table = push_button("From table…")
        self.table.setToolTip("Answer with the row of a mock table that fits this request")
        self.problem = text_label("", "error")
        self.problem.setObjectName("pauseProblem")
        self.main = push_button("Continue", "primary")
        self.request, self.answer = RequestEditor(), AnswerEditor()
        self.by_hand, self.fail = ReplyEditor(), FailFields()
        self.editors = in_pages(self.request, self.answer, self.by_hand, self.fail)
        self._bar = styled(QFrame(), "banner")
        in_row(
            (self.words, 1),
            self.problem,
            self.switch,
            self.table,
            self.main,
            parent=self._bar,
            margins=(12, 6, 12, 6),
            spacing=8,
        )
        place = in_row((self._bar, 1), margins=(8, 6, 8, 6))
        in_column(place, thin_line(), (self.editors, 1), parent=self, margins=0, spacing=0)
        self._edited = Throttle(self._show_main, self, EDITED_MS)
        self._clock = QTimer(self, interval=1000)
        self._clock.timeout.connect(self._show_time)
        self.switch.chosen.connect(self._show_mode)
        self.main.clicked.connect(self.decide)
        self.table.clicked.connect(self.table_asked)
        for editor in (self.request, self.answer, self.by_hand):
            editor.edited.connect(self._edited.poke)

    @property
    def pause(self) -> Pause | None:
        """The pause that is shown."""
        return self._pause

    @property
    def mode(self) -> Mode:
        """The chosen segment."""
        return Mode(self.switch.index)

    def show_pause(self, listened: Listened) -> None:
        """Show the pause of an exchange; unfinished edits of the pause that is shown already stay."""
        pause = listened.pause
        if pause is None or pause is self._pause:
            return
        self._pause = pause
        if pause.is_answer:
            self.answer.show_pause(pause, listened.exchange.protocol)
        else:
            self.request.show_pause(pause)
        self.by_hand.set_parts(AnswerParts(("",)))
        self.table.setVisible(not pause.is_answer)
        self.switch.set_index(Mode.EDIT)
        self._clock.start()
        self._show_time()
        self._show_mode()

    def clear(self) -> None:
        """Forget the pause."""
        self._pause = None
        self._clock.stop()

    def _show_time(self) -> None:
        pause = self._pause
        if pause is not None:
            title = texts.HELD_ANSWER if pause.is_answer else texts.HELD_REQUEST
            time_left = countdown(max(pause.until - time.time(), 0))
            self.words.set_text(f"{title} · continues by itself in {time_left}")

    def _show_mode(self, _index: int = 0) -> None:
        is_answer = self._pause is not None and self._pause.is_answer
        page = {
            Mode.EDIT: self.answer if is_answer else self.request,
            Mode.BY_HAND: self.by_hand,
            Mode.FAIL: self.fail,
        }.get(self.mode)
        if page is not None:
            self.editors.setCurrentWidget(page)
        self.editors.setVisible(page is not None)
        self.inspect_asked.emit(self.mode is Mode.INSPECT)
        self._show_main()

    @property
    def _problem(self) -> str:
        is_answer = self._pause is not None and self._pause.is_answer
        match self.mode:
            case Mode.EDIT:
                return self.answer.problem if is_answer else self.request.problem
            case Mode.BY_HAND:
                parts = self.by_hand.parts
                return self.by_hand.problem or ("" if any(parts.texts) or parts.calls else NOTHING_WRITTEN)
            case _:
                return ""

    @property
    def _decision(self) -> Decision:
        is_answer = self._pause is not None and self._pause.is_answer
        match self.mode:
            case Mode.EDIT:
                return self.answer.decision if is_answer else self.request.decision
            case Mode.BY_HAND:
                parts = self.by_hand.parts
                return Reply("".join(parts.texts), parts.made_calls)
            case Mode.FAIL:
                return self.fail.decision
            case _:
                return GoOn()

    def show_problem(self, problem: str) -> None:
        """Show why a decision cannot be carried out; the next edit hides it."""
        say(self.problem, problem, "error")

    def _show_main(self) -> None:
        problem = self._problem
        say(self.problem, problem, "error")
        self.main.setEnabled(not problem)
        is_answer = self._pause is not None and self._pause.is_answer
        edited = "" if problem or self.mode is not Mode.EDIT or self._decision == GoOn() else "edited "
        words = {
            Mode.BY_HAND: "Send answer",
            Mode.FAIL: "Send error",
        }.get(self.mode, f"Send {edited}{'answer' if is_answer else 'request'}" if edited else "Continue")
        self.main.setText(show_hidden(words))
        self._colour()

    def _colour(self) -> None:
        self.main.setIcon(icon("run", tokens().on_accent))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_clock"):
            self._colour()

    def decide(self) -> None:
        """Carry out the main button."""
        if self._pause is not None and not self._problem:
            self.decided.emit(self._decision)


def body_text(body: bytes) -> str | None:
    """Return a body laid out for editing; None for one that cannot be edited as text."""
    if len(body) > MOST_EDITED:
        return None
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return pretty(text) if text.lstrip()[:1] in ("{", "[") and problem_at(text) is None else text


def _parse_headers(text: str) -> tuple[tuple[str, str], ...] | None:
    """Return the headers of lines "name: value"; None if a line is no header."""
    pairs: list[tuple[str, str]] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip() or " " in name.strip():
            return None
        pairs.append((name.strip(), value.strip()))
    return tuple(pairs)
