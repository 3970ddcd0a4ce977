"""The base of checks, which an answer of an evaluation passes or fails: one class is one check, its fields its form.

``verdict`` judges one answer with a score from 0 to 1 and a reason. Checks that a model or a person has to judge
(``Judge``, ``You``) return an undecided verdict. A pattern, a path, a schema or texts that may take long raise
TooCostlyError; ``engine.questions`` then repeats the check in a worker process with a time limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Self

from pydantic import Field

from playground.domain.costs import NO_METRICS, AnswerMetrics
from playground.domain.parameters import Hint
from playground.domain.parts import ToolCall
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn, last_answer
from playground.domain.values import Value
from playground.domain.variables import mentions, resolve
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON

SHOWN: Final = 60  # characters of a text that are quoted in a reason or on a card
_READ: Final = 2_000  # characters of a text that are considered for a quotation


class Verdict(NamedTuple):
    """The result of a check. ``passed`` is None if the answer was not judged, which counts neither way."""

    passed: bool | None
    score: float
    reason: str = ""


def not_judged(reason: str) -> Verdict:
    """Return the verdict of a check that could not be applied."""
    return Verdict(None, 0.0, reason)


@dataclass(frozen=True, slots=True)
class Facts:
    """The data of an answer that checks use. ``turns`` are the received turns with tool results, in order.

    ``tools`` are the tools of the request, ``metrics`` those of all requests of the answer.
    """

    turns: tuple[Turn, ...]
    tools: tuple[ToolDefinition, ...] = ()
    metrics: AnswerMetrics = NO_METRICS

    @property
    def last(self) -> Turn | None:
        """The last assistant turn."""
        return next((turn for turn in reversed(self.turns) if turn.role is Role.ASSISTANT), None)

    @property
    def text(self) -> str:
        """The text of the answer."""
        return "".join(turn.text for turn in last_answer(self.turns))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All tool calls before the answer."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def finish_reason(self) -> str | None:
        """The finish reason of the answer; None if there is none."""
        return self.last.outcome.finish_reason if self.last is not None and self.last.outcome is not None else None


def row(label: str, editor: str, help_: str, **more: Any) -> Hint:
    """Return the hint of a form row; ``more`` are further fields of ``Hint``."""
    return Hint(label=label, group="Check", editor=editor, help=help_, sent=False, **more)


class Check(Value):
    """A rule for answers. A subclass is a kind of rule; {{name}} in its texts is replaced by a value of the case."""

    TITLE: ClassVar[str]
    HELP: ClassVar[str]

    kind: str
    negated: Annotated[bool, row("Not", "switch", "Passes where it would fail, and the other way round.")] = False
    weight: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False),
        row("Weight", "number", "The weight of its score among those of the other checks.", low=0, step=1),
    ] = 1.0

    @property
    def title(self) -> str:
        """The title of the card."""
        return f"Not {self.TITLE[:1].lower()}{self.TITLE[1:]}" if self.negated else self.TITLE

    @property
    def words(self) -> str:
        """The condition in a line or two."""
        return ""

    @property
    def lack(self) -> str:
        """The reason why the check is incomplete; empty if it is complete."""
        return ""

    @property
    def problem(self) -> str:
        """The reason why the check cannot be used; empty if it can, or if that depends on variables.

        Raises TooCostlyError.
        """
        return self.lack

    @property
    def asks(self) -> bool:
        """Return whether a model or a person has to judge, so that ``verdict`` cannot."""
        return False

    @classmethod
    def hints(cls) -> list[tuple[str, Hint]]:
        """Return the rows of the form: own fields, switches last, then those of all checks, each with its default."""
        rows = [
            (name, replace(hint, start=info.default))
            for name, info in cls.model_fields.items()
            if (hint := next((item for item in info.metadata if isinstance(item, Hint)), None)) is not None
        ]
        common = Check.model_fields
        return sorted(rows, key=lambda row: 2 if row[0] in common else row[1].editor == "switch")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables in its texts, each once."""
        texts = (text for name in type(self).model_fields for text in _texts(getattr(self, name)))
        return tuple(dict.fromkeys(mention.name for text in texts for mention in mentions(text) if not mention.escaped))

    def filled(self, values: Mapping[str, str]) -> Self:
        """Return the check with its variables replaced by the values of a case."""
        if not self.names:
            return self
        fields = ((name, getattr(self, name)) for name in type(self).model_fields)
        update = {name: filled for name, value in fields if (filled := _filled(value, values)) is not value}
        return self.model_copy(update=update)

    def verdict(self, facts: Facts) -> Verdict:
        """Judge an answer by a check without a ``problem``. Raises TooCostlyError."""
        if self.lack:
            return not_judged(self.lack)
        verdict = self._look(facts)
        if not self.negated or verdict.passed is None:
            return verdict
        return Verdict(not verdict.passed, 1.0 - verdict.score, verdict.reason)

    def _look(self, facts: Facts) -> Verdict:
        """Judge an answer without regard to ``negated``."""
        raise NotImplementedError


def _texts(value: JSON) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _filled(value: JSON, values: Mapping[str, str]) -> JSON:
    if isinstance(value, str):
        text = resolve(value, values)
        return value if text == value else text
    if isinstance(value, dict):
        return {resolve(name, values): _filled(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, values) for inner in value]
    return value


def judged(passed: bool, reason: str) -> Verdict:
    """Return a verdict with the score 1 or 0."""
    return Verdict(passed, float(passed), reason)


def quoted(text: str) -> str:
    """Return a text in quotation marks, shortened for a reason or a card."""
    return f"“{in_a_line(text, SHOWN)}”"


def in_a_line(text: str, most: int) -> str:
    """Return the beginning of a text on one line of at most ``most`` characters."""
    line = " ".join(text[:_READ].split())
    return cut(line if len(text) <= _READ else f"{line}…", most)
