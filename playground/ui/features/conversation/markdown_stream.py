"""Markdown that grows: text goes in a piece at a time, lines to draw come out, and only the last block is redone.

No Qt here. The lines depend on the text alone, never on how it was cut into pieces. How text is cut into blocks is
the matter of ``blocks``; here a piece becomes whole lines and a rest, and plain words take a short cut.
"""

from __future__ import annotations

import re
from dataclasses import replace

from playground.ui.features.conversation.blocks import LONG_LINE, Blocks
from playground.ui.features.conversation.markdown import Line, Style

# Characters that, added to plain words, are plain words: they neither close nor begin anything.
_QUIET = re.compile(r"[A-Za-zÀ-ɏͰ-ӿ一-鿿ぁ-ヿ0-9 ,.:!?'’“”(…—–%€$-]*[A-Za-zÀ-ɏͰ-ӿ一-鿿ぁ-ヿ0-9,.:!?'’“”(…—–%€$-]\Z")
_SETTLED = 13  # characters after which a line is past every mark that could make it something else


class MarkdownStream:
    """Keeps the lines drawn so far and says, after each piece, from which line on they changed."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._done = 0  # lines before this index never change again
        self._blocks = Blocks()
        self._rest = ""  # the last line of the text, as far as it has come
        self._after_return = False
        self._behind = False  # whether there is more than the lines show

    def append_markdown(self, text: str, *, more: bool = False) -> int:
        """Take more text. Returns the index of the first line that may be new or different.

        With ``more`` the next piece is there already: what is not final is drawn when it is, and not worked out twice.
        """
        if self._after_return and text.startswith("\n"):  # a line end that came in two pieces
            text = text[1:]
            self._after_return = False
        if not text and not self._behind:
            return len(self.lines)
        if text:
            self._after_return = text.endswith("\r")
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        if self._extends(text):
            return self._extend_last(text)
        start = self._done
        *whole, rest = (self._rest + text).split("\n")
        for line in whole:
            self._blocks.take(line)
        self._rest = self._blocks.take_front(rest)
        final = self._blocks.drain()
        self._behind = more
        if more and not final:
            return len(self.lines)
        self.lines[start:] = final
        self._done = len(self.lines)
        if not more:
            self.lines += self._blocks.growing(self._rest)
        return start

    def _extends(self, text: str) -> bool:
        """Whether ``text`` only makes the last line drawn longer, whatever comes before or after it."""
        rest = self._rest
        if (
            self._behind
            or len(rest) < _SETTLED
            or len(rest) + len(text) > LONG_LINE
            or rest[0] in " \t>"
            or "|" in rest
        ):
            return False
        if rest[-1] in "\\ \t" or "://" in rest[max(rest.rfind(" "), rest.rfind("\t"), 0) :]:
            return False
        if len(self.lines) == self._done or not _QUIET.match(text):
            return False
        last = self.lines[-1]
        if last.kind not in ("paragraph", "item") or not last.spans:
            return False
        span = last.spans[-1]
        return span.style is Style.PLAIN and len(span.text) > 3 and rest.endswith(span.text[-8:])

    def _extend_last(self, text: str) -> int:
        self._rest += text
        last = self.lines[-1]
        grown = replace(last.spans[-1], text=last.spans[-1].text + text)
        self.lines[-1] = replace(last, spans=(*last.spans[:-1], grown))
        return len(self.lines) - 1
