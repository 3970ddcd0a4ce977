"""The pages and windows for looking at a run, in the main window: made when first looked at, following the session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from playground.domain.transcript import Role
from playground.engine.inspect.calls import CallEntry
from playground.ui.features.conversation.going import go_to, show_branch
from playground.ui.features.host import Control, Host

if TYPE_CHECKING:
    from playground.ui.features.debugger.call_list import CallList
    from playground.ui.features.debugger.sequence_page import SequencePage

CALLS, SEQUENCE = "Calls", "Sequence"


class RunPages(Control):
    """``show_session`` brings the pages up to the session looked at."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.calls: CallList | None = None
        self.sequence: SequencePage | None = None
        host.inspector.add_page(CALLS, self._make_calls)
        host.inspector.add_page(SEQUENCE, self._make_sequence)

    def show_session(self) -> None:
        """Show the session looked at in the pages there are."""
        for page in (self.calls, self.sequence):
            if page is not None:
                page.show_session(self._session)

    def _make_calls(self) -> QWidget:
        from playground.ui.features.debugger.call_list import CallList

        self.calls = CallList()
        self.calls.card_asked.connect(self._go_to_entry)
        self.calls.show_session(self._session)
        return self.calls

    def _make_sequence(self) -> QWidget:
        from playground.ui.features.debugger.sequence_page import SequencePage

        self.sequence = SequencePage()
        self.sequence.card_asked.connect(partial(go_to, self._host.pane))
        self.sequence.show_session(self._session)
        return self.sequence

    def open_calls(self) -> None:
        """Bring the list of calls forward."""
        self._open(CALLS)

    def open_sequence(self) -> None:
        """Bring the picture of the loop forward."""
        self._open(SEQUENCE)

    def _open(self, title: str) -> None:
        self._host.show_page(title)

    # Going to a card

    def _go_to_entry(self, entry: CallEntry) -> None:
        if not entry.on_path:
            show_branch(self._host.pane, entry.result_turn_id or entry.turn_id)
        go_to(self._host.pane, entry.turn_id, entry.call.id)

    # Repeating a step

    def repeat(self) -> None:
        """Open the window in which a step is asked many times: that of the turn with the focus, else the last one."""
        from playground.ui.features.debugger.stability_window import StabilityWindow

        session = self._session
        turns = session.transcript.turns
        focused = self._host.pane.view.focused_turn() or ""
        step = focused if focused in turns and turns[focused].role is Role.ASSISTANT else None
        StabilityWindow.shown_for(session, self._host.window, step)
