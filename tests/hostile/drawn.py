"""Streams that froze the window while it drew them, or might: named, each a whole streamed answer.

They are part of the one table in ``shapes``.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Final

from tests.hostile.streams import answer_with, call_with, delta, event, piece, pieces

COLD: Final = {"text in many scripts", "a body in many scripts", "arguments in many scripts"}
END: Final = delta({}, finish="stop") + b"data: [DONE]\n\n"
SCRIPTS: Final = 30
KINDS: Final = ("content", "reasoning_content", "refusal")


def in_turn(count: int, kinds: int) -> bytes:
    """Words of so many kinds, each the beginning of another part."""
    return b"".join(delta({KINDS[n % kinds]: f"word {n} "}) for n in range(count)) + END


def calls(count: int) -> bytes:
    """So many calls of one tool at once."""
    each = (pieces(piece('{"city": "Lisbon"}', n, f"call_{n}", "get_weather")) for n in range(count))
    return b"".join(each) + delta({}, finish="tool_calls") + b"data: [DONE]\n\n"


def body_of(text: str) -> bytes:
    """A whole answer that was not streamed."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice]}).encode()


def scripts() -> str:
    """Return a line in each of the first ``SCRIPTS`` scripts. Qt takes about 8 ms to find a font for a new script."""
    lines: dict[str, str] = {}
    for letter in map(chr, range(0x100, 0x1FB00)):
        script = unicodedata.name(letter, "").partition(" ")[0]
        if letter.isalpha() and (script in lines or len(lines) < SCRIPTS):
            lines[script] = lines.get(script, f"{script}: ")[: len(script) + 8] + letter
    return "\n\n".join(lines.values())


DRAWN: Final[dict[str, Callable[[], bytes]]] = {
    "reasoning and text in turn": lambda: in_turn(3_000, 2),
    "reasoning, text and refusals in turn": lambda: in_turn(3_000, 3),
    "calls at once": lambda: calls(100),
    "very many calls at once": lambda: calls(600),
    "two thousand calls at once": lambda: calls(2_000),
    "choices": lambda: b"".join(delta({"content": "hi"}, n) for n in range(2_000)) + END,
    "a finish reason of megabytes": lambda: delta({"content": "hi"}) + delta({}, finish="f" * 2_000_000),
    "the id of a call of megabytes": lambda: pieces(piece("{}", 0, "i" * 2_000_000, "f")) + END,
    "the name of a call of megabytes": lambda: pieces(piece("{}", 0, "c", "n" * 2_000_000)) + END,
    "an error of megabytes": lambda: delta({"content": "hi"}) + event({"error": {"message": "x " * 1_000_000}}),
    "an error of empty lines": lambda: delta({"content": "hi"}) + event({"error": {"message": "x\n" * 500_000}}),
    "a fence of a language": lambda: answer_with("```python\n" + "def f(x): return x + 1  # a comment\n" * 5_000),
    "a body of one long text": lambda: body_of("word " * 600_000),
    "a body of escapes": lambda: body_of('"\\' * 700_000),
    "lines as long as are not cut": lambda: answer_with(("x" * 9_999 + "\n") * 200),
    "very short paragraphs": lambda: answer_with("x\n\n" * 30_000),
    "text in many scripts": lambda: answer_with(scripts()),
    "a body in many scripts": lambda: body_of(scripts()),
    "arguments in many scripts": lambda: call_with(json.dumps({"a": scripts()}, ensure_ascii=False)),
    "a long table": lambda: answer_with("| a | b | c |\n|---|---|---|\n" + "| one | two | three |\n" * 5_000),
}
