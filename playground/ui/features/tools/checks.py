"""What is wrong with definitions and how large they are, found a few at a time and remembered."""

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
class _Known:
    """What was found for one definition. The definition is held, so that no other one can take its identity."""

    tool: ToolDefinition
    problems: list[Problem] | None  # while it is being checked
    size: int
    sized_only: bool = False  # it is a server's and off, and nobody looks at it: of no interest yet what is wrong


class Checks:
    """Remembers its findings by the definition itself: values are frozen, so the same one is still as good or bad."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[int, _Known] = {}
        self._asked: set[int] = set()  # of those that are being checked
        self._tools: tuple[ToolDefinition, ...] = ()
        self._next = 0  # all before it were looked at
        self._open: list[ToolDefinition] = []  # those of them that are being checked
        self._doubled: list[tuple[int, Problem]] = []

    def look(self, tools: tuple[ToolDefinition, ...], first: int = -1, seconds: float = float("inf")) -> bool:
        """Check what is not known yet, one at least, ``first`` before the others. Whether all are known now."""
        if tools is not self._tools:
            self._begin(tools)
        end = time.perf_counter() + seconds
        for tool in tools[max(first, 0) : first + 1]:
            if self._look_at(tool) and time.perf_counter() >= end:
                return False
        waiting, self._open = self._open, []
        while waiting or self._next < len(tools):
            if waiting:
                found = self._look_at(waiting.pop(), again=True)
            else:
                found = self._look_at(tools[self._next], again=True)
                self._next += 1
            if found and time.perf_counter() >= end:
                self._open += waiting
                return not waiting and self._next >= len(tools)
        return True

    def _begin(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Other tools than before: what is known of those that stay is kept."""
        self._tools, self._next, self._open = tools, 0, []
        self._known = {id(tool): self._known[id(tool)] for tool in tools if id(tool) in self._known}
        self._doubled = doubled_names(tools)

    def _look_at(self, tool: ToolDefinition, *, again: bool = False) -> bool:
        """Find it, if it is not known, and say whether that was done; ``again``: keep in mind that it is being checked
        still.
        """
        known = self._known.get(id(tool))
        if known is None and again and tool.server and not tool.enabled:
            self._known[id(tool)] = _Known(tool, [], definition_tokens(tool), sized_only=True)
            return True
        wanted = known is None or (known.problems is None and id(tool) not in self._asked)
        wanted = wanted or (not again and known is not None and known.sized_only)
        if known is None or wanted:
            known = self._known[id(tool)] = self._find(tool, known)
            self._asked.add(id(tool))
        if again and known.problems is None:
            self._open.append(tool)
        return wanted

    def ask_again(self) -> None:
        """An answer has come: the next look asks for those that were still being checked."""
        self._asked.clear()

    def problems(self, tools: tuple[ToolDefinition, ...]) -> list[list[Problem]]:
        """Problems of each tool, in order; of one that is still being checked only that its name is taken."""
        nothing: list[Problem] = []  # a list of its own for each would have the memory of all gone through
        out = [(known.problems or nothing) if (known := self._known.get(id(tool))) else nothing for tool in tools]
        for number, problem in self._doubled if tools is self._tools else doubled_names(tools):
            out[number] = [problem, *out[number]]
        return out

    def sizes(self, tools: tuple[ToolDefinition, ...]) -> list[int]:
        """About how many tokens each one takes in a request; of those before the first that was not looked at."""
        found = (self._known.get(id(tool)) for tool in tools)
        return [known.size for known in takewhile(bool, found) if known is not None]

    def _find(self, tool: ToolDefinition, known: _Known | None) -> _Known:
        size = known.size if known is not None else definition_tokens(tool)
        return _Known(tool, self._ask(DefinitionSound(tool)), size)
