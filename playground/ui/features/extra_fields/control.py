"""Shows the extra fields of the current experiment and stores edits in it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.domain.request import ReasoningReturn
from playground.engine.library.workspace import Workspace
from playground.engine.requests.protocol_info import returns_reasoning
from playground.engine.session.session import Session
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.extra_fields.panel import ExtraFieldsPanel, Inherited

BODY = "extra_body"
HEADERS = "headers"


class ExtraFieldsControl(QObject):
    """``show`` brings the fold forward; ``show_count`` gets the number of settings in it."""

    def __init__(
        self,
        workspace: Workspace,
        panel: ExtraFieldsPanel,
        show: Callable[[], None],
        show_count: Callable[[str], None],
    ) -> None:
        super().__init__(panel)
        self._workspace = workspace
        self._panel = panel
        self.show: Callable[[], None] = show
        self._show_count = show_count
        self._shown = ""
        panel.body_changed.connect(self._change_body)
        panel.unsent_changed.connect(self._keep_unsent_body)
        panel.headers_changed.connect(self._change_headers)
        panel.unsent_headers_changed.connect(self._keep_unsent_headers)
        panel.reasoning.changed.connect(self._change_reasoning)

    @property
    def _session(self) -> Session:
        return self._workspace.current

    def show_session(self, *, reset: bool = False) -> None:
        """Show the settings. Text being typed stays while the experiment is the same, unless ``reset``."""
        session = self._session
        settings = session.settings
        fresh, self._shown = reset or session.id != self._shown, session.id
        profile = self._workspace.gateways.get(settings.profile_id)
        self._panel.set_value(
            settings.extra_body,
            settings.extra_headers,
            Inherited(profile.name, profile.extra_body, profile.headers, tuple(profile.secret_headers)),
            unsent=str(settings.unsent.get(BODY) or ""),
            unsent_headers=settings.unsent.get(HEADERS),
            fresh=fresh,
        )
        self._panel.reasoning.show_value(
            settings.reasoning_return, profile.reasoning_return, applies=returns_reasoning(settings.protocol)
        )
        count = len(settings.extra_body) + len(settings.extra_headers) + (settings.reasoning_return is not None)
        self._show_count(str(count or "none"))

    def _change_body(self, body: JSONObject) -> None:
        self._session.change(extra_body=body)

    def _keep_unsent_body(self, text: str) -> None:
        self._session.set_unsent(BODY, text)

    def _change_headers(self, headers: dict[str, str]) -> None:
        self._session.change(extra_headers=headers)

    def _keep_unsent_headers(self, rows: JSON) -> None:
        self._session.set_unsent(HEADERS, rows)

    def _change_reasoning(self, rule: ReasoningReturn | None) -> None:
        self._session.change(reasoning_return=rule)
