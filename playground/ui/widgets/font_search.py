"""Looks for fonts before a text needs them: for characters of a script that was not drawn yet Qt takes 5 to 15 ms.

It does so once for each script in each size and weight, at the moment a text is laid out; a text in a hundred scripts
would hold the window for a second. Here that is done ahead, as long as there is time. What there is no time for is
drawn without looking, as boxes, and drawn again when ``found`` says that there is more.
"""

from __future__ import annotations

import re
import time
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QFont, QTextLayout
from PySide6.QtWidgets import QApplication

AT_ONCE_S: Final = 0.006  # seconds of looking between two turns of the loop, before a text is drawn with boxes
EVERY_S: Final = 0.1  # seconds between two times that boxes are drawn again
PART: Final = 2_000  # characters of a text that are gone through at once
PIECES: Final = 200  # that a text is cut into at most
_LARGE: Final = ((0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0x12000, 0x143FF), (0x17000, 0x18CFF), (0x20000, 0x3FFFF))


class _Font:
    """One font, and the blocks of characters it was looked up for."""

    def __init__(self, font: QFont) -> None:
        self.font = QFont(font)  # kept: Qt forgets what it found for a font that nobody has
        self.known: set[tuple[int, int]] = set()
        self._unknown = re.compile("")
        self._in_it = -1  # blocks that the pattern knows
        self._made = 0.0

    @property
    def unknown(self) -> re.Pattern[str]:
        """Characters that it was not looked up for, with the signs behind them: they count as of the same script.

        To make it takes milliseconds where much is known, so it may be behind for a moment.
        """
        now = time.perf_counter()
        if self._in_it < 0 or (self._in_it < len(self.known) and now - self._made > EVERY_S):
            self._in_it, self._made = len(self.known), now
            known = "a-zA-Z" + "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in self.known)
            self._unknown = re.compile(rf"([^\0-\x7f{known}][^{known}]*)")
        return self._unknown

    def make_anew(self) -> None:
        """Have the pattern up to date when it is asked for next."""
        self._made = 0.0

    def look(self, block: tuple[int, int], characters: str) -> None:
        """Have Qt find what draws these, and know the block."""
        layout = QTextLayout(characters, self.font)
        layout.beginLayout()
        layout.createLine()
        layout.endLayout()
        self.known.add(block)


class FontSearch(QObject):
    """The one search of the application, see ``font_search``."""

    found = Signal()  # what was drawn with boxes may have its font now

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._fonts: dict[str, _Font] = {}
        self._wanted: dict[tuple[str, tuple[int, int]], str] = {}
        self._spent = 0.0  # seconds, since the loop had its last turn
        self._told = 0.0  # when ``found`` was emitted
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._turn)
        app.fontDatabaseChanged.connect(self._forget)

    def split(self, font: QFont, text: str) -> list[str]:
        """The text in pieces: the first, the third and so on can be drawn, those between them not yet."""
        if text.isascii():
            return [text]
        key = font.key()
        if (known := self._fonts.get(key)) is None:
            known = self._fonts[key] = _Font(font)
        late = False
        for start in range(0, len(text), PART):
            late = self._look(key, known, text[start : start + PART]) or late
        if not late:
            return [text]
        pieces = known.unknown.split(text, PIECES)
        if known.unknown.search(pieces[-1]):
            pieces.insert(-1, "")
        return pieces

    def _look(self, key: str, known: _Font, text: str) -> bool:
        """Look for what is new in a text, as long as there is time; whether something is left."""
        new: dict[tuple[int, int], set[str]] = {}
        for letter in set("".join(known.unknown.findall(text))):
            if not letter.isascii() and (block := _block(ord(letter))) not in known.known:
                new.setdefault(block, set()).add(letter)
        late = False
        for block, characters in new.items():
            if self._spent < AT_ONCE_S:
                self._find(known, block, "".join(characters))
            else:
                self._wanted.setdefault((key, block), "".join(characters))
                late = True
        if new and not self._timer.isActive():
            self._timer.start(0)
        return late

    def _find(self, known: _Font, block: tuple[int, int], characters: str) -> None:
        began = time.perf_counter()
        known.look(block, characters)
        self._spent += time.perf_counter() - began

    def _turn(self) -> None:
        """Another turn of the loop: go on with what is wanted."""
        self._spent = 0.0
        if not self._wanted:
            return
        while True:
            key, block = at = next(iter(self._wanted))
            self._find(self._fonts[key], block, self._wanted.pop(at))
            if not self._wanted or self._spent >= AT_ONCE_S:
                break
        if self._wanted:
            self._timer.start(0)
        now = time.perf_counter()
        if not self._wanted or now - self._told > EVERY_S:
            self._told = now
            for known in self._fonts.values():
                known.make_anew()
            self.found.emit()

    def _forget(self) -> None:
        """Fonts came or went, and Qt has forgotten what it knew."""
        self._fonts.clear()
        self._wanted.clear()
        self.found.emit()


def _block(point: int) -> tuple[int, int]:
    """The characters around one that are looked for together: 32, or a whole script that has thousands."""
    for first, last in _LARGE:
        if first <= point <= last:
            return first, last
    return point & ~31, point | 31


_search: FontSearch | None = None


def font_search() -> FontSearch:
    """The search of the application."""
    global _search
    if _search is None:
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            raise RuntimeError("There is no application yet.")
        _search = FontSearch(app)
    return _search
