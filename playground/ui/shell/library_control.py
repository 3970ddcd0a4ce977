"""What the window does with experiments as a whole: the list, the trash, the tree, the store, going back and forth.

It only puts them together, so that the window's actions know one of them.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSettings

from playground.engine.library.workspace import Workspace
from playground.ui.features.experiments.control import ExperimentsControl
from playground.ui.features.experiments.trash_control import TrashControl
from playground.ui.features.storage.control import StorageControl
from playground.ui.features.tree.control import TreeControl
from playground.ui.shell.main_window import MainWindow
from playground.ui.shell.undo_control import UndoControl


class LibraryControl(QObject):
    """``go_to`` brings a turn into view; ``settled`` shows settings anew. ``handlers`` are the actions, by id."""

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        settings: QSettings,
        go_to: Callable[[str], None],
        settled: Callable[[], None],
    ) -> None:
        super().__init__(window)
        self.experiments = ExperimentsControl(window, workspace, go_to)
        self.trash = TrashControl(window, workspace, self.experiments.open)
        self.tree = TreeControl(window, workspace, go_to)
        self.storage = StorageControl(window, workspace, settings)
        self.undo = UndoControl(window, workspace, settled, self.experiments.undelete)
        parts = (self.experiments, self.trash, self.tree, self.storage, self.undo)
        self.handlers = {name: handler for part in parts for name, handler in part.handlers.items()}

    def start(self) -> None:
        """Open the store. Called once the event loop runs."""
        self.storage.start()

    def show_session(self) -> None:
        """Show the session looked at."""
        self.tree.show_session()
        self.storage.unread.show_session()
