"""Commands on tool calls: results are entered, sent and compared, tool servers called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from playground.domain.debugging import FAULTS, Answer, MatchKind, ReasonCode, ResultDraft, draft_of
from playground.domain.errors import RunRefusedError
from playground.domain.parts import Image
from playground.domain.served import answer_of
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.engine.compare.lanes import Lanes
from playground.engine.requests.protocol_info import pictures_in_results
from playground.engine.session.session import Session
from playground.engine.session.tool_calls import Ticket
from playground.jsonkit.texts import cut
from playground.ui.features.conversation.calls.call_bar import CallBar
from playground.ui.widgets.plain_text import show_hidden

MAX_TYPED: Final = 20_000  # characters in the field of a result; the card describes a longer one
MAX_ROWS: Final = 6  # mock rows that are offered
MAX_LABEL: Final = 32  # characters of a mock row's pattern
#: Reasons for waiting that a card shows elsewhere, or that its status already says.
_SHOWN_ELSEWHERE = (ReasonCode.MISFIT, ReasonCode.BREAKPOINT)


@dataclass(frozen=True, slots=True)
class ServerSide:
    """The tool server of a call: why it cannot be called now, and its progress while it is called."""

    name: str
    refusal: str = ""
    ticket: Ticket | None = None


@dataclass(frozen=True, slots=True)
class CallState:
    """State of a waiting call in the debugger.

    `reason` is why it waits, `draft` the entered text, `prepared` a result that was inserted instead, `remaining` the
    seconds until a delayed result is sent, `warning` says that the call repeats an earlier one, `other_lanes` counts
    the lanes that wait at the same call. `served` is the server's answer that the draft began with, `images` go along
    with it, and `carries_images` says whether the protocol sends them.
    """

    reason: str = ""
    draft: str = ""
    prepared: Answer | None = None
    remaining: float | None = None
    warning: str = ""
    other_lanes: int = 0
    server: ServerSide | None = None
    served: ServerAnswer | None = None
    images: tuple[Image, ...] = ()
    carries_images: bool = False


class CallCommands(QObject):
    """Execute commands on the calls of one session.

    `run` is called when the last waiting call was answered by hand, `next_call` while others still wait.
    """

    message = Signal(str)
    answers_asked = Signal(object, str, str)  # session, turn id, call id
    rules_asked = Signal(str)  # the name of a tool

    def __init__(
        self, session: Session, run: Callable[[], None], next_call: Callable[[], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._run = run
        self._next_call = next_call
        self.bar = CallBar(session, parent)
        self.bar.message.connect(self.message)

    def set_session(self, session: Session) -> None:
        """Follow another session."""
        self._session = session
        self.bar.set_session(session)

    # What a card shows

    def state(self, turn_id: str, call_id: str) -> CallState:
        """Return the state of a call that was received completely."""
        session, debugger = self._session, self._session.debugger
        reason, draft = debugger.reason(turn_id, call_id), debugger.notes.draft(turn_id, call_id)
        pending = debugger.pending.get((turn_id, call_id))
        served = draft.served if draft is not None else None
        is_long = served is not None and draft is not None and len(draft.text) > MAX_TYPED
        return CallState(
            reason=reason.words if reason is not None and reason.code not in _SHOWN_ELSEWHERE else "",
            draft=draft.text if draft is not None and not is_long else "",
            prepared=(draft.answer if is_long else draft.prepared) if draft is not None else None,
            remaining=pending.remaining if pending is not None else None,
            warning=debugger.warnings.get((turn_id, call_id), ""),
            other_lanes=self._other_lanes(turn_id, call_id),
            server=self._server(turn_id, call_id),
            served=served,
            images=draft.images if draft is not None else (),
            carries_images=pictures_in_results(session.settings.protocol),
        )

    def _tool(self, turn_id: str, call_id: str) -> ToolDefinition | None:
        turn = self._session.transcript.turns.get(turn_id)
        name = next((call.name for call in turn.calls if call.id == call_id), "") if turn is not None else ""
        return next((tool for tool in self._session.settings.tools if tool.name == name), None)

    def _server(self, turn_id: str, call_id: str) -> ServerSide | None:
        if not any(tool.server for tool in self._session.settings.tools):
            return None
        tool = self._tool(turn_id, call_id)
        if tool is None or not tool.server:
            return None
        debugger = self._session.debugger
        ticket = debugger.ticket(turn_id, call_id)
        return ServerSide(tool.server, "" if ticket is not None else debugger.ask_refusal(turn_id, call_id), ticket)

    def _other_lanes(self, turn_id: str, call_id: str) -> int:
        session = self._session
        waits = any((turn_id, call_id) == (key, call.id) for key, call in session.debugger.waiting)
        if len(session.experiment.lanes) == 1 or not waits:
            return 0
        return len(Lanes(session).same_calls(session, turn_id, call_id))

    def last_result(self, name: str) -> str:
        """Return the last result on the path that a call of this tool got, or nothing if there is none or it failed."""
        path = self._session.transcript.path
        calls = {call.id for turn in path for call in turn.calls if call.name == name}
        for turn in reversed(path):
            for result in turn.results:
                if result.call_id in calls and result.text and not result.is_error:
                    return result.text if len(result.text) <= MAX_TYPED else ""
        return ""

    def mock_rows(self, name: str) -> list[tuple[str, Answer]]:
        """Return the first rows of a tool's mock table, each with a label."""
        rows = self._session.debugger.debugging.rule(name).rows[:MAX_ROWS]
        labels = [
            "any call" if row.match is MatchKind.ANY else show_hidden(cut(row.pattern, MAX_LABEL)) for row in rows
        ]
        return [(f"Mock row for {label}", row.answer) for label, row in zip(labels, rows, strict=True)]

    @staticmethod
    def failures() -> list[tuple[str, Answer]]:
        """Return ready-made results of a tool that fails."""
        return [(title, row.answer) for title, row in FAULTS]

    # Results

    def set_draft(self, turn_id: str, call_id: str, text: str) -> None:
        """Store the entered text; one that began as a server's answer remembers it."""
        notes = self._session.debugger.notes
        draft = notes.draft(turn_id, call_id)
        if draft is not None and draft.served is not None:
            notes.set_draft(turn_id, call_id, draft.typed(text))
        else:
            notes.set_draft(turn_id, call_id, ResultDraft(text=text) if text else None)

    def insert(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """Store a ready-made result for review; nothing is sent."""
        self._session.debugger.notes.set_draft(turn_id, call_id, ResultDraft(is_error=answer.is_error, prepared=answer))

    def send(self, turn_id: str, call_id: str, *, as_error: bool = False) -> None:
        """Send the result that is entered or inserted; the last one lets the run continue."""
        draft = self._session.debugger.notes.draft(turn_id, call_id)
        answer = draft.answer if draft is not None else None
        if answer is None:
            self.message.emit("Enter a result first.")
            return
        if as_error and not answer.is_error:
            answer = answer.model_copy(update={"is_error": True})
        if answer.never or answer.delay:
            self.bar.execute(self._session.debugger.send_late(turn_id, call_id, answer))
        else:
            self.answer(turn_id, call_id, answer)

    def answer(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """Send this result of a call."""
        try:
            self._session.debugger.send_answer(turn_id, call_id, answer)
        except KeyError:
            self.message.emit("This call already has a result.")
        except RunRefusedError as error:
            self.message.emit(str(error))
        else:
            self._continue()

    def send_to_lanes(self, turn_id: str, call_id: str) -> None:
        """Send the entered result in every lane that made the same call."""
        draft = self._session.debugger.notes.draft(turn_id, call_id)
        answer = (draft.answer if draft is not None else None) or Answer()
        self.bar.execute(Lanes(self._session).answer(self._session, turn_id, call_id, answer, all_lanes=True))

    def send_to_all(self, turn_id: str, call_id: str, *, as_error: bool = False) -> None:
        """Send the entered result to every waiting call."""
        draft = self._session.debugger.notes.draft(turn_id, call_id)
        answer = draft.answer if draft is not None else None
        try:
            self._session.debugger.send_all(answer.body if answer is not None else "", is_error=as_error)
        except RunRefusedError as error:
            self.message.emit(str(error))
        else:
            self._continue()

    def _continue(self) -> None:
        if self._session.debugger.waiting:
            self._next_call()
        else:
            self._run()

    def step(self, turn_id: str, call_id: str) -> None:
        """Answer one call, then stop at the next event."""
        self.bar.execute(self._session.debugger.step(turn_id, call_id))

    def stop(self) -> None:
        """End what is under way; waiting calls stay open."""
        self.bar.stop()

    def compare_results(self, turn_id: str, call_id: str) -> None:
        """Ask for the dialog in which several results of a call are compared."""
        self.answers_asked.emit(self._session, turn_id, call_id)

    def remember(self, turn_id: str, call_id: str) -> None:
        """Add the result of a call, sent or entered, to the mock table of its tool."""
        try:
            self._session.debugger.remember(turn_id, call_id)
        except KeyError:
            self.message.emit("Enter a result first.")
        except ValueError:
            self.message.emit("The arguments are not JSON, so they cannot become a mock row.")
        else:
            self.message.emit("Saved as a mock row. It answers equal calls once the tool uses its mock table.")

    def open_rules(self, name: str) -> None:
        """Ask for the dialog of tool responses, at one tool."""
        self.rules_asked.emit(name)

    # Tool servers

    def call_server(self, turn_id: str, call_id: str) -> None:
        """Call the tool's server; its answer becomes the draft, and nothing is sent."""
        self.bar.execute(self._session.debugger.ask(turn_id, call_id))

    def cancel_server_call(self, turn_id: str, call_id: str) -> None:
        """Stop calling the server."""
        self._session.debugger.cancel_ask(turn_id, call_id)

    def restore_server_answer(self, turn_id: str, call_id: str) -> None:
        """Replace the draft by the server's answer."""
        notes = self._session.debugger.notes
        draft = notes.draft(turn_id, call_id)
        if draft is not None and draft.served is not None:
            notes.set_draft(turn_id, call_id, draft_of(answer_of(draft.served)))

    def remove_image(self, turn_id: str, call_id: str, index: int) -> None:
        """Leave one image of the server's answer out of the result."""
        notes = self._session.debugger.notes
        draft = notes.draft(turn_id, call_id)
        if draft is not None and index < len(draft.images):
            images = (*draft.images[:index], *draft.images[index + 1 :])
            notes.set_draft(turn_id, call_id, draft.model_copy(update={"images": images}))
