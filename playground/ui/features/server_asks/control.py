"""Controller of requests from tool servers: a banner announces them, and the user opens a dialog to answer.

Requests never take the keyboard focus. The modules of the dialogs are imported when they are first needed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QDialog

from playground.domain.tool_servers import Elicitation, Message, Request, Sampling, TextBlock
from playground.engine.session.session import Session
from playground.ui.features.host import Control, Host

if TYPE_CHECKING:
    from playground.engine.tool_servers.events import Event
    from playground.engine.tool_servers.servers import Servers
    from playground.ui.features.server_asks.bar import AsksBar

NOTHING_ASKED = "No pending requests."


class AsksControl(Control):
    """Controller of pending requests. ``dialogs`` contains the dialogs opened for them, by the ids of the requests."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._servers: Servers | None = None
        self.bar: AsksBar | None = None
        self.dialogs: dict[str, QDialog] = {}
        host.workspace.when_tool_servers(self._follow)

    def _follow(self, servers: Servers) -> None:
        self._servers = servers
        servers.subscribe(self._handle_event)
        servers.book.subscribe(self._host.pane.servers_changed)
        self._refresh()

    @property
    def waiting(self) -> tuple[Request, ...]:
        """Pending requests, the oldest first."""
        return self._servers.asks if self._servers is not None else ()

    def open_first(self) -> None:
        """Open the oldest pending request."""
        if self.waiting:
            self.open_ask(self.waiting[0].id)
        else:
            self._say(NOTHING_ASKED, stays=False)

    def open_ask(self, ask_id: str) -> None:
        """Open the dialog of a request; a dialog that was opened before keeps its input."""
        request = next((pending for pending in self.waiting if pending.id == ask_id), None)
        if request is None:
            return
        dialog = self.dialogs.get(ask_id)
        if dialog is None:
            dialog = self.dialogs[ask_id] = (
                self._create_form_dialog(request)
                if isinstance(request, Elicitation)
                else self._create_sampling_dialog(request)
            )
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()

    def _create_form_dialog(self, request: Elicitation) -> QDialog:
        from playground.ui.features.server_asks.elicitation_dialog import ElicitationDialog

        dialog = ElicitationDialog(request, self._host.window)
        dialog.answered.connect(partial(self._answer, request.id))
        dialog.page_requested.connect(_browse)
        return dialog

    def _create_sampling_dialog(self, request: Sampling) -> QDialog:
        from playground.ui.features.server_asks.model_choice import ModelChoice
        from playground.ui.features.server_asks.sampling_dialog import SamplingDialog

        settings = self._session.settings
        choice = ModelChoice(self._workspace.gateways, settings.profile_id, settings.protocol, settings.model)
        dialog = SamplingDialog(request, choice, self._workspace.blank, self._host.window)
        dialog.answered.connect(partial(self._answer_sampling, request.id))
        dialog.refused.connect(partial(self._refuse, request.id))
        dialog.save_requested.connect(self._add_experiment)
        return dialog

    # Answers of the user

    def _answer(self, request_id: str, action: str, content: object) -> None:
        if self._servers is not None:
            self._servers.answer(request_id, action, content if isinstance(content, dict) else None)

    def _answer_sampling(self, request_id: str, text: str, model: str, stop_reason: str) -> None:
        if self._servers is not None:
            message = Message(role="assistant", blocks=(TextBlock(text=text),))
            self._servers.answer_sampling(request_id, message, model, stop_reason)

    def _refuse(self, request_id: str) -> None:
        from playground.ui.features.server_asks.sampling_dialog import REFUSED

        if self._servers is not None:
            self._servers.refuse(request_id, REFUSED)

    def _add_experiment(self, session: Session) -> None:
        self._workspace.add_experiment(session)
        self._host.show_session()

    # Events of servers

    def _handle_event(self, event: Event) -> None:
        from playground.engine.tool_servers.events import RequestClosed, RequestReceived, ServersChanged

        if isinstance(event, ServersChanged):
            self._host.pane.servers_changed()  # Cards of calls show why a server is unavailable.
        if isinstance(event, RequestReceived):
            QApplication.alert(self._host.window)
            self._refresh()
        elif isinstance(event, RequestClosed) or (
            isinstance(event, ServersChanged) and (self.dialogs or self._is_bar_visible)
        ):
            self._refresh()

    @property
    def _is_bar_visible(self) -> bool:
        return self.bar is not None and not self.bar.isHidden()

    def _refresh(self) -> None:
        """Update the banner and close the dialogs of requests that are no longer pending."""
        waiting = {request.id for request in self.waiting}
        for request_id in [key for key in self.dialogs if key not in waiting]:
            self._close(self.dialogs.pop(request_id))
        if self.bar is None and waiting:
            from playground.ui.features.server_asks.bar import AsksBar

            self.bar = AsksBar()
            self.bar.opened.connect(self.open_ask)
            self._host.add_banner(self.bar)
        if self.bar is not None:
            self.bar.show_waiting(self.waiting)

    def _close(self, dialog: QDialog) -> None:
        """Close a dialog whose request was answered or whose server stopped."""
        from playground.ui.features.server_asks.sampling_dialog import SamplingDialog

        if isinstance(dialog, SamplingDialog):
            dialog.stop_asking()
        dialog.hide()
        dialog.deleteLater()


def _browse(url: str) -> None:
    """Open a page in the browser; the dialog has shown its address to the user."""
    QDesktopServices.openUrl(QUrl(url))
