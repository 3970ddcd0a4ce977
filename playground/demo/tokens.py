"""An approximate tokeniser: about four characters a token, cut at words and spaces, the same every time.

It decides the pieces of a stream, what a token limit cuts off and what the usage figures say. It is not the
tokeniser of any vendor and must never lose a character: the pieces joined are the text.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import OrderedDict

_PIECE = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # one CJK character
    r"| ?[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,5}"  # up to five word characters, with the space before
    r"|\s+"
    r"|[^\w\s]{1,3}"
)


def split(text: str) -> list[str]:
    """The tokens of ``text``; joined they are ``text`` again."""
    return _PIECE.findall(text)


def count(text: str, most: int | None = None) -> int:
    """How many tokens ``text`` has; counting ends at ``most``, which keeps a huge text cheap."""
    return sum(1 for _ in itertools.islice(_PIECE.finditer(text), most))


def first(text: str, limit: int) -> str:
    """The first ``limit`` tokens of ``text``."""
    return "".join(split(text)[: max(limit, 0)])


class PrefixCache:
    """Remembers prompts in blocks of 64 tokens, to say how much of a new prompt was seen before.

    Each block is kept as a hash that covers everything up to its end, so that a block counts only when all before
    it is the same too. Blocks are forgotten oldest first.
    """

    BLOCK = 64

    def __init__(self, capacity: int = 20_000) -> None:
        self._capacity = capacity
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def tokens_seen(self, scope: str, prompt: str) -> int:
        """Tokens at the start of ``prompt`` seen before (a multiple of 64); remembers the prompt."""
        pieces = split(prompt)
        chain = hashlib.sha256(scope.encode("utf-8", "surrogatepass"))
        cached = 0
        unbroken = True
        for start in range(0, len(pieces) - self.BLOCK + 1, self.BLOCK):
            block = "".join(pieces[start : start + self.BLOCK])
            chain.update(block.encode("utf-8", "surrogatepass"))
            mark = chain.digest()[:16]
            unbroken = unbroken and mark in self._seen
            if unbroken:
                cached += self.BLOCK
            self._seen[mark] = None
            self._seen.move_to_end(mark)
        while len(self._seen) > self._capacity:
            self._seen.popitem(last=False)
        return cached
