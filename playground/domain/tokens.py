"""How many tokens a text may be: a guess, since every model has a tokenizer of its own. Say so wherever it is shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playground.domain.tools import ToolDefinition


def estimate_tokens(text: str) -> int:
    """A rough count of tokens: four characters each, a CJK character one."""
    wide = sum(1 for c in text if ord(c) > 0x2E7F) if not text.isascii() else 0
    return wide + (len(text) - wide + 3) // 4


def definition_tokens(tool: ToolDefinition) -> int:
    """About how many tokens a definition adds to every request it goes with."""
    words = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    try:
        return estimate_tokens(json.dumps(words, ensure_ascii=False, separators=(",", ":")))
    except (RecursionError, ValueError, TypeError):
        return estimate_tokens(tool.name + tool.description)
