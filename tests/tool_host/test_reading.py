"""Answers of tool servers are read whatever their shape, and cut to size."""

from __future__ import annotations

from typing import Any

from playground.domain.tool_servers import DataBlock, OtherBlock
from playground.tool_host import reading
from playground.tool_host.limits import LONGEST_STRUCTURED


def test_large_picture_is_left_out_with_a_note() -> None:
    answer = reading.answer(
        {"content": [{"type": "image", "data": "A" * 9_000_000, "mimeType": "image/png"}]}, "S", "t", 0.1
    )
    (block,) = answer.blocks
    assert isinstance(block, DataBlock)
    assert (block.data, block.cut) == ("", 6_750_000)
    assert "image/png" in answer.lost[0]


def test_structured_content_too_large_or_deep_is_left_out_with_a_note() -> None:
    large = reading.answer({"content": [], "structuredContent": ["x" * LONGEST_STRUCTURED]}, "S", "t", 0.1)
    assert large.structured is None
    assert large.lost
    deep: object = 0
    for _ in range(100_000):
        deep = [deep]
    result = reading.answer({"content": [], "structuredContent": deep}, "S", "t", 0.1)
    assert result.structured is None
    assert "deep" in result.lost[0]


def test_values_of_the_wrong_shape_are_read() -> None:
    shapes: tuple[Any, ...] = (
        None,
        5,
        "text",
        [1],
        {"content": 5},
        {"content": [None, 5, [], {"type": 7}, {"type": "image"}]},
    )
    for odd in shapes:
        raw = odd if isinstance(odd, dict) else {"content": odd}
        answer = reading.answer(raw, "S", "t", 0.1)
        assert all(isinstance(block, OtherBlock | DataBlock) for block in answer.blocks)
    assert reading.tool({"name": 5}) is None
    assert reading.tool({"name": "t", "inputSchema": [1], "annotations": 3}) is not None
    assert reading.prompt({"name": "p", "arguments": {"a": 1}}) is not None
    assert reading.resource({"uri": ["x"]}) is None
