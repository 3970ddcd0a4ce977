"""What only native messages have."""

from __future__ import annotations

from typing import Final

from playground.protocols.marks import Marks

MARKS: Final = Marks(
    members=frozenset({"system", "stop_sequences", "top_k", "thinking", "output_config", "anthropic_version"}),
    tool="input_schema",
    tool_type="custom",
    blocks=frozenset(
        {"tool_use", "tool_result", "image", "thinking", "redacted_thinking", "document", "server_tool_use"}
    ),
    sure_blocks=frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"}),
    choices=frozenset({"auto", "any", "tool", "none"}),
    headers=frozenset({"anthropic-version", "x-api-key"}),
)
