"""The output items of an answer: finished, and as they are announced in a stream."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from playground.demo import tokens
from playground.demo.generation import Call
from playground.demo.plan import Plan
from playground.demo.responses.habits import Habits
from playground.demo.responses.request import ResponsesRequest
from playground.demo.responses.sealing import seal

JsonObject = Mapping[str, object]


@dataclass(frozen=True)
class OutputItem:
    """One item. ``key`` tells which steps of the plan write it: "reasoning", "message", "hosted 0", "call 0"."""

    key: str
    finished: dict[str, object]
    begun: dict[str, object]


def build(request: ResponsesRequest, plan: Plan, answer_id: str, habits: Habits) -> tuple[OutputItem, ...]:
    """Return the items of the plan in order; the last one is incomplete where the plan was cut."""
    items = [_hosted(plan, position) for position, use in enumerate(plan.hosted) if use.leads]
    if plan.reasoning:
        items.append(_reasoning(request, plan.reasoning, answer_id, habits))
    items += [_hosted(plan, position) for position, use in enumerate(plan.hosted) if not use.leads]
    if plan.content or plan.refusal:
        items.append(_message(request, plan, answer_id))
    items += [_call(call, position, answer_id, habits) for position, call in enumerate(plan.calls)]
    if items and plan.finish in ("length", "content_filter") and "status" in items[-1].finished:
        items[-1] = replace(items[-1], finished={**items[-1].finished, "status": "incomplete"})
    return tuple(items)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of reasoning, which are the parts of its summary."""
    return [paragraph for paragraph in text.split("\n\n") if paragraph]


def text_annotations(plan: Plan) -> list[dict[str, object]]:
    """Return the annotations of the text, for the results of hosted tools that it cites."""
    rows: list[dict[str, object]] = []
    for use in plan.hosted:
        start = plan.content.find(use.cited) if use.cited else -1
        if start < 0:
            continue
        if use.citation["type"] == "file_citation":
            rows.append({**use.citation, "index": start + len(use.cited)})
        else:
            rows.append({**use.citation, "start_index": start, "end_index": start + len(use.cited)})
    return rows


def logprob(token: str, count: int) -> dict[str, object]:
    """Return a made-up log probability of a token with ``count`` alternatives, always the same for the same token."""
    seed = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
    rows = [(token, -seed[0] / 1000), *((f"{token.strip()}{n}", -1 - seed[n] / 100 - n) for n in range(1, count))]
    entries = [{"token": text, "logprob": value, "bytes": _bytes(text)} for text, value in rows]
    return {**entries[0], "top_logprobs": entries[:count]}


def _bytes(text: str) -> list[int]:
    return list(text.encode("utf-8", "surrogatepass"))


def _reasoning(request: ResponsesRequest, text: str, answer_id: str, habits: Habits) -> OutputItem:
    begun: dict[str, object] = {"id": f"rs_{answer_id}", "type": "reasoning", "summary": []}
    finished = dict(begun)
    if habits.reasoning == "text":
        finished["content"] = [{"type": "reasoning_text", "text": text}]
        begun["content"] = []
    elif request.wants_summary or habits.reasoning == "plain_summary":
        finished["summary"] = [{"type": "summary_text", "text": paragraph} for paragraph in paragraphs(text)]
    model_id = request.generation.model.id
    if habits.reasoning == "plain_summary":
        finished["encrypted_content"] = text
    elif request.seals and not habits.has_indexes:
        begun["encrypted_content"] = finished["encrypted_content"] = ""
    elif request.seals:
        begun["encrypted_content"] = seal("", model_id, f"{answer_id} begun")
        finished["encrypted_content"] = seal(text, model_id, f"{answer_id} done")
    return OutputItem("reasoning", finished, begun)


def _message(request: ResponsesRequest, plan: Plan, answer_id: str) -> OutputItem:
    begun: dict[str, object] = {
        "id": f"msg_{answer_id}",
        "type": "message",
        "status": "in_progress",
        "content": [],
        "role": "assistant",
    }
    if request.generation.model.seals_reasoning:
        begun["phase"] = "commentary" if plan.calls else "final_answer"
    return OutputItem("message", {**begun, "status": "completed", "content": [part(request, plan)]}, begun)


def part(request: ResponsesRequest, plan: Plan) -> dict[str, object]:
    """Return the finished part of the message."""
    if plan.refusal:
        return {"type": "refusal", "refusal": plan.refusal}
    probabilities: list[object] = []
    if request.wants_logprobs:
        probabilities = [logprob(token, request.top_logprobs) for token in tokens.split(plan.content)]
    return {
        "type": "output_text",
        "annotations": text_annotations(plan),
        "logprobs": probabilities,
        "text": plan.content,
    }


def _call(call: Call, position: int, answer_id: str, habits: Habits) -> OutputItem:
    text = "input" if call.custom else "arguments"
    call_id = habits.call_prefix + call.id.removeprefix("call_") if habits.call_prefix else call.id
    begun: dict[str, object] = {
        "id": f"{'ctc' if call.custom else 'fc'}_{answer_id}{position:02d}",
        "type": "custom_tool_call" if call.custom else "function_call",
        "status": "in_progress",
        text: "",
        "call_id": call_id,
        "name": call.name,
    }
    return OutputItem(f"call {position}", {**begun, "status": "completed", text: call.arguments}, begun)


def _hosted(plan: Plan, position: int) -> OutputItem:
    use = plan.hosted[position]
    return OutputItem(f"hosted {position}", dict(use.item), dict(use.begun))
