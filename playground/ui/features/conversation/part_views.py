"""The widgets of a turn's card: which one is made for a part, and which one may show another part as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from playground.domain.accumulator import GrowingPart
from playground.domain.parts import Image, Reasoning, Text, ToolCall, Unknown
from playground.domain.transcript import Turn
from playground.engine.inspect.unknown_members import Beside
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.calls.wiring import wired_call
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.members_fold import MembersFold
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.shown_parts import Shown, is_judged, text_mode
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_images import TurnImages
from playground.ui.features.conversation.verdict_view import VerdictView

if TYPE_CHECKING:
    from playground.ui.features.conversation.turn_card import TurnCard

BESIDE_TEXT = 32  # pixels of a card's width that its text does not have


class PartViews:
    """Makes them for one card. ``zoom`` is the size of their texts; ``exact``: texts are shown as they came."""

    def __init__(self, card: TurnCard, commands: TurnCommands, zoom: float) -> None:
        self.zoom = zoom
        self.exact = False
        self._card = card
        self._commands = commands

    def make(self, part: Shown) -> QWidget:
        """One for ``part``, with nothing in it yet."""
        if isinstance(part, ToolCall):
            return self._call()
        if isinstance(part, Reasoning):
            return self._reasoning()
        if isinstance(part, Image):
            return TurnImages(self._commands)
        if isinstance(part, Beside):
            return self._fold()
        if isinstance(part, Text) and is_judged(self._card.turn):
            return self._verdict()
        return self._text(self.mode(part))

    def make_growing(self, part: GrowingPart, *, is_json: bool) -> QWidget:
        """One for a part that is being received."""
        if part.kind == "reasoning":
            return self._reasoning()
        if part.kind == "tool_call":
            return self._call()
        return self._text("raw" if part.kind == "unknown" or self.exact or is_json else "markdown")

    def can_show(self, view: QWidget, part: Shown, *, any_call: bool) -> bool:
        """Whether a view of another part may show this one, and what was done to it by hand stays right.

        ``any_call``: nothing was done to the cards of calls, so that each may show another call.
        """
        if isinstance(part, ToolCall):
            return isinstance(view, CallCard) and (view.call.id == part.id or (any_call and view.reusable))
        if isinstance(part, Reasoning):
            return isinstance(view, ReasoningView)
        if isinstance(part, Image):
            return isinstance(view, TurnImages)
        if isinstance(part, Beside):
            return isinstance(view, MembersFold)
        if isinstance(part, Text) and is_judged(self._card.turn):
            return isinstance(view, VerdictView)
        return isinstance(view, TextView) and not isinstance(part, Unknown) and view.mode == self.mode(part)

    def mode(self, part: Shown) -> str:
        """How a text is drawn; see ``text_mode``."""
        return "raw" if self.exact else text_mode(self._card.turn, part)

    def _text(self, mode: str) -> TextView:
        view = TextView(mode=mode, zoom=self.zoom)
        view.setAccessibleName("Text of the turn")
        view.link_clicked.connect(self._commands.open_link)
        view.height_changed.connect(self._card.height_changed)
        if (width := self._card.width() - BESIDE_TEXT) > BESIDE_TEXT:
            view.resize(width, view.height())
            view.setLineWrapColumnOrWidth(width)
        return view

    def _verdict(self) -> VerdictView:
        view = VerdictView(zoom=self.zoom)
        view.set_exact(self.exact)
        view.height_changed.connect(self._card.height_changed)
        view.judged.connect(self._card.refresh_verdict)
        return view

    def _fold(self) -> MembersFold:
        fold = MembersFold(zoom=self.zoom)
        fold.height_changed.connect(self._card.height_changed)
        return fold

    def _reasoning(self) -> ReasoningView:
        view = ReasoningView(zoom=self.zoom)
        view.height_changed.connect(self._card.height_changed)
        view.text_view.link_clicked.connect(self._commands.open_link)
        return view

    def _call(self) -> CallCard:
        card = wired_call(self._commands, self._turn_id)
        card.height_changed.connect(self._card.height_changed)
        card.edit_asked.connect(self._card.editing.edit_call)
        return card

    def _turn_id(self) -> str:
        turn: Turn = self._card.turn
        return turn.id
