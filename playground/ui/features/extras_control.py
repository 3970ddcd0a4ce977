"""The Output and Raw tabs and the rule for reasoning: what is edited there goes to the current session and back."""

from __future__ import annotations

from PySide6.QtCore import QObject

from playground.domain.parameters import Parameters
from playground.domain.request import ReasoningReturn
from playground.engine.library.workspace import Workspace
from playground.engine.requests.spoken import returns_reasoning
from playground.engine.session.session import Session
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.raw.panel import Inherited
from playground.ui.shell.main_window import MainWindow

BODY = "extra_body"
HEADERS = "headers"


class ExtrasControl(QObject):
    """``show_session`` brings the tabs up to the session looked at."""

    def __init__(self, window: MainWindow, workspace: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._shown = ""
        window.output.changed.connect(self._output_edited)
        window.output.draft_changed.connect(self._output_draft)
        window.raw.body_changed.connect(self._body_edited)
        window.raw.unsent_changed.connect(self._body_unsent)
        window.raw.headers_changed.connect(self._headers_edited)
        window.raw.headers_left.connect(self._headers_left)
        window.reasoning_return.changed.connect(self._reasoning_chosen)

    @property
    def _session(self) -> Session:
        return self._workspace.current

    def show_session(self) -> None:
        """Show what is set in the session; text being typed stays while it is the same experiment."""
        session, window = self._session, self._window
        fresh, self._shown = session.id != self._shown, session.id
        profile = self._workspace.gateways.get(session.settings.profile_id)
        window.output.set_value(session.settings.current, session.settings.unsent.get(self._output_key), fresh=fresh)
        window.raw.set_value(
            session.settings.extra_body,
            session.settings.extra_headers,
            Inherited(profile.name, profile.extra_body, profile.headers, tuple(profile.secret_headers)),
            unsent=str(session.settings.unsent.get(BODY) or ""),
            left=session.settings.unsent.get(HEADERS),
            fresh=fresh,
        )
        window.side.set_count("Raw", len(session.settings.extra_body) + len(session.settings.extra_headers))
        window.reasoning_return.show_value(
            session.settings.reasoning_return,
            profile.reasoning_return,
            applies=returns_reasoning(session.settings.protocol),
        )

    def show_anew(self) -> None:
        """Show what is set, in place of what is being typed: the person went back to it."""
        self._shown = ""
        self.show_session()

    @property
    def _output_key(self) -> str:
        """Parameters belong to a protocol, and so does what is typed towards them."""
        return f"output.{self._session.settings.protocol}"

    def _output_edited(self, parameters: Parameters) -> None:
        self._session.set_parameters(parameters)

    def _output_draft(self, draft: JSON) -> None:
        self._session.set_unsent(self._output_key, draft)

    def _body_edited(self, body: JSONObject) -> None:
        self._session.change(extra_body=body)

    def _body_unsent(self, text: str) -> None:
        self._session.set_unsent(BODY, text)

    def _headers_edited(self, headers: dict[str, str]) -> None:
        self._session.change(extra_headers=headers)

    def _headers_left(self, rows: JSON) -> None:
        self._session.set_unsent(HEADERS, rows)

    def _reasoning_chosen(self, rule: ReasoningReturn | None) -> None:
        self._session.change(reasoning_return=rule)
