"""JSON written and read in pieces is what is written and read in one, and no piece is a large one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.jsonkit import pieces as module
from playground.jsonkit.pieces import json_pieces, load_in_pieces

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=900),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=300), inner, max_size=6),
    max_leaves=12,
)
ENCODERS = (
    json.JSONEncoder(),
    json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")),
)


@given(value=VALUES, encoder=st.sampled_from(ENCODERS), long=st.sampled_from([1, 250, 700]))
def test_the_pieces_are_what_is_written_in_one(value: Any, encoder: json.JSONEncoder, long: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONG", long)
        assert "".join(json_pieces(value, encoder)) == encoder.encode(value)


@pytest.mark.parametrize(
    "value", ["é\n" * 1_000_000, ["abc"] * 500_000, [{"a": ["b" * 500] * 4_000}], {"k": "v" * 10**6}]
)
def test_no_piece_is_a_large_one(value: Any) -> None:
    pieces = list(json_pieces(value, ENCODERS[1]))
    assert "".join(pieces) == ENCODERS[1].encode(value)
    assert max(map(len, pieces)) < 8 * module.LONG


def test_a_loop_is_refused() -> None:
    loop: list[Any] = ["a"]
    loop.append(loop)
    with pytest.raises(ValueError, match="Circular"):
        list(json_pieces(loop, ENCODERS[0]))


ODD = st.sampled_from(["\n", '"', "\\", "\U0001f600", "\ud83d", "\ude00", "é", "\u2028", "a", "u0041", "/"])
LONG_TEXTS = st.lists(ODD, min_size=1, max_size=200).map("".join)


@given(
    value=VALUES | st.dictionaries(LONG_TEXTS, st.lists(LONG_TEXTS, max_size=3), max_size=3),
    encoder=st.sampled_from(ENCODERS),
    long=st.sampled_from([1, 7, 60]),
    most=st.sampled_from([2, 5_000]),
)
def test_what_is_read_in_pieces_is_what_is_read_in_one(
    value: Any, encoder: json.JSONEncoder, long: int, most: int
) -> None:
    text = encoder.encode(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONG", long)
        patch.setattr(module, "_MOST_TOKENS", most)
        assert encoder.encode(load_in_pieces(text)) == encoder.encode(json.loads(text))


@pytest.mark.parametrize(
    "text", ['"\\x"', '"a\nb"', '["\\u12"]', '{"a": "bcdefghij', '["abcdefghijk" 1]', "[" * 3_000 + '"abcdefghijk"']
)
def test_what_is_no_json_is_refused_in_the_same_words(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONG", 6)
        with pytest.raises((ValueError, RecursionError)) as ours:
            load_in_pieces(text)
    with pytest.raises((ValueError, RecursionError)) as theirs:
        json.loads(text)
    assert (ours.type, str(ours.value)) == (theirs.type, str(theirs.value))


def test_no_more_is_read_in_one_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    whole = json.loads

    def counted(text: str) -> Any:
        read.append(len(text))
        return whole(text)

    value = {"id": "x", "parts": [{"text": "a\n" * 2_000_000}, {"text": "\U0001f600" * 200_000}]}
    text = json.dumps(value)
    monkeypatch.setattr(json, "loads", counted)
    assert load_in_pieces(text) == value
    assert max(read) <= module.LONG + 2
