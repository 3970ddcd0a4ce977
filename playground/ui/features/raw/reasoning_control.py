"""The rule for reasoning sent back: what is chosen goes to the current session and back."""

from __future__ import annotations

from PySide6.QtCore import QObject

from playground.domain.request import ReasoningReturn
from playground.engine.library.workspace import Workspace
from playground.engine.requests.protocol_info import returns_reasoning
from playground.ui.features.raw.reasoning_return import ReasoningReturnFields


class ReasoningControl(QObject):
    """``show_session`` brings the fields up to the session looked at."""

    def __init__(self, workspace: Workspace, fields: ReasoningReturnFields) -> None:
        super().__init__(fields)
        self._workspace = workspace
        self._fields = fields
        fields.changed.connect(self._chosen)

    def show_session(self) -> None:
        """Show the experiment's rule and the gateway's."""
        settings = self._workspace.current.settings
        self._fields.show_value(
            settings.reasoning_return,
            self._workspace.gateways.get(settings.profile_id).reasoning_return,
            applies=returns_reasoning(settings.protocol),
        )

    def _chosen(self, rule: ReasoningReturn | None) -> None:
        self._workspace.current.change(reasoning_return=rule)
