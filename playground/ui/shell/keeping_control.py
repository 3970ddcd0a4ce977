"""What is kept and used again, in the main window: files, presets, variables, and the way back from edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings

from playground.engine.library.workspace import Workspace
from playground.ui.features.cassettes.control import CassetteControl
from playground.ui.features.files.file_control import FileControl
from playground.ui.features.presets.preset_control import PresetControl
from playground.ui.features.variables.variables_control import VariablesControl
from playground.ui.shell.main_window import MainWindow
from playground.ui.shell.undo_offer import UndoOffer

if TYPE_CHECKING:
    from playground.engine.files.presets import PresetStore


class KeepingControl(QObject):
    """One for each window. ``presets`` gives the presets when they are first needed."""

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        settings: QSettings,
        cassettes: CassetteControl,
        presets: Callable[[], PresetStore] | None = None,
    ) -> None:
        super().__init__(window)
        self._workspace = workspace
        self.files = FileControl(window, workspace, settings, cassettes)
        self.presets = PresetControl(window, workspace, presets or self._usual_presets)
        self.variables = VariablesControl(window, workspace, settings)
        self._undo = UndoOffer(window, workspace)
        self.handlers: dict[str, Callable[[], None]] = {
            **self.files.handlers,
            **self.presets.handlers,
            **self.variables.handlers,
        }

    def _usual_presets(self) -> PresetStore:
        from playground.engine.files.presets import PresetStore

        return PresetStore(known=self._workspace.gateways.keys.known)

    def show_session(self) -> None:
        """Another experiment is looked at, or something is set differently."""
        self.variables.show_session()
        self._undo.show_session()
