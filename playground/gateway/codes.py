"""Decodes escaped text (JSON, URL and HTML escapes, also nested) and maps positions back to the escaped text.

A gateway may quote a key in any escape syntax, and in several at once: JSON in JSON, a URL in HTML, percent signs that
are escaped themselves. A list of spellings would be endless, so the text is decoded layer by layer before the search.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from html.entities import html5
from string import ascii_letters, digits
from typing import Final

_MOST_LAYERS: Final = 5
_HEX: Final = "[2-7][0-9a-fA-F]"
#: Backslashes double with each layer of JSON. All repeats are bounded, so that a search takes linear time.
_BACKSLASHES: Final = r"\\\\{0,14}"
_LEADING_ZEROS: Final = r"#0{0,6}"
_LONGEST_ESCAPE: Final = 32  # characters
#: The first characters of all escapes.
ESCAPE_STARTS: Final = "\\%&"
#: The characters of all escapes.
ESCAPE_CHARACTERS: Final = ESCAPE_STARTS + "#;" + ascii_letters + digits

_ENTITIES: Final = {name[:-1]: char for name, char in html5.items() if name.endswith(";") and len(char) == 1}


class DecodedText:
    """A text with its escapes decoded. ``text`` is the result; ``place`` maps a position in it back."""

    __slots__ = ("_layers", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # For each layer: where each decoded escape ends in the result, and how much longer the source is up to there.
        self._layers: list[tuple[array[int], array[int]]] = []

    def place(self, position: int) -> int:
        """Return the position in the escaped text of a position in ``text``."""
        for ends, shifts in reversed(self._layers):
            count = bisect_right(ends, position)
            position += shifts[count - 1] if count else 0
        return position

    def decode_layer(self, escape: re.Pattern[str]) -> bool:
        """Decode every escape once. Return False when there was none."""
        pieces: list[str] = []
        ends, shifts = array("q"), array("q")
        copied = size = 0
        for match in escape.finditer(self.text):
            char = _decode(match)
            if char is None:
                continue
            pieces += (self.text[copied : match.start()], char)
            size += match.start() - copied + 1
            copied = match.end()
            ends.append(size)
            shifts.append(copied - size)
        if not ends:
            return False
        self.text = "".join((*pieces, self.text[copied:]))
        self._layers.append((ends, shifts))
        return True


class Codes:
    """Decodes the escapes of printable ASCII, and a backslash before each of the given punctuation characters."""

    def __init__(self, characters: Iterable[str]) -> None:
        marks = "".join(sorted(re.escape(char) for char in set(characters) if not char.isalnum() and char.isascii()))
        escaped_mark = f"|([{marks}])" if marks else "|(?!)()"
        self._escape = re.compile(
            rf"{_BACKSLASHES}(?:u00({_HEX})|x({_HEX}){escaped_mark})|%({_HEX})"
            rf"|&(?:{_LEADING_ZEROS}([0-9]{{2,3}});?|#[xX]0{{0,6}}({_HEX});?|([a-zA-Z]{{2,8}});)"
        )
        # Found in a fraction of the time, as each begins with a literal. Most texts have none.
        signs = {"\\": rf"\\(?:u00[2-7]|x[2-7]|\\{escaped_mark})", "%": "%[2-7]", "&": "&[#a-zA-Z]"}
        self._signs = [(start, re.compile(sign)) for start, sign in signs.items()]
        self._begun_escape = re.compile(
            rf"(?:{_BACKSLASHES}(?:u0{{0,2}}|u00[2-7]|x[2-7]?)?|%[2-7]?"
            rf"|&(?:{_LEADING_ZEROS}[0-9]{{0,3}}|#[xX]0{{0,6}}[2-7]?|[a-zA-Z]{{0,8}}))\Z"
        )

    def undo(self, text: str) -> DecodedText | None:
        """Return ``text`` with its escapes decoded, None when it has none."""
        if not any(start in text and sign.search(text) for start, sign in self._signs):
            return None
        decoded = DecodedText(text)
        layers = 0
        while layers < _MOST_LAYERS and decoded.decode_layer(self._escape):
            layers += 1
        return decoded if layers else None

    def undone(self, text: str) -> str:
        """Return ``text`` with its escapes decoded."""
        decoded = self.undo(text)
        return decoded.text if decoded is not None else text

    def cut_off(self, text: str) -> int:
        """Return how many characters at the end of ``text`` may be the beginning of an escape."""
        match = self._begun_escape.search(text, max(0, len(text) - _LONGEST_ESCAPE))
        return len(text) - match.start() if match is not None else 0


def _decode(match: re.Match[str]) -> str | None:
    """Return the character of an escape, None when it is no valid one."""
    unicode, short, mark, percent, decimal, hexadecimal, entity = match.groups()
    code = unicode or short or percent or hexadecimal
    if code:
        return chr(int(code, 16))
    if decimal:
        number = int(decimal)
        return chr(number) if 0x20 <= number < 0x7F else None
    return mark or _ENTITIES.get(entity)
