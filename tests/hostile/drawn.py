"""Streams that froze the window while it drew them, or might: named, each a whole streamed answer.

Whoever thinks of another adds a row. ``tests/flows/test_drawn.py`` plays each into the real window.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.hostile.streams import answer_with, delta, piece, pieces

END: Final = delta({}, finish="stop") + b"data: [DONE]\n\n"
KINDS: Final = ("content", "reasoning_content", "refusal")


def in_turn(count: int, kinds: int) -> bytes:
    """Words of so many kinds, each the beginning of another part."""
    return b"".join(delta({KINDS[n % kinds]: f"word {n} "}) for n in range(count)) + END


def calls(count: int) -> bytes:
    """So many calls of one tool at once."""
    each = (pieces(piece('{"city": "Lisbon"}', n, f"call_{n}", "get_weather")) for n in range(count))
    return b"".join(each) + delta({}, finish="tool_calls") + b"data: [DONE]\n\n"


DRAWN: Final[dict[str, Callable[[], bytes]]] = {
    "reasoning and text in turn": lambda: in_turn(3_000, 2),
    "reasoning, text and refusals in turn": lambda: in_turn(3_000, 3),
    "calls at once": lambda: calls(100),
    "very many calls at once": lambda: calls(2_000),
    "a fence of a language": lambda: answer_with("```python\n" + "def f(x): return x + 1  # a comment\n" * 5_000),
    "very short paragraphs": lambda: answer_with("x\n\n" * 30_000),
    "a long table": lambda: answer_with("| a | b | c |\n|---|---|---|\n" + "| one | two | three |\n" * 5_000),
}
