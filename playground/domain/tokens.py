"""How many tokens a text may be: a guess, since every model has a tokenizer of its own. Say so wherever it is shown."""

from __future__ import annotations

import re
from typing import Final

_NARROW: Final = re.compile(r"[\0-\u2e7f]+")
_COUNTED: Final = 100_000  # characters that are looked at


def estimate_tokens(text: str) -> int:
    """A rough count of tokens: four characters each, a CJK character one; of a long text, as its beginning has them."""
    if len(text) > _COUNTED:
        return estimate_tokens(text[:_COUNTED]) * len(text) // _COUNTED
    wide = len(_NARROW.sub("", text)) if not text.isascii() else 0
    return wide + (len(text) - wide + 3) // 4
