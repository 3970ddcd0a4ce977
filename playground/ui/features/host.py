"""The window as features see it. The shell makes one host for each window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QWidget

from playground.ui.widgets.notice_bar import NoticeBar
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.engine.library.workspace import Workspace
    from playground.engine.session.session import Session
    from playground.ui.features.conversation.pane import ConversationPane
    from playground.ui.features.inspector.inspector import Inspector


@dataclass(frozen=True, slots=True)
class Host:
    """``window`` is the parent of dialogs. The conversation and the inspector are there for every feature."""

    window: QWidget
    workspace: Workspace
    settings: QSettings
    pane: ConversationPane
    inspector: Inspector
    add_banner: Callable[[QWidget], None]  # of the whole window's width, below the tool bar
    show_list: Callable[[], None]  # the region of the experiments, where it is hidden
    show_page: Callable[[str], None]  # the inspector, where it is hidden, with the page of that title in front
    show_side: Callable[[str], None]  # the panel at the side, where it is hidden, with that page in front
    exchange: Callable[[], str]  # the id of the exchange that the inspector shows; empty for none
    show_exchange: Callable[[str], None]  # shows another one, by its id
    show_session: Callable[[], None]  # the workspace has another session to look at

    @property
    def session(self) -> Session:
        """The experiment looked at."""
        return self.workspace.current

    @property
    def notice(self) -> NoticeBar:
        """The line above the message field that says what happened."""
        return self.pane.notice


class Control(QObject):
    """Base of the object that acts for a feature in one window."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.window)
        self._host = host
        self._workspace = host.workspace
        self._settings = host.settings

    @property
    def _session(self) -> Session:
        """The experiment looked at."""
        return self._workspace.current

    def _say(self, words: str, action: str = "", act: Callable[[], None] | None = None, *, stays: bool = True) -> None:
        """Say what happened, and with ``act`` offer to do something about it."""
        self._host.notice.say(show_hidden(words), action, act, stays=stays)
