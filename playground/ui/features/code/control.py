"""Commands "Get code" and "Import request" of the main window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from playground.engine.session.drafts import REQUEST, OpenEdit
from playground.ui.features.code.request_preview import AT_ONCE, RequestPreview
from playground.ui.features.host import Control, Host

if TYPE_CHECKING:
    from playground.engine.requests.edit import Edited
    from playground.engine.requests.pasted import Imported
    from playground.ui.features.code.get_code_window import GetCodeWindow
    from playground.ui.features.code.import_request_dialog import Import

LANGUAGE = "code/language"  # key of the last chosen language in the settings

MASKED = "This request has a key, which is masked here. Remove it in the conversation or the panels first."


class RequestControl(Control):
    """Control the request page of the inspector; call ``poke`` if the next request may have changed.

    ``open_code`` opens the code of an exchange, or of the next request for an empty id; ``show_rules`` opens the rules
    of the gateway.
    """

    def __init__(
        self,
        host: Host,
        open_code: Callable[[str], None],
        show_rules: Callable[[], None],
    ) -> None:
        super().__init__(host)
        self._open_code = open_code
        self._page = page = host.inspector.request
        self._preview = RequestPreview(
            lambda: host.session,
            host.workspace.gateways.keys.known_secrets,
            host.inspector.set_preview,
            lambda: page.wants_preview,
            self,
        )
        self.poke = self._preview.poke
        page.next.set_editor(self._read, self._apply)
        page.next.edit_changed.connect(self._store_edit)
        page.next.rules_asked.connect(show_rules)
        page.code_asked.connect(self._code)
        page.preview_asked.connect(self.poke)

    def _code(self) -> None:
        self._open_code(self._host.exchange() if self._page.shows_sent else "")

    def _store_edit(self, key: str, text: str) -> None:
        """Store an unfinished edit of the body in its experiment until it is applied or discarded."""
        session = next((session for session in self._workspace.sessions if session.id == key), None)
        if session is not None and text:
            session.editors.set_editing(OpenEdit(turn=REQUEST.turn, what=REQUEST.what, text=text))
        elif session is not None:
            session.editors.end_editing(REQUEST)

    def _read(self, text: str) -> tuple[str, ...]:
        """Return the notes on an edit; none for a long conversation, whose notes follow when it is applied."""
        if len(self._session.transcript.path) > AT_ONCE:
            return ()
        return self._edited(text).notes

    def _apply(self, text: str) -> tuple[str, ...]:
        """Apply an edit and return its notes: turns change in one undo step, settings as through the panels."""
        from playground.engine.requests.edit import apply_edit

        session = self._session
        session.editors.keep_valid()  # the edited request was shown with the open edits
        edited = self._edited(text)
        before = [tool for tool in session.settings.tools if tool.sendable]
        self._host.pane.edit_by_hand(partial(apply_edit, session, edited))
        if [tool for tool in session.settings.tools if tool.sendable] != before:
            self._host.pane.tools_changed()
        self.poke()
        return edited.notes

    def _edited(self, text: str) -> Edited:
        from playground.engine.requests.edit import read_edit
        from playground.engine.requests.view import request_view

        session, secrets = self._session, self._workspace.gateways.keys.known_secrets()
        if secrets and request_view(session).text != request_view(session, secrets).text:
            raise ValueError(MASKED)
        return read_edit(session, text)


class CodeControl(Control):
    """Open the Get code window and the import dialog; ``show_session`` updates an open window.

    ``set_up`` creates a gateway from an imported request, with or without its secrets; ``store`` stores the secrets for
    the gateway of the given id. ``show_rules`` shows the rules of the gateway in use.
    """

    def __init__(
        self,
        host: Host,
        set_up: Callable[[Imported, bool], None],
        store: Callable[[Imported, str], None],
        show_rules: Callable[[], None],
    ) -> None:
        super().__init__(host)
        self._set_up, self._store = set_up, store
        self._code: GetCodeWindow | None = None
        host.pane.composer.edited.connect(self.show_session)
        self.next = RequestControl(host, self.open_code, show_rules)

    def show_session(self) -> None:
        """Update the code and the preview after a change of the session or of a gateway."""
        if self._code is not None:
            self._code.poke()
        self.next.poke()

    def open_code(self, exchange_id: str = "") -> None:
        """Open the code of the next request, or of a sent one."""
        from playground.ui.features.code.get_code_window import GetCodeWindow

        code = GetCodeWindow.shown_for(self._workspace.current, self._host.window)
        if self._code is None:
            self._code = code
            code.set_language(str(self._settings.value(LANGUAGE, "")))
            code.language_chosen.connect(self._remember)
        code.open_on(self._workspace.gateways.keys.known_secrets, exchange_id)

    def _remember(self, language: str) -> None:
        self._settings.setValue(LANGUAGE, language)

    def open_import(self) -> None:
        """Open the dialog that imports a request."""
        from playground.ui.features.code.import_request_dialog import ImportRequestDialog

        gateways = self._workspace.gateways
        dialog = ImportRequestDialog(gateways.profiles, self._workspace.current.settings.profile_id, self._host.window)
        dialog.imported.connect(self._load)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _load(self, choice: Import) -> None:
        """Load a request as a new experiment, then set up its gateway or store its secrets."""
        from playground.ui.features.code.gateway_choice import NEW

        imported, gateways = choice.request, self._workspace.gateways
        session = self._workspace.new()
        model = session.settings.model
        session.load(imported.request)
        if choice.profile_id != NEW:
            session.change(profile_id=choice.profile_id)
            model = gateways.get(choice.profile_id).default_model or model
        if not session.settings.model:
            session.change(model=model)
        self._workspace.open(session.id)
        self._host.pane.composer.setFocus()
        if choice.profile_id == NEW:
            self._set_up(imported, choice.keep)
        elif choice.keep:
            self._store(imported, choice.profile_id)
