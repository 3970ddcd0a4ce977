"""The tokeniser loses nothing, and the prefix cache counts only unbroken beginnings."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.demo import tokens
from playground.demo.tokens import PrefixCache


@settings(max_examples=40)
@given(st.text())
def test_tokens_join_to_the_text(text: str) -> None:
    pieces = tokens.split(text)
    assert "".join(pieces) == text
    assert tokens.count(text) == len(pieces)
    half = len(pieces) // 2
    assert tokens.count(tokens.first(text, half)) == half


def test_prefix_seen_before_is_counted() -> None:
    cache = PrefixCache()
    text = "word " * 200
    assert cache.tokens_seen("m", text) == 0
    cached = cache.tokens_seen("m", text)
    assert cached == tokens.count(text) // 64 * 64
    assert cache.tokens_seen("other", text) == 0
    assert cache.tokens_seen("m", "x" + text) == 0
    assert cache.tokens_seen("m", text[:500] + "!" + text[500:]) == 64
