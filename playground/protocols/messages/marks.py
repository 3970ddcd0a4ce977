"""Names that only native messages have."""

from __future__ import annotations

from typing import Final

from playground.protocols.marks import Marks, members_of
from playground.protocols.messages.parameters import MessagesParameters

MARKS: Final = Marks(
    members=members_of(MessagesParameters, "system", "anthropic_version"),
    tool="input_schema",
    tool_type="custom",
    blocks=frozenset(
        {"tool_use", "tool_result", "image", "thinking", "redacted_thinking", "document", "server_tool_use"}
    ),
    sure_blocks=frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"}),
    choices=frozenset({"auto", "any", "tool", "none"}),
    headers=frozenset({"anthropic-version", "x-api-key"}),
)
