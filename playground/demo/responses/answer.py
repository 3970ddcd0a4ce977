"""Spells a plan in the Responses protocol: the response object, or its events item by item."""

from __future__ import annotations

import time
from collections.abc import Callable

from playground.demo.plan import Plan
from playground.demo.rendering import Answer, to_json
from playground.demo.responses import output
from playground.demo.responses.events import EventWriter
from playground.demo.responses.habits import HABITS
from playground.demo.responses.output import OutputItem
from playground.demo.responses.request import ResponsesRequest
from playground.demo.responses.sealing import seal
from playground.demo.responses.store import JsonObject
from playground.demo.steps import Step

_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
Keep = Callable[[JsonObject], None]


class ResponsesRendering:
    """One response. It keeps which item and part are open, so that each is closed before the next one starts.

    ``keep`` is called with the finished response.
    """

    def __init__(self, request: ResponsesRequest, answer: Answer, keep: Keep) -> None:
        self._request = request
        self._answer = answer
        self._plan: Plan = answer.plans[0]
        self._keep = keep
        self._habits = HABITS[request.generation.directives.gateway]
        self._events = EventWriter(self._habits, request.obfuscates)
        self._id = f"resp_{answer.id}"
        self._items = output.build(request, self._plan, answer.id, self._habits)
        self._done: list[OutputItem] = []
        self._open: OutputItem | None = None
        self._written = ""  # of the arguments of the open call, for pieces of another size than tokens
        self._parts = 0  # parts of the summary so far
        self._part_open = False

    def opening(self) -> bytes:
        begun = self._response("in_progress", [])
        created = {name: begun[name] for name in ("id", "object", "status")} if self._habits.short_created else begun
        return self._events.write("response.created", response=created) + self._events.write(
            "response.in_progress", response=created
        )

    def step(self, step: Step) -> bytes:
        if step.kind == "reasoning":
            return self._begin("reasoning") + self._reasoning_delta(step.text)
        if step.kind in ("text", "refusal"):
            return self._begin("message") + self._text_delta(step)
        if step.kind == "call":
            return self._begin(f"call {step.position}")
        if step.kind == "arguments":
            return self._argument_delta(step.text)
        if step.kind == "hosted":
            begun = self._begin(f"hosted {step.position}")
            if not step.stage:
                return begun
            kind, members = self._plan.hosted[step.position].progress[step.stage - 1]
            return begun + self._events.write(kind, **self._place(), **members)
        return b""

    def closing(self, complete: bool) -> bytes:
        end = self._close() + self._events.late()
        response = self._finished()
        self._store(response)
        if complete:
            end += self._events.write(f"response.{response['status']}", response=response)
        return end + self._events.done_mark()

    def keep_alive(self) -> bytes:
        return self._events.keep_alive()

    def error(self, message: str, code: int) -> bytes:
        directives = self._request.generation.directives
        fault: dict[str, object] = {"code": "server_error", "message": message}
        failed = self._response("failed", [item.finished for item in self._done], fault)
        if not self._request.generation.stream:
            return to_json(failed)
        if self._habits.bare_error:
            return self._events.error({**fault, "type": "server_error", "param": None})
        if directives.has("nested"):
            return self._events.write("error", error={"type": "server_error", **fault, "param": None})
        flat = b"" if directives.has("failed") else self._events.write("error", **fault, param=None)
        return flat + self._events.write("response.failed", response=failed)

    def full_answer(self) -> dict[str, object]:
        response = self._finished()
        self._store(response)
        return response

    def _store(self, response: dict[str, object]) -> None:
        if self._request.stores:
            self._keep(response)

    def _finished(self) -> dict[str, object]:
        status = "incomplete" if self._plan.finish in _REASONS else "completed"
        return self._response(status, [self._sealed_again(item.finished) for item in self._items])

    def _sealed_again(self, item: dict[str, object]) -> dict[str, object]:
        """Return the item with its reasoning encrypted again: the text differs from the one in its own event."""
        if not self._request.seals or item["type"] != "reasoning" or self._habits.reasoning == "plain_summary":
            return item
        if not item["encrypted_content"]:
            return item
        model_id = self._request.generation.model.id
        return {**item, "encrypted_content": seal(self._plan.reasoning, model_id, f"{self._id} terminal")}

    def _response(
        self, status: str, items: list[dict[str, object]], error: dict[str, object] | None = None
    ) -> dict[str, object]:
        ended = status != "in_progress"
        reason = _REASONS.get(self._plan.finish) if status == "incomplete" else None
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._answer.created,
            "completed_at": int(time.time()) if status == "completed" else None,
            "status": status,
            "error": error,
            "incomplete_details": {"reason": reason} if reason else None,
            "model": self._request.generation.model.id,
            "output": items,
            "usage": self._usage() if ended else None,
            **self._request.settings,
        }

    def _usage(self) -> dict[str, object]:
        sent, received = self._answer.request.prompt_tokens(), self._plan.output_tokens()
        return {
            "input_tokens": sent,
            "input_tokens_details": {"cached_tokens": self._answer.cached, "cache_write_tokens": 0},
            "output_tokens": received,
            "output_tokens_details": {"reasoning_tokens": self._plan.reasoning_tokens()},
            "total_tokens": sent + received,
        }

    def _place(self) -> dict[str, object]:
        """Return the members that name the open item."""
        if self._open is None:
            return {}
        return {"item_id": self._open.finished["id"], "output_index": self._items.index(self._open)}

    def _begin(self, key: str) -> bytes:
        """Open the item of that key unless it is open, after closing another one."""
        if self._open is not None and self._open.key == key:
            return b""
        closed = self._close()
        self._open = next(item for item in self._items if item.key == key)
        self._parts = 0
        self._written = ""
        index = self._items.index(self._open)
        return closed + self._events.write("response.output_item.added", output_index=index, item=self._open.begun)

    def _close(self) -> bytes:
        """Close the open item with its parts."""
        if self._open is None:
            return b""
        item, place = self._open, self._place()
        ends = b""
        if item.key == "reasoning":
            ends = self._close_part()
        elif item.key == "message":
            ends = self._close_text()
        elif item.key.startswith("call"):
            name, kind = self._argument_names()
            if self._written:
                ends = self._events.write(f"{kind}.delta", **place, delta=self._written)
            ends += self._events.write(f"{kind}.done", **place, **{name: item.finished[name]})
        self._done.append(item)
        self._open = None
        return ends + self._events.write(
            "response.output_item.done", output_index=place["output_index"], item=item.finished
        )

    def _reasoning_delta(self, text: str) -> bytes:
        if self._habits.reasoning == "text":
            begin = b""
            if not self._part_open:
                self._part_open = True
                part = {"type": "reasoning_text", "text": ""}
                begin = self._events.write("response.content_part.added", **self._place(), content_index=0, part=part)
            return begin + self._events.write(
                "response.reasoning_text.delta", **self._place(), content_index=0, delta=text
            )
        if self._open is None or not self._open.finished["summary"]:
            return b""
        if text.isspace() and "\n\n" in text:
            return self._close_part()
        begin = b""
        if not self._part_open:
            self._part_open = True
            begin = self._events.write(
                "response.reasoning_summary_part.added",
                **self._place(),
                summary_index=self._parts,
                part={"type": "summary_text", "text": ""},
            )
        return begin + self._events.write(
            "response.reasoning_summary_text.delta", **self._place(), summary_index=self._parts, delta=text
        )

    def _close_part(self) -> bytes:
        """Close the open part of the reasoning."""
        if not self._part_open:
            return b""
        self._part_open = False
        if self._habits.reasoning == "text":
            place: dict[str, object] = {**self._place(), "content_index": 0}
            text = self._plan.reasoning
            part = {"type": "reasoning_text", "text": text}
            return self._events.write("response.reasoning_text.done", **place, text=text) + self._events.write(
                "response.content_part.done", **place, part=part
            )
        place = {**self._place(), "summary_index": self._parts}
        text = output.paragraphs(self._plan.reasoning)[self._parts]
        self._parts += 1
        part = {"type": "summary_text", "text": text}
        return self._events.write("response.reasoning_summary_text.done", **place, text=text) + self._events.write(
            "response.reasoning_summary_part.done", **place, part=part
        )

    def _text_delta(self, step: Step) -> bytes:
        place: dict[str, object] = {**self._place(), "content_index": 0}
        begin = b""
        if not self._part_open:
            self._part_open = True
            empty: dict[str, object] = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
            part = {"type": "refusal", "refusal": ""} if step.kind == "refusal" else empty
            begin = self._events.write("response.content_part.added", **place, part=part)
        if step.kind == "refusal":
            return begin + self._events.write("response.refusal.delta", **place, delta=step.text)
        probabilities = []
        if self._request.wants_logprobs:
            probabilities = [output.logprob(step.text, self._request.top_logprobs)]
        return begin + self._events.write(
            "response.output_text.delta", **place, delta=step.text, logprobs=probabilities
        )

    def _close_text(self) -> bytes:
        if not self._part_open:
            return b""
        self._part_open = False
        place: dict[str, object] = {**self._place(), "content_index": 0}
        part = output.part(self._request, self._plan)
        if self._plan.refusal:
            end = self._events.write("response.refusal.done", **place, refusal=self._plan.refusal)
        else:
            notes = b"".join(
                self._events.write(
                    "response.output_text.annotation.added", **place, annotation_index=index, annotation=annotation
                )
                for index, annotation in enumerate(output.text_annotations(self._plan))
            )
            end = notes + self._events.write(
                "response.output_text.done", **place, text=self._plan.content, logprobs=part["logprobs"]
            )
        return end + self._events.write("response.content_part.done", **place, part=part)

    def _argument_names(self) -> tuple[str, str]:
        """Return the member with the arguments of the open call, and the type of their events."""
        is_custom = self._open is not None and self._open.finished["type"] == "custom_tool_call"
        if is_custom:
            return "input", "response.custom_tool_call_input"
        return "arguments", "response.function_call_arguments"

    def _argument_delta(self, text: str) -> bytes:
        if not self._habits.has_argument_deltas or self._open is None:
            return b""
        _, kind = self._argument_names()
        size = self._habits.argument_size
        if not size:
            return self._events.write(f"{kind}.delta", **self._place(), delta=text)
        self._written += text
        complete = len(self._written) // size * size
        pieces = [self._written[i : i + size] for i in range(0, complete, size)]
        self._written = self._written[complete:]
        return b"".join(self._events.write(f"{kind}.delta", **self._place(), delta=piece) for piece in pieces)
