"""What is wrong with each tool and how large it is, found again only for the tools that changed.

With fifty tools one keystroke must not check the other forty-nine once more, and with thousands their first check is
made a few at a time. Knows nothing of Qt.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from playground.domain.tools import ToolDefinition, definition_tokens, doubled_names
from playground.engine.checks.questions import DefinitionSound, Question
from playground.jsonkit.problems import Problem

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
        self._asked: set[int] = set()  # of those that are being checked

    def look(self, tools: tuple[ToolDefinition, ...], first: int = -1, seconds: float = float("inf")) -> bool:
        """Check what is not known yet, one at least, ``first`` before the others. Whether all are known now."""
        self._known = {id(tool): self._known[id(tool)] for tool in tools if id(tool) in self._known}
        end = time.perf_counter() + seconds
        for tool in (*tools[max(first, 0) : first + 1], *tools):
            known = self._known.get(id(tool))
            if known is None or (known.problems is None and id(tool) not in self._asked):
                self._known[id(tool)] = self._find(tool, known)
                self._asked.add(id(tool))
                if time.perf_counter() >= end:
                    return False
        return True

    def ask_again(self) -> None:
        """An answer has come: the next look asks for those that were still being checked."""
        self._asked.clear()

    def problems(self, tools: tuple[ToolDefinition, ...]) -> list[list[Problem]]:
        """Problems of each tool, in order; of one that is still being checked only that its name is taken."""
        out = [list(known.problems or ()) if (known := self._known.get(id(tool))) else [] for tool in tools]
        for number, problem in doubled_names(tools):
            out[number].insert(0, problem)
        return out

    def sizes(self, tools: tuple[ToolDefinition, ...]) -> list[int]:
        """About how many tokens each one takes in a request; of those before the first that was not looked at."""
        found = (self._known.get(id(tool)) for tool in tools)
        return [known.size for known in takewhile(bool, found) if known is not None]

    def _find(self, tool: ToolDefinition, known: _Known | None) -> _Known:
        size = known.size if known is not None else definition_tokens(tool)
        return _Known(tool, self._ask(DefinitionSound(tool)), size)
