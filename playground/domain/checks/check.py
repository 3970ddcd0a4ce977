"""Rules that an answer of an evaluation passes or fails: one class is one check, its fields are its form.

Values only: ``verdict`` says of one answer whether it passes, with a score from 0 to 1 and a reason that states what is
so. Nothing here waits or asks; what a model or a person has to judge says so (``Judge``, ``You``). A pattern, a path, a
schema or texts that may take long raise TooCostlyError; ``engine.questions`` has a process do it that can be ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Self

from pydantic import Field

from playground.domain.parameters import Hint
from playground.domain.parts import ToolCall
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn, last_answer
from playground.domain.values import Value
from playground.domain.variables import mentions, resolve
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON

SHOWN: Final = 60  # characters of a text that a reason or a card quotes
_READ: Final = 2_000  # of a text that is looked at for these


class Verdict(NamedTuple):
    """What a check says of an answer. ``passed`` is None where it was not judged: that counts neither way."""

    passed: bool | None
    score: float
    reason: str = ""


def not_judged(reason: str) -> Verdict:
    """That a check could not be made."""
    return Verdict(None, 0.0, reason)


@dataclass(frozen=True, slots=True)
class Facts:
    """What an answer is to a check. ``turns`` are those that came, results of tools among them, in order.

    ``tools`` are those on offer. ``seconds`` is the time from the first request to the last token, ``first`` that to
    the first token; ``tokens`` those of all answers, ``price`` what all requests cost. None where nobody says.
    """

    turns: tuple[Turn, ...]
    tools: tuple[ToolDefinition, ...] = ()
    seconds: float | None = None
    first: float | None = None
    tokens: int | None = None
    price: float | None = None
    currency: str = ""

    @property
    def last(self) -> Turn | None:
        """The answer itself, behind all its calls."""
        return next((turn for turn in reversed(self.turns) if turn.role is Role.ASSISTANT), None)

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(turn.text for turn in last_answer(self.turns))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls on the way."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def finish_reason(self) -> str | None:
        """How the gateway says it ended."""
        return self.last.outcome.finish_reason if self.last is not None and self.last.outcome is not None else None


def row(label: str, editor: str, help_: str, **more: Any) -> Hint:
    """A row of the form; ``more`` as ``Hint`` has it."""
    return Hint(label=label, group="Check", editor=editor, help=help_, sent=False, **more)


class Check(Value):
    """A rule for answers. A subclass is a kind of rule; {{name}} in its texts stands for a value of the case."""

    TITLE: ClassVar[str]
    HELP: ClassVar[str]

    kind: str
    negated: Annotated[bool, row("Not", "switch", "Passes where it would fail, and the other way round.")] = False
    weight: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False),
        row("Weight", "number", "How much its score counts beside those of the other checks.", low=0, step=1),
    ] = 1.0

    @property
    def title(self) -> str:
        """What it is called on its card."""
        return f"Not {self.TITLE[:1].lower()}{self.TITLE[1:]}" if self.negated else self.TITLE

    @property
    def words(self) -> str:
        """What it asks for, in a line or two."""
        return ""

    @property
    def lack(self) -> str:
        """What is missing to make it a check; empty when nothing is."""
        return ""

    @property
    def problem(self) -> str:
        """Why it cannot be used as it stands; empty when it can. Where a value is still to be put in, nobody knows.

        Raises TooCostlyError.
        """
        return self.lack

    @property
    def asks(self) -> bool:
        """Whether somebody has to be asked: what is called ``verdict`` here cannot tell."""
        return False

    @classmethod
    def hints(cls) -> list[tuple[str, Hint]]:
        """The rows of its form: its own fields, switches last, then those of all checks; each starts at its default."""
        found = [
            (name, replace(hint, start=info.default))
            for name, info in cls.model_fields.items()
            if (hint := next((item for item in info.metadata if isinstance(item, Hint)), None)) is not None
        ]
        common = Check.model_fields
        return sorted(found, key=lambda row: 2 if row[0] in common else row[1].editor == "switch")

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that its texts mention, each once."""
        texts = (text for name in type(self).model_fields for text in _texts(getattr(self, name)))
        return tuple(dict.fromkeys(one.name for text in texts for one in mentions(text) if not one.escaped))

    def filled(self, values: Mapping[str, str]) -> Self:
        """The same with the values of a case put in."""
        if not self.names:
            return self
        fields = ((name, getattr(self, name)) for name in type(self).model_fields)
        found = {name: filled for name, value in fields if (filled := _filled(value, values)) is not value}
        return self.model_copy(update=found)

    def verdict(self, facts: Facts) -> Verdict:
        """What it says of an answer, where it has no ``problem``. Raises TooCostlyError."""
        if self.lack:
            return not_judged(self.lack)
        found = self._look(facts)
        if not self.negated or found.passed is None:
            return found
        return Verdict(not found.passed, 1.0 - found.score, found.reason)

    def _look(self, facts: Facts) -> Verdict:
        """The same where nothing is negated."""
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
        found = resolve(value, values)
        return value if found == value else found
    if isinstance(value, dict):
        return {resolve(name, values): _filled(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, values) for inner in value]
    return value


def judged(passed: bool, reason: str) -> Verdict:
    """That it passes or fails, with nothing between."""
    return Verdict(passed, float(passed), reason)


def quoted(text: str) -> str:
    """A text as a reason or a card quotes it."""
    return f"“{in_a_line(text, SHOWN)}”"


def in_a_line(text: str, most: int) -> str:
    """As much of a text as ``most`` characters of a line hold; of a large one its beginning is looked at."""
    line = " ".join(text[:_READ].split())
    return cut(line if len(text) <= _READ else f"{line}…", most)
