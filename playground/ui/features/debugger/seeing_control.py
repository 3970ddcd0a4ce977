"""The pages and windows for looking at a run, in the main window: made when first looked at, following the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QWidget

from playground.domain.transcript import Role
from playground.engine.inspect.calls import CallEntry
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.ui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from playground.ui.features.debugger.call_list import CallList
    from playground.ui.features.debugger.sequence_page import SequencePage

CALLS, SEQUENCE = "Calls", "Sequence"
ABOVE = 12  # pixels left above what is gone to


class SeeingControl(QObject):
    """``show_session`` brings the pages up to the session looked at."""

    def __init__(self, window: MainWindow, workspace: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self.calls: CallList | None = None
        self.sequence: SequencePage | None = None
        window.inspector.add_page(CALLS, self._make_calls)
        window.inspector.add_page(SEQUENCE, self._make_sequence)

    @property
    def _session(self) -> Session:
        return self._workspace.current

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
        self.sequence.card_asked.connect(self.go_to)
        self.sequence.show_session(self._session)
        return self.sequence

    def open_calls(self) -> None:
        """Bring the list of calls forward."""
        self._open(CALLS)

    def open_sequence(self) -> None:
        """Bring the picture of the loop forward."""
        self._open(SEQUENCE)

    def _open(self, title: str) -> None:
        self._window.bottom_dock.show()
        self._window.inspector.show_tab(title)

    # Going to a card

    def _go_to_entry(self, entry: CallEntry) -> None:
        if not entry.on_path:
            self._show_branch(entry.result_turn_id or entry.turn_id)
        self.go_to(entry.turn_id, entry.call.id)

    def _show_branch(self, turn_id: str) -> None:
        if turn_id in self._session.transcript.turns:
            self._session.turns.select_variant(turn_id)

    def go_to(self, turn_id: str, call_id: str = "") -> None:
        """Bring a turn, or a call in it, into view, and put the focus there. One that is gone is not gone to."""
        view = self._window.pane.view
        if turn_id not in {turn.id for turn in self._session.transcript.path}:
            self._show_branch(turn_id)
        card = view.card(turn_id)
        if card is None:
            return
        part: QWidget = card.turn_to_call(call_id) or card
        top, height = part.mapTo(view.viewport(), QPoint(0, 0)).y(), view.viewport().height()
        if top < 0 or top + min(part.height(), height) > height:
            bar = view.verticalScrollBar()
            bar.setValue(bar.value() + top - ABOVE)
        card.setFocus(Qt.FocusReason.OtherFocusReason)

    # Repeating a step

    def repeat(self) -> None:
        """Open the window in which a step is asked many times: that of the turn with the focus, else the last one."""
        from playground.ui.features.debugger.stability_window import StabilityWindow

        session = self._session
        turns = session.transcript.turns
        focused = self._window.pane.view.focused_turn() or ""
        step = focused if focused in turns and turns[focused].role is Role.ASSISTANT else None
        StabilityWindow.shown_for(session, self._window, step)
