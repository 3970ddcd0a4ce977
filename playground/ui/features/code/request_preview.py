"""The next request, for the inspector, while it is looked at. A long one is written on another thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QObject

from playground.domain.parts import Part
from playground.domain.roles import Role
from playground.engine.gateways.secrets import Secret
from playground.engine.session.drafts import REQUEST
from playground.engine.session.session import Session
from playground.jsonkit.nesting import approximate_size
from playground.ui.features.inspector.next_request import Preview
from playground.ui.widgets.loop import Throttle, spawn

AT_ONCE = 300  # turns that are written within a few milliseconds
HEAVY = 100_000  # characters that are not
PART = 400  # that a part costs beside its own
WEIGHTY = 400_000  # what settings weigh that are not, each of their values about a hundred characters
EVERY_MS = 150
REST_S = 0.2  # before a long body is written: what is to be painted comes first

Show = Callable[[Preview], None]


class RequestPreview(QObject):
    """``poke`` whenever the next request may be different.

    ``current`` gives the session looked at, ``known`` the secrets to be masked, ``wanted`` whether anybody looks.
    """

    def __init__(
        self,
        current: Callable[[], Session],
        known: Callable[[], Iterable[Secret]],
        show: Show,
        wanted: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._current = current
        self._known = known
        self._show = show
        self._wanted = wanted
        self._stale = False
        self._busy = False
        self._throttle = Throttle(self._refresh, self, interval=EVERY_MS)
        self.poke = self._throttle.poke

    def _refresh(self) -> None:
        if not self._wanted():
            return
        session = self._current()
        if is_light(session):
            self._show(_preview(session, self._known()))
        elif not self._busy:
            self._busy = True
            spawn(self._write_aside(), name="preview")
        self._stale = True

    async def _write_aside(self) -> None:
        try:
            while self._stale:
                await asyncio.sleep(REST_S)
                self._stale = False
                session = self._current()
                preview = await asyncio.to_thread(_prepared, session, self._known())
                if self._current() is session:
                    self._show(preview)
        finally:
            self._busy = False


def is_light(session: Session) -> bool:
    """Whether the next request of that session is written so quickly that no thread is needed."""
    path, draft = session.transcript.path, session.draft
    if len(path) > AT_ONCE:
        return False
    parts: list[Part] = [*(part for turn in path for part in turn.parts), *draft.images, *draft.calls]
    if len(draft.text) + len(parts) * PART + sum(map(_size, parts)) > HEAVY:
        return False
    tools = [(tool.name, tool.description, tool.parameters) for tool in session.settings.tools if tool.sendable]
    return approximate_size([tools, session.settings.extra_body, vars(session.settings.current)], WEIGHTY) <= WEIGHTY


def _size(part: Part) -> int:
    """About how many characters a part is in a request."""
    match part.kind:
        case "image":
            return len(part.url)
        case "tool_call":
            return len(part.arguments)
        case "text" | "reasoning" | "refusal" | "tool_result":
            return len(part.text)
        case _:
            return 0


def is_writing(session: Session) -> bool:
    """Whether something stands in the composer that cannot be sent as things are."""
    draft = session.draft
    beside = {Role.TOOL: draft.answers, Role.ASSISTANT: draft.calls}.get(draft.role)
    return bool(draft.text.strip() or draft.images or beside) and not session.next_request.to_add()


def _prepared(session: Session, known: Iterable[Secret]) -> Preview:
    return _preview(session, known).prepared()


def _preview(session: Session, known: Iterable[Secret]) -> Preview:
    from playground.engine.requests.view import request_view

    profile = session.profile
    name = profile.name if profile is not None else ""
    view = request_view(session, known)
    whole = (lambda: request_view(session, known, whole_text=True).text) if view.cut else None
    open_edit = session.editors.open.get(REQUEST)
    edit = (open_edit.text or "") if open_edit is not None else ""
    base = None if session is session.main else partial(_preview, session.main, known)
    return Preview(session.id, view, name, is_writing(session), whole, base, edit)
