"""Questions about foreign schemas, patterns and paths, as values that can be pickled.

`answer` raises TooCostlyError where it would take long; `checking` then has a child process without bounds answer.
No answer is None.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Generic, TypeVar

from playground.domain.checks.check import Check, Facts, Verdict, not_judged
from playground.domain.debugging import (
    UNREACHED,
    Answer,
    AnswerRow,
    CallServer,
    Reach,
    Reason,
    ReasonCode,
    ToolRule,
    decide,
    path_matches,
    path_problem,
    ready_for,
    row_matches,
    row_problem,
)
from playground.domain.hidden import short_name
from playground.domain.output import check_answer, check_format
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition, check_arguments, check_definition
from playground.jsonkit.problems import Problem, unchecked
from playground.jsonkit.schema_sample import sample_text
from playground.jsonkit.validation import check_value
from playground.jsonkit.values import JSON, JSONObject

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@cache
def _names(kind: type[Question[Any]]) -> tuple[str, ...]:
    """Return the names of the fields of a kind of question."""
    return tuple(field.name for field in fields(kind))


@dataclass(frozen=True, slots=True, eq=False)
class Question(ABC, Generic[T_co]):
    """One question. Questions with equal texts and the same schema objects have equal keys."""

    @property
    def key(self) -> tuple[Any, ...]:
        """The identity of the question, valid while the question is in memory."""
        values = [getattr(self, name) for name in _names(type(self))]
        plain = (str, int, bool, type(None))
        return type(self), *(value if isinstance(value, plain) else id(value) for value in values)

    @property
    def subject(self) -> object:
        """The schema, rule or path that may make it costly; None where no further question has the same."""
        return None

    @property
    def again(self) -> bool:
        """True where the answer is worth remembering, because the question may be repeated."""
        return True

    @abstractmethod
    def answer(self) -> T_co:
        """Return the answer. Raises TooCostlyError where it would take long in this process."""

    @abstractmethod
    def unanswered(self, reason: str, partial: str) -> T_co:
        """Return the answer after a time-out; `partial` is an early result in words, or empty."""


class _OfProblems(Question[list[Problem]]):
    __slots__ = ()

    def unanswered(self, reason: str, partial: str) -> list[Problem]:
        return [
            Problem((), f"{partial}; where and why is too costly to say: {reason}") if partial else unchecked(reason)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class ArgumentsFit(_OfProblems):
    """Problems of a call's raw arguments under the tool's schema."""

    arguments: str
    schema: JSONObject | None

    @property
    def subject(self) -> object:
        return self.schema

    def answer(self) -> list[Problem]:
        return check_arguments(self.arguments, self.schema)


@dataclass(frozen=True, slots=True, eq=False)
class AnswerFits(_OfProblems):
    """Problems of an answer under the response format."""

    text: str
    response_format: JSONObject | None

    @property
    def subject(self) -> object:
        return self.response_format

    def answer(self) -> list[Problem]:
        return check_answer(self.text, self.response_format)


@dataclass(frozen=True, slots=True, eq=False)
class StructuredFits(_OfProblems):
    """Problems of a tool's structured content under its output schema."""

    value: JSON
    schema: JSONObject

    @property
    def subject(self) -> object:
        return self.schema

    def answer(self) -> list[Problem]:
        return check_value(self.value, self.schema)


@dataclass(frozen=True, slots=True, eq=False)
class DefinitionSound(_OfProblems):
    """Problems of a tool's definition."""

    tool: ToolDefinition

    def answer(self) -> list[Problem]:
        return check_definition(self.tool)


@dataclass(frozen=True, slots=True, eq=False)
class FormatSound(_OfProblems):
    """Problems of a response format with a schema."""

    name: str | None
    schema: JSONObject | None
    strict: bool | None

    def answer(self) -> list[Problem]:
        return check_format(self.name, self.schema, self.strict)


@dataclass(frozen=True, slots=True, eq=False)
class Decision(Question[Answer | CallServer | Reason]):
    """The answer of a call's rule, its server to call, or the reason to wait. See `decide`."""

    call: ToolCall
    rule: ToolRule
    tool: ToolDefinition | None
    nth: int
    repeated: int
    reach: Reach = UNREACHED

    @property
    def subject(self) -> object:
        return self.tool or self.rule

    def answer(self) -> Answer | CallServer | Reason:
        return decide(self.call, self.rule, self.tool, nth=self.nth, repeated=self.repeated, reach=self.reach)

    def unanswered(self, reason: str, partial: str) -> Answer | CallServer | Reason:
        if partial:
            return Reason(code=ReasonCode.MISFIT, words="The arguments do not fit the schema.")
        return _costly(self.call, reason)


@dataclass(frozen=True, slots=True, eq=False)
class ReadyAnswer(Question[Answer | CallServer | Reason]):
    """The fixed or table answer of a call, or its server to call, without the conditions of its rule."""

    call: ToolCall
    rule: ToolRule
    tool: ToolDefinition | None = None
    reach: Reach = UNREACHED

    @property
    def subject(self) -> object:
        return self.rule

    def answer(self) -> Answer | CallServer | Reason:
        return ready_for(self.call, self.rule, self.tool, self.reach)

    def unanswered(self, reason: str, partial: str) -> Answer | CallServer | Reason:
        return _costly(self.call, reason)


def _costly(call: ToolCall, reason: str) -> Reason:
    what = f"The rule of {short_name(call.name)} is too costly to check for this call: {reason}."
    words = f"{what} Type a result, or change the rule."
    return Reason(code=ReasonCode.COSTLY, words=words)


@dataclass(frozen=True, slots=True)
class Fit:
    """The match of a row or path with arguments.

    `problem` is why it cannot be used; `fits` is None without arguments, or where `costly` gives a reason.
    """

    problem: str = ""
    fits: bool | None = None
    costly: str = ""


class _OfFit(Question[Fit]):
    __slots__ = ()

    def unanswered(self, reason: str, partial: str) -> Fit:
        return Fit(costly=reason)


@dataclass(frozen=True, slots=True, eq=False)
class PathFits(_OfFit):
    """Validity of a JSONPath, and its match with raw arguments."""

    path: str
    arguments: str | None

    def answer(self) -> Fit:
        if problem := path_problem(self.path):
            return Fit(problem)
        return Fit(fits=None if self.arguments is None else path_matches(self.path, self.arguments))


@dataclass(frozen=True, slots=True, eq=False)
class RowFits(_OfFit):
    """Usability of an answer table's row, and its match with raw arguments."""

    row: AnswerRow
    arguments: str | None

    @property
    def subject(self) -> object:
        return self.row

    def answer(self) -> Fit:
        problem = row_problem(self.row)
        return Fit(problem, None if self.arguments is None else not problem and row_matches(self.row, self.arguments))


@dataclass(frozen=True, slots=True, eq=False)
class SampleOf(Question[str]):
    """Sample arguments for a schema, as JSON; empty where no fitting value is found."""

    schema: JSON

    def answer(self) -> str:
        return sample_text(self.schema)

    def unanswered(self, reason: str, partial: str) -> str:
        return ""


@dataclass(frozen=True, slots=True, eq=False)
class CheckUsable(Question[str]):
    """The problem of a check of an evaluation, empty for a usable one."""

    check: Check

    @property
    def subject(self) -> object:
        return self.check

    def answer(self) -> str:
        return self.check.problem

    def unanswered(self, reason: str, partial: str) -> str:
        return f"This check is too costly to be made: {reason}."


@dataclass(frozen=True, slots=True, eq=False)
class CheckVerdict(Question[Verdict]):
    """The verdict of a check of an evaluation on an answer."""

    check: Check
    facts: Facts

    @property
    def subject(self) -> object:
        return self.check

    @property
    def again(self) -> bool:
        return False  # facts are one answer's

    def answer(self) -> Verdict:
        return self.check.verdict(self.facts)

    def unanswered(self, reason: str, partial: str) -> Verdict:
        return not_judged(f"too costly to check: {reason}")
