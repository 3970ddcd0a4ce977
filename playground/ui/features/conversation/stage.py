"""What those who do a pane's work may ask of it; the pane that shows the session is one."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtWidgets import QWidget

from playground.domain.transcript import Turn
from playground.engine.session.session import Session
from playground.ui.features.conversation.transcript_view import TranscriptView
from playground.ui.widgets.notice_bar import NoticeBar


class Stage(Protocol):
    """A session and what is seen of it."""

    view: TranscriptView
    notice: NoticeBar

    @property
    def session(self) -> Session: ...

    def choose_written_call(self) -> bool: ...

    def add_draft(self) -> None: ...

    def undo(self) -> None: ...

    def say_refused(self, reason: str, turn: Turn | None = None, again: str = "") -> None: ...

    def focusWidget(self) -> QWidget: ...
