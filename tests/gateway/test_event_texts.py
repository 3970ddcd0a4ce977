"""Events of one large read are redacted as those that come one by one."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.gateway.redact import Redactor
from playground.gateway.redact_stream import StreamRedactor
from tests.protocols.streams import chunk, data

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
_WORDS = ["", " is", "s", "sk", "k", "sk-can", " a word", "naïve", "two", "three", "four"]
_ODD_WORDS = ["%", "&a", '"quoted"', "back\\slash", 'a "s']


def _native(text: str) -> bytes:
    value = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return data(value, "content_block_delta")


def _read_of(kind: str, texts: list[str], beside: list[str]) -> list[bytes]:
    """The events of a stream long enough to be one large read."""
    carriers: dict[str, Callable[[str, str], bytes]] = {
        "alike": lambda text, _: chunk({"content": text}),
        "unlike": lambda text, other: chunk({"content": text}, obfuscation=other),
        "two texts": lambda text, other: chunk({"content": text, "reasoning_content": other}),
        "two choices": lambda text, other: chunk({"content": text}) + chunk({"content": other}, index=1),
        "native": lambda text, _: _native(text),
        "plain text": lambda text, _: b"data: " + json.dumps(text).encode() + b"\n\n",
        "line ends of two": lambda text, _: chunk({"content": text}).replace(b"\n", b"\r\n"),
    }
    carry = carriers[kind]
    return [carry(text, beside[number % len(beside)]) for number, text in enumerate(texts)]


_KINDS = st.sampled_from(
    ["alike", "unlike", "two texts", "two choices", "native", "plain text", "line ends of two"],
)
_TEXTS = st.sampled_from([_WORDS, _WORDS, [*_WORDS, *_ODD_WORDS]]).flatmap(
    lambda words: st.lists(st.sampled_from(words), min_size=60, max_size=120)
)
_BESIDE = st.lists(st.sampled_from(["s", "x", "sk", "0x1f"]), min_size=1, max_size=5)


@settings(max_examples=30, deadline=None)
@given(_KINDS, _TEXTS, _BESIDE, st.integers(1, 6), st.data())
def test_events_that_come_at_once_are_redacted_like_those_that_come_alone(
    kind: str, texts: list[str], beside: list[str], size: int, drawn: st.DataObject
) -> None:
    at = drawn.draw(st.integers(0, len(texts)))
    cut = [KEY[begin : begin + size] for begin in range(0, len(KEY), size)]
    events = _read_of(kind, [*texts[:at], *cut, *texts[at:]], beside)
    alone = StreamRedactor(Redactor([KEY]))
    kept = b"".join(piece.data for event in events for piece in alone.redact_bytes(event))
    kept += b"".join(piece.data for piece in alone.close())

    whole = b"".join(events)
    border = drawn.draw(st.integers(0, len(whole)))
    at_once = StreamRedactor(Redactor([KEY]))
    pieces = [*at_once.redact_bytes(whole[:border]), *at_once.redact_bytes(whole[border:]), *at_once.close()]
    assert b"".join(piece.data for piece in pieces) == kept
    assert kept != whole
