"""What can be asked about foreign schemas, patterns and paths: values that say how they are answered.

Each is answered at once where that is cheap; where it is not, ``answer`` raises TooCostlyError, and ``checking``
has a process answer it that can be ended. No answer is None.
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
    Asking,
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
    """What a question of that kind is made of."""
    return tuple(field.name for field in fields(kind))


@dataclass(frozen=True, slots=True, eq=False)
class Question(ABC, Generic[T_co]):
    """One question. ``key`` is the same for questions that are; those with the same schema object, that is."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from others, as long as it is held itself."""
        values = [getattr(self, name) for name in _names(type(self))]
        plain = (str, int, bool, type(None))
        return type(self), *(value if isinstance(value, plain) else id(value) for value in values)

    @property
    def subject(self) -> object:
        """What may make it costly: a schema, a rule, a path. None where another will be no worse."""
        return None

    @property
    def again(self) -> bool:
        """Whether it may well be asked again, so that its answer is worth being looked for."""
        return True

    @abstractmethod
    def answer(self) -> T_co:
        """The answer. Raises TooCostlyError where this process has no time for it."""

    @abstractmethod
    def unanswered(self, reason: str, known: str) -> T_co:
        """What is said when it took too long; ``known`` is what was known by then, or empty."""


class _OfProblems(Question[list[Problem]]):
    __slots__ = ()

    def unanswered(self, reason: str, known: str) -> list[Problem]:
        return [Problem((), f"{known}; where and why is too costly to say: {reason}") if known else unchecked(reason)]


@dataclass(frozen=True, slots=True, eq=False)
class ArgumentsFit(_OfProblems):
    """Do a call's raw arguments fit the tool's schema?"""

    arguments: str
    schema: JSONObject | None

    @property
    def subject(self) -> object:
        return self.schema

    def answer(self) -> list[Problem]:
        return check_arguments(self.arguments, self.schema)


@dataclass(frozen=True, slots=True, eq=False)
class AnswerFits(_OfProblems):
    """Is an answer what the response format asked for?"""

    text: str
    response_format: JSONObject | None

    @property
    def subject(self) -> object:
        return self.response_format

    def answer(self) -> list[Problem]:
        return check_answer(self.text, self.response_format)


@dataclass(frozen=True, slots=True, eq=False)
class StructuredFits(_OfProblems):
    """Is the structured content of a tool server's answer what its tool promised?"""

    value: JSON
    schema: JSONObject

    @property
    def subject(self) -> object:
        return self.schema

    def answer(self) -> list[Problem]:
        return check_value(self.value, self.schema)


@dataclass(frozen=True, slots=True, eq=False)
class DefinitionSound(_OfProblems):
    """What is there to say of a tool's definition?"""

    tool: ToolDefinition

    def answer(self) -> list[Problem]:
        return check_definition(self.tool)


@dataclass(frozen=True, slots=True, eq=False)
class FormatSound(_OfProblems):
    """What is there to say of a response format with a schema?"""

    name: str | None
    schema: JSONObject | None
    strict: bool | None

    def answer(self) -> list[Problem]:
        return check_format(self.name, self.schema, self.strict)


@dataclass(frozen=True, slots=True, eq=False)
class Decision(Question[Answer | Asking | Reason]):
    """What is a call answered with by its rule, is its server asked, or why does it wait? See ``decide``."""

    call: ToolCall
    rule: ToolRule
    tool: ToolDefinition | None
    nth: int
    repeated: int
    reach: Reach = UNREACHED

    @property
    def subject(self) -> object:
        return self.tool or self.rule

    def answer(self) -> Answer | Asking | Reason:
        return decide(self.call, self.rule, self.tool, nth=self.nth, repeated=self.repeated, reach=self.reach)

    def unanswered(self, reason: str, known: str) -> Answer | Asking | Reason:
        if known:
            return Reason(code=ReasonCode.MISFIT, words="The arguments do not fit the schema.")
        return _costly(self.call, reason)


@dataclass(frozen=True, slots=True, eq=False)
class ReadyAnswer(Question[Answer | Asking | Reason]):
    """What is a call answered with by the fixed answer or the table, or may its server be asked, whatever the
    conditions say?
    """

    call: ToolCall
    rule: ToolRule
    tool: ToolDefinition | None = None
    reach: Reach = UNREACHED

    @property
    def subject(self) -> object:
        return self.rule

    def answer(self) -> Answer | Asking | Reason:
        return ready_for(self.call, self.rule, self.tool, self.reach)

    def unanswered(self, reason: str, known: str) -> Answer | Asking | Reason:
        return _costly(self.call, reason)


def _costly(call: ToolCall, reason: str) -> Reason:
    what = f"The rule of {short_name(call.name)} is too costly to check for this call: {reason}."
    words = f"{what} Type a result, or change the rule."
    return Reason(code=ReasonCode.COSTLY, words=words)


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a row or a path is for some arguments. ``problem`` says why it cannot be used; ``fits`` is None where
    there are no arguments or it was too costly to see, which ``costly`` says.
    """

    problem: str = ""
    fits: bool | None = None
    costly: str = ""


class _OfFit(Question[Fit]):
    __slots__ = ()

    def unanswered(self, reason: str, known: str) -> Fit:
        return Fit(costly=reason)


@dataclass(frozen=True, slots=True, eq=False)
class PathFits(_OfFit):
    """Is a text a JSONPath, and does it select something in these raw arguments?"""

    path: str
    arguments: str | None

    def answer(self) -> Fit:
        if problem := path_problem(self.path):
            return Fit(problem)
        return Fit(fits=None if self.arguments is None else path_matches(self.path, self.arguments))


@dataclass(frozen=True, slots=True, eq=False)
class RowFits(_OfFit):
    """Can a row of an answer table be used, and is it for these raw arguments?"""

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
    """What may arguments for a schema look like? Empty where no value was found that fits."""

    schema: JSON

    def answer(self) -> str:
        return sample_text(self.schema)

    def unanswered(self, reason: str, known: str) -> str:
        return ""


@dataclass(frozen=True, slots=True, eq=False)
class CheckUsable(Question[str]):
    """Why can a check of an evaluation not be used? Empty where it can."""

    check: Check

    @property
    def subject(self) -> object:
        return self.check

    def answer(self) -> str:
        return self.check.problem

    def unanswered(self, reason: str, known: str) -> str:
        return f"This check is too costly to be made: {reason}."


@dataclass(frozen=True, slots=True, eq=False)
class CheckVerdict(Question[Verdict]):
    """Does an answer pass a check of an evaluation?"""

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

    def unanswered(self, reason: str, known: str) -> Verdict:
        return not_judged(f"too costly to check: {reason}")
