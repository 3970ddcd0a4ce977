"""Events, spec check and comparisons in the main window, linked with the conversation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from playground.domain.errors import FailureGroup
from playground.engine.gateways.redaction import redactor_of
from playground.engine.inspect.calls import served
from playground.engine.library.store import StoreError
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.host import Control, Host
from playground.ui.features.inspector.inspector import Place
from playground.ui.features.inspector.traces import Trace, Traces
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.features.wire.linking import Linking
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange


NO_EVENTS = "No events: this message was not received from a gateway."
ONE_EXCHANGE = "Nothing to compare with yet: the experiment needs two requests."


class WireControl(Control):
    """The inspector's link to the experiment. ``show`` puts an exchange into the inspector."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._shown: Exchange | None = None
        self._dismissed = ""  # the turn whose failure gave way to an exchange that a person chose
        self._traces = Traces()
        inspector = host.inspector
        self._linking = Linking(
            host.pane.view, inspector.events, lambda: self._session, self._trace_of, self._bring_forward
        )
        inspector.status.exchange_chosen.connect(host.show_exchange)
        host.pane.commands.frames_asked.connect(self.show_events)
        host.pane.commands.hole_asked.connect(self.show_lost_data)
        host.pane.commands.lint_asked.connect(self._check_turn)
        host.pane.commands.compare_asked.connect(self.compare_turn)

    def show(self, exchange: Exchange | None, *, chosen: bool = False) -> None:
        """Show an exchange of the current experiment, or that the last run sent nothing.

        ``chosen``: a person asked for this exchange.
        """
        session, inspector = self._session, self._host.inspector
        if chosen:
            self._dismissed = next((turn.id for turn in reversed(session.transcript.path)), "")
        calls = sum(len(turn.calls) for turn in session.transcript.turns.values())
        inspector.set_scope(session.title, calls)
        self._shown = exchange
        view = ExchangeView(exchange, self._trace, session, redact=self._redact) if exchange is not None else None
        inspector.set_exchange(view, self._unsent())

    def _unsent(self) -> str:
        """Return why the last run sent nothing; empty if it did, or if a person chose an exchange since."""
        path = self._session.transcript.path
        outcome = path[-1].outcome if path else None
        failure = outcome.failure if outcome is not None else None
        if failure is None or outcome is None or outcome.exchange or path[-1].id == self._dismissed:
            return ""
        return f"Nothing was sent. {failure.message}" if failure.group is FailureGroup.UNSENT else ""

    def _redact(self, text: str) -> str:
        return redactor_of(self._workspace.gateways.keys.known_secrets()).text(text)

    def _trace(self, exchange: Exchange) -> Trace:
        trace = self._traces.trace_of(exchange)
        if "tool_servers" in self._workspace.__dict__:  # no server has been used otherwise
            trace.timeline.served = served(self._session, exchange, self._workspace.tool_servers.tape)
        return trace

    def _trace_of(self, exchange_id: str) -> Trace | None:
        exchange = self._session.exchanges.get(exchange_id)
        return self._traces.trace_of(exchange) if exchange is not None else None

    def _bring_forward(self, exchange_id: str) -> None:
        """Show an exchange in the inspector, unless its newest state is shown."""
        if self._session.exchanges.get(exchange_id) is not self._shown:
            self._host.show_exchange(exchange_id)
        self._host.inspector.draw_now()

    # Commands of menus, cards and keys

    def open_timeline(self) -> None:
        """Show the timeline."""
        self._host.show_page(Place.TIMELINE)

    def open_spec_check(self) -> None:
        """Show the spec check."""
        self._host.show_page(Place.SPEC_CHECK)

    def open_comparison(self) -> None:
        """Show the comparison of requests."""
        self._host.show_page(Place.COMPARE)

    def _open_events(self) -> None:
        """Show the list of events: alone, or below the timeline if that is in front."""
        events = self._host.inspector.events
        self._host.show_page(Place.TIMELINE if events.isVisible() and events.picture.isVisible() else Place.EVENTS)

    def _check_turn(self, turn_id: str) -> None:
        """Show the spec check of the exchange of a turn."""
        exchange = self._exchange_of(turn_id)
        if exchange is not None:
            self._bring_forward(exchange.id)
            self.open_spec_check()

    def show_events(self, turn_id: str, call_id: str = "") -> None:
        """Show the event of a call, or the first one of a turn."""
        self._look_up(turn_id, lambda links: links.show_call(turn_id, call_id) if call_id else links.show_turn(turn_id))

    def show_lost_data(self, turn_id: str) -> None:
        """Show the events in which data of a turn could not be read."""
        self._look_up(turn_id, lambda links: links.show_lost_data(turn_id))

    def _look_up(self, turn_id: str, show: Callable[[Linking], bool]) -> None:
        self._open_events()
        exchange = self._exchange_of(turn_id)
        if exchange is not None and self._session.experiment.may_fetch(exchange):
            spawn(self._fetch_and_show(exchange.id, show), name="fetch exchange")
        else:
            self._show_linked(show)

    def _exchange_of(self, turn_id: str) -> Exchange | None:
        turn = self._session.transcript.turns.get(turn_id)
        outcome = turn.outcome if turn is not None else None
        return self._session.exchanges.get(outcome.exchange or "") if outcome is not None else None

    async def _fetch_and_show(self, exchange_id: str, show: Callable[[Linking], bool]) -> None:
        session = self._session
        with contextlib.suppress(StoreError):  # the inspector then says that the data is gone
            await session.experiment.bring_exchange(exchange_id)
        if session is self._session:
            self._show_linked(show)

    def _show_linked(self, show: Callable[[Linking], bool]) -> None:
        if not show(self._linking):
            self._say(NO_EVENTS, stays=False)

    def show_selection(self) -> None:
        """Show the events of the selected text, or of the focused turn."""
        focus = QApplication.focusWidget()
        turn_id = self._host.pane.view.focused_turn()
        self._open_events()
        if isinstance(focus, TextView) and self._linking.show_selection(focus):
            return
        if turn_id:
            self.show_events(turn_id)

    def compare_turn(self, turn_id: str) -> None:
        """Compare the answer of a turn with another one."""
        exchange = self._exchange_of(turn_id)
        requests = [exchange for exchange in self._session.exchanges.values() if exchange.method == "POST"]
        if exchange is None or len(requests) < 2:
            self._say(ONE_EXCHANGE, stays=False)
            return
        self.open_comparison()
        self._bring_forward(exchange.id)
        self._host.inspector.request.compare.choose_answer()
