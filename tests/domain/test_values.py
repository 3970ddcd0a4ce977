"""What a value takes beside what is in it."""

from __future__ import annotations

import sys
import tracemalloc

from playground.domain.values import Value, lean


class Word(Value):
    kind: str = "word"
    text: str
    note: str | None = None


def taken() -> int:
    """Bytes that a thousand words take which were not checked."""
    tracemalloc.start()
    try:
        words = [lean(Word, kind="word", text="x", note=None) for _ in range(1000)]
        return tracemalloc.get_traced_memory()[0] if words else 0
    finally:
        tracemalloc.stop()


def test_values_are_as_small_after_many_that_were_checked() -> None:
    assert all(Word(text=f"word {n}").note is None for n in range(100))
    after_some = taken()
    assert after_some < 1000 * (200 if sys.version_info < (3, 13) else 300)  # pydantic's take 100 more
    assert all(Word(text=f"word {n}").note is None for n in range(10_000))
    assert taken() <= after_some * 1.1
