"""What is said of a definition, of arguments or of an answer that is not as it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ERROR: Final = "error"
WARNING: Final = "warning"
UNCHECKED: Final = "unchecked"  # nothing is known to be wrong, and nothing to be right
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to say about a definition or an argument: where (a JSON path of keys and indexes) and what.

    ``offset`` is the place in the raw text, in characters, where that is known.
    """

    path: tuple[str | int, ...]
    message: str
    severity: str = ERROR  # or WARNING, UNCHECKED
    offset: int | None = None

    @property
    def where(self) -> str:
        """The path as people write it: ``items[2].unit``; empty for the whole."""
        out = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return out.removeprefix(".")


def unchecked(reason: str) -> Problem:
    """That something was too costly to check, and why."""
    return Problem((), f"too costly to check: {reason}", UNCHECKED)


def not_checked(problems: list[Problem] | tuple[Problem, ...]) -> Problem | None:
    """The problem among them that says that something was not checked."""
    return next((problem for problem in problems if problem.severity == UNCHECKED), None)


def short(text: str) -> str:
    """A text that is not too long for a line."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
