"""Lines of code that show an answer: with OpenAI's client libraries, and without a library."""

from __future__ import annotations

from typing import Final

from playground.protocols.openai_library import OpenAIResource, code

_ARGUMENTS: Final = frozenset(
    """
    background include input instructions max_output_tokens max_tool_calls metadata model parallel_tool_calls
    previous_response_id prompt prompt_cache_key reasoning safety_identifier service_tier store stream temperature text
    tool_choice tools top_logprobs top_p truncation user
    """.split()  # noqa: SIM905 - a list of thirty strings reads worse
)

RESPONSES: Final = OpenAIResource(
    "responses",
    _ARGUMENTS,
    {"model": (str, "")},
    python_stream=code(
        """
        if event.type == "response.output_text.delta":
            print(event.delta, end="", flush=True)
        """,
        """
        elif event.type == "response.output_item.done" and event.item.type == "function_call":
            print(event.item.name, event.item.arguments)
        """,
    ),
    python_whole=code(
        "print(answer.output_text)",
        """
        for item in answer.output:
            if item.type == "function_call":
                print(item.name, item.arguments)
        """,
    ),
    javascript_stream=code(
        'if (event.type === "response.output_text.delta") process.stdout.write(event.delta);',
        """
        if (event.type === "response.output_item.done" && event.item.type === "function_call") {
          console.log(event.item.name, event.item.arguments);
        }
        """,
    ),
    javascript_whole=code(
        "console.log(answer.output_text);",
        "for (const item of answer.output) if (item.name) console.log(item.name, item.arguments);",
    ),
)

PYTHON_STREAM: Final = code(
    """
    if event["type"] == "response.output_text.delta":
        print(event["delta"], end="", flush=True)
    """,
    """
    elif event["type"] == "response.output_item.done" and event["item"]["type"] == "function_call":
        print(event["item"]["name"], event["item"]["arguments"])
    """,
)
PYTHON_WHOLE: Final = code(
    """
    for item in response.json()["output"]:
        for part in item.get("content") or []:
            print(part.get("text", ""))
        if item["type"] == "function_call":
            print(item["name"], item["arguments"])
    """
)
JAVASCRIPT_STREAM: Final = code(
    'if (event.type === "response.output_text.delta") process.stdout.write(event.delta);',
    """
    if (event.type === "response.output_item.done" && event.item.type === "function_call") {
      console.log(event.item.name, event.item.arguments);
    }
    """,
)
JAVASCRIPT_WHOLE: Final = code(
    """
    for (const item of (await response.json()).output) {
      for (const part of item.content ?? []) console.log(part.text ?? "");
      if (item.type === "function_call") console.log(item.name, item.arguments);
    }
    """
)
