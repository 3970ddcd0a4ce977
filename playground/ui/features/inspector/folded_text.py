"""A request body for editing, with very long strings folded to one mark each, and the way back. No widgets.

An image is a string of megabytes: nobody edits it by hand, and no editor bears it. What a mark stands for goes out
untouched as long as the mark is.
"""

from __future__ import annotations

import re

from playground.jsonkit.layout import TOKEN
from playground.ui.widgets.plain_text import escape_hidden

LONGEST = 20_000  # characters of a string that is shown whole
LONGEST_DATA = 2_000  # the same for data: addresses
KEPT = 40
_WHOLE = re.compile(r'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*')


class FoldedText:
    """``shown`` is what may be edited; ``unfold`` gives the whole text of what it was edited to."""

    def __init__(self, text: str) -> None:
        self._folded: dict[str, str] = {}
        lines = text.split("\n")  # no string of JSON goes over a line's end, and few lines are long
        self.shown = "\n".join([escape_hidden(self._folded_line(line)) for line in lines])

    def unfold(self, shown: str) -> str:
        """The text with every mark that is still there replaced by what it stands for."""
        for mark, token in self._folded.items():
            shown = shown.replace(mark, token)
        return shown

    def _folded_line(self, line: str) -> str:
        return TOKEN.sub(self._fold, line) if len(line) > LONGEST_DATA else line

    def _fold(self, match: re.Match[str]) -> str:
        token = match[0]
        longest = LONGEST_DATA if token.startswith('"data:') else LONGEST
        if not token.startswith('"') or len(token) <= longest:
            return token
        beginning = _WHOLE.match(escape_hidden(token[1 : KEPT + 1]))
        start = beginning[0] if beginning else ""
        mark = f'"{start}… ‹{len(self._folded) + 1}: {len(token) - 2:,} characters, kept as they are›"'
        self._folded[mark] = token
        return mark
