"""The simplest text that a regular expression matches, for sample arguments.

Literals, classes, groups, alternatives and repetitions are understood, the first and shortest of each is taken.
Look-arounds and back-references are not: the caller tries the outcome against the pattern.
"""

from __future__ import annotations

from typing import Final

_CLASSES: Final = {"d": "1", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_PLAIN: Final = "a1 -_A.!"
_MOST: Final = 2000  # characters
_DEEPEST: Final = 40


class PatternError(ValueError):
    """The pattern uses something this small reader does not know."""


def text_for(pattern: str, least: int = 0) -> str:
    """A text meant to match ``pattern``; open repetitions are drawn out until it has ``least`` characters.

    Raises PatternError.
    """
    for stretch in range(min(least, _MOST) + 1):
        text = _Reader(pattern, stretch).read()
        if len(text) >= least:
            return text
    raise PatternError("too short")


class _Reader:
    """Reads a pattern once and writes as it goes. ``stretch``: how often an open repetition is repeated beyond need."""

    def __init__(self, pattern: str, stretch: int) -> None:
        self._pattern = pattern
        self._stretch = stretch
        self._at = 0
        self._depth = 0

    def read(self) -> str:
        text = self._alternatives()
        if self._at < len(self._pattern):
            raise PatternError("a bracket too many")
        return text

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _next(self) -> str:
        mark = self._peek()
        if not mark:
            raise PatternError("the pattern ends too early")
        self._at += 1
        return mark

    def _alternatives(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PatternError("too deep")
        first = self._sequence()
        while self._peek() == "|":
            self._at += 1
            self._sequence()
        self._depth -= 1
        return first

    def _sequence(self) -> str:
        out = ""
        while self._peek() not in ("", "|", ")"):
            atom = self._atom()
            out += atom * self._repetitions()
            if len(out) > _MOST:
                raise PatternError("too long")
        return out

    def _atom(self) -> str:
        mark = self._next()
        if mark in "^$":
            return ""
        if mark == ".":
            return "a"
        if mark == "[":
            return self._set()
        if mark == "\\":
            return self._escape()
        if mark == "(":
            return self._group()
        if mark in "*+?":
            raise PatternError("nothing to repeat")
        return mark

    def _group(self) -> str:
        if self._peek() == "?":
            self._at += 1
            mark = self._next()
            if mark == "P":
                mark = self._next()
            if mark == "<" and self._peek() not in ("=", "!"):
                while self._next() != ">":
                    pass
            elif mark != ":":
                raise PatternError("a look-around")
        text = self._alternatives()
        if self._next() != ")":
            raise PatternError("a bracket is open")
        return text

    def _escape(self) -> str:
        mark = self._next()
        if mark in "bBAZ":
            return ""
        if mark in "ux":
            digits = self._pattern[self._at : self._at + (4 if mark == "u" else 2)]
            self._at += len(digits)
            try:
                return chr(int(digits, 16))
            except ValueError:
                raise PatternError("a broken escape") from None
        if mark.isdigit() or mark in "pPkg":
            raise PatternError("a back-reference or a property")
        return _CLASSES.get(mark) or _CONTROLS.get(mark, mark)

    def _set(self) -> str:
        """The first member of a set; of a negated one the first plain character that is not in it."""
        negated = self._peek() == "^"
        self._at += negated
        members: list[tuple[str, str]] = []
        while not members or self._peek() != "]":
            first = last = self._escape_in_set() if (mark := self._next()) == "\\" else mark
            if self._peek() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                last = self._escape_in_set() if (mark := self._next()) == "\\" else mark
            members.append((first, last))
        self._at += 1
        if not negated:
            return "a" if any(first <= "a" <= last for first, last in members) else members[0][0]
        for plain in _PLAIN:
            if not any(first <= plain <= last for first, last in members):
                return plain
        raise PatternError("an empty set")

    def _escape_in_set(self) -> str:
        return "\b" if self._peek() == "b" and self._next() else self._escape()

    def _repetitions(self) -> int:
        """How often the atom before is written: as seldom as allowed, and as often as ``stretch`` wants."""
        mark = self._peek()
        low, high = 1, 1
        if mark and mark in "*+?":
            self._at += 1
            low, high = {"*": (0, _MOST), "+": (1, _MOST), "?": (0, 1)}[mark]
        elif mark == "{":
            close = self._pattern.find("}", self._at)
            bounds = self._pattern[self._at + 1 : close].split(",") if close > 0 else []
            if not bounds or len(bounds) > 2 or not all(b.isascii() and (b.isdigit() or not b) for b in bounds):
                return 1  # an ordinary brace
            low = int(bounds[0] or 0)
            high = low if len(bounds) == 1 else int(bounds[1] or _MOST)
            self._at = close + 1
        if (low, high) != (1, 1) and self._peek() in ("?", "+"):  # lazy and possessive: the same here
            self._at += 1
        if low > _MOST:
            raise PatternError("too long")
        return min(max(low, self._stretch), max(high, low))
