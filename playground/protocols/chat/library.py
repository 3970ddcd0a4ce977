"""Chat completions in OpenAI's client libraries."""

from __future__ import annotations

from typing import Final

from playground.protocols import MESSAGES
from playground.protocols.openai_library import OpenAIResource

_ARGUMENTS: Final = frozenset(
    """
    messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens metadata modalities n parallel_tool_calls prediction presence_penalty reasoning_effort
    response_format seed service_tier stop store stream stream_options temperature tool_choice tools
    top_logprobs top_p user
    """.split()  # noqa: SIM905 - a list of forty strings reads worse
)


def _python_stream(choices: int, *, tools: bool) -> list[str]:
    lines = ["for choice in event.choices:"]
    if choices > 1:
        lines += ["    if choice.index > 0:", "        continue  # the other answers come in between"]
    lines.append('    print(choice.delta.content or "", end="", flush=True)')
    if tools:
        lines += [
            "    for call in choice.delta.tool_calls or []:",
            '        print(call.function.name or "", call.function.arguments or "", sep="", end="", flush=True)',
        ]
    return lines


def _python_whole(choices: int, *, tools: bool) -> list[str]:
    value = "choice.message.content or choice.message.tool_calls" if tools else "choice.message.content"
    return ["for choice in answer.choices:", f"    print({value})"]


def _javascript_stream(choices: int, *, tools: bool) -> list[str]:
    lines = ["for (const choice of event.choices) {"]
    if choices > 1:
        lines.append("  if (choice.index > 0) continue; // the other answers come in between")
    lines.append('  process.stdout.write(choice.delta.content ?? "");')
    if tools:
        lines += [
            "  for (const { function: f } of choice.delta.tool_calls ?? []) {",
            '    process.stdout.write((f.name ?? "") + (f.arguments ?? ""));',
            "  }",
        ]
    return [*lines, "}"]


def _javascript_whole(choices: int, *, tools: bool) -> list[str]:
    value = "choice.message.content" + (" ?? choice.message.tool_calls" if tools else "")
    return ["for (const choice of answer.choices) {", f"  console.log({value});", "}"]


CHAT_COMPLETIONS: Final = OpenAIResource(
    "chat.completions",
    _ARGUMENTS,
    {"model": (str, ""), MESSAGES: (list, [])},
    _python_stream,
    _python_whole,
    _javascript_stream,
    _javascript_whole,
)
