"""JSON as settings of editors have it: with comments, and with commas before a closing bracket.

Both are replaced by spaces, so that the rest is JSON and keeps its positions.
"""

from __future__ import annotations

import re
from typing import Final

from playground.jsonkit.reading import READ_AT_MOST, read_typed
from playground.jsonkit.tokens import STRING
from playground.jsonkit.values import JSON

_COMMENT: Final = re.compile(rf"{STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"{STRING}|,(?=\s*[}}\]])", re.DOTALL)
_VISIBLE: Final = re.compile(r"[^\n]")


def read_relaxed(text: str, most: int = READ_AT_MOST) -> JSON:
    """Read JSON with comments and trailing commas, of at most ``most`` characters. Raises JsonTextError."""
    return read_typed(strict(text) if len(text) <= most else text, most)


def strict(text: str) -> str:
    """Blank comments and trailing commas: the length of the text and its line breaks stay."""
    if "//" in text or "/*" in text:
        text = _COMMENT.sub(_blank, text)
    return _TRAILING_COMMA.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else _VISIBLE.sub(" ", match[0])
