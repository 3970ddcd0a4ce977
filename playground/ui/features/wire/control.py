"""The wire in the main window: frames, lint and comparisons, tied to the conversation.

What each needs is made when it is first asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from playground.engine.library.store import StoreError
from playground.engine.session.session import Session
from playground.ui.features.host import Control, Host
from playground.ui.features.inspector.view import ExchangeView, view_of
from playground.ui.features.inspector.wire_views import DiffView, LintView, TimelineView
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange, Session
    from playground.ui.features.inspector.lint_page import LintPage
    from playground.ui.features.inspector.timeline.page import TimelinePage
    from playground.ui.features.inspector.traces import Trace, Traces
    from playground.ui.features.wire.linking import Linking

NO_FRAMES = "This turn did not come over the wire, so there are no frames of it."
ONE_EXCHANGE = "There is nothing to compare with yet: the experiment needs two requests."


class WireControl(Control):
    """``view_of`` gives an exchange as the inspector wants it."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._shown: Exchange | None = None
        self._traces: Traces | None = None
        self._linking: Linking | None = None
        inspector = host.inspector
        inspector.view(TimelineView).when_made(self._timeline_made)
        inspector.view(LintView).when_made(self._lint_made)
        inspector.status.exchange_asked.connect(host.show_exchange)
        host.pane.wire.frames_asked.connect(self.show_frames)
        host.pane.wire.hole_asked.connect(self.show_hole)
        host.pane.wire.lint_asked.connect(self._lint_of)
        host.pane.wire.compare_asked.connect(self.compare_turn)

    @property
    def traces(self) -> Traces:
        """The frames of exchanges, as far as somebody looked."""
        if self._traces is None:
            from playground.ui.features.inspector.traces import Traces

            self._traces = Traces()
        return self._traces

    def view_of(self, exchange: Exchange | None) -> ExchangeView | None:
        """An exchange of the session looked at as the inspector wants it."""
        self._shown = exchange
        return view_of(exchange, self._trace, self._session) if exchange is not None else None

    def _trace(self, exchange: Exchange) -> Trace:
        trace = self.traces.of(exchange)
        if "tool_servers" in self._workspace.__dict__:  # else none was ever asked
            from playground.engine.inspect.calls import served

            trace.timeline.served = served(self._session, exchange, self._workspace.tool_servers.tape)
        return trace

    def _trace_of(self, exchange_id: str) -> Trace | None:
        exchange = self._session.exchanges.get(exchange_id)
        return self.traces.of(exchange) if exchange is not None else None

    # The pages, once they are there

    def _timeline_made(self, page: TimelinePage) -> None:
        from playground.ui.features.wire.linking import Linking

        self._linking = Linking(self._host.pane.view, page, self._looked_at, self._trace_of, self._bring)

    def _looked_at(self) -> Session:
        return self._session

    def _lint_made(self, page: LintPage) -> None:
        page.frame_asked.connect(self._show_frame)

    def _bring(self, exchange_id: str) -> None:
        """Have the timeline show an exchange."""
        if self._session.exchanges.get(exchange_id) is not self._shown:  # another one, or more of it came back just now
            self._host.show_exchange(exchange_id)
        self._host.inspector.draw_now()

    # Asked for by menus, cards and keys

    def open_timeline(self) -> None:
        """Bring the timeline forward."""
        self._open(TimelineView.title)

    def open_lint(self) -> None:
        """Bring the deviations forward."""
        self._open(LintView.title)

    def _lint_of(self, turn_id: str) -> None:
        """The deviations of the exchange that brought a turn."""
        exchange = self._exchange_of(turn_id)
        if exchange is not None:
            self._bring(exchange.id)
            self.open_lint()

    def open_diff(self) -> None:
        """Bring the comparison of exchanges forward."""
        self._open(DiffView.title)

    def _open(self, title: str) -> None:
        self._host.show_page(title)

    def show_frames(self, turn_id: str, call_id: str = "") -> None:
        """Show the frame that carried a call, or the first one of a turn."""
        self._look_up(turn_id, lambda links: links.show_call(turn_id, call_id) if call_id else links.show_turn(turn_id))

    def show_hole(self, turn_id: str) -> None:
        """Show the frames in which something of a turn could not be read."""
        self._look_up(turn_id, lambda links: links.show_hole(turn_id))

    def _look_up(self, turn_id: str, show: Callable[[Linking], bool]) -> None:
        self.open_timeline()
        exchange = self._exchange_of(turn_id)
        if exchange is not None and self._session.experiment.may_fetch(exchange):
            spawn(self._fetch_and_show(exchange.id, show), name="fetch exchange")
        else:
            self._show_found(show)

    def _exchange_of(self, turn_id: str) -> Exchange | None:
        turn = self._session.transcript.turns.get(turn_id)
        outcome = turn.outcome if turn is not None else None
        return self._session.exchanges.get(outcome.exchange or "") if outcome is not None else None

    async def _fetch_and_show(self, exchange_id: str, show: Callable[[Linking], bool]) -> None:
        session = self._session
        with contextlib.suppress(StoreError):  # then there are only its times, as the timeline says
            await session.experiment.bring_exchange(exchange_id)
        if session is self._session:
            self._show_found(show)

    def _show_found(self, show: Callable[[Linking], bool]) -> None:
        if self._linking is not None and not show(self._linking):
            self._say(NO_FRAMES, stays=False)

    def show_selection(self) -> None:
        """Show the frames of what is selected where the focus is, else those of the turn that has it."""
        from playground.ui.features.conversation.text_view import TextView

        focus = QApplication.focusWidget()
        turn_id = self._host.pane.view.focused_turn()
        self.open_timeline()
        if isinstance(focus, TextView) and self._linking is not None and self._linking.show_selection(focus):
            return
        if turn_id:
            self.show_frames(turn_id)

    def _show_frame(self, number: int) -> None:
        self.open_timeline()
        page = self._host.inspector.view(TimelineView).page
        page.choose([number])
        page.table.setFocus()

    def compare_turn(self, turn_id: str) -> None:
        """Compare the exchange of a turn with another one: what was answered first."""
        exchange = self._exchange_of(turn_id)
        if exchange is None or sum(one.method == "POST" for one in self._session.exchanges.values()) < 2:
            self._say(ONE_EXCHANGE, stays=False)
            return
        self.open_diff()
        self._bring(exchange.id)
        self._host.inspector.view(DiffView).page.choose_answer()
