"""What the cards of calls ask for, done: typed results kept, answers sent, the loop taken on. Follows one session."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from playground.domain.debugging import FAULTS, Answer, MatchKind, ReasonCode, ResultDraft, draft_of
from playground.domain.errors import RunRefusedError
from playground.domain.served import answer_of
from playground.domain.tools import ToolDefinition
from playground.engine.compare.lanes import Lanes
from playground.engine.requests.protocol_info import pictures_in_results
from playground.engine.session.session import Session
from playground.ui.features.conversation.calls.call_bar import CallBar
from playground.ui.features.conversation.calls.result_field import LONGEST_TYPED
from playground.ui.features.conversation.commands import CallState, ServerSide
from playground.ui.widgets.plain_text import show_hidden

#: Reasons for waiting that stand in a card anyway, beside the arguments that they are about.
_SAID_BY_THE_CARD = (ReasonCode.MISFIT,)
SAMPLES = 6  # rows of the tool's table that are offered


class CallAnswers(QObject):
    """``said`` tells a person something in words; ``answers_asked`` and ``rules_asked`` open what they are named after.

    ``run`` is called when the last waiting call was answered by hand, ``next_call`` when others still wait.
    """

    said = Signal(str)
    answers_asked = Signal(object, str, str)  # session, turn id, call id
    rules_asked = Signal(str)  # the name of a tool

    def __init__(
        self, session: Session, run: Callable[[], None], next_call: Callable[[], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._run = run
        self._next_call = next_call
        self.bar = CallBar(session, parent)  # shown at once where a session waits, which is no window of its own
        self.bar.said.connect(self.said)

    def set_session(self, session: Session) -> None:
        """Follow another session."""
        self._session = session
        self.bar.set_session(session)

    # What a card shows

    def tool(self, name: str) -> ToolDefinition | None:
        """The tool of that name, if there is one."""
        return next((tool for tool in self._session.settings.tools if tool.name == name), None)

    def state(self, turn_id: str, call_id: str) -> CallState:
        """What is known of a call that is whole."""
        session = self._session
        debugger = session.debugger
        reason, draft = debugger.reason(turn_id, call_id), debugger.notes.draft(turn_id, call_id)
        pending = debugger.pending.get((turn_id, call_id))
        served = draft.served if draft is not None else None
        long = served is not None and draft is not None and len(draft.text) > LONGEST_TYPED  # no field holds it
        return CallState(
            reason=reason.words if reason is not None and reason.code not in _SAID_BY_THE_CARD else "",
            draft=draft.text if draft is not None and not long else "",
            prepared=(draft.answer if long else draft.prepared) if draft is not None else None,
            remaining=pending.remaining if pending is not None else None,
            warning=debugger.warnings.get((turn_id, call_id), ""),
            elsewhere=self._elsewhere(turn_id, call_id),
            server=self._server(turn_id, call_id),
            served=served,
            images=draft.images if draft is not None else (),
            pictures=pictures_in_results(session.settings.protocol),
        )

    def _server(self, turn_id: str, call_id: str) -> ServerSide | None:
        """The tool server that a call may be asked of; None where its tool has none."""
        session = self._session
        if not any(tool.server for tool in session.settings.tools):
            return None
        turn = session.transcript.turns.get(turn_id)
        name = next((call.name for call in turn.calls if call.id == call_id), "") if turn is not None else ""
        tool = self.tool(name)
        if tool is None or not tool.server:
            return None
        debugger = session.debugger
        ticket = debugger.ticket(turn_id, call_id)
        return ServerSide(tool.server, "" if ticket is not None else debugger.ask_refusal(turn_id, call_id), ticket)

    def _elsewhere(self, turn_id: str, call_id: str) -> int:
        """How many other lanes wait at the same call."""
        session = self._session
        if len(session.experiment.lanes) == 1 or all(
            (turn_id, call_id) != (key, call.id) for key, call in session.debugger.waiting
        ):
            return 0
        return len(Lanes(session).same_calls(session, turn_id, call_id))

    def choices(self, name: str) -> list[tuple[str, Answer]]:
        """Answers to choose from for a call of that tool: its table's, then what a tool that fails would say."""
        rows = self._session.debugger.debugging.rule(name).rows
        found = []
        for row in rows[:SAMPLES]:
            where = "any call" if row.match is MatchKind.ANY else show_hidden(row.pattern[:32])
            found.append((f"Row for {where}:", row.answer))
        for title, row in FAULTS:
            found.append((f"{title}:" if row.answer.text else f"{title} result", row.answer))
        return found

    # What a card asks for

    def draft(self, turn_id: str, call_id: str, text: str) -> None:
        """Keep what is typed; of what a server answered it stays known where it came from."""
        notes = self._session.debugger.notes
        draft = notes.draft(turn_id, call_id)
        if draft is not None and draft.served is not None:
            notes.set_draft(turn_id, call_id, draft.typed(text))
        else:
            notes.set_draft(turn_id, call_id, ResultDraft(text=text) if text else None)

    def prepare(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """Keep an answer that was chosen, to be looked at."""
        self._session.debugger.notes.set_draft(turn_id, call_id, ResultDraft(is_error=answer.is_error, prepared=answer))

    def send_prepared(self, turn_id: str, call_id: str, is_error: bool) -> None:
        """Send what was chosen, as an error in any case where that is asked for."""
        draft = self._session.debugger.notes.draft(turn_id, call_id)
        answer = draft.answer if draft is not None else None
        if answer is None:
            return
        if is_error and not answer.is_error:
            answer = answer.model_copy(update={"is_error": True})
        if answer.never or answer.delay:
            self.bar.execute(self._session.debugger.send_late(turn_id, call_id, answer))
        else:
            self._send(turn_id, call_id, answer)

    # Asking a tool server: nothing is sent by it

    def ask(self, turn_id: str, call_id: str) -> None:
        """Ask the server of the call's tool; what it answers stands as the result to be looked at."""
        self.bar.execute(self._session.debugger.ask(turn_id, call_id))

    def cancel_ask(self, turn_id: str, call_id: str) -> None:
        """Ask it no longer."""
        self._session.debugger.cancel_ask(turn_id, call_id)

    def restore(self, turn_id: str, call_id: str) -> None:
        """Put back what the server answered in the place of what was made of it."""
        notes = self._session.debugger.notes
        draft = notes.draft(turn_id, call_id)
        if draft is not None and draft.served is not None:
            notes.set_draft(turn_id, call_id, draft_of(answer_of(draft.served)))

    def drop_picture(self, turn_id: str, call_id: str, at: int) -> None:
        """Leave a picture out of the result."""
        notes = self._session.debugger.notes
        draft = notes.draft(turn_id, call_id)
        if draft is not None and at < len(draft.images):
            left = (*draft.images[:at], *draft.images[at + 1 :])
            notes.set_draft(turn_id, call_id, draft.model_copy(update={"images": left}))

    def stop(self) -> None:
        """End what is under way; where calls wait for a person, leave them as they are."""
        self.bar.stop()

    def answer(self, turn_id: str, call_id: str, text: str, is_error: bool) -> None:
        """Send a result; the last one lets the run go on. One that a server gave says so, edited or not."""
        self._send(turn_id, call_id, self._made(turn_id, call_id, text, is_error))

    def _made(self, turn_id: str, call_id: str, text: str, is_error: bool) -> Answer:
        """What was typed as an answer; where that began with what a server gave, with all that came of it."""
        draft = self._session.debugger.notes.draft(turn_id, call_id)
        if draft is None or draft.served is None:
            return Answer(text=text, is_error=is_error)
        error = is_error or draft.is_error
        return Answer(text=text, is_error=error, images=draft.images, served=draft.served)

    def _send(self, turn_id: str, call_id: str, answer: Answer) -> None:
        try:
            self._session.debugger.send_answer(turn_id, call_id, answer)
        except KeyError:
            self.said.emit("This call does not wait any more.")
        except RunRefusedError as error:
            self.said.emit(str(error))
        else:
            self._after()

    def answer_lanes(self, turn_id: str, call_id: str, text: str, is_error: bool) -> None:
        """Send the same result in every lane that made the same call; those with nothing left open go on."""
        answer = self._made(turn_id, call_id, text, is_error)
        self.bar.execute(Lanes(self._session).answer(self._session, turn_id, call_id, answer, all_lanes=True))

    def answer_all(self, text: str, is_error: bool) -> None:
        """Send the same result to every call that waits, and go on."""
        try:
            self._session.debugger.send_all(text, is_error=is_error)
        except RunRefusedError as error:
            self.said.emit(str(error))
        else:
            self._after()

    def _after(self) -> None:
        if self._session.debugger.waiting:
            self._next_call()
        else:
            self._run()

    def step(self, turn_id: str, call_id: str) -> None:
        """Answer this call, then stop at whatever comes next."""
        self.bar.execute(self._session.debugger.step(turn_id, call_id))

    def compare_answers(self, turn_id: str, call_id: str) -> None:
        """Compare several answers to a call; the dialog says so where that cannot be done now."""
        self.answers_asked.emit(self._session, turn_id, call_id)

    def remember(self, turn_id: str, call_id: str) -> None:
        """Make a row of the tool's table from what the call was answered with, or what is typed for it."""
        try:
            self._session.debugger.remember(turn_id, call_id)
        except KeyError:
            self.said.emit("There is nothing to remember yet: type a result first.")
        except ValueError:
            self.said.emit("The arguments are not JSON, so no row can be made for them.")
        else:
            self.said.emit("Remembered: a call with the same arguments gets the same answer once the rule is “table”.")

    def rules(self, name: str) -> None:
        """Open the rules of a tool."""
        self.rules_asked.emit(name)
