"""Code that shows an answer of chat completions. See ``playground.protocols.wire_protocol.AnswerCode``."""

from __future__ import annotations


def python_stream(choices: int, *, tools: bool) -> list[str]:
    """Show the text of the first choice, and calls."""
    show = ['for choice in event.get("choices") or []:']
    if choices > 1:
        show += ['    if choice["index"] > 0:', "        continue  # the other answers come in between"]
    show.append('    print(choice["delta"].get("content") or "", end="", flush=True)')
    if tools:
        show += [
            '    for call in choice["delta"].get("tool_calls") or []:',
            '        name, arguments = call["function"].get("name"), call["function"].get("arguments")',
            '        print(name or "", arguments or "", sep="", end="", flush=True)',
        ]
    return show


def python_whole(*, tools: bool) -> list[str]:
    """Show each choice."""
    more = ' or choice["message"]["tool_calls"]' if tools else ""
    return ['for choice in response.json()["choices"]:', f'    print(choice["message"]["content"]{more})']


def javascript_stream(choices: int, *, tools: bool) -> list[str]:
    """Show the text of the first choice, and calls."""
    first = " if (choice.index > 0) continue; // the other answers come in between" if choices > 1 else ""
    show = [
        f"for (const choice of event.choices ?? []) {{{first}",
        '  process.stdout.write(choice.delta.content ?? "");',
    ]
    if tools:
        show += [
            "  for (const { function: f } of choice.delta.tool_calls ?? []) {",
            '    process.stdout.write((f.name ?? "") + (f.arguments ?? ""));',
            "  }",
        ]
    return [*show, "}"]


def javascript_whole(*, tools: bool) -> list[str]:
    """Show each choice."""
    more = " ?? choice.message.tool_calls" if tools else ""
    return [
        "for (const choice of (await response.json()).choices) {",
        f"  console.log(choice.message.content{more});",
        "}",
    ]
