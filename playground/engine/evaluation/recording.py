"""What tool servers answered in an evaluation, kept and given again: a repeat asks nothing of the world.

A call is the same where its tool, its server and its arguments, as JSON values, are. What is given again says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.engine.evaluation.answers import AnswersError, AnswerStore, CallAsked
from playground.engine.session.tool_calls import Ticket, ToolCaller, ToolCallError


class Recorded:
    """Asks as ``serving`` does, each call once; ``store`` keeps what came under the id of the evaluation.

    ``open`` is awaited before anything is asked.
    """

    def __init__(self, serving: Callable[[], ToolCaller], store: AnswerStore, evaluation: str) -> None:
        self._serving, self._store, self._evaluation = serving, store, evaluation
        self._tools: set[tuple[str, str]] = set()
        self._coming: dict[CallAsked, asyncio.Lock] = {}

    async def open(self) -> None:
        """Learn of which tools there are answers. Raises AnswersError."""
        self._tools = {(one.server, one.tool) for one in await self._store.recorded_calls(self._evaluation)}

    def refusal(self, tool: ToolDefinition) -> str:
        """Why a tool cannot be asked; one of which answers are kept can be, whatever became of its server."""
        return "" if (tool.server, tool.name_there) in self._tools else self._serving().refusal(tool)

    def mendable(self, tool: ToolDefinition) -> bool:
        """Nobody is there to be asked while an evaluation runs."""
        return False

    async def mend(self, tool: ToolDefinition) -> None:
        """There is nothing that could be done."""

    def trusted(self, tool: ToolDefinition) -> bool:
        """As its server is."""
        return self._serving().trusted(tool)

    def allowed(self, tool: ToolDefinition) -> bool:
        """As it is without a recording."""
        return self._serving().allowed(tool)

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        """Those of which no answer is kept may be asked of their servers."""
        self._serving().expect(tool for tool in tools if (tool.server, tool.name_there) not in self._tools)

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        """The answer that is kept, else that of the server, which is kept then. Raises ToolCallError."""
        call = CallAsked.of(tool.server, tool.name_there, arguments)
        lock = self._coming.setdefault(call, asyncio.Lock())  # those who ask the same at once have one answer
        try:
            async with lock:
                known = await self._store.recorded(self._evaluation, call)
                if known is not None:
                    return known.model_copy(update={"recorded": True})
                if words := self._serving().refusal(tool):
                    raise ToolCallError(words)
                answer = await self._serving().ask(tool, arguments, ticket)
                await self._store.record(self._evaluation, call, answer)
        except AnswersError as error:
            raise ToolCallError(str(error)) from None
        self._tools.add((tool.server, tool.name_there))
        return answer
