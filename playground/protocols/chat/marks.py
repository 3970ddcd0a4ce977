"""Names that only chat completions have."""

from __future__ import annotations

from typing import Final

from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.chat.reasoning import DETAILS, FIELDS
from playground.protocols.marks import Marks, members_of

MARKS: Final = Marks(
    members=members_of(
        ChatParameters,
        *("logit_bias", "logprobs", "top_logprobs", "parallel_tool_calls", "functions", "function_call"),
    ),
    tool="function",
    tool_type="function",
    custom_tool="custom",
    blocks=frozenset({"image_url", "input_audio", "refusal", "file"}),
    choices=frozenset({"function"}),
    roles=frozenset({"system", "developer", "tool"}),
    of_message=frozenset({"tool_calls"}),
    also_of_message=frozenset({"refusal", "name", DETAILS, *FIELDS}),
)
