"""What only chat completions have."""

from __future__ import annotations

from typing import Final

from playground.protocols.chat.reasoning import DETAILS, FIELDS
from playground.protocols.marks import Marks

MARKS: Final = Marks(
    members=frozenset(
        """
        max_completion_tokens stop stream_options n seed response_format reasoning_effort presence_penalty
        frequency_penalty user logit_bias logprobs top_logprobs parallel_tool_calls functions function_call
        """.split()  # noqa: SIM905 - a list of strings reads worse
    ),
    tool="function",
    tool_type="function",
    blocks=frozenset({"image_url", "input_audio", "refusal", "file"}),
    choices=frozenset({"function"}),
    roles=frozenset({"system", "developer", "tool"}),
    of_message=frozenset({"tool_calls"}),
    also_of_message=frozenset({"refusal", "name", DETAILS, *FIELDS}),
)
