"""JSON as editors' settings have it: with comments and with commas before a closing bracket.

Both become spaces, so that what is read is JSON and every place in it is where it was.
"""

from __future__ import annotations

import re
from typing import Final

from playground.jsonkit.reading import READ_AT_MOST, read_typed
from playground.jsonkit.values import JSON

_STRING: Final = r'"(?:[^"\\\n]|\\.)*"?'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_SEEN: Final = re.compile(r"[^\n]")


def read_relaxed(text: str, most: int = READ_AT_MOST) -> JSON:
    """The value of such a text of at most ``most`` characters. Raises JsonTextError at the first problem."""
    return read_typed(strict(text) if len(text) <= most else text, most)


def strict(text: str) -> str:
    """The same text as JSON and nothing else, if it is no more than that: as long, its line breaks where they were."""
    if "//" in text or "/*" in text:
        text = _COMMENT.sub(_blank, text)
    return _COMMA.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    whole = found[0]
    return whole if whole.startswith('"') else _SEEN.sub(" ", whole)
