"""The map of turns in the inspector, and deleting branches."""

from __future__ import annotations

from playground.jsonkit.texts import quantity
from playground.ui.features.host import Control, Host
from playground.ui.features.inspector.inspector import Place
from playground.ui.features.tree.page import TreePage


class TreeControl(Control):
    """Shows the session in the page, and deletes branches."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.page = TreePage()
        self.page.turn_asked.connect(self._turn_asked)
        self.page.delete_asked.connect(self.delete)
        host.inspector.add_page(Place.BRANCHES, self.page)

    def show_session(self) -> None:
        """Show the branches of the current session."""
        self.page.show_session(self._session)

    def open(self) -> None:
        """Bring the tree forward, ready for keys."""
        self._host.show_page(Place.BRANCHES)
        self.page.view.setFocus()

    def _turn_asked(self, turn_id: str) -> None:
        if turn_id in self._session.transcript.turns:
            self._host.inspector.restore()
            self._host.pane.show_turn(turn_id)

    def delete_focused(self) -> None:
        """Delete the branch that begins with the focused turn."""
        turn_id = self._host.pane.view.focused_turn()
        if turn_id:
            self.delete(turn_id)
        else:
            self._say("Select the first message of the branch (Alt+↑, Alt+↓).", stays=False)

    def delete(self, turn_id: str) -> None:
        """Delete a turn and all turns below it; a notice offers to undo it."""
        session, pane = self._session, self._host.pane
        if turn_id not in session.transcript.turns:
            return
        count = session.delete_branch(turn_id)
        if count:
            pane.notice.say(f"A branch of {quantity(count, 'message')} deleted.", "Undo", pane.undo, stays=False)
        else:
            pane.notice.say("Receiving was stopped. The received part is saved.", stays=False)
