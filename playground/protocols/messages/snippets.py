"""Code that shows a native message. See ``playground.protocols.wire_protocol.AnswerCode``."""

from __future__ import annotations


def python_stream(choices: int, *, tools: bool) -> list[str]:
    """Show the text, and calls."""
    if tools:
        return [
            'block, delta = event.get("content_block") or {}, event.get("delta") or {}',
            'shown = block.get("name") or delta.get("text") or delta.get("partial_json") or ""',
            'print(shown, end="", flush=True)',
        ]
    return ['delta = event.get("delta") or {}', 'print(delta.get("text", ""), end="", flush=True)']


def python_whole(*, tools: bool) -> list[str]:
    """Show each block."""
    show = [
        'for block in response.json()["content"]:',
        '    if block["type"] == "text":',
        '        print(block["text"])',
    ]
    if tools:
        show += ['    elif block["type"] == "tool_use":', '        print(block["name"], block["input"])']
    return show


def javascript_stream(choices: int, *, tools: bool) -> list[str]:
    """Show the text, and calls."""
    value = "event.delta?.text"
    if tools:
        value = f"event.content_block?.name ?? {value} ?? event.delta?.partial_json"
    return [f'process.stdout.write({value} ?? "");']


def javascript_whole(*, tools: bool) -> list[str]:
    """Show each block."""
    show = [
        "for (const block of (await response.json()).content) {",
        '  if (block.type === "text") console.log(block.text);',
    ]
    if tools:
        show.append('  if (block.type === "tool_use") console.log(block.name, block.input);')
    return [*show, "}"]
