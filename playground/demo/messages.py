"""Spells a plan in the native messages protocol: the message object, or its events block by block."""

from __future__ import annotations

from playground.demo.messages_request import signature
from playground.demo.rendering import Answer, event
from playground.demo.steps import Step
from playground.jsonkit.reading import parse_json

_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


class MessagesRendering:
    """One message. It keeps which block is open, so that a block is stopped before the next one starts."""

    def __init__(self, answer: Answer) -> None:
        self._request = answer.request
        self._plan = answer.plans[0]
        self._id = f"msg_demo_{answer.id}"
        self._cached = answer.cached
        self._index = -1
        self._open = ""  # the kind of the open block

    def opening(self) -> bytes:
        message = {**self._head(), "content": [], "stop_reason": None, "stop_sequence": None, "usage": self._usage(1)}
        start = event({"type": "message_start", "message": message}, "message_start")
        return start + self.keep_alive()

    def step(self, step: Step) -> bytes:
        if step.kind == "reasoning":
            start = self._start("thinking", {"type": "thinking", "thinking": "", "signature": ""})
            return start + self._delta({"type": "thinking_delta", "thinking": step.text})
        if step.kind in ("text", "refusal"):
            return self._start("text", {"type": "text", "text": ""}) + self._delta(
                {"type": "text_delta", "text": step.text}
            )
        if step.kind == "call" and step.call is not None:
            block: dict[str, object] = {"type": "tool_use", "id": step.call.id, "name": step.call.name, "input": {}}
            return self._start(f"call {step.position}", block)
        if step.kind == "arguments":
            return self._delta({"type": "input_json_delta", "partial_json": step.text})
        return b""

    def closing(self, complete: bool) -> bytes:
        usage = self._usage(self._plan.output_tokens())
        delta = {"stop_reason": self._stop_reason(), "stop_sequence": self._plan.stop_sequence}
        end = self._stop() + event({"type": "message_delta", "delta": delta, "usage": usage}, "message_delta")
        return end + (event({"type": "message_stop"}, "message_stop") if complete else b"")

    def keep_alive(self) -> bytes:
        return event({"type": "ping"}, "ping")

    def error(self, message: str, code: int) -> bytes:
        wrong = {"type": "overloaded_error", "message": message, "code": code}
        return event({"type": "error", "error": wrong}, "error")

    def full_answer(self) -> dict[str, object]:
        content: list[dict[str, object]] = []
        if self._plan.reasoning:
            thinking = self._plan.reasoning
            content.append({"type": "thinking", "thinking": thinking, "signature": signature(thinking)})
        if text := self._plan.content or self._plan.refusal:
            content.append({"type": "text", "text": text})
        for call in self._plan.calls:
            # The protocol has a value here, not text: arguments that are not an object come as an empty one.
            content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": _value(call.arguments)})
        return {
            **self._head(),
            "content": content,
            "stop_reason": self._stop_reason(),
            "stop_sequence": self._plan.stop_sequence,
            "usage": self._usage(self._plan.output_tokens()),
        }

    def _head(self) -> dict[str, object]:
        return {"id": self._id, "type": "message", "role": "assistant", "model": self._request.model.id}

    def _stop_reason(self) -> str:
        if self._plan.refusal:
            return "refusal"
        return "stop_sequence" if self._plan.stop_sequence is not None else _STOP_REASONS[self._plan.finish]

    def _usage(self, output: int) -> dict[str, int]:
        return {
            "input_tokens": self._request.prompt_tokens() - self._cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self._cached,
            "output_tokens": output,
        }

    def _start(self, kind: str, block: dict[str, object]) -> bytes:
        """Open a block of ``kind`` unless it is the open one."""
        if self._open == kind:
            return b""
        stop = self._stop()
        self._index += 1
        self._open = kind
        start = {"type": "content_block_start", "index": self._index, "content_block": block}
        return stop + event(start, "content_block_start")

    def _delta(self, delta: dict[str, object]) -> bytes:
        return event({"type": "content_block_delta", "index": self._index, "delta": delta}, "content_block_delta")

    def _stop(self) -> bytes:
        """Close the open block, signing it first when it is thinking."""
        if not self._open:
            return b""
        signed = b""
        if self._open == "thinking":
            signed = self._delta({"type": "signature_delta", "signature": signature(self._plan.reasoning)})
        self._open = ""
        return signed + event({"type": "content_block_stop", "index": self._index}, "content_block_stop")


def _value(arguments: str) -> dict[str, object]:
    try:
        value = parse_json(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
