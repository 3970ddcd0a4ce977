"""Format JSON for display: hidden characters are escapes in strings and marks anywhere else."""

from __future__ import annotations

import json

from playground.jsonkit import layout
from playground.jsonkit.layout import Layout
from playground.jsonkit.values import JSON
from playground.ui.widgets.plain_text import escape_hidden, show_hidden

MARKED_AT_MOST = 200_000  # characters of a text whose problems are marked in it, and not only listed


def lay_out(text: str, longest: int = 0, most: int = 0, lines: int = 0) -> Layout:
    """Format JSON with `layout.lay_out` and make its hidden characters visible."""
    return layout.lay_out(text, longest, most, lines, string=escape_hidden, word=show_hidden)


def pretty(text: str) -> str:
    """Format JSON with one member per line; its tokens stay unchanged."""
    return lay_out(text).text


def pretty_value(value: JSON) -> str:
    """Return a value as JSON text with one member per line."""
    return pretty(json.dumps(value, ensure_ascii=False))
