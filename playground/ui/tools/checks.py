"""What is wrong with each tool and how large it is, found again only for the tools that changed.

With fifty tools one keystroke must not check the other forty-nine once more. Knows nothing of Qt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playground.domain.problems import Problem
from playground.domain.questions import DefinitionSound, Question
from playground.domain.tokens import definition_tokens
from playground.domain.tools import ToolDefinition, doubled_names

Ask = Callable[[Question[list[Problem]]], list[Problem] | None]


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found for one definition. The definition is held, so that no other one can take its identity."""

    tool: ToolDefinition
    problems: list[Problem] | None  # while it is being checked
    size: int


class Checks:
    """Remembers its findings by the definition itself: values are frozen, so the same one is still as good or bad."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[int, _Known] = {}

    def problems(self, tools: tuple[ToolDefinition, ...]) -> list[list[Problem]]:
        """What `check_definitions` says; nothing yet of a tool that is still being checked."""
        out = [list(known.problems or ()) for known in self._all(tools)]
        for number, problem in doubled_names(tools):
            out[number].insert(0, problem)
        return out

    def sizes(self, tools: tuple[ToolDefinition, ...]) -> list[int]:
        """About how many tokens each one takes in a request."""
        return [known.size for known in self._all(tools)]

    def _all(self, tools: tuple[ToolDefinition, ...]) -> list[_Known]:
        self._known = {id(tool): self._find(tool, self._known.get(id(tool))) for tool in tools}
        return [self._known[id(tool)] for tool in tools]

    def _find(self, tool: ToolDefinition, known: _Known | None) -> _Known:
        if known is not None and known.problems is not None:
            return known
        size = known.size if known is not None else definition_tokens(tool)
        return _Known(tool, self._ask(DefinitionSound(tool)), size)
