"""Estimated token counts. Every model has its own tokenizer, so the window marks them as estimates."""

from __future__ import annotations

import re
from typing import Final

_NARROW: Final = re.compile(r"[\0-\u2e7f]+")
_COUNTED: Final = 100_000  # characters that are counted; the rest is extrapolated


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one for four characters, one for a CJK character; long texts are extrapolated."""
    if len(text) > _COUNTED:
        return estimate_tokens(text[:_COUNTED]) * len(text) // _COUNTED
    wide = len(_NARROW.sub("", text)) if not text.isascii() else 0
    return wide + (len(text) - wide + 3) // 4
