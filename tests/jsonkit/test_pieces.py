"""JSON written in pieces is the JSON that is written in one, and no piece is a large one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.jsonkit import pieces as module
from playground.jsonkit.pieces import json_pieces

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
