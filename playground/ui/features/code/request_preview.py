"""Preview of the next request in the inspector; a long one is written on another thread."""

from __future__ import annotations

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
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.loop import Throttle

AT_ONCE = 300  # turns that are written within a few milliseconds
HEAVY = 100_000  # characters above which a thread writes the request
PART = 400  # characters that a part costs in addition to its content
WEIGHTY = 400_000  # size of settings above which a thread writes the request; each value counts about 100
EVERY_MS = 150

Show = Callable[[Preview], None]


class RequestPreview(QObject):
    """Show the next request again after each ``poke``.

    ``current`` returns the session in view, ``secrets`` the secrets to mask, ``is_needed`` whether it is visible.
    """

    def __init__(
        self,
        current: Callable[[], Session],
        secrets: Callable[[], Iterable[Secret]],
        show: Show,
        is_needed: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._current = current
        self._secrets = secrets
        self._show = show
        self._is_needed = is_needed
        self._writing = Aside(self)
        self._throttle = Throttle(self._refresh, self, interval=EVERY_MS)
        self.poke = self._throttle.poke

    @property
    def busy(self) -> bool:
        """True while a thread writes the request."""
        return self._writing.busy

    def _refresh(self) -> None:
        if self._is_needed():
            session = self._current()
            light = is_light(session)
            work = partial(_preview if light else _prepared, session, tuple(self._secrets()))
            self._writing.do(work, partial(self._show_if_current, session), large=not light)

    def _show_if_current(self, session: Session, preview: Preview) -> None:
        if self._current() is session:
            self._show(preview)


def is_light(session: Session) -> bool:
    """Return whether the next request is small enough to be written without a thread."""
    path, draft = session.transcript.path, session.draft
    if len(path) > AT_ONCE:
        return False
    parts: list[Part] = [*(part for turn in path for part in turn.parts), *draft.images, *draft.calls]
    if len(draft.text) + len(parts) * PART + sum(map(_size, parts)) > HEAVY:
        return False
    tools = [(tool.name, tool.description, tool.parameters) for tool in session.settings.tools if tool.sendable]
    return approximate_size([tools, session.settings.extra_body, vars(session.settings.current)], WEIGHTY) <= WEIGHTY


def _size(part: Part) -> int:
    """Return roughly how many characters a part takes in a request."""
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
    """Return whether the composer has content that cannot be sent in its present state."""
    draft = session.draft
    attachments = {Role.TOOL: draft.answers, Role.ASSISTANT: draft.calls}.get(draft.role)
    return bool(draft.text.strip() or draft.images or attachments) and not session.next_request.to_add()


def _prepared(session: Session, secrets: Iterable[Secret]) -> Preview:
    return _preview(session, secrets).prepared()


def _preview(session: Session, secrets: Iterable[Secret]) -> Preview:
    from playground.engine.requests.view import request_view

    profile = session.profile
    name = profile.name if profile is not None else ""
    view = request_view(session, secrets)
    write_full_text = (lambda: request_view(session, secrets, whole_text=True).text) if view.cut else None
    open_edit = session.editors.open.get(REQUEST)
    edit = (open_edit.text or "") if open_edit is not None else ""
    base = None if session is session.main else partial(_preview, session.main, secrets)
    return Preview(session.id, view, name, is_writing(session), write_full_text, base, edit)
