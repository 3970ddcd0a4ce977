"""The tokenizer of JSON texts, complete or cut off: strings, punctuation and words with their positions.

It changes nothing and rejects nothing: numbers, escapes and member order stay as written. `tree` reads with the strict
grammar of JSON instead, because it must say what is wrong with a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

#: A string with its quotes, up to the end of the text where the closing quote is missing; needs ``re.DOTALL``.
STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
TOKEN: Final = re.compile(STRING + r'|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def tokens(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each token, in characters."""
    return (match.span() for match in TOKEN.finditer(text))
