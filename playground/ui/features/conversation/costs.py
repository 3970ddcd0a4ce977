"""Estimated size of the next request, and the cost of all requests of an experiment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from PySide6.QtCore import QObject, Signal

from playground.domain.costs import PriceLookup, cost, total
from playground.domain.tokens import estimate_tokens
from playground.domain.tools import Sizes, ToolDefinition, sizes_of
from playground.domain.transcript import Role, one_per_request
from playground.engine.requests.capability_warnings import NO_LIMITS, ContextLimits, context_limits, image_warning
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.widgets.loop import Throttle, spawn

COUNT_MS = 200  # between two token counts while typing
FEW = 200  # new tools above which all are measured in a thread
MANY = 500  # turns above which costs are added up at intervals
INTERVAL_MS = 250


class TokenCount:
    """Show the token count in the composer, soon after `poke`. Each turn and tool is counted once."""

    def __init__(self, composer: Composer, panes: Callable[[], Sequence[TranscriptPane]], parent: QObject) -> None:
        self._composer = composer
        self._panes = panes
        self._tools: Sizes = {}
        self._measuring = False
        throttle = Throttle(self._count, parent, interval=COUNT_MS)
        self.poke = throttle.poke

    def _count(self) -> None:
        composer, panes = self._composer, self._panes()
        tools = self._offered()
        if sum(id(tool) not in self._tools for tool in tools) > FEW:
            if not self._measuring:
                self._measuring = True
                spawn(self._measure_tools(tools), name="count the tokens of tools")
            return
        for pane in panes:
            pane.path_size.measure(pane.session.transcript.path)
        self._tools = sizes_of(tools, self._tools)
        draft = composer.draft
        calls = draft.calls if draft.role is Role.ASSISTANT else ()
        written = estimate_tokens(draft.text)
        written += sum(estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in calls)
        offered = [sum(self._tools[id(tool)][1] for tool in _sendable(pane)) for pane in panes]
        estimates = [pane.path_size.tokens + size + written for pane, size in zip(panes, offered, strict=True)]
        images = max((pane.path_size.images for pane in panes), default=0)
        limits = self._limits(panes)
        problem = limits.problem(estimates[0]) if estimates else ""
        words = problem or limits.words
        composer.set_tokens(estimates, images + len(composer.attached), limits.context, words, tight=bool(problem))
        composer.show_warning(self._image_warning(panes))

    def _limits(self, panes: Sequence[TranscriptPane]) -> ContextLimits:
        """Return the limits of the model; none if several lanes are sent to."""
        if len(panes) != 1:
            return NO_LIMITS
        session = panes[0].session
        return context_limits(session.facts(session.settings.model), session.settings.current)

    def _image_warning(self, panes: Sequence[TranscriptPane]) -> str:
        """Return the warning that a model may not accept the images, or nothing."""
        attached = len(self._composer.attached)
        counts = [(pane.session, pane.path_size.images + attached) for pane in panes]
        warnings = (image_warning(session.facts(session.settings.model), images) for session, images in counts)
        return next(filter(None, warnings), "")

    def _offered(self) -> tuple[ToolDefinition, ...]:
        """Return the tools of all lanes that are sent to; most lanes share theirs."""
        tools = {id(tool): tool for pane in self._panes() for tool in pane.session.settings.tools}
        return tuple(tools.values())

    async def _measure_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        try:
            self._tools = await asyncio.to_thread(sizes_of, tools, self._tools)
        finally:
            self._measuring = False
        self.poke()


def _sendable(pane: TranscriptPane) -> Iterator[ToolDefinition]:
    return (tool for tool in pane.session.settings.tools if tool.sendable)


class ExperimentCost(QObject):
    """The cost of the experiment that a pane shows, on all branches: `words`, empty while it is not known.

    `added_up` follows each change of `words`.
    """

    added_up = Signal()

    def __init__(self, pane: TranscriptPane, price_of: PriceLookup, parent: QObject) -> None:
        super().__init__(parent)
        self.words = ""
        self._pane = pane
        self._price_of = price_of
        self._session = pane.session
        self._later = Throttle(self._add_up, self, INTERVAL_MS)

    def count(self) -> None:
        """Add the costs up: at once, or soon if there are many turns."""
        if self._session is not self._pane.session:
            self._session, self.words = self._pane.session, ""
        if len(self._session.transcript.turns) > MANY:
            self._later.poke()
        else:
            self._later.cancel()
            self._add_up()

    def _add_up(self) -> None:
        profile_id, price_of = self._session.settings.profile_id, cache(self._price_of)
        outcomes = one_per_request(self._session.transcript.turns.values())
        costs = [cost(outcome, profile_id, price_of) for outcome in outcomes if outcome.usage]
        priced = [price for price in costs if price is not None]
        words = total(priced)
        self.words = f"at least {words}" if words and len(priced) < len(costs) else words
        self.added_up.emit()
