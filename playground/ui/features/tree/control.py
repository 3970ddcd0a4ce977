"""The tree of turns in the window: a page of the inspector, made when it is first looked at; deleting a branch."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.ui.features.tree.page import TreePage
from playground.ui.features.tree.words import plural
from playground.ui.shell.main_window import MainWindow

TREE = "Tree"


class TreeControl(QObject):
    """``go_to`` brings a turn into view. ``show_session`` brings the page up to the session looked at."""

    def __init__(self, window: MainWindow, workspace: Workspace, go_to: Callable[[str], None]) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._go_to = go_to
        self.page: TreePage | None = None
        self.handlers: dict[str, Callable[[], None]] = {
            "view.tree": self.open,
            "turn.delete-branch": self.delete_focused,
        }
        window.inspector.add_page(TREE, self._make)

    @property
    def _session(self) -> Session:
        return self._workspace.current

    def _make(self) -> QWidget:
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
        self._window.bottom_dock.show()
        self._window.inspector.show_tab(TREE)
        if self.page is not None:
            self.page.view.setFocus()

    def _turn_asked(self, turn_id: str) -> None:
        if turn_id in self._session.transcript.turns:
            self._go_to(turn_id)

    def delete_focused(self) -> None:
        """Delete the branch that begins with the turn that has the focus."""
        turn_id = self._window.pane.view.focused_turn()
        if turn_id:
            self.delete(turn_id)
        else:
            self._window.pane.notice.say("Choose the turn with which the branch begins (Alt+↑, Alt+↓).", stays=False)

    def delete(self, turn_id: str) -> None:
        """Delete a turn and all that follows it; a notice offers it back."""
        session, pane = self._session, self._window.pane
        if turn_id not in session.transcript.turns:
            return
        count = session.delete_branch(turn_id)
        if count:
            pane.notice.say(f"A branch of {plural(count, 'turn')} deleted.", "Undo", pane.undo, stays=False)
        else:
            pane.notice.say("It was still being received and is stopped now. What had arrived is kept.", stays=False)
