"""The tool server in a call's card: its progress while it is called, and its answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from playground.domain.parts import ToolResult
from playground.domain.served import as_served, carries
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.engine.session.tool_calls import Ticket
from playground.jsonkit.texts import cut
from playground.ui.features.conversation.calls.call_commands import CallState
from playground.ui.features.conversation.calls.served_view import ServedView
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.widgets import figures
from playground.ui.widgets.form_parts import push_button, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip
from playground.ui.widgets.theme import code_font

INTERVAL_MS: Final = 100
MAX_LINES: Final = 4  # of the log that are shown
MAX_LENGTH: Final = 200  # characters of a line
STEPS: Final = 1_000  # of the progress bar


class ServerPart(QWidget):
    """The server part of a card; hidden if the call has no tool server."""

    height_changed = Signal()

    def __init__(self, commands: TurnCommands, key: Callable[[], tuple[str, str]]) -> None:
        super().__init__()
        self.progress = ServerProgress(lambda: commands.calls.cancel_server_call(*key()))
        self.served = ServedView(commands, key)
        in_column(self.progress, self.served, parent=self, margins=0, spacing=4)
        for view in (self.progress, self.served):
            view.height_changed.connect(self.height_changed)
        self._compared: tuple[ServerAnswer | None, str, bool] = (None, "", False)

    def show_part(self, state: CallState, result: ToolResult | None, tool: ToolDefinition | None) -> None:
        """Show the state of a waiting call, or the server's share of its `result`."""
        schema = tool.output if tool is not None else None
        server, draft = state.server, state.prepared
        self.progress.follow(server.name if server else "", server.ticket if server is not None else None)
        if result is not None:
            self.served.show_answer(
                result.served,
                result.images,
                schema,
                carries_images=carries(result, pictures=state.carries_images),
                waiting=False,
                edited=self._is_edited(result.served, result.text),
            )
        else:
            is_long = draft is not None and draft.served is not None
            text = draft.body if draft is not None else state.draft
            failed = state.served is not None and state.served.is_error
            self.served.show_answer(
                state.served,
                state.images,
                schema,
                carries_images=state.carries_images and not failed,
                waiting=True,
                edited=self._is_edited(state.served, text),
                long_text=text if is_long else "",
            )
        self.setVisible(not (self.progress.isHidden() and self.served.isHidden()))

    def _is_edited(self, served: ServerAnswer | None, text: str) -> bool:
        """Return whether a text differs from the server's answer; the last comparison is cached."""
        last, last_text, edited = self._compared
        if served is None:
            return False
        if last is served and last_text == text:
            return edited
        edited = not as_served(text, served)
        self._compared = served, text, edited
        return edited


class ServerProgress(QWidget):
    """The progress of a call to a server: seconds, share, its own words and the end of its log. Polls the ticket."""

    height_changed = Signal()

    def __init__(self, cancel: Callable[[], None]) -> None:
        super().__init__()
        self._ticket: Ticket | None = None
        self._server = ""
        self._lines = 0
        self.words = text_label("", "small-text", wrap=True)
        self.cancel_button = push_button("Cancel")
        self.cancel_button.setToolTip("Stop calling the server; nothing is sent")
        self.cancel_button.setAccessibleName("Cancel the server call")
        self.cancel_button.clicked.connect(lambda _checked: cancel())
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Progress of the server")
        self.message = text_label("", "small", wrap=True)
        self.log = text_label("", "small")
        self.log.setFont(code_font())
        self.log.setAccessibleName("Log of the server")
        self.log.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        head = in_row((self.words, 1), self.cancel_button, margins=0, spacing=6)
        in_column(head, self.bar, self.message, self.log, parent=self, margins=0, spacing=4)
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self._refresh)
        self.hide()

    def follow(self, server: str, ticket: Ticket | None) -> None:
        """Show the progress of this call; None: the server is not called."""
        if ticket is self._ticket:
            return
        self._ticket, self._server = ticket, server
        self.setVisible(ticket is not None)
        if ticket is None:
            self._timer.stop()
            self.height_changed.emit()
        else:
            self._timer.start()
            self._refresh()

    def _refresh(self) -> None:
        ticket = self._ticket
        if ticket is None:
            return
        share = ""
        if ticket.done is not None:
            share = f" · {ticket.done:g}" + (f" of {ticket.total:g}" if ticket.total else "")
        self.words.setText(f"Calling {shown_name(self._server)}… {figures.seconds(ticket.seconds)}{share}")
        self._show_bar(ticket)
        message = show_hidden(cut(" ".join(ticket.words.split()), MAX_LENGTH))
        last = list(islice(reversed(ticket.log), MAX_LINES))[::-1]
        log = "\n".join(_line(line) for line in last)
        if self.message.text() != message:
            self.message.setText(message)
        if self.log.text() != log:
            self.log.setText(log)
            self.log.setToolTip(tip("\n".join(_line(line) for line in list(ticket.log))))
        self.message.setVisible(bool(message))
        self.log.setVisible(bool(log))
        lines = len(last) + bool(message)
        if lines != self._lines or self.height() < self.sizeHint().height():
            self._lines = lines
            self.height_changed.emit()

    def _show_bar(self, ticket: Ticket) -> None:
        """Show the share that is done, or a busy bar if the server does not report one."""
        if ticket.done is None or not ticket.total or not 0 <= ticket.done <= ticket.total:
            if self.bar.maximum() != 0:
                self.bar.setRange(0, 0)
        else:
            if self.bar.maximum() != STEPS:
                self.bar.setRange(0, STEPS)
            self.bar.setValue(round(ticket.done / ticket.total * STEPS))


def _line(text: str) -> str:
    return show_hidden(cut(text.rstrip("\n"), MAX_LENGTH)).replace("\n", " ")
