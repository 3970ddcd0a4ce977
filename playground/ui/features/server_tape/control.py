"""The tape of tool servers in the window: its page of the inspector, the way from a call to its messages and back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from playground.engine.library.store import StoreError
from playground.ui.features.host import Control, Host
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import short_title

if TYPE_CHECKING:
    from playground.engine.tool_servers.tape import ServerTape
    from playground.ui.features.server_tape.page import TapePage

SERVERS: Final = "Servers"
NOT_HERE: Final = "That call is in no experiment that is open: it is of an evaluation, or its turn was deleted."
NO_MESSAGES: Final = (
    "No message of that call is kept. It was not asked of a server since the window was opened, or too long ago."
)


class TapeControl(Control):
    """``page`` is there once somebody looked at it."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.page: TapePage | None = None
        host.inspector.add_page(SERVERS, self._make)
        host.pane.wire.messages_asked.connect(self.show_messages)

    @property
    def _tape(self) -> ServerTape:
        return self._workspace.tool_servers.tape

    def _make(self) -> QWidget:
        from playground.ui.features.server_tape.page import TapePage

        self.page = TapePage(self._tape)
        self.page.call_asked.connect(self._show_call)
        return self.page

    def open(self) -> None:
        """Bring the messages forward."""
        self._host.show_page(SERVERS)

    def show_messages(self, turn_id: str, call_id: str) -> None:
        """Show what was said with the server about a call."""
        self.open()
        if self.page is not None and not self.page.show_call(turn_id, call_id):
            self._say(NO_MESSAGES, stays=False)

    def _show_call(self, turn_id: str, call_id: str) -> None:
        if turn_id in self._session.transcript.turns:
            self._host.pane.show_turn(turn_id, call_id)
            return
        other = next((one for one in self._workspace.sessions if turn_id in one.transcript.turns), None)
        if other is None:
            self._say(NOT_HERE, stays=False)
        else:
            act = partial(self._go_to, other.id, turn_id, call_id)
            self._say(f"That call is in another experiment, “{short_title(other.title)}”.", "Go there", act)

    def _go_to(self, experiment_id: str, turn_id: str, call_id: str) -> None:
        spawn(self._show_in(experiment_id, turn_id, call_id), name="show a call in another experiment")

    async def _show_in(self, experiment_id: str, turn_id: str, call_id: str) -> None:
        try:
            session = await self._workspace.show(experiment_id)
        except (KeyError, StoreError):
            self._say(NOT_HERE, stays=False)
            return
        if self._workspace.current is session:
            self._host.pane.show_turn(turn_id, call_id)
