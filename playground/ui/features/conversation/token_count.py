"""How many tokens the next request takes, as far as can be estimated: turns, tools on offer, what is written."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject

from playground.domain.tokens import estimate_tokens
from playground.domain.tools import Sizes, definition_tokens, sizes_of
from playground.domain.transcript import Role
from playground.ui.features.conversation.stage import Stage
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.slices import Slices

COUNT_MS = 200  # between two countings while somebody types
FEW = 20  # tools that are counted at once


class TokenCount:
    """Tells the composer, soon after ``poke``. A turn or a tool that stays as it is, is counted once."""

    def __init__(self, pane: Stage, parent: QObject) -> None:
        self._pane = pane
        self._tools: Sizes = {}
        self._counting = Slices(self._count_tools, parent)
        throttle = Throttle(self._count, parent, interval=COUNT_MS)
        self.poke = throttle.poke

    def _count(self) -> None:
        pane, composer = self._pane, self._pane.composer
        tools = pane.session.settings.tools
        if sum(id(tool) not in self._tools for tool in tools) > FEW:
            self._counting.poke()  # the figure is told when they are counted
            return
        self._tools = sizes_of(tools, self._tools)
        draft = composer.draft
        calls = draft.calls if draft.role is Role.ASSISTANT else ()
        tokens = pane.rows.tokens + sum(size for tool, size in self._tools.values() if tool.sendable)
        tokens += sum(estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in calls)
        composer.set_tokens(tokens + estimate_tokens(draft.text), pane.rows.images + len(composer.attached))

    def _count_tools(self) -> Iterator[None]:
        """Count those that are not counted yet, one in a step."""
        for tool in self._pane.session.settings.tools:
            if id(tool) not in self._tools:
                self._tools[id(tool)] = tool, definition_tokens(tool)
                yield
        self._count()
