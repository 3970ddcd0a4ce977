"""The plan of one answer: reasoning, text, calls and how it ends, before a byte of it is written.

All protocols render the same plan, so that stop sequences, token limits and directives are decided once, here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from playground.demo import from_schema, tokens, toolcalls, writer
from playground.demo.dice import Dice, throw
from playground.demo.generation import Call, GenerationRequest
from playground.demo.hosted import HostedCall, plan_hosted

Finish = Literal["stop", "length", "tool_calls", "content_filter"]
_CALL_OVERHEAD = 4  # tokens that frame a call


@dataclass(frozen=True)
class Plan:
    """One answer. ``stop_sequence`` is the one that ended it, if any; ``refusal`` replaces its content."""

    reasoning: str = ""
    content: str = ""
    calls: tuple[Call, ...] = ()
    finish: Finish = "stop"
    stop_sequence: str | None = None
    hosted: tuple[HostedCall, ...] = ()
    refusal: str = ""

    def reasoning_tokens(self) -> int:
        """Tokens of the separate reasoning."""
        return tokens.count(self.reasoning)

    def output_tokens(self) -> int:
        """All tokens of the answer, reasoning included."""
        calls = sum(_CALL_OVERHEAD + tokens.count(call.name) + tokens.count(call.arguments) for call in self.calls)
        return self.reasoning_tokens() + tokens.count(self.content) + tokens.count(self.refusal) + calls


def make_plans(request: GenerationRequest) -> tuple[Plan, ...]:
    """One plan for each completion asked for; the same for the same seed and request."""
    return tuple(_make(request, throw(request.seed, request.fingerprint, str(index))) for index in range(request.count))


def _make(request: GenerationRequest, dice: Dice) -> Plan:
    if request.directives.has("empty"):
        return Plan()
    if request.directives.has("refusal"):
        return Plan(refusal=writer.REFUSAL)
    if errs := request.directives.has("err") and dice.random() < request.directives.number("err", 0):
        request = replace(request, directives=request.directives.with_names("broken", "wrong"))
    plan = _compose(request, dice)
    if errs and request.form.kind != "text":
        plan = replace(plan, content=plan.content[: len(plan.content) // 2])
    if request.directives.has("think"):
        thoughts = plan.reasoning or writer.reasoning(request, dice) or "Nothing to think about."
        plan = replace(plan, reasoning="", content=f"<think>\n{thoughts}\n</think>\n\n{plan.content}")
    plan = _stopped(plan, request.stops)
    if request.directives.has("cutargs") and plan.calls:
        plan = _cut_arguments(plan)
    elif request.directives.has("length"):
        plan = _cut(plan, max(1, plan.output_tokens() // 2))
    elif request.directives.has("filter"):
        plan = replace(_cut(plan, max(1, plan.output_tokens() * 3 // 5)), finish="content_filter", calls=())
    if request.limit is not None and plan.output_tokens() > request.limit:
        plan = _cut(plan, request.limit)
    return plan


def _compose(request: GenerationRequest, dice: Dice) -> Plan:
    reasoning = writer.reasoning(request, dice) if request.model.reasons else ""
    uses = plan_hosted(request, dice)
    tools = toolcalls.tools_to_call(request)
    if any(not use.leads for use in uses):
        tools = tuple(tool for tool in tools if toolcalls.is_spoken_of(tool.name, request.prompt))
    if tools and (calls := toolcalls.plan_calls(request, tools, dice)):
        announces = request.model.seals_reasoning and request.protocol == "responses"
        return Plan(reasoning, writer.announcement(calls) if announces else "", calls, "tool_calls", hosted=uses)
    if any(use.ends for use in uses):
        return Plan(reasoning, hosted=uses)
    return Plan(reasoning, _text(request, uses, dice), hosted=uses)


def _text(request: GenerationRequest, uses: tuple[HostedCall, ...], dice: Dice) -> str:
    """Return the text of an answer without calls, in the format of the request."""
    if request.form.kind == "json_object":
        return json.dumps(writer.json_object(request), ensure_ascii=False, indent=2)
    if request.form.kind == "json_schema":
        value = from_schema.generate(dict(request.form.schema), dice, request.prompt)
        return json.dumps(value, ensure_ascii=False, indent=2)
    sentences = [use.sentence for use in uses if use.sentence]
    return "\n\n".join([*sentences, writer.answer(request, dice)])


def _stopped(plan: Plan, stops: tuple[str, ...]) -> Plan:
    """The plan up to the first stop sequence in its text; the sequence itself is left out."""
    hits = [(plan.content.find(stop), stop) for stop in stops if stop in plan.content]
    if not hits:
        return plan
    position, stop = min(hits)
    return replace(plan, content=plan.content[:position], calls=(), finish="stop", stop_sequence=stop)


def _cut(plan: Plan, limit: int) -> Plan:
    """The first ``limit`` tokens of the plan: reasoning, then text, then calls."""
    remaining = limit
    reasoning = tokens.first(plan.reasoning, remaining)
    remaining -= tokens.count(reasoning)
    content = tokens.first(plan.content, remaining)
    remaining -= tokens.count(content)
    calls: list[Call] = []
    for call in plan.calls:
        remaining -= _CALL_OVERHEAD + tokens.count(call.name)
        if remaining < 0:
            break
        arguments = tokens.first(call.arguments, remaining)
        remaining -= tokens.count(arguments)
        calls.append(replace(call, arguments=arguments))
    return replace(plan, reasoning=reasoning, content=content, calls=tuple(calls), finish="length")


def _cut_arguments(plan: Plan) -> Plan:
    last = plan.calls[-1]
    half = replace(last, arguments=last.arguments[: max(1, len(last.arguments) // 2)])
    return replace(plan, calls=(*plan.calls[:-1], half), finish="length")
