"""Get code and Import request in the main window: opens them, and does what was decided there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from playground.ui.features.code.request_control import RequestControl
from playground.ui.features.host import Host

if TYPE_CHECKING:
    from playground.engine.requests.pasted import Imported
    from playground.ui.features.code.get_code_window import GetCodeWindow
    from playground.ui.features.code.import_request_dialog import Import

LANGUAGE = "code/language"  # where the settings keep the language chosen last


class CodeControl(QObject):
    """``show_session`` brings an open window up to what is set now.

    ``set_up`` sets a new gateway up as an imported request has it, with its secrets or without them; ``store`` keeps
    the secrets for the gateway of that id.
    """

    def __init__(
        self, host: Host, set_up: Callable[[Imported, bool], None], store: Callable[[Imported, str], None]
    ) -> None:
        super().__init__(host.window)
        self._host = host
        self._workspace = host.workspace
        self._set_up, self._store = set_up, store
        self._settings = host.settings
        self._code: GetCodeWindow | None = None
        host.pane.composer.edited.connect(self.show_session)
        self.next = RequestControl(host, self.open_code)

    def show_session(self) -> None:
        """Something is set differently, in the session or in a gateway."""
        if self._code is not None:
            self._code.poke()
        self.next.poke()

    def open_code(self, exchange_id: str = "") -> None:
        """The code of the next request, or of one that was sent."""
        from playground.ui.features.code.get_code_window import GetCodeWindow

        code = GetCodeWindow.shown_for(self._workspace.current, self._host.window)
        if self._code is None:
            self._code = code
            code.set_language(str(self._settings.value(LANGUAGE, "")))
            code.language_chosen.connect(self._remember)
        code.open_on(self._workspace.gateways.keys.known, exchange_id)

    def _remember(self, language: str) -> None:
        self._settings.setValue(LANGUAGE, language)

    def open_import(self) -> None:
        """Ask for a request to load."""
        from playground.ui.features.code.import_request_dialog import ImportRequestDialog

        gateways = self._workspace.gateways
        dialog = ImportRequestDialog(gateways.profiles, self._workspace.current.settings.profile_id, self._host.window)
        dialog.imported.connect(self._load)
        dialog.open()

    def _load(self, wanted: Import) -> None:
        """The request as a new experiment; then the gateway is seen to."""
        from playground.ui.features.code.gateway_choice import NEW

        found, gateways = wanted.found, self._workspace.gateways
        session = self._workspace.new()
        model = session.settings.model
        session.load(found.request)
        if wanted.profile_id != NEW:
            session.change(profile_id=wanted.profile_id)
            model = gateways.get(wanted.profile_id).default_model or model
        if not session.settings.model:
            session.change(model=model)
        self._workspace.open(session.id)
        self._host.pane.composer.setFocus()
        if wanted.profile_id == NEW:
            self._set_up(found, wanted.keep)
        elif wanted.keep:
            self._store(found, wanted.profile_id)
