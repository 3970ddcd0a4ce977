"""Recorded answers of tool servers: within an evaluation each call is made once, and then answered from the file.

Calls are equal if their server, tool and arguments (as JSON values) are. A replayed answer is marked as ``recorded``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.engine.evaluation.answers import AnswersError, AnswerStore, CallKey
from playground.engine.session.tool_calls import Ticket, ToolCaller, ToolCallError


class RecordedCalls:
    """Calls tools as ``serving`` does, each call once; ``store`` holds the answers. Await ``open`` first."""

    def __init__(self, serving: Callable[[], ToolCaller], store: AnswerStore, evaluation: str) -> None:
        self._serving, self._store, self._evaluation = serving, store, evaluation
        self._tools: set[tuple[str, str]] = set()
        self._locks: dict[CallKey, asyncio.Lock] = {}

    async def open(self) -> None:
        """Load the names of the tools that have recorded answers. Raises AnswersError."""
        self._tools = {(call.server, call.tool) for call in await self._store.recorded_calls(self._evaluation)}

    def _is_recorded(self, tool: ToolDefinition) -> bool:
        return (tool.server, tool.name_there) in self._tools

    def refusal(self, tool: ToolDefinition) -> str:
        """Return why a tool cannot be called; a tool with recorded answers can be called without its server."""
        return "" if self._is_recorded(tool) else self._serving().refusal(tool)

    def mendable(self, tool: ToolDefinition) -> bool:
        """Return False: no person can help during an evaluation."""
        return False

    async def mend(self, tool: ToolDefinition) -> None:
        """Do nothing."""

    def trusted(self, tool: ToolDefinition) -> bool:
        """Return whether the server of a tool is trusted."""
        return self._serving().trusted(tool)

    def allowed(self, tool: ToolDefinition) -> bool:
        """Return whether a tool may run without a question."""
        return self._serving().allowed(tool)

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        """Announce the tools without recorded answers to their servers."""
        self._serving().expect(tool for tool in tools if not self._is_recorded(tool))

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        """Return the recorded answer, or else record that of the server. Raises ToolCallError."""
        call = CallKey.of(tool.server, tool.name_there, arguments)
        try:
            async with self._locks.setdefault(call, asyncio.Lock()):  # equal calls at the same time share one answer
                recorded = await self._store.recorded(self._evaluation, call)
                if recorded is not None:
                    return recorded.model_copy(update={"recorded": True})
                if reason := self._serving().refusal(tool):
                    raise ToolCallError(reason)
                answer = await self._serving().ask(tool, arguments, ticket)
                await self._store.record(self._evaluation, call, answer)
        except AnswersError as error:
            raise ToolCallError(str(error)) from None
        self._tools.add((tool.server, tool.name_there))
        return answer
