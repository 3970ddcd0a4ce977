"""Questions of tool servers in a window: a line that says that one waits, and the dialog that answers it when a person
opens it. No question takes the keys away from what somebody is typing.

Nothing is loaded before there are tool servers.
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

NOTHING_ASKED = "No tool server asks anything now."


class AsksControl(Control):
    """``dialogs`` are those of the questions that were opened, by their ids; they are there as long as these wait."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._servers: Servers | None = None
        self.bar: AsksBar | None = None
        self.dialogs: dict[str, QDialog] = {}
        host.workspace.when_tool_servers(self._follow)

    def _follow(self, servers: Servers) -> None:
        self._servers = servers
        servers.subscribe(self._told)
        servers.book.subscribe(self._host.pane.servers_changed)
        self._refresh()

    @property
    def waiting(self) -> tuple[Request, ...]:
        """The questions that wait, the oldest first."""
        return self._servers.asks if self._servers is not None else ()

    def open_first(self) -> None:
        """Open the oldest question."""
        if self.waiting:
            self.open_ask(self.waiting[0].id)
        else:
            self._say(NOTHING_ASKED, stays=False)

    def open_ask(self, ask_id: str) -> None:
        """Open that question; with what was typed, where it was opened before."""
        ask = next((one for one in self.waiting if one.id == ask_id), None)
        if ask is None:
            return
        dialog = self.dialogs.get(ask_id)
        if dialog is None:
            dialog = self.dialogs[ask_id] = self._form(ask) if isinstance(ask, Elicitation) else self._question(ask)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()

    def _form(self, ask: Elicitation) -> QDialog:
        from playground.ui.features.server_asks.elicitation_dialog import ElicitationDialog

        dialog = ElicitationDialog(ask, self._host.window)
        dialog.answered.connect(partial(self._answer, ask.id))
        dialog.page_wanted.connect(_browse)
        return dialog

    def _question(self, ask: Sampling) -> QDialog:
        from playground.ui.features.server_asks.model_choice import ModelChoice
        from playground.ui.features.server_asks.sampling_dialog import SamplingDialog

        settings = self._session.settings
        choice = ModelChoice(self._workspace.gateways, settings.profile_id, settings.protocol, settings.model)
        dialog = SamplingDialog(ask, choice, self._workspace.blank, self._host.window)
        dialog.answered.connect(partial(self._said, ask.id))
        dialog.refused.connect(partial(self._refuse, ask.id))
        dialog.kept.connect(self._keep)
        return dialog

    # What a person decided

    def _answer(self, ask_id: str, action: str, content: object) -> None:
        if self._servers is not None:
            self._servers.answer(ask_id, action, content if isinstance(content, dict) else None)

    def _said(self, ask_id: str, text: str, model: str, stop_reason: str) -> None:
        if self._servers is not None:
            message = Message(role="assistant", blocks=(TextBlock(text=text),))
            self._servers.answer_sampling(ask_id, message, model, stop_reason)

    def _refuse(self, ask_id: str) -> None:
        from playground.ui.features.server_asks.sampling_dialog import REFUSED

        if self._servers is not None:
            self._servers.refuse(ask_id, REFUSED)

    def _keep(self, session: Session) -> None:
        self._workspace.add_experiment(session)
        self._host.show_session()

    # What servers do

    def _told(self, event: Event) -> None:
        from playground.engine.tool_servers.events import RequestClosed, RequestReceived, ServersChanged

        if isinstance(event, ServersChanged):
            self._host.pane.servers_changed()  # the cards of calls say why a server cannot be asked
        if isinstance(event, RequestReceived):
            QApplication.alert(self._host.window)
            self._refresh()
        elif isinstance(event, RequestClosed) or (
            isinstance(event, ServersChanged) and (self.dialogs or self._is_said)
        ):
            self._refresh()

    @property
    def _is_said(self) -> bool:
        return self.bar is not None and not self.bar.isHidden()

    def _refresh(self) -> None:
        """Say what waits; what is not asked any more closes."""
        waiting = {ask.id for ask in self.waiting}
        for ask_id in [one for one in self.dialogs if one not in waiting]:
            self._close(self.dialogs.pop(ask_id))
        if self.bar is None and waiting:
            from playground.ui.features.server_asks.bar import AsksBar

            self.bar = AsksBar()
            self.bar.opened.connect(self.open_ask)
            self._host.add_banner(self.bar)
        if self.bar is not None:
            self.bar.show_waiting(self.waiting)

    def _close(self, dialog: QDialog) -> None:
        """Its server has its answer, or is gone."""
        from playground.ui.features.server_asks.sampling_dialog import SamplingDialog

        if isinstance(dialog, SamplingDialog):
            dialog.stop_asking()
        dialog.hide()
        dialog.deleteLater()


def _browse(url: str) -> None:
    """Open a page whose address a person has seen."""
    QDesktopServices.openUrl(QUrl(url))
