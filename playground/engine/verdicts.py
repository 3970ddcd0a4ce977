"""What can be said about a call without running it: whether it fits the tool on offer, and where not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from playground.domain.parts import ToolCall
from playground.domain.tools import Problem, ToolDefinition, check_arguments, parse_json
from playground.domain.values import JSONObject

_MOST_KEPT = 4000


class VerdictCode(StrEnum):
    """What a call is, in one word."""

    FITS = "fits"
    MISFIT = "misfit"
    NOT_JSON = "not_json"
    CUT_OFF = "cut_off"
    UNKNOWN_TOOL = "unknown_tool"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a call, words for it, and the problems in its arguments."""

    code: VerdictCode
    words: str
    problems: tuple[Problem, ...] = ()


class Verdicts:
    """Verdicts by the tools on offer, each worked out once: a schema is not applied again to the same arguments."""

    def __init__(self) -> None:
        self._tools: tuple[ToolDefinition, ...] = ()
        self._known: dict[tuple[str, str, bool], Verdict] = {}

    def of(self, call: ToolCall, tools: tuple[ToolDefinition, ...], *, cut: bool = False) -> Verdict:
        """The verdict on a call; ``cut`` says that the answer broke off inside it."""
        if tools is not self._tools:
            self._tools = tools
            self._known.clear()
        key = (call.name, call.arguments, cut)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            found = self._known[key] = verdict_on(call, tools, cut=cut)
        return found


def verdict_on(call: ToolCall, tools: Iterable[ToolDefinition], *, cut: bool = False) -> Verdict:
    """The verdict on one call by these tools."""
    tool = next((tool for tool in tools if tool.name == call.name and tool.sendable), None)
    schema: JSONObject | None = tool.parameters if tool is not None else None
    problems = tuple(check_arguments(call.arguments, schema))
    if cut:
        return Verdict(VerdictCode.CUT_OFF, "Cut off", problems)
    if problems and not _is_json(call.arguments):
        return Verdict(VerdictCode.NOT_JSON, "Not JSON", problems)
    if tool is None:
        return Verdict(VerdictCode.UNKNOWN_TOOL, "No such tool on offer", problems)
    if problems:
        count = len(problems)
        return Verdict(VerdictCode.MISFIT, f"{count} problem{'s' * (count > 1)}", problems)
    return Verdict(VerdictCode.FITS, "Fits the schema")


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return not text.strip()
    return True
