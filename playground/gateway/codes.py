"""Undoes the codes in which a text may be written, and tells where in it each character stood.

A gateway may quote a key in any of them, and in several at once: JSON in JSON, a URL in HTML, percent signs that are
escaped themselves. So there is no list of spellings to look for; the text is read, layer by layer.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache
from string import ascii_letters, digits
from typing import Final

#: Layers that are taken off; nothing sensible has more.
_LAYERS: Final = 5
_HEX: Final = "[2-7][0-9a-fA-F]"
#: Backslashes double with each layer of JSON. All repeats are bounded, so that no text takes long. Each pattern begins
#: with a character as it stands: so ``re`` goes over all others in C, ten times faster than it tries a repeat.
_SLASHES: Final = r"\\\\{0,14}"
_NUMBER: Final = r"#0{0,6}"
_SLICE: Final = 100_000  # bytes
_SIGN: Final = 32  # bytes, more than a sign of a code has
#: The first bytes of characters in a code.
CODED: Final = b"\\%&"
#: What a code, or a part of one, may end with.
CODING: Final = "\\%&#;" + ascii_letters + digits


class Plain:
    """A text without its codes. ``text`` is what it says."""

    __slots__ = ("_ends", "_shifts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends: list[array[int]] = []  # of each layer: where a code's character ends in what it says,
        self._shifts: list[array[int]] = []  # and how many characters more had been written until there

    def place(self, at: int) -> int:
        """Where in the text as it was written the character number ``at`` begins."""
        for ends, shifts in zip(reversed(self._ends), reversed(self._shifts), strict=True):
            before = bisect_right(ends, at)
            at += shifts[before - 1] if before else 0
        return at

    def take_off(self, code: re.Pattern[str]) -> bool:
        """Undo one layer. Returns whether there was one."""
        text, at, size = self.text, 0, 0
        out: list[str] = []
        ends, shifts = array("q"), array("q")
        for found in code.finditer(text):
            start, end = found.span()
            char = _character(found)
            if char is None:
                continue
            out += (text[at:start], char)
            size += start - at + 1
            ends.append(size)
            shifts.append(end - size)
            at = end
        if not ends:
            return False
        self.text = "".join((*out, text[at:]))
        self._ends.append(ends)
        self._shifts.append(shifts)
        return True


class Codes:
    """The codes for texts of certain characters."""

    def __init__(self, characters: Iterable[str]) -> None:
        marks = "".join(sorted(re.escape(char) for char in set(characters) if not char.isalnum() and char.isascii()))
        escaped = f"|([{marks}])" if marks else "|(?!)()"
        self._code = re.compile(
            rf"{_SLASHES}(?:u00({_HEX})|x({_HEX}){escaped})|%({_HEX})"
            rf"|&(?:{_NUMBER}([0-9]{{2,3}});?|#[xX]0{{0,6}}({_HEX});?|([a-zA-Z]{{2,8}});)"
        )
        self._cut = re.compile(
            rf"(?:{_SLASHES}(?:u0{{0,2}}|u00[2-7]|x[2-7]?)?|%[2-7]?"
            rf"|&(?:{_NUMBER}[0-9]{{0,3}}|#[xX]0{{0,6}}[2-7]?|[a-zA-Z]{{0,8}}))\Z"
        )
        #: Find where a code may stand in bytes, or begin at the end of a text in them. Each is for one character as it
        #: stands, in the order of ``CODED``, so that ``re`` leaps over all others.
        self.signs: Final = tuple(
            re.compile(sign.encode())
            for sign in (
                # A single backslash before a quotation mark is no end of a text.
                rf"\\(?:u00[2-7]|x[2-7]{escaped}|\\{{1,14}}[ux]?0{{0,2}}\")",
                r"%(?:[2-7]|\"|\Z)",
                r"&(?:[#a-zA-Z]|\"|\Z)",
            )
        )

    def may_be_in(self, data: bytes) -> bool:
        """Whether a code may stand in those bytes, or begin at the end of a text in them."""
        signs = [sign for mark, sign in zip(CODED, self.signs, strict=True) if mark in data]
        # In slices, the longest sign in common: one search of megabytes would hold up every other thread.
        slices = range(0, len(data) if signs else 0, _SLICE)
        return any(sign.search(data, at, at + _SLICE + _SIGN) for at in slices for sign in signs)

    def undo(self, text: str) -> Plain | None:
        """What it says; None when that is what it is."""
        if not ("\\" in text or "%" in text or "&" in text):
            return None
        plain = Plain(text)
        if not plain.take_off(self._code):
            return None
        for _ in range(_LAYERS - 1):
            if not plain.take_off(self._code):
                break
        return plain

    def undone(self, text: str) -> str:
        """What it says."""
        plain = self.undo(text)
        return plain.text if plain is not None else text

    def cut_off(self, text: str) -> int:
        """How many characters at the end of ``text`` may be the beginning of a code."""
        found = self._cut.search(text, max(0, len(text) - 32))
        return len(text) - found.start() if found is not None else 0


def _character(found: re.Match[str]) -> str | None:
    """What a code stands for; None when it is none."""
    unicode, short, escaped, percent, decimal, hexadecimal, name = found.groups()
    code = unicode or short or percent or hexadecimal
    if code:
        return chr(int(code, 16))
    if decimal:
        number = int(decimal)
        return chr(number) if 0x20 <= number < 0x7F else None
    return escaped or _names().get(name)


@cache
def _names() -> dict[str, str]:
    from html.entities import html5

    return {name[:-1]: char for name, char in html5.items() if name.endswith(";") and len(char) == 1}
