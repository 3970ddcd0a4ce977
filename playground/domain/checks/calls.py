"""Checks of the tool calls before an answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from playground.domain.checks.check import SHOWN, Check, Facts, Verdict, judged, row
from playground.domain.checks.json_answers import path_lack
from playground.domain.debugging import canonical, path_matches
from playground.domain.hidden import short_name
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition, check_call
from playground.domain.values import LongText
from playground.domain.variables import mentions
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut


class ToolCalled(Check):
    """A tool is called with the required arguments."""

    TITLE = "Tool called"
    HELP = (
        "Passes when one of the calls on the way to the answer is of this tool and its arguments match. "
        "Without a name, any tool."
    )
    kind: Literal["tool_called"] = "tool_called"
    tool: Annotated[str, row("Tool", "text", "Its name; empty for any.")] = ""
    fits: Annotated[bool, row("Arguments fit", "switch", "They fit the schema of the tool.")] = False
    path: Annotated[str, row("Arguments match", "text", "A JSONPath that selects something in them.")] = ""
    arguments: Annotated[
        LongText, row("Arguments equal", "lines", "JSON they are equal to; the order of names does not matter.")
    ] = ""

    @property
    def words(self) -> str:
        conditions = ["fit its schema"] if self.fits else []
        conditions += [f"match {cut(self.path, SHOWN)}"] if self.path else []
        conditions += [f"are {cut(self.arguments, SHOWN)}"] if self.arguments else []
        tool = short_name(self.tool) if self.tool else "any tool"
        return f"{tool} with arguments that {' and '.join(conditions)}" if conditions else tool

    @property
    def problem(self) -> str:
        if self.path and (wrong := path_lack(self.path)):
            return wrong
        if self.arguments and not mentions(self.arguments):
            try:
                parse_json(self.arguments)
            except ValueError as error:
                return f"The arguments are not JSON: {error}"
        return ""

    def _look(self, facts: Facts) -> Verdict:
        calls = [call for call in facts.calls if not self.tool or call.name == self.tool]
        if not calls:
            others = ", ".join(dict.fromkeys(short_name(call.name) for call in facts.calls))
            reason = f"{short_name(self.tool)} was not called" if self.tool else "no tool was called"
            verb = "were" if "," in others else "was"
            return judged(False, f"{reason}; {others} {verb}" if others else reason)
        tools = {tool.name: tool for tool in facts.tools if tool.sendable}
        first_mismatch = ""
        for call in calls:
            mismatch = self._mismatch(call, tools.get(call.name))
            if not mismatch:
                return judged(True, _describe_call(call))
            first_mismatch = first_mismatch or f"{_describe_call(call)}: {mismatch}"
        return judged(False, first_mismatch)

    def _mismatch(self, call: ToolCall, tool: ToolDefinition | None) -> str:
        """Return why a call does not fulfil the conditions; empty if it does."""
        if self.fits:
            if tool is None:
                return "no such tool is on offer"
            if problems := check_call(call, tool.parameters):
                first = problems[0]
                return f"{first.where + ': ' if first.where else ''}{first.message}"
        if self.path and not path_matches(self.path, call.arguments_json):
            return f"{self.path} selects nothing"
        if self.arguments and canonical(self.arguments) != canonical(call.arguments_json):
            return "other arguments"
        return ""


def _describe_call(call: ToolCall) -> str:
    return f"called {short_name(call.name)}({cut(call.arguments, SHOWN)})"


class Calls(Check):
    """The number of calls is within bounds."""

    TITLE = "Number of calls"
    HELP = "Passes when so many calls are made on the way to the answer, those of one tool or all."
    kind: Literal["calls"] = "calls"
    least: Annotated[int, Field(ge=0), row("At least", "integer", "So many calls, or more.", low=0)] = 0
    most: Annotated[int | None, Field(ge=0), row("At most", "integer", "So many, or fewer.", low=0)] = None
    tool: Annotated[str, row("Tool", "text", "Its name; empty for all.")] = ""

    @property
    def words(self) -> str:
        span = f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"
        span = f"{self.most}" if self.most == self.least else span
        return f"{span} of {short_name(self.tool)}" if self.tool else span

    @property
    def lack(self) -> str:
        return "At most is less than at least." if self.most is not None and self.most < self.least else ""

    def _look(self, facts: Facts) -> Verdict:
        count = sum(not self.tool or call.name == self.tool for call in facts.calls)
        passed = self.least <= count and (self.most is None or count <= self.most)
        return judged(passed, f"{count} call{'s' * (count != 1)}")
