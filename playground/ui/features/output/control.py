"""Shows the output format of the current experiment and stores edits in it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.domain.parameters import Parameters
from playground.engine.library.workspace import Workspace
from playground.engine.requests.capability_warnings import settings_warnings, warning_sentences
from playground.engine.session.session import Session
from playground.jsonkit.values import JSON
from playground.ui.features.output.panel import FIELD, OutputPanel


class OutputControl(QObject):
    """``show`` brings the tab forward."""

    def __init__(self, workspace: Workspace, panel: OutputPanel, show: Callable[[], None]) -> None:
        super().__init__(panel)
        self._workspace = workspace
        self._panel = panel
        self.show: Callable[[], None] = show
        self._shown = ""
        panel.changed.connect(self._edited)
        panel.draft_changed.connect(self._store_draft)

    @property
    def _session(self) -> Session:
        return self._workspace.current

    def show_session(self, *, reset: bool = False) -> None:
        """Show the format. Text being typed stays while the experiment is the same, unless ``reset``."""
        session = self._session
        fresh, self._shown = reset or session.id != self._shown, session.id
        self._panel.set_value(session.settings.current, session.settings.unsent.get(self._key), fresh=fresh)
        field = type(session.settings.current).places().get(FIELD)
        self._panel.show_warning(warning_sentences(settings_warnings(session), field) if field is not None else "")

    @property
    def _key(self) -> str:
        """The key of the stored text: parameters belong to a protocol."""
        return f"output.{self._session.settings.protocol}"

    def _edited(self, parameters: Parameters) -> None:
        self._session.set_parameters(parameters)

    def _store_draft(self, draft: JSON) -> None:
        self._session.set_unsent(self._key, draft)
