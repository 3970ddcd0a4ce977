"""Texts for samples that a regular expression matches: the simplest one, or random ones.

Literals, classes, groups, alternatives and repetitions are supported; the first and shortest of each is used.
Back-references are not supported and look-arounds are skipped, so the caller checks each text against the pattern.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import Final

_ANY: Final = string.ascii_lowercase + string.digits
_CLASSES: Final = {
    "d": "1234567890",
    "w": f"{_ANY}_",
    "s": " ",
    "D": string.ascii_lowercase,
    "W": "-",
    "S": string.ascii_lowercase,
}
_PROPERTIES: Final = {
    "L": string.ascii_lowercase,
    "Letter": string.ascii_lowercase,
    "Alphabetic": string.ascii_lowercase,
    "Ll": string.ascii_lowercase,
    "Lu": string.ascii_uppercase,
    "N": string.digits,
    "Nd": string.digits,
    "P": "-!.,",
    "Zs": " ",
}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_PLAIN: Final = (
    f"a1 -_A.!{string.ascii_letters}{string.digits}{string.punctuation}"  # candidates for a negated set, in this order
)
_WIDEST: Final = 512  # characters of a range that are used
_MOST: Final = 2000  # characters
_MORE: Final = 5  # random repetitions beyond the minimum
_MOST_ATOMS: Final = 10_000  # read for one text
_DEEPEST: Final = 40
_RANDOM_TEXTS: Final = 40  # for one pattern
_LENGTHS: Final = (8, 12, 20)  # that look-arounds often require
_PASSWORDS: Final = ("Passw0rd!", "Passw0rd!Passw0rd!", "Abc123", "abc123", "ABC123")


class PatternError(ValueError):
    """A pattern is invalid, or uses a construct that is not supported."""


def texts_for(pattern: str, least: int = 0, chance: Random | None = None) -> Iterator[str]:
    """Yield texts that may match ``pattern``: the simplest, random ones, and passwords for common rules."""
    for length in (0, *_LENGTHS):
        with suppress(PatternError):
            yield text_for(pattern, max(least, length), chance)
    for seed in range(_RANDOM_TEXTS):
        with suppress(PatternError):
            yield text_for(pattern, 0, Random(chance.random() if chance is not None else seed))  # noqa: S311
    yield from _PASSWORDS


def text_for(pattern: str, least: int = 0, chance: Random | None = None) -> str:
    """Return a text for ``pattern`` with at least ``least`` characters; open repetitions are repeated until then.

    ``chance`` chooses among the alternatives; without it the first one is used. Raises PatternError.
    """
    for stretch in range(min(least, _MOST) + 1):
        text = _Reader(pattern, stretch, chance).read()
        if len(text) >= least:
            return text
    raise PatternError("too short")


class _Reader:
    """Reader of a pattern that writes its text. ``stretch``: repetitions of an open repetition beyond the minimum."""

    def __init__(self, pattern: str, stretch: int, chance: Random | None) -> None:
        self._pattern = pattern
        self._stretch = stretch
        self._chance = chance
        self._index = 0
        self._depth = 0
        self._atoms = 0

    def read(self) -> str:
        text = self._alternatives()
        if self._index < len(self._pattern):
            raise PatternError("a bracket too many")
        return text

    def _peek(self) -> str:
        return self._pattern[self._index : self._index + 1]

    def _next(self) -> str:
        mark = self._peek()
        if not mark:
            raise PatternError("the pattern ends too early")
        self._index += 1
        return mark

    def _alternatives(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PatternError("too deep")
        branches = [self._sequence()]
        while self._peek() == "|":
            self._index += 1
            branches.append(self._sequence())
        self._depth -= 1
        return self._choose(branches)

    def _choose(self, options: Sequence[str]) -> str:
        return options[0] if self._chance is None else self._chance.choice(options)

    def _sequence(self) -> str:
        out = ""
        while self._peek() not in ("", "|", ")"):
            start = self._index
            atom = self._atom()
            times = self._repetitions()
            out += atom * times if self._chance is None or not times else atom + self._again(start, times - 1)
            if len(out) > _MOST:
                raise PatternError("too long")
        return out

    def _again(self, start: int, times: int) -> str:
        """Return the atom at ``start`` ``times`` times, each with random choices of its own."""
        after, out = self._index, list[str]()
        for _ in range(times):
            self._index = start
            out.append(self._atom())
        self._index = after
        return "".join(out)

    def _atom(self) -> str:
        self._atoms += 1
        if self._atoms > _MOST_ATOMS:
            raise PatternError("too long")
        mark = self._next()
        if mark in "^$":
            return ""
        if mark == ".":
            return self._choose(_ANY)
        if mark == "[":
            return self._choose(self._set())
        if mark == "\\":
            allowed = self._escape()
            return self._choose(allowed) if allowed else ""
        if mark == "(":
            return self._group()
        if mark in "*+?":
            raise PatternError("nothing to repeat")
        return mark

    def _group(self) -> str:
        if self._peek() == "?":
            self._index += 1
            mark = self._next()
            if mark == "P":
                mark = self._next()
            if mark == "<" and self._peek() not in ("=", "!"):
                while self._next() != ">":
                    pass
            elif mark != ":":
                self._index += mark == "<"
                self._alternatives()
                if self._next() != ")":
                    raise PatternError("a bracket is open")
                return ""
        text = self._alternatives()
        if self._next() != ")":
            raise PatternError("a bracket is open")
        return text

    def _escape(self) -> str:
        """Return the characters that an escape allows; none for an assertion such as a word boundary."""
        mark = self._next()
        if mark in "bBAZ":
            return ""
        if mark in "ux":
            digits = self._pattern[self._index : self._index + (4 if mark == "u" else 2)]
            self._index += len(digits)
            try:
                return chr(int(digits, 16))
            except ValueError:
                raise PatternError("a broken escape") from None
        if mark == "p" and self._peek() == "{":
            name, closed, _ = self._pattern[self._index + 1 :].partition("}")
            if closed and name in _PROPERTIES:
                self._index += len(name) + 2
                return _PROPERTIES[name]
        if mark.isdigit() or mark in "pPkg":
            raise PatternError("a back-reference or a property")
        return _CLASSES.get(mark) or _CONTROLS.get(mark, mark)

    def _set(self) -> str:
        """Return the characters that a set allows, a letter first."""
        negated = self._peek() == "^"
        self._index += negated
        members = ""
        begun = self._index
        while self._index == begun or self._peek() != "]":
            allowed = self._member()
            if (
                len(allowed) == 1
                and self._peek() == "-"
                and self._pattern[self._index + 1 : self._index + 2] not in ("", "]")
            ):
                self._index += 1
                first, last = ord(allowed), ord((self._member() or allowed)[-1])
                allowed = "".join(map(chr, range(first, min(last, first + _WIDEST) + 1)))
            members += allowed
        self._index += 1
        if negated:
            members = "".join(mark for mark in _PLAIN if mark not in members)
        if not members:
            raise PatternError("an empty set")
        return "a" + members if "a" in members else members

    def _member(self) -> str:
        mark = self._next()
        if mark != "\\":
            return mark
        return "\b" if self._peek() == "b" and self._next() else self._escape()

    def _repetitions(self) -> int:
        """Return the number of repetitions of the last atom: the minimum, or up to ``stretch``."""
        mark = self._peek()
        low, high = 1, 1
        if mark and mark in "*+?":
            self._index += 1
            low, high = {"*": (0, _MOST), "+": (1, _MOST), "?": (0, 1)}[mark]
        elif mark == "{":
            close = self._pattern.find("}", self._index)
            bounds = self._pattern[self._index + 1 : close].split(",") if close > 0 else []
            if not bounds or len(bounds) > 2 or not all(b.isascii() and (b.isdigit() or not b) for b in bounds):
                return 1  # an ordinary brace
            low = int(bounds[0] or 0)
            high = low if len(bounds) == 1 else int(bounds[1] or _MOST)
            self._index = close + 1
        if (low, high) != (1, 1) and self._peek() in ("?", "+"):  # lazy and possessive
            self._index += 1
        if low > _MOST:
            raise PatternError("too long")
        low, high = max(low, min(self._stretch, high)), max(high, low)
        return low if self._chance is None else self._chance.randint(low, min(high, low + _MORE))
