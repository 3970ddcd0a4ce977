"""Going to a turn, or to a call in it, from wherever it is listed or drawn."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

from playground.ui.features.conversation.pane import ConversationPane

ABOVE = 12  # pixels left above what is gone to


def show_branch(pane: ConversationPane, turn_id: str) -> None:
    """Show the branch with that turn, if there is such a turn."""
    if turn_id in pane.front.session.transcript.turns:
        pane.front.session.turns.select_alternative(turn_id)


def go_to(pane: ConversationPane, turn_id: str, call_id: str = "") -> None:
    """Bring a turn, or a call in it, into view, and put the focus there. One that is gone is not gone to."""
    view = pane.front.view
    if turn_id not in {turn.id for turn in pane.front.session.transcript.path}:
        show_branch(pane, turn_id)
    card = view.card(turn_id)
    if card is None:
        return
    part: QWidget = card.turn_to_call(call_id) or card
    top, height = part.mapTo(view.viewport(), QPoint(0, 0)).y(), view.viewport().height()
    if top < 0 or top + min(part.height(), height) > height:
        bar = view.verticalScrollBar()
        bar.setValue(bar.value() + top - ABOVE)
    card.setFocus(Qt.FocusReason.OtherFocusReason)
