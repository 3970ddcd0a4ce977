"""The tree of turns in the window: a page of the inspector, made when it is first looked at; deleting a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from playground.ui.features.host import Control, Host
from playground.ui.features.tree.words import plural

if TYPE_CHECKING:
    from playground.ui.features.tree.page import TreePage

TREE = "Tree"


class TreeControl(Control):
    """``show_session`` brings the page up to the session looked at."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.page: TreePage | None = None
        host.inspector.add_page(TREE, self._make)

    def _make(self) -> QWidget:
        from playground.ui.features.tree.page import TreePage

        self.page = TreePage()
        self.page.turn_asked.connect(self._turn_asked)
        self.page.delete_asked.connect(self.delete)
        self.page.show_session(self._session)
        return self.page

    def show_session(self) -> None:
        """Show the tree of the session looked at, if there is a page."""
        if self.page is not None:
            self.page.show_session(self._session)

    def open(self) -> None:
        """Bring the tree forward, ready for keys."""
        self._host.show_page(TREE)
        if self.page is not None:
            self.page.view.setFocus()

    def _turn_asked(self, turn_id: str) -> None:
        if turn_id in self._session.transcript.turns:
            self._host.pane.show_turn(turn_id)

    def delete_focused(self) -> None:
        """Delete the branch that begins with the turn that has the focus."""
        turn_id = self._host.pane.view.focused_turn()
        if turn_id:
            self.delete(turn_id)
        else:
            self._say("Choose the turn with which the branch begins (Alt+↑, Alt+↓).", stays=False)

    def delete(self, turn_id: str) -> None:
        """Delete a turn and all that follows it; a notice offers it back."""
        session, pane = self._session, self._host.pane
        if turn_id not in session.transcript.turns:
            return
        count = session.delete_branch(turn_id)
        if count:
            pane.notice.say(f"A branch of {plural(count, 'turn')} deleted.", "Undo", pane.undo, stays=False)
        else:
            pane.notice.say("It was still being received and is stopped now. What had arrived is kept.", stays=False)
