"""Problems of JSON texts, tool definitions, arguments and answers, with positions and messages for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ERROR: Final = "error"
WARNING: Final = "warning"
UNCHECKED: Final = "unchecked"  # neither valid nor invalid
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a definition, an argument or an answer: its path (keys and indexes) and a message.

    ``offset`` is its place in the raw text, in characters, if known.
    """

    path: tuple[str | int, ...]
    message: str
    severity: str = ERROR  # or WARNING, UNCHECKED
    offset: int | None = None

    @property
    def where(self) -> str:
        """The path as text: ``items[2].unit``; empty for the root."""
        out = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return out.removeprefix(".")


def unchecked(reason: str) -> Problem:
    """Return the problem that a check was too costly, with the reason."""
    return Problem((), f"too costly to check: {reason}", UNCHECKED)


def not_checked(problems: list[Problem] | tuple[Problem, ...]) -> Problem | None:
    """Return the first problem that says that a check was too costly; None if there is none."""
    return next((problem for problem in problems if problem.severity == UNCHECKED), None)


def short(text: str) -> str:
    """Cut a text to the length of a message."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


TEXT_AFTER_END: Final = "there is more text after the end of the JSON"
NOTHING: Final = "there is nothing here"
NO_VALUE: Final = "a value is missing here"
NO_MEMBER: Final = "the value of this name is missing"
NO_NAME: Final = "a name in double quotes is missing here"
NO_COLON: Final = "a colon is missing"
NO_COMMA: Final = "a comma is missing"
COMMA_TOO_MANY: Final = "a comma too many"
NO_BRACKET: Final = "a closing bracket is missing"
NO_CLOSING_QUOTE: Final = "this text has no closing quote"
CONTROL_CHARACTER: Final = "a line break or control character in a text; write it as an escape such as \\n"
ODD_ESCAPE: Final = "this escape does not exist in JSON; a backslash itself is written \\\\"


def position(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of an offset, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


class JsonTextError(ValueError):
    """A text that is not JSON, or an edit that its place does not allow. Line and column count from 1."""

    def __init__(self, text: str, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message
        self.line, self.column = position(text, offset)
        super().__init__(f"line {self.line}, column {self.column}: {message}")
