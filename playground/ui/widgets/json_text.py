"""JSON as it is shown: laid out, with hidden characters as escapes in its strings and as marks anywhere else."""

from __future__ import annotations

import json

from playground.jsonkit import layout
from playground.jsonkit.layout import Layout
from playground.jsonkit.values import JSON
from playground.ui.widgets.plain_text import escape_hidden, show_hidden

MARKED_AT_MOST = 200_000  # characters of a text whose problems are marked in it, and not only listed


def lay_out(text: str, longest: int = 0, most: int = 0, lines: int = 0) -> Layout:
    """`layout.lay_out`, with nothing in it that nobody sees."""
    return layout.lay_out(text, longest, most, lines, string=escape_hidden, word=show_hidden)


def pretty(text: str) -> str:
    """The same tokens, one member a line."""
    return lay_out(text).text


def pretty_value(value: JSON) -> str:
    """A value as text, one member a line."""
    return pretty(json.dumps(value, ensure_ascii=False))
