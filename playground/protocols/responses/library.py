"""Responses in OpenAI's client libraries."""

from __future__ import annotations

from typing import Final

from playground.protocols.openai_library import OpenAIResource

_ARGUMENTS: Final = frozenset(
    """
    background include input instructions max_output_tokens max_tool_calls metadata model parallel_tool_calls
    previous_response_id prompt prompt_cache_key reasoning safety_identifier service_tier store stream temperature text
    tool_choice tools top_logprobs top_p truncation user
    """.split()  # noqa: SIM905 - a list of thirty strings reads worse
)


def _python_stream(choices: int, tools: bool) -> list[str]:
    lines = ['if event.type == "response.output_text.delta":', '    print(event.delta, end="", flush=True)']
    if tools:
        lines += [
            'elif event.type == "response.output_item.done" and event.item.type == "function_call":',
            "    print(event.item.name, event.item.arguments)",
        ]
    return lines


def _python_whole(choices: int, tools: bool) -> list[str]:
    lines = ["print(answer.output_text)"]
    if tools:
        lines += [
            "for item in answer.output:",
            '    if item.type == "function_call":',
            "        print(item.name, item.arguments)",
        ]
    return lines


def _javascript_stream(choices: int, tools: bool) -> list[str]:
    lines = ['if (event.type === "response.output_text.delta") process.stdout.write(event.delta);']
    if tools:
        lines += [
            'if (event.type === "response.output_item.done" && event.item.type === "function_call") {',
            "  console.log(event.item.name, event.item.arguments);",
            "}",
        ]
    return lines


def _javascript_whole(choices: int, tools: bool) -> list[str]:
    lines = ["console.log(answer.output_text);"]
    if tools:
        lines.append("for (const item of answer.output) if (item.name) console.log(item.name, item.arguments);")
    return lines


RESPONSES: Final = OpenAIResource(
    "responses",
    _ARGUMENTS,
    {"model": (str, "")},
    _python_stream,
    _python_whole,
    _javascript_stream,
    _javascript_whole,
)
