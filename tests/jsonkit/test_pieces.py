"""Large JSON written and read a piece at a time is what the standard library writes and reads at once."""

from __future__ import annotations

import json
from typing import Any

from playground.jsonkit.pieces import LONG, json_pieces, load_in_pieces
from tests.support.each_case import each_case

ENCODERS = (json.JSONEncoder(), json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")))


@each_case("encoder", ENCODERS)
@each_case(
    "value",
    [
        None,
        {"a": [1.5, True, "é\ud83d"], "": {}},
        'é\n"\\' * LONG,
        ["abc"] * LONG,
        [{"a": ["b" * 500] * 4_000}, 7],
        {"k": "v\u2028" * LONG, "rest": [None, {}]},
        {"parts": [{"text": "\U0001f600\ude00" * LONG}]},
    ],
)
def test_value_of_any_size_is_written_and_read_in_small_pieces(value: Any, encoder: json.JSONEncoder) -> None:
    pieces = list(json_pieces(value, encoder))
    text = "".join(pieces)
    assert text == encoder.encode(value)
    assert max(map(len, pieces)) < 20 * LONG
    assert load_in_pieces(text) == json.loads(text)
