"""A long experiment to measure with: as many turns as asked for, mixed as real ones are, the same every time."""

from __future__ import annotations

import json
from random import Random

from playground.domain.parts import Part, Reasoning, Text, ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.domain.usage import Timing, Usage

PROSE = (
    "a stream of tokens comes in small pieces and every piece is kept as it was while the window draws what "
    "is new nobody waits for the whole answer because reading begins with the first word and what stands "
    "above stays still gateway model request header answer budget reason schema retry limit cache prompt "
    "context window latency"
)
WORDS = PROSE.split()
TOOL = ToolDefinition(
    name="get_weather",
    description="The weather of a city.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
)


def long_transcript(turns: int, seed: int = 4) -> Transcript:
    """A conversation of ``turns`` turns: short and long Markdown, code, reasoning, calls with their results."""
    random = Random(seed)
    out: list[Turn] = []
    while len(out) < turns:
        out += _round(random, len(out), turns - len(out))
    return Transcript().append(*out)


def _round(random: Random, number: int, most: int) -> list[Turn]:
    """A question and what comes of it: two turns, or four with a call if there may be so many."""
    request = make_turn(Role.USER, f"Question {number}: {_sentence(random)}")
    kind = random.choices(("short", "long", "code", "table", "call"), (30, 25, 20, 5, 20))[0]
    if kind == "call" and most >= 4:
        arguments = {"city": _words(random, 1), "days": random.randint(1, 9)}
        call = ToolCall(id=f"call_{number}", name=TOOL.name, arguments=json.dumps(arguments))
        days = [{"high": random.randint(10, 30), "sky": _words(random, 3)} for _ in range(4)]
        return [
            request,
            _answer(random, "", call),
            make_turn(Role.TOOL, "", ToolResult(call_id=call.id, text=json.dumps({"city": "Lisbon", "days": days}))),
            _answer(random, _sentence(random)),
        ]
    if kind in ("short", "call"):
        return [request, _answer(random, _sentence(random))]
    if kind == "code":
        return [request, _answer(random, f"{_paragraph(random)}\n\n{_code(random)}\n\n{_sentence(random)}")]
    if kind == "table":
        rows = "\n".join(f"| {_words(random, 2)} | {random.random():.3f} | {_words(random, 4)} |" for _ in range(6))
        return [request, _answer(random, f"{_sentence(random)}\n\n| name | value | note |\n|---|---:|---|\n{rows}\n")]
    parts = [f"## {_words(random, 3)}", *(_paragraph(random) for _ in range(random.randint(2, 5)))]
    parts.append("\n".join(f"{n}. **{_words(random, 2)}**: {_sentence(random)}" for n in range(1, 6)))
    parts.append("\n".join(f"- `{_words(random, 1)}` {_sentence(random)}" for _ in range(4)))
    return [request, _answer(random, "\n\n".join(parts), thought=_paragraph(random))]


def _answer(random: Random, text: str, *calls: ToolCall, thought: str = "") -> Turn:
    parts: list[Part] = [
        *([Reasoning(text=thought, field="reasoning_content")] if thought else []),
        *([Text(text=text)] if text else []),
        *calls,
    ]
    outcome = Outcome(
        ending=Ending.COMPLETE,
        model="demo-chat",
        finish_reason="tool_calls" if calls else "stop",
        usage=Usage(prompt=random.randint(50, 900), completion=max(len(text) // 4, 1)),
        timing=Timing(started_at=1.7e9, headers=0.2, first_byte=0.3, first_content=0.4, end=0.4 + random.random() * 9),
    )
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=tuple(parts), outcome=outcome)


def _words(random: Random, count: int) -> str:
    return " ".join(random.choices(WORDS, k=count))


def _sentence(random: Random) -> str:
    return _words(random, random.randint(8, 22)).capitalize() + "."


def _paragraph(random: Random) -> str:
    return " ".join(_sentence(random) for _ in range(random.randint(2, 6)))


def _code(random: Random) -> str:
    pieces = [
        f'def {random.choice(WORDS)}_{n}(value: int) -> str:\n    return f"{_words(random, 4)} {{value}}"'
        for n in range(random.randint(5, 25))
    ]
    return "```python\n" + "\n\n".join(pieces) + "\n```"
