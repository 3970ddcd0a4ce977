"""Says when what was copied holds characters that nobody sees: here they are marks, where they are pasted they hide.

It looks at the clipboard, so that no way of copying is left out: by button, menu or key, in every window of ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from playground.ui.widgets.plain_text import hidden_name, unseen, without_unseen

MOST: Final = 2_000_000  # letters that are looked at: of a larger text, its beginning
_NAMED: Final = 2

#: Says words, with a button of that name that does something.
Say = Callable[[str, str, Callable[[], None]], None]


class CopiedNotice(QObject):
    """``say`` is called with the words once something of that kind was copied here, while ``parent`` is shown."""

    def __init__(self, say: Say, parent: QWidget) -> None:
        super().__init__(parent)
        self._say = say
        self._place = parent
        QGuiApplication.clipboard().dataChanged.connect(self._look)

    def _look(self) -> None:
        if not self._place.isVisible():
            return
        clipboard = QGuiApplication.clipboard()
        # Not every platform tells whose it is; while one of our windows is in use, it is what was copied there.
        if not clipboard.ownsClipboard() and QGuiApplication.focusWindow() is None:
            return
        text = clipboard.text()
        if found := unseen(text[:MOST]):
            self._say(copied_words(found), "Copy without them", partial(self._copy, text))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(without_unseen(text))


def copied_words(found: Counter[str]) -> str:
    """What a notice says of such characters, by how often each was copied."""
    count = found.total()
    named = [
        hidden_name(character) + (f" ({times:,} times)" if times > 1 else "")
        for character, times in found.most_common(_NAMED)
    ]
    others = len(found) - _NAMED
    if others > 0:
        named.append(f"{others} other kind{'s' * (others > 1)}")
    what = "a character" if count == 1 else f"{count:,} characters"
    return f"Copied with {what} that nobody sees where you paste: {', '.join(named)}."
