"""How many tokens a text may be: a guess, since every model has a tokenizer of its own. Say so wherever it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playground.domain.tools import ToolDefinition


_NARROW: Final = re.compile(r"[\0-\u2e7f]+")
_COUNTED: Final = 100_000  # characters that are looked at


def estimate_tokens(text: str) -> int:
    """A rough count of tokens: four characters each, a CJK character one; of a long text, as its beginning has them."""
    if len(text) > _COUNTED:
        return estimate_tokens(text[:_COUNTED]) * len(text) // _COUNTED
    wide = len(_NARROW.sub("", text)) if not text.isascii() else 0
    return wide + (len(text) - wide + 3) // 4


#: Definitions with the tokens they take, by identity. They are held, so that no other one can take it.
Sizes = dict[int, tuple["ToolDefinition", int]]


def sizes_of(tools: Iterable[ToolDefinition], known: Sizes) -> Sizes:
    """About how many tokens each of ``tools`` takes; only those are counted that are not ``known``."""
    return {id(tool): known.get(id(tool)) or (tool, definition_tokens(tool)) for tool in tools}


def definition_tokens(tool: ToolDefinition) -> int:
    """About how many tokens a definition adds to every request it goes with."""
    words = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    try:
        return estimate_tokens(json.dumps(words, ensure_ascii=False, separators=(",", ":")))
    except (RecursionError, ValueError, TypeError):
        return estimate_tokens(tool.name + tool.description)
