"""Caps on what the conversation draws and searches at once. Nothing that is sent, saved or copied is cut."""

from __future__ import annotations

from typing import Final

LONG_LINE: Final = 2_000  # characters after which a line is laid out as several
LONG_BLOCK: Final = 2_000  # characters after which a block of Markdown is final although it grows
CONTINUED_BLOCK: Final = 1_000  # the same of code and tables that were cut once: a row costs more than a word

LARGE: Final = 40_000  # characters of exact text that are drawn whole
LINES: Final = 800  # lines of it
LARGE_MARKDOWN: Final = 50_000  # characters of Markdown that are drawn whole
MARKDOWN_LINES: Final = 2_000  # drawn lines of it, and cells of tables
BEGINNING, BEGINNING_LINES = 3_000, 30  # of a larger exact text that are shown
AROUND: Final = 400  # characters in front of a place in a larger text that is shown
GROWING: Final = 400_000  # characters of Markdown that are drawn while it is received, or by "Show more"
PER_FRAME: Final = 5_000  # characters received at once that are drawn in one frame

MATCHES: Final = 10_000  # places in one text that a search finds
