"""When reasoning goes back to a gateway, in words, and the names it goes under."""

from __future__ import annotations

from typing import Final

from playground.domain.request import SendReasoning

SEND_REASONING: Final = (
    (SendReasoning.NEVER, "never"),
    (SendReasoning.AFTER_TOOL_CALLS, "after tool calls"),
    (SendReasoning.ALWAYS, "always"),
)
REASONING_FIELDS: Final = ("", "reasoning_content", "reasoning", "reasoning_details", "thinking")
