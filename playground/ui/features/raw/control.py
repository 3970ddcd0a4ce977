"""The Raw tab: what is edited there goes to the current session and back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.raw.panel import Inherited, RawPanel

BODY = "extra_body"
HEADERS = "headers"


class RawControl(QObject):
    """``show_session`` brings the tab up to the session looked at; ``show`` brings it forward.

    ``show_count`` says how much is set there.
    """

    def __init__(
        self,
        workspace: Workspace,
        panel: RawPanel,
        show: Callable[[], None],
        show_count: Callable[[int], None],
    ) -> None:
        super().__init__(panel)
        self._workspace = workspace
        self._panel = panel
        self.show: Callable[[], None] = show
        self._show_count = show_count
        self._shown = ""
        panel.body_changed.connect(self._body_edited)
        panel.unsent_changed.connect(self._body_unsent)
        panel.headers_changed.connect(self._headers_edited)
        panel.headers_left.connect(self._headers_left)

    @property
    def _session(self) -> Session:
        return self._workspace.current

    def show_session(self, *, anew: bool = False) -> None:
        """Show what is set. Text being typed stays while it is the same experiment, but for ``anew``."""
        session = self._session
        fresh, self._shown = anew or session.id != self._shown, session.id
        profile = self._workspace.gateways.get(session.settings.profile_id)
        self._panel.set_value(
            session.settings.extra_body,
            session.settings.extra_headers,
            Inherited(profile.name, profile.extra_body, profile.headers, tuple(profile.secret_headers)),
            unsent=str(session.settings.unsent.get(BODY) or ""),
            left=session.settings.unsent.get(HEADERS),
            fresh=fresh,
        )
        self._show_count(len(session.settings.extra_body) + len(session.settings.extra_headers))

    def _body_edited(self, body: JSONObject) -> None:
        self._session.change(extra_body=body)

    def _body_unsent(self, text: str) -> None:
        self._session.set_unsent(BODY, text)

    def _headers_edited(self, headers: dict[str, str]) -> None:
        self._session.change(extra_headers=headers)

    def _headers_left(self, rows: JSON) -> None:
        self._session.set_unsent(HEADERS, rows)
