"""Pygments lexers by the name of a language."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """Return the lexer for a language as a fence names it; None for an unknown one."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None
