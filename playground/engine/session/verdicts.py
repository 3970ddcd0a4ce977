"""What can be said about a call without running it: whether it fits the tool on offer, and where not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.engine.questions import checking
from playground.engine.questions.kinds import ArgumentsFit
from playground.jsonkit.problems import Problem, not_checked
from playground.jsonkit.reading import parse_json

_MOST_KEPT = 4000


class VerdictCode(StrEnum):
    """What a call is, in one word."""

    FITS = "fits"
    MISFIT = "misfit"
    NOT_JSON = "not_json"
    CUT_OFF = "cut_off"
    UNKNOWN_TOOL = "unknown_tool"
    CHECKING = "checking"
    TOO_COSTLY = "too_costly"

    @property
    def wrong(self) -> bool:
        """Whether something is the matter with the call, as far as is known."""
        return self not in (VerdictCode.FITS, VerdictCode.CHECKING, VerdictCode.TOO_COSTLY)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a call, words for it, and the problems in its arguments."""

    code: VerdictCode
    words: str
    problems: tuple[Problem, ...] = ()


CHECKING: Final = Verdict(VerdictCode.CHECKING, "Checking…")
#: The verdict on a call of a custom tool, whose input has no schema.
FREE_TEXT: Final = Verdict(VerdictCode.FITS, "Free text")


class Verdicts:
    """Verdicts by the tools on offer, each worked out once: a schema is not applied again to the same arguments.

    One that takes its time is "checking…" until it is there; ``changed`` is called then.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._tools: tuple[ToolDefinition, ...] = ()
        self._known: dict[tuple[str, str, bool], Verdict] = {}
        self._by_name: dict[str, ToolDefinition] = {}

    def of(self, call: ToolCall, tools: tuple[ToolDefinition, ...], *, cut: bool = False) -> Verdict:
        """The verdict on a call; ``cut`` says that the answer broke off inside it."""
        if call.free_text and not cut:
            return FREE_TEXT
        if tools is not self._tools:
            self._tools = tools
            self._known = {}
            self._by_name = offered(tools)
        key = (call.name, call.arguments, cut)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KEPT:
                self._known = {}
            tool = self._by_name.get(call.name)
            problems = checking.now(_question(call, tool))
            if problems is None:
                self._known[key] = CHECKING
                self._check(call, tool, key, cut)
                return self._known.get(key, CHECKING)
            found = self._known[key] = _verdict(call, tool, problems, cut=cut)
        return found

    def _check(self, call: ToolCall, tool: ToolDefinition | None, key: tuple[str, str, bool], cut: bool) -> None:
        known = self._known

        def found(problems: list[Problem]) -> None:
            known[key] = _verdict(call, tool, problems, cut=cut)
            if known is self._known:
                self._changed()

        checking.later(_question(call, tool), found)


def offered(tools: Iterable[ToolDefinition]) -> dict[str, ToolDefinition]:
    """The tools that are sent, by name; of one name the first counts."""
    out: dict[str, ToolDefinition] = {}
    for tool in tools:
        if tool.sendable:
            out.setdefault(tool.name, tool)
    return out


def _question(call: ToolCall, tool: ToolDefinition | None) -> ArgumentsFit:
    return ArgumentsFit(call.arguments, tool.parameters if tool is not None else None)


def _verdict(call: ToolCall, tool: ToolDefinition | None, found: list[Problem], *, cut: bool) -> Verdict:
    problems = tuple(found)
    if cut:
        return Verdict(VerdictCode.CUT_OFF, "Cut off", problems)
    if problems and not _is_json(call.arguments):
        return Verdict(VerdictCode.NOT_JSON, "Not JSON", problems)
    if tool is None:
        return Verdict(VerdictCode.UNKNOWN_TOOL, "No such tool on offer", problems)
    if not_checked(problems):
        return Verdict(VerdictCode.TOO_COSTLY, "Too costly to check", problems)
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
