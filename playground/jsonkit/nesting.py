"""How deeply values may lie in one another: as deep on every Python, and never deeper than functions can follow.

What `json.loads` takes depends on the interpreter: up to 1,000 levels, where a function ends too, 1,500 in CPython 3.12
and 10,000 in 3.13. What reads JSON that strangers wrote reads it here.
"""

from __future__ import annotations

import json
from typing import Any, Final

from playground.jsonkit.values import JSON

DEEPEST: Final = 900  # and some room for whoever calls


def loads(text: str | bytes, **how: Any) -> JSON:
    """What `json.loads` gives, and raises: RecursionError from ``DEEPEST`` values in one another on."""
    value = json.loads(text, **how)
    brackets = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if brackets > DEEPEST and deeper(value, DEEPEST):  # mostly there are too few, and nothing has to be walked through
        raise RecursionError(f"more than {DEEPEST} values in one another")
    return value


def deeper(value: JSON, most: int) -> bool:
    """Whether anything lies in more than ``most`` objects and lists."""
    level = [value]
    for _ in range(most + 1):
        inner: list[JSON] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        if not inner:
            return False
        level = inner
    return True
