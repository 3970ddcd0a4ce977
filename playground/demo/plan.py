"""The plan of one answer: reasoning, text, calls and how it ends, before a byte of it is written.

Both protocols render the same plan, so that stop sequences, token limits and directives are decided once, here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from playground.demo import from_schema, tokens, toolcalls, writer
from playground.demo.ask import Ask, Call
from playground.demo.dice import Dice, throw

Finish = Literal["stop", "length", "tool_calls", "content_filter"]
_CALL_OVERHEAD = 4  # tokens that frame a call


@dataclass(frozen=True)
class Plan:
    """One answer. ``stop_sequence`` is the one that ended it, if any."""

    reasoning: str = ""
    content: str = ""
    calls: tuple[Call, ...] = ()
    finish: Finish = "stop"
    stop_sequence: str | None = None

    def reasoning_tokens(self) -> int:
        """Tokens of the separate reasoning."""
        return tokens.count(self.reasoning)

    def output_tokens(self) -> int:
        """All tokens of the answer, reasoning included."""
        calls = sum(_CALL_OVERHEAD + tokens.count(call.name) + tokens.count(call.arguments) for call in self.calls)
        return self.reasoning_tokens() + tokens.count(self.content) + calls


def make_plans(ask: Ask) -> tuple[Plan, ...]:
    """One plan for each completion asked for; the same for the same seed and request."""
    return tuple(_make(ask, throw(ask.seed, ask.fingerprint, str(index))) for index in range(ask.count))


def _make(ask: Ask, dice: Dice) -> Plan:
    if ask.directives.has("empty"):
        return Plan()
    if errs := ask.directives.has("err") and dice.random() < ask.directives.number("err", 0):
        ask = replace(ask, directives=ask.directives.also("broken", "wrong"))
    plan = _compose(ask, dice)
    if errs and ask.form.kind != "text":
        plan = replace(plan, content=plan.content[: len(plan.content) // 2])
    if ask.directives.has("think"):
        thoughts = plan.reasoning or writer.reasoning(ask, dice) or "Nothing to think about."
        plan = replace(plan, reasoning="", content=f"<think>\n{thoughts}\n</think>\n\n{plan.content}")
    plan = _stopped(plan, ask.stops)
    if ask.directives.has("cutargs") and plan.calls:
        plan = _cut_arguments(plan)
    elif ask.directives.has("length"):
        plan = _cut(plan, max(1, plan.output_tokens() // 2))
    elif ask.directives.has("filter"):
        plan = replace(_cut(plan, max(1, plan.output_tokens() * 3 // 5)), finish="content_filter", calls=())
    if ask.limit is not None and plan.output_tokens() > ask.limit:
        plan = _cut(plan, ask.limit)
    return plan


def _compose(ask: Ask, dice: Dice) -> Plan:
    reasoning = writer.reasoning(ask, dice) if ask.model.reasons else ""
    tools = toolcalls.wanted(ask)
    if tools and (calls := toolcalls.plan_calls(ask, tools, dice)):
        return Plan(reasoning, "", calls, "tool_calls")
    if ask.form.kind == "json_object":
        return Plan(reasoning, json.dumps(writer.json_object(ask), ensure_ascii=False, indent=2))
    if ask.form.kind == "json_schema":
        value = from_schema.generate(dict(ask.form.schema), dice, ask.prompt)
        return Plan(reasoning, json.dumps(value, ensure_ascii=False, indent=2))
    return Plan(reasoning, writer.answer(ask, dice))


def _stopped(plan: Plan, stops: tuple[str, ...]) -> Plan:
    """The plan up to the first stop sequence in its text; the sequence itself is left out."""
    hits = [(plan.content.find(stop), stop) for stop in stops if stop in plan.content]
    if not hits:
        return plan
    at, stop = min(hits)
    return replace(plan, content=plan.content[:at], calls=(), finish="stop", stop_sequence=stop)


def _cut(plan: Plan, limit: int) -> Plan:
    """The first ``limit`` tokens of the plan: reasoning, then text, then calls."""
    left = limit
    reasoning = tokens.first(plan.reasoning, left)
    left -= tokens.count(reasoning)
    content = tokens.first(plan.content, left)
    left -= tokens.count(content)
    calls: list[Call] = []
    for call in plan.calls:
        left -= _CALL_OVERHEAD + tokens.count(call.name)
        if left < 0:
            break
        arguments = tokens.first(call.arguments, left)
        left -= tokens.count(arguments)
        calls.append(replace(call, arguments=arguments))
    return Plan(reasoning, content, tuple(calls), "length")


def _cut_arguments(plan: Plan) -> Plan:
    last = plan.calls[-1]
    half = replace(last, arguments=last.arguments[: max(1, len(last.arguments) // 2)])
    return replace(plan, calls=(*plan.calls[:-1], half), finish="length")
