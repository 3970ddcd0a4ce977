"""Labels for when reasoning is sent back to a gateway, and the names of its fields."""

from __future__ import annotations

from typing import Final

from playground.domain.request import SendReasoning

SEND_REASONING: Final = (
    (SendReasoning.NEVER, "never"),
    (SendReasoning.AFTER_TOOL_CALLS, "after tool calls"),
    (SendReasoning.ALWAYS, "always"),
)
REASONING_FIELDS: Final = ("", "reasoning_content", "reasoning", "reasoning_details", "thinking")
