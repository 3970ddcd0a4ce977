"""Text that fits a simple regular expression: literals, classes, groups, alternatives and repetitions.

Look-arounds and back-references are not understood; the caller tries the outcome against the pattern.
"""

from __future__ import annotations

import string

from playground.demo.dice import Dice

_CLASSES = {
    "d": string.digits,
    "w": string.ascii_lowercase + string.digits + "_",
    "s": " ",
    "D": string.ascii_lowercase,
    "W": "-",
    "S": string.ascii_lowercase,
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_ANY = string.ascii_lowercase + string.digits
_PRINTABLE = "".join(chr(code) for code in range(32, 127))
_MOST = 64  # the most repetitions written, whatever the pattern allows
_DEEPEST = 40


class PatternError(ValueError):
    """The pattern uses something this small reader does not know."""


def text_for(pattern: str, dice: Dice) -> str:
    """A text meant to match ``pattern``. Raises PatternError."""
    return _Reader(pattern, dice).read()


class _Reader:
    """Reads the pattern once and writes as it goes."""

    def __init__(self, pattern: str, dice: Dice) -> None:
        self._pattern = pattern
        self._dice = dice
        self._at = 0
        self._depth = 0

    def read(self) -> str:
        text = self._alternatives()
        if self._at < len(self._pattern):
            raise PatternError(f"unexpected {self._pattern[self._at]!r}")
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
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        self._depth -= 1
        return self._dice.choice(branches)

    def _sequence(self) -> str:
        written: list[str] = []
        while self._peek() not in ("", "|", ")"):
            start = self._at
            once = self._atom()
            end = self._at
            for _ in range(self._repetitions()):
                after = self._at
                self._at = start  # read the atom again, so that each repetition is drawn anew
                written.append(self._atom() if end > start else once)
                self._at = after
            if sum(map(len, written)) > 4096:
                raise PatternError("too long")
        return "".join(written)

    def _atom(self) -> str:
        mark = self._next()
        if mark in "^$":
            return ""
        if mark == ".":
            return self._dice.choice(_ANY)
        if mark == "[":
            return self._dice.choice(self._set())
        if mark == "\\":
            return self._escape()
        if mark == "(":
            return self._group()
        if mark in "*+?{":
            if mark == "{":
                return mark
            raise PatternError("nothing to repeat")
        return mark

    def _group(self) -> str:
        if self._peek() == "?":
            self._at += 1
            if self._next() != ":" and not self._skip_name():
                raise PatternError("a look-around")
        text = self._alternatives()
        if self._next() != ")":
            raise PatternError("an open group")
        return text

    def _skip_name(self) -> bool:
        self._at -= 1
        close = self._pattern.find(">", self._at)
        named = self._pattern.startswith(("P<", "<"), self._at) and close > 0
        if not named or self._pattern.startswith(("<=", "<!"), self._at):
            return False
        self._at = close + 1
        return True

    def _escape(self) -> str:
        mark = self._next()
        if mark in _CLASSES:
            return self._dice.choice(_CLASSES[mark])
        if mark in "bBAZz":
            return ""
        if mark.isdigit():
            raise PatternError("a back-reference")
        return _ESCAPES.get(mark, mark)

    def _set(self) -> str:
        negated = self._peek() == "^"
        self._at += negated
        members: list[str] = []
        first = True
        while first or self._peek() != "]":
            first = False
            mark = self._next()
            if mark == "\\":
                mark = self._next()
                if mark in _CLASSES:
                    members.append(_CLASSES[mark])
                    continue
                mark = _ESCAPES.get(mark, mark)
            if self._peek() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                last = self._next()
                last = self._next() if last == "\\" else last
                members.append("".join(chr(code) for code in range(ord(mark), min(ord(last), ord(mark) + 512) + 1)))
            else:
                members.append(mark)
        self._at += 1
        allowed = "".join(members)
        if negated:
            allowed = "".join(mark for mark in _ANY + _PRINTABLE if mark not in allowed)
        if not allowed:
            raise PatternError("an empty set")
        return allowed

    def _repetitions(self) -> int:
        mark = self._peek()
        low, high = 1, 1
        if mark and mark in "*+?":
            self._at += 1
            low, high = {"*": (0, 5), "+": (1, 6), "?": (0, 1)}[mark]
        elif mark == "{":
            close = self._pattern.find("}", self._at)
            bounds = self._pattern[self._at + 1 : close].split(",") if close > 0 else []
            if bounds and len(bounds) <= 2 and bounds[0].isdigit() and all(not b or b.isdigit() for b in bounds):
                low = min(int(bounds[0]), _MOST)
                high = low if len(bounds) == 1 else low + 4 if not bounds[1] else min(int(bounds[1]), low + 8)
                self._at = close + 1
        if self._at > 0 and self._peek() == "?" and (low, high) != (1, 1):  # lazy: means the same here
            self._at += 1
        return self._dice.randint(low, max(low, high))
