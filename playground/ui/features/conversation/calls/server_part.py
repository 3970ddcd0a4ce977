"""What a call's card shows of a tool server: how far it is while it is asked, and what it answered."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.domain.parts import ToolResult
from playground.domain.served import as_served, carries
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.calls.asked_view import AskedView
from playground.ui.features.conversation.calls.served_view import ServedView
from playground.ui.features.conversation.commands import CallState
from playground.ui.widgets.layouts import in_column


class ServerPart(QWidget):
    """Hidden where there is nothing of that. Signals are those of the views in it."""

    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, *, fixed: bool) -> None:
        super().__init__()
        self.asked, self.served = AskedView(), ServedView(fixed=fixed)
        in_column(self.asked, self.served, of=self, margins=0, spacing=4)
        self.asked.cancelled.connect(self.cancelled)
        for view in (self.asked, self.served):
            view.height_changed.connect(self.height_changed)
        self._edited: tuple[ServerAnswer | None, str, bool] = (None, "", False)

    def show_part(self, state: CallState, result: ToolResult | None, tool: ToolDefinition | None) -> None:
        """Show what is known of a call that waits, or of the ``result`` that it has."""
        schema = tool.output if tool is not None else None
        server, draft = state.server, state.prepared
        self.asked.follow(server.name if server else "", server.ticket if server is not None else None)
        if result is not None:
            pictures = carries(result, pictures=state.pictures)
            edited = self._is_edited(result.served, result.text)
            self.served.show_answer(
                result.served, result.images, schema, pictures=pictures, waiting=False, edited=edited
            )
        else:
            long = draft is not None and draft.served is not None
            text = draft.body if draft is not None else state.draft
            self.served.show_answer(
                state.served,
                state.images,
                schema,
                pictures=state.pictures and not (state.served is not None and state.served.is_error),
                waiting=True,
                edited=self._is_edited(state.served, text),
                long=text if long else "",
            )
        self.setVisible(not (self.asked.isHidden() and self.served.isHidden()))

    def _is_edited(self, served: ServerAnswer | None, text: str) -> bool:
        """Whether a text is no more what the server answered; the same is not compared twice."""
        known, what, edited = self._edited
        if served is None:
            return False
        if known is served and what == text:
            return edited
        edited = not as_served(text, served)
        self._edited = served, text, edited
        return edited
