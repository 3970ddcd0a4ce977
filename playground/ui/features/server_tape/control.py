"""The messages of tool servers in the window: from a call to its messages, and back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from playground.engine.library.store import StoreError
from playground.ui.features.host import Control, Host
from playground.ui.features.inspector.inspector import Place
from playground.ui.features.server_tape.page import EMPTY, TapePage
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import short_title

if TYPE_CHECKING:
    from playground.engine.tool_servers.servers import Servers

NO_CALL: Final = "This call is in no open experiment: it belongs to an evaluation, or its message was deleted."
NO_MESSAGES: Final = (
    "No messages of this call: it was not sent to a server since the window was opened, or too long ago."
)


class TapeControl(Control):
    """``page`` exists once a tool server is used; before that, a sentence is in its place."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.page: TapePage | None = None
        host.inspector.add_page(Place.SERVERS, empty_words(EMPTY))
        host.workspace.when_tool_servers(self._make_page)
        host.pane.commands.messages_asked.connect(self.show_messages)

    def _make_page(self, servers: Servers) -> None:
        self.page = TapePage(servers.tape)
        self.page.call_asked.connect(self._show_call)
        self._host.inspector.add_page(Place.SERVERS, self.page)

    def open(self) -> None:
        """Show the messages."""
        self._host.show_page(Place.SERVERS)

    def show_messages(self, turn_id: str, call_id: str) -> None:
        """Show the messages of a call."""
        self.open()
        if self.page is None or not self.page.show_call(turn_id, call_id):
            self._say(NO_MESSAGES, stays=False)

    def _show_call(self, turn_id: str, call_id: str) -> None:
        self._host.inspector.restore()
        if turn_id in self._session.transcript.turns:
            self._host.pane.show_turn(turn_id, call_id)
            return
        sessions = (session for session in self._workspace.sessions if turn_id in session.transcript.turns)
        if (session := next(sessions, None)) is None:
            self._say(NO_CALL, stays=False)
        else:
            act = partial(self._go_to, session.id, turn_id, call_id)
            self._say(f"This call is in another experiment, “{short_title(session.title)}”.", "Go to it", act)

    def _go_to(self, experiment_id: str, turn_id: str, call_id: str) -> None:
        spawn(self._show_in(experiment_id, turn_id, call_id), name="show a call in another experiment")

    async def _show_in(self, experiment_id: str, turn_id: str, call_id: str) -> None:
        try:
            session = await self._workspace.show(experiment_id)
        except (KeyError, StoreError):
            self._say(NO_CALL, stays=False)
            return
        if self._workspace.current is session:
            self._host.pane.show_turn(turn_id, call_id)
