"""Small helpers for texts that people read: cut to a length, listed, escaped for HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

#: The module ``html`` loads a table of two thousand entities, which the first paint need not wait for.
_HTML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ELEMENT: Final = str.maketrans(_HTML)
_ATTRIBUTE: Final = str.maketrans({**_HTML, '"': "&quot;", "'": "&#x27;"})


def in_html(text: str, *, quote: bool = True) -> str:
    """Escape a text for an HTML element; with ``quote`` for an attribute, too."""
    return text.translate(_ATTRIBUTE if quote else _ELEMENT)


def cut(text: str, most: int) -> str:
    """Return ``text``, or its first ``most`` - 1 characters and an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def quantity(count: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun: ``1 case``, ``1,200 cases``; ``plural`` is needed where no s is added."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Join one or more names with commas, and with ``last`` before the last name."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]
