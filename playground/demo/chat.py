"""Spells a plan in the chat-completions protocol: the completion object (specification, 2.4) or its chunks (2.5)."""

from __future__ import annotations

from playground.demo.generation import Call
from playground.demo.plan import Plan
from playground.demo.rendering import Answer, event
from playground.demo.steps import Step


class ChatRendering:
    """One completion with one choice for each plan."""

    def __init__(self, answer: Answer) -> None:
        self._request = answer.request
        self._plans = answer.plans
        self._id = f"chatcmpl-demo-{answer.id}"
        self._created = answer.created
        self._cached = answer.cached

    def opening(self) -> bytes:
        return b"".join(self._chunk(index, {"role": "assistant", "content": ""}) for index in range(len(self._plans)))

    def step(self, step: Step) -> bytes:
        if step.kind == "reasoning":
            return self._chunk(step.choice, {"reasoning_content": step.text})
        if step.kind == "text":
            return self._chunk(step.choice, {"content": step.text})
        if step.kind == "refusal":
            return self._chunk(step.choice, {"refusal": step.text})
        if step.kind == "call" and step.call is not None:
            begun = {"index": step.position, **_call(Call(step.call.id, step.call.name, ""))}
            return self._chunk(step.choice, {"tool_calls": [begun]})
        if step.kind == "arguments":
            return self._chunk(
                step.choice, {"tool_calls": [{"index": step.position, "function": {"arguments": step.text}}]}
            )
        return b""

    def closing(self, complete: bool) -> bytes:
        chunks = [self._chunk(index, {}, plan.finish) for index, plan in enumerate(self._plans)]
        if self._request.include_usage:
            chunks.append(event({**self._head("chat.completion.chunk"), "choices": [], "usage": self._usage()}))
        if complete:
            chunks.append(b"data: [DONE]\n\n")
        return b"".join(chunks)

    def keep_alive(self) -> bytes:
        return b": keep-alive\n\n"

    def error(self, message: str, code: int) -> bytes:
        return event({"error": {"code": code, "message": message, "type": "server_error"}})

    def full_answer(self) -> dict[str, object]:
        choices = [
            {"index": index, "message": self._message(plan), "logprobs": None, "finish_reason": plan.finish}
            for index, plan in enumerate(self._plans)
        ]
        return {**self._head("chat.completion"), "choices": choices, "usage": self._usage()}

    def _head(self, kind: str) -> dict[str, object]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self._request.model.id}

    def _chunk(self, index: int, delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": index, "delta": delta, "finish_reason": finish}
        return event({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _message(self, plan: Plan) -> dict[str, object]:
        content = None if (plan.calls or plan.refusal) and not plan.content else plan.content
        message: dict[str, object] = {"role": "assistant", "content": content}
        if plan.refusal:
            message["refusal"] = plan.refusal
        if plan.reasoning:
            message["reasoning_content"] = plan.reasoning
        if plan.calls:
            message["tool_calls"] = [_call(call) for call in plan.calls]
        return message

    def _usage(self) -> dict[str, object]:
        prompt = self._request.prompt_tokens()
        output = sum(plan.output_tokens() for plan in self._plans)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "total_tokens": prompt + output,
            "prompt_tokens_details": {"cached_tokens": self._cached},
            "completion_tokens_details": {"reasoning_tokens": sum(plan.reasoning_tokens() for plan in self._plans)},
        }


def _call(call: Call) -> dict[str, object]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
