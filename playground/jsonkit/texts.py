"""Texts as they are told of: never longer than there is room for."""

from __future__ import annotations


def cut(text: str, most: int) -> str:
    """``text``, or as much of it as ``most`` characters hold with an ellipsis at the end."""
    return text if len(text) <= most else text[: most - 1] + "…"
