"""Cached problems and token sizes of tool definitions, computed a few at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from playground.domain.tools import ToolDefinition, definition_tokens, doubled_names
from playground.engine.questions.kinds import DefinitionSound, Question
from playground.jsonkit.problems import Problem

Ask = Callable[[Question[list[Problem]]], list[Problem] | None]


@dataclass(frozen=True, slots=True)
class _CheckResult:
    """Result of checking a definition. The reference to it keeps its `id` from being reused."""

    tool: ToolDefinition
    problems: list[Problem] | None  # None while the check runs
    size: int
    sized_only: bool = False  # a server's tool that is off and not displayed needs its size only


class Checks:
    """Cache of check results by the identity of definitions, which are frozen."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._results: dict[int, _CheckResult] = {}
        self._requested: set[int] = set()  # definitions whose check was requested and has not returned
        self._tools: tuple[ToolDefinition, ...] = ()
        self._next_index = 0  # index of the first tool that has not been visited
        self._pending: list[ToolDefinition] = []  # visited tools whose check has not returned
        self._doubled: list[tuple[int, Problem]] = []

    def check(self, tools: tuple[ToolDefinition, ...], first: int = -1, seconds: float = float("inf")) -> bool:
        """Check tools for about ``seconds``, at least one, the tool ``first`` before the others.

        Return whether all tools have been visited.
        """
        if tools is not self._tools:
            self._reset(tools)
        end = time.perf_counter() + seconds
        for tool in tools[max(first, 0) : first + 1]:
            if self._check_tool(tool) and time.perf_counter() >= end:
                return False
        queue, self._pending = self._pending, []
        while queue or self._next_index < len(tools):
            if queue:
                checked = self._check_tool(queue.pop(), track=True)
            else:
                checked = self._check_tool(tools[self._next_index], track=True)
                self._next_index += 1
            if checked and time.perf_counter() >= end:
                self._pending += queue
                return not queue and self._next_index >= len(tools)
        return True

    def _reset(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Start over with other tools; the results of tools in both lists are reused."""
        self._tools, self._next_index, self._pending = tools, 0, []
        self._results = {id(tool): self._results[id(tool)] for tool in tools if id(tool) in self._results}
        self._doubled = doubled_names(tools)

    def _check_tool(self, tool: ToolDefinition, *, track: bool = False) -> bool:
        """Check a tool if its result is missing, and return whether that was necessary.

        ``track`` queues it for another visit while its check runs.
        """
        result = self._results.get(id(tool))
        if result is None and track and tool.server and not tool.enabled:
            self._results[id(tool)] = _CheckResult(tool, [], definition_tokens(tool), sized_only=True)
            return True
        outdated = result is None or (result.problems is None and id(tool) not in self._requested)
        outdated = outdated or (not track and result is not None and result.sized_only)
        if result is None or outdated:
            result = self._results[id(tool)] = self._run_check(tool, result)
            self._requested.add(id(tool))
        if track and result.problems is None:
            self._pending.append(tool)
        return outdated

    def retry_pending(self) -> None:
        """Let the next call of `check` request the pending results once more."""
        self._requested.clear()

    def problems(self, tools: tuple[ToolDefinition, ...]) -> list[list[Problem]]:
        """Return the problems of each tool, in order; only a duplicate name while its check runs."""
        empty: list[Problem] = []  # one shared list spares the garbage collector a list per tool
        out = [(result.problems or empty) if (result := self._results.get(id(tool))) else empty for tool in tools]
        for number, problem in self._doubled if tools is self._tools else doubled_names(tools):
            out[number] = [problem, *out[number]]
        return out

    def sizes(self, tools: tuple[ToolDefinition, ...]) -> list[int]:
        """Return the estimated tokens of each tool, up to the first that has not been visited."""
        results = (self._results.get(id(tool)) for tool in tools)
        return [result.size for result in takewhile(bool, results) if result is not None]

    def _run_check(self, tool: ToolDefinition, previous: _CheckResult | None) -> _CheckResult:
        size = previous.size if previous is not None else definition_tokens(tool)
        return _CheckResult(tool, self._ask(DefinitionSound(tool)), size)
