"""How many tokens the next request takes, as far as can be estimated: turns, tools on offer, what is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.domain.tokens import Sizes, estimate_tokens, sizes_of
from playground.domain.transcript import Role
from playground.ui.loop import Throttle

if TYPE_CHECKING:
    from playground.ui.conversation.pane import ConversationPane

COUNT_MS = 200  # between two countings while somebody types


class TokenCount:
    """Tells the composer, soon after ``poke``. A turn or a tool that stays as it is, is counted once."""

    def __init__(self, pane: ConversationPane) -> None:
        self._pane = pane
        self._tools: Sizes = {}
        throttle = Throttle(self._count, pane, interval=COUNT_MS)
        self.poke = throttle.poke

    def _count(self) -> None:
        pane, composer = self._pane, self._pane.composer
        self._tools = sizes_of(pane.session.tools, self._tools)
        draft = composer.draft
        calls = draft.calls if draft.role is Role.ASSISTANT else ()
        tokens = pane.rows.tokens + sum(size for tool, size in self._tools.values() if tool.sendable)
        tokens += sum(estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in calls)
        composer.set_tokens(tokens + estimate_tokens(draft.text), pane.rows.images + len(composer.attached))
