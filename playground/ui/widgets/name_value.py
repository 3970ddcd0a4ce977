"""A name with its value, as typed into a form: what is a secret, what is wrong with it, and several of them pasted.

No widgets in here. The repr never shows a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

MOST_PASTED: Final = 200  # rows of one paste
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_LINE: Final = re.compile(r"\s*(?:export\s+|set\s+)?([^:=]+?)\s*[:=]\s*(.*)\Z")
_QUOTED: Final = re.compile(r"""(["'])(.*)\1\Z""")


@dataclass(frozen=True, slots=True)
class NameValue:
    """A name and a value as typed.

    ``stored``: the value is in the keyring and was not retyped. ``locked``: the user wants it in the keyring.
    """

    noun: ClassVar[str] = "value"

    name: str = ""
    value: str = field(default="", repr=False)
    stored: bool = False
    locked: bool = False

    def __bool__(self) -> bool:
        return bool(self.name or self.value)

    @property
    def secret(self) -> bool:
        """True if the value must not be in a file."""
        return self.stored or self.locked or self.looks_secret(self.name.strip(), self.value)

    def looks_secret(self, name: str, value: str) -> bool:
        """Return whether a name or a value marks a secret."""
        return False

    @property
    def problem(self) -> str:
        """The reason why this row cannot be saved; empty if it can."""
        return ""

    def repeated(self) -> str:
        """Return the problem of a row whose name is in an earlier row."""
        return f"The {self.noun} “{self.name.strip()}” is there twice. Remove one."


@dataclass(frozen=True, slots=True)
class HeaderValue(NameValue):
    """A header as typed."""

    noun: ClassVar[str] = "header"

    @property
    def problem(self) -> str:
        """The reason why this header cannot be saved; empty if it can."""
        valid = not self.name.strip() or _HEADER_NAME.match(self.name.strip())
        return "" if valid else "A header's name holds a character that is not allowed there."


def row_problems(rows: Sequence[NameValue]) -> list[str]:
    """Return the problem of each row, empty for rows that can be saved. Names are equal in any case of letters."""
    names: set[str] = set()
    problems = []
    for row in rows:
        name = row.name.strip().casefold()
        if not name:
            problem = f"A {row.noun} has a value but no name." if row.value.strip() else ""
        else:
            problem = row.problem or (row.repeated() if name in names else "")
        problems.append(problem)
        if name and not problem:
            names.add(name)
    return problems


def read_lines(text: str) -> list[tuple[str, str]]:
    """Return the names and values of a pasted text: ``NAME=value`` or ``Name: value`` a line, or a JSON object.

    Comments, ``export``, and the quotes around a value are left out. Lines of other forms become names.
    """
    if text.lstrip().startswith("{"):
        try:
            members = json.loads(text)
        except (ValueError, RecursionError):
            members = None
        if isinstance(members, dict):
            return [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in members.items()]
    pairs = []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if (match := _LINE.match(line)) is None:
            pairs.append((line.strip(), ""))
            continue
        value = match[2].strip()
        quoted = _QUOTED.match(value)
        pairs.append((match[1].strip("\"'"), quoted[2] if quoted else value))
    return pairs
