"""The Request tab in the main window: what it shows of the next request, and what becomes of an edit there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from playground.engine.session.open_edits import REQUEST, OpenEdit
from playground.engine.session.session import Session
from playground.ui.features.code.request_preview import AT_ONCE, RequestPreview
from playground.ui.features.host import Host
from playground.ui.features.inspector.views import RequestView
from playground.ui.features.inspector.wire_views import DiffView

if TYPE_CHECKING:
    from playground.engine.requests.edit import Edited
    from playground.ui.features.inspector.diff_page import DiffPage

MASKED = "A key stands in this request and is masked here. Take it out in the conversation or the panels first."


class RequestControl(QObject):
    """``poke`` whenever the next request may be different.

    ``open_code`` opens the code of an exchange, or of the next request for an empty id.
    """

    def __init__(
        self,
        host: Host,
        open_code: Callable[[str], None],
    ) -> None:
        super().__init__(host.window)
        self._host = host
        self._workspace = host.workspace
        self._open_code = open_code
        self._tab = next(view for view in host.inspector.views if isinstance(view, RequestView))
        show = host.inspector.set_preview
        self._preview = RequestPreview(self._session, host.workspace.gateways.keys.known, show, self._wanted, self)
        self.poke = self._preview.poke
        self._tab.next.set_editor(self._read, self._apply)
        self._tab.next.left.connect(self._left)
        self._tab.code_button.clicked.connect(self._code)
        self._tab.pane.shown.connect(self.poke)
        self._diff = host.inspector.view(DiffView)
        self._diff.when_made(self._diff_made)

    def _session(self) -> Session:
        return self._workspace.current

    def _wanted(self) -> bool:
        return self._tab.widget.isVisible() or self._diff.wants_next

    def _diff_made(self, page: DiffPage) -> None:
        page.next_asked.connect(self.poke)

    def _code(self) -> None:
        self._open_code(self._host.exchange() if self._tab.shows_sent else "")

    def _left(self, key: str, text: str) -> None:
        """A body that is being edited is part of its experiment until it is applied or discarded."""
        session = next((one for one in self._workspace.sessions if one.id == key), None)
        if session is not None and text:
            session.editors.set_editing(OpenEdit(turn=REQUEST.turn, what=REQUEST.what, text=text))
        elif session is not None:
            session.editors.end_editing(REQUEST)

    def _read(self, text: str) -> tuple[str, ...]:
        """What an edit comes to; of a long conversation only once it is applied."""
        if len(self._session().transcript.path) > AT_ONCE:
            return ()
        return self._edited(text).notes

    def _apply(self, text: str) -> tuple[str, ...]:
        """Do it: the turns in one step that can be undone, the rest as the panels do."""
        from playground.engine.requests.edit import apply_edit

        session = self._session()
        session.editors.keep_what_can_be()  # what is edited here was shown with it
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

        session, known = self._session(), self._workspace.gateways.keys.known()
        if known and request_view(session).text != request_view(session, known).text:
            raise ValueError(MASKED)
        return read_edit(session, text)
