"""The models of the demo gateway, as data. The modules that plan an answer decide how each one answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

BASIC_EFFORTS = ("minimal", "low", "medium", "high")
ALL_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


#: The parameters of a chat request that every model reads.
PARAMETERS = (
    "frequency_penalty",
    "max_completion_tokens",
    "max_tokens",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
    "user",
)


@dataclass(frozen=True)
class Model:
    """One entry of the model list, with what the gateway has to know about it.

    ``context_window`` is in tokens. ``calls_tools`` models call an offered tool by themselves; the others only on
    request. ``native`` models are served under the native messages protocol as well. A model with ``seals_reasoning``
    returns encrypted reasoning without being asked, labels the phases of its answer, and takes tools together with
    reasoning under the Responses protocol only.
    """

    id: str
    name: str
    summary: str
    context_window: int = 128_000
    reasons: bool = False
    calls_tools: bool = False
    native: bool = False
    seals_reasoning: bool = False
    efforts: tuple[str, ...] = BASIC_EFFORTS
    created: int = 1_767_225_600

    def entry(self) -> dict[str, object]:
        """The model as `GET /models` shows it, with the names that the clients of either protocol look for.

        Every model takes images, calls tools on request, keeps to a schema, and costs nothing.
        """
        return {
            "id": self.id,
            "object": "model",
            "type": "model",
            "created": self.created,
            "created_at": datetime.fromtimestamp(self.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "owned_by": "demo-gateway",
            "display_name": self.name,
            "name": self.name,
            "description": self.summary,
            "context_window": self.context_window,
            "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
            "capabilities": {
                "vision": True,
                "function_calling": True,
                "reasoning": self.reasons,
                "structured_outputs": True,
            },
            "supported_parameters": [*PARAMETERS, *(["top_k"] if self.native else [])],
            "pricing": {"prompt": "0", "completion": "0"},
            "supported_endpoints": [
                "/v1/chat/completions",
                "/v1/responses",
                *(["/v1/messages"] if self.native else []),
            ],
        }


MODELS: tuple[Model, ...] = (
    Model("demo-chat", "Demo Chat", "Tells what it received, in rich Markdown; writes at length when asked."),
    Model(
        "demo-reasoner",
        "Demo Reasoner",
        "Thinks first (reasoning_content), then answers. Calls offered tools.",
        reasons=True,
        calls_tools=True,
        efforts=ALL_EFFORTS,
    ),
    Model("demo-tools", "Demo Tools", "Calls the offered tools, then answers from their results.", calls_tools=True),
    Model("demo-vision", "Demo Vision", "Describes the bytes, pixels and media type of each image.", 32_000),
    Model(
        "demo-messages",
        "Demo Messages",
        "Served under the native messages protocol, with thinking blocks and tools.",
        200_000,
        reasons=True,
        calls_tools=True,
        native=True,
        efforts=ALL_EFFORTS,
    ),
    Model(
        "demo-responses",
        "Demo Responses",
        "Reasons and calls tools through the Responses API; refuses tools with reasoning in Chat Completions.",
        200_000,
        reasons=True,
        calls_tools=True,
        seals_reasoning=True,
        efforts=ALL_EFFORTS,
    ),
)

BY_ID: dict[str, Model] = {model.id: model for model in MODELS}
