"""Texts as they are told of: never longer than there is room for, and several in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

#: The module ``html`` has the names of two thousand letters with it, which nothing on the way to the first paint needs.
_HTML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ELEMENT: Final = str.maketrans(_HTML)
_ANYWHERE: Final = str.maketrans({**_HTML, '"': "&quot;", "'": "&#x27;"})


def in_html(text: str, *, quote: bool = True) -> str:
    """What ``html.escape`` makes of ``text``, for an element; with ``quote`` for an attribute, too."""
    return text.translate(_ANYWHERE if quote else _ELEMENT)


def cut(text: str, most: int) -> str:
    """``text``, or as much of it as ``most`` characters hold with an ellipsis at the end."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as a person lists them, ``last`` before the last one; there must be one."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]
