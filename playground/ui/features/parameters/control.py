"""The Parameters tab: what is edited there goes to the current session and back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.domain.parameters import Parameters
from playground.engine.library.workspace import Workspace
from playground.engine.requests.capability_warnings import limit_field, output_limit_words
from playground.engine.requests.view import parameter_notes
from playground.ui.features.parameters.panel import ParameterPanel


class ParametersControl(QObject):
    """``show_session`` brings the tab up to the session looked at; ``show`` brings it forward."""

    def __init__(self, workspace: Workspace, panel: ParameterPanel, show: Callable[[], None]) -> None:
        super().__init__(panel)
        self._workspace = workspace
        self._panel = panel
        self.show: Callable[[], None] = show
        panel.changed.connect(self._edited)

    def show_session(self) -> None:
        """Show what is set."""
        session = self._workspace.current
        flags, settings = parameter_notes(session), session.settings
        facts = self._workspace.gateways.facts(settings.profile_id, settings.model)
        words, above = output_limit_words(facts, settings.current)
        field = limit_field(settings.current)
        if above:
            flags[field] = "\n".join(filter(None, (flags.get(field, ""), words)))
        self._panel.set_value(settings.current, flags, {} if above else {field: words})
        self._panel.set_tool_names([tool.name for tool in session.settings.tools if tool.sendable])

    def _edited(self, parameters: Parameters) -> None:
        self._workspace.current.set_parameters(parameters)
