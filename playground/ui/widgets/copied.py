"""Warn about hidden characters in copied text: this app shows them as marks, other apps do not.

It watches the clipboard, and so covers copying by button, menu or key in every window of the app.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from playground.jsonkit.texts import quantity
from playground.ui.widgets.plain_text import hidden_name, unseen, without_unseen

MOST: Final = 2_000_000  # characters checked at the beginning of a text
_NAMED: Final = 2

#: Shows a message with a button: message, text of the button, action.
Say = Callable[[str, str, Callable[[], None]], None]


class CopiedNotice(QObject):
    """Calls ``say`` after text with hidden characters was copied in this app, while ``parent`` is visible."""

    def __init__(self, say: Say, parent: QWidget) -> None:
        super().__init__(parent)
        self._say = say
        self._place = parent
        QGuiApplication.clipboard().dataChanged.connect(self._check_clipboard)

    def _check_clipboard(self) -> None:
        if not self._place.isVisible():
            return
        clipboard = QGuiApplication.clipboard()
        # Not every platform reports the owner; with a focused window of this app, the text was copied in it.
        if not clipboard.ownsClipboard() and QGuiApplication.focusWindow() is None:
            return
        text = clipboard.text()
        if characters := unseen(text[:MOST]):
            self._say(copied_words(characters), "Copy without them", partial(self._copy, text))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(without_unseen(text))


def copied_words(characters: Counter[str]) -> str:
    """Return the message about hidden characters, given as counts by character."""
    count = characters.total()
    names = [
        hidden_name(character) + (f" ({times:,} times)" if times > 1 else "")
        for character, times in characters.most_common(_NAMED)
    ]
    others = len(characters) - _NAMED
    if others > 0:
        names.append(quantity(others, "other kind"))
    amount = "a character" if count == 1 else f"{count:,} characters"
    verb = "is" if count == 1 else "are"
    return f"Copied with {amount} that {verb} invisible where you paste: {', '.join(names)}."
