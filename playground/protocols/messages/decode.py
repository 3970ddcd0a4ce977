"""Decode answers of the native messages protocol, streamed or not, into events.

The specification shows only ``content[0].text`` (section 4.2); the rest follows the public protocol. Unknown blocks are
kept complete, with the members that unknown deltas add; so are unknown members of known blocks; unknown events are
noted. No bytes make the decoder raise. The one answer is choice 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playground.domain.events import (
    Event,
    ExtraDelta,
    Finish,
    Opened,
    PartStart,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UnknownPart,
    UsageReport,
)
from playground.domain.usage import Usage
from playground.jsonkit import foreign
from playground.jsonkit.foreign import amount_of, count_of, keepable, members_beside, text_of
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import verdicts
from playground.protocols.arguments import REPEATED, Arguments
from playground.protocols.decoding import Decoder
from playground.protocols.error_fields import looks_like_error
from playground.protocols.messages.blocks import READ, Block
from playground.protocols.messages.ids import is_valid
from playground.protocols.sse import DEFAULT_CAP

DOCUMENTED: Final = frozenset(
    {
        "end_turn",
        "max_tokens",
        "stop_sequence",
        "tool_use",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
    }
)
_NATURAL: Final = frozenset({None, "end_turn", "stop_sequence", "tool_use"})
_OF_KIND: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
    "citations_delta": "text",
}

#: Members of a message, and of the event that ends it.
_MESSAGE: Final = frozenset({"type", "id", "role", "model", "content", "stop_reason", "usage", "delta", "message"})

_DELTA: Final = frozenset({"type", "text", "thinking", "signature", "partial_json"})

#: Types of blocks without input of a call.
_WITHOUT_INPUT: Final = ("text", "thinking", "redacted_thinking")
_UNASSIGNED: Final = "arguments have the index of no call, and every call has its own; they are left out"
_REPORT_ALL: Final = 8 * 1024  # characters of usage reports that are all emitted at once


class GrowingUsage:
    """Usage merged over the stream. Later counts replace earlier ones, except with null.

    Growing reports are emitted less and less often, so that the total cost is linear.
    """

    def __init__(self) -> None:
        self._merged: JSONObject = {}
        self._pending = 0  # characters of reports with news that were not emitted
        self._emitted = 0  # characters of those that were

    def add_report(self, usage: JSONObject, size: int) -> bool:
        """Merge a report of ``size`` characters; return whether usage is to be emitted now."""
        merged = self._merged
        news = {k: v for k, v in usage.items() if k not in merged or (v is not None and v != merged[k])}
        if not news:
            return False
        merged.update(news)
        self._pending += size
        return self._pending > self._emitted or self._emitted < _REPORT_ALL

    def take(self) -> Usage | None:
        """Return the merged usage; None if it was returned before."""
        if not self._pending:
            return None
        self._emitted, self._pending = self._emitted + self._pending, 0
        return read_usage(self._merged)


def read_usage(value: JSONObject) -> Usage:
    """Return the counts of a usage object; ``prompt`` includes tokens read from and written to a cache."""
    read, written = count_of(value.get("cache_read_input_tokens")), count_of(value.get("cache_creation_input_tokens"))
    fresh, completion = count_of(value.get("input_tokens")), count_of(value.get("output_tokens"))
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    details = value.get("output_tokens_details")
    return Usage(
        prompt=prompt,
        completion=completion,
        total=None if prompt is None or completion is None else prompt + completion,
        cached=read,
        reasoning=count_of(details.get("thinking_tokens")) if isinstance(details, dict) else None,
        cost=amount_of(value.get("cost")),
        raw=members_beside(value, (), empty=True),
    )


class MessagesDecoder(Decoder):
    """Decoder of one messages body."""

    _protocol = "messages"
    _end_marker = "message_stop"

    def __init__(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> None:
        super().__init__(content_type, cap, make_id)
        self._blocks: dict[int, Block] = {}
        self._latest: Block | None = None  # the block that started last
        self._open_blocks: set[int] = set()  # indexes of the unfinished
        self._highest = 0  # index
        self._calls = 0
        self._call_blocks: list[Block] = []  # blocks of calls
        self._unassigned: dict[int, list[str]] = {}  # input received for an index without a call, by that index
        self._ids: set[str] = set()  # of calls, as received
        self._left_open = False  # the body ended inside a block
        self._finish: str | None = None
        self._id = ""
        self._seen = False
        self._started = False
        self._usage = GrowingUsage()

    # -- one object ----------------------------------------------------------------------------------------------

    def _read_object(self, value: JSONObject, event: str | None, out: list[Event]) -> None:
        kind = value.get("type") or event
        if kind == "content_block_delta":
            self._objects += 1
            self._read_delta(value, out)
        elif kind == "ping":
            return
        elif kind == "content_block_start":
            self._objects += 1
            block = value.get("content_block")
            if not isinstance(block, dict):
                self._note_wrong_shape(block, out)
            self._start_block(self._index_of(value), block if isinstance(block, dict) else {}, out)
        elif kind == "content_block_stop":
            self._stop_block(self._index_of(value), out)
        elif kind == "message_start":
            self._objects += 1
            message = value.get("message")
            self._read_message_start(message if isinstance(message, dict) else {}, out)
            self._emit_members(value, out)
        elif kind == "message_delta":
            self._objects += 1
            delta = value.get("delta")
            if isinstance(delta, dict):
                self._emit_members(delta, out)
                self._read_stop_reason(delta.get("stop_reason"), out)
            self._emit_members(value, out)
            self._read_usage(value.get("usage"), out)
        elif kind == "message_stop":
            self._emit_members(value, out)
            self._end_stream(out)
        elif kind == "error" or (kind != "message" and looks_like_error(value)):
            self._read_error_or_remark(value, out)
        elif kind == "message" or isinstance(value.get("content"), list):
            self._read_message(value, out)
        elif self._is_foreign(value, out):
            return
        elif self._is_whole_body:
            self._fail(out, verdicts.no_answer("no message: it has no content", self._source))
        else:
            note = f"an event of an unknown kind: {text_of(kind)[:60] or 'without a type'}"
            self._strange = self._strange or f"{note}: {foreign.whole(self._source[:120])}"
            self._note(out, "unknown_event", note)

    def _index_of(self, value: JSONObject) -> int:
        index = value.get("index")
        if type(index) is int:
            return index
        return self._highest

    def _read_message(self, value: JSONObject, out: list[Event]) -> None:
        """Read a complete answer: the body of a request without streaming."""
        self._objects += 1
        if not self._is_whole_body:
            self._note(out, "message_in_stream", "a whole message is inside the stream")
        self._open_message(value, out)
        self._read_blocks(value.get("content"), out)
        self._emit_members(value, out)
        self._read_stop_reason(value.get("stop_reason"), out)
        self._read_usage(value.get("usage"), out)

    def _read_message_start(self, message: JSONObject, out: list[Event]) -> None:
        id_ = text_of(message.get("id"))
        if self._started:
            self._note(out, "message_start_repeated", "the message started more than once; it goes on")
            if id_ == self._id:
                return
        self._id = self._id or id_
        self._open_message(message, out)
        if not self._blocks:
            self._read_blocks(message.get("content"), out)
        self._emit_members(message, out)
        self._read_stop_reason(message.get("stop_reason"), out)
        self._read_usage(message.get("usage"), out)

    def _open_message(self, message: JSONObject, out: list[Event]) -> None:
        first, self._started = not self._started, True
        id_, model = text_of(message.get("id")), text_of(message.get("model"))
        if first and (id_ or model):
            out.append(Opened(id_, model))
        if first:
            out.append(PartStart(0))

    def _read_blocks(self, content: JSON, out: list[Event]) -> None:
        if isinstance(content, str) and content:
            self._note(out, "content_text", "content is text instead of a list of blocks")
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list):
            self._note_wrong_shape(content, out)
            return
        highest = self._highest
        base = highest + 1 if self._blocks else 0
        for position, block in enumerate(content):
            if isinstance(block, dict):
                self._start_block(base + position, block, out)
                self._stop_block(base + position, out)
                self._end_call(self._blocks.pop(base + position), out)
                self._highest = highest
            else:
                self._note_wrong_shape(block, out)

    def _emit_members(self, value: JSONObject, out: list[Event]) -> None:
        """Emit the unknown members of a message."""
        if not value.keys() <= _MESSAGE and (members := members_beside(value, _MESSAGE)):
            self._emit_values(ExtraDelta(0, "message", "messages", members), out)

    # -- blocks --------------------------------------------------------------------------------------------------

    def _start_block(self, index: int, value: JSONObject, out: list[Event]) -> None:
        kind = text_of(value.get("type")) or ("text" if isinstance(value.get("text"), str) else "")
        id_ = text_of(value.get("id"))
        old = self._blocks.get(index)
        if old is not None and old.kind == kind and old.started_by(id_):
            self._note(out, "block_start_repeated", "a content block started more than once; it goes on")
            old.open = True
            self._open_blocks.add(index)
            return
        if old is not None:
            self._note(out, "block_index_shared", "several content blocks share one index")
            self._stop_block(index, out)
            self._end_call(old, out)
        block = self._latest = self._blocks[index] = Block(kind, value, id_)
        self._open_blocks.add(index)
        self._highest = max(self._highest, index) if len(self._blocks) > 1 else index
        if kind == "text":
            out.append(PartStart(0))
            self._read_text("text", value.get("text"), out)
        elif kind == "thinking":
            out.append(PartStart(0))
            self._read_thinking(block, value.get("thinking"), out)
            self._read_signature(block, value.get("signature"), out)
        elif kind == "redacted_thinking":
            out.append(PartStart(0))
            data = value.get("data")
            out.append(ReasoningDelta(0, "", kind, redacted=foreign.whole(data) if isinstance(data, str) else ""))
            self._seen = True
        elif kind == "tool_use":
            self._start_call(block, out)
        if kind in READ:
            read, _ = READ[kind]
            self._emit_extra(block, members_beside(value, read), out)
            block.forget_start()
        if kind == "redacted_thinking":
            out.append(PartStart(0))
        if kind == "tool_use":
            for text in self._unassigned.pop(index, ()):
                self._add_arguments(block, text, out)

    def _emit_extra(self, block: Block, members: JSONObject, out: list[Event], pieces: tuple[str, ...] = ()) -> None:
        """Emit the unknown members of a block; an unknown block collects them."""
        if not members:
            return
        if block.kind in READ:
            _, owner = READ[block.kind]
            self._emit_values(ExtraDelta(0, owner, "messages", members, max(block.call, 0), pieces), out)
        elif block.open:
            block.add_members(members, pieces)
        else:
            self._note(out, "delta_after_block", "a delta follows the end of its block; it is left out", hole=True)

    def _start_call(self, block: Block, out: list[Event]) -> None:
        block.call = self._calls
        self._calls += 1
        ours = not block.id or block.id in self._ids
        if not block.id:
            self._note(out, "tool_id_missing", "a tool call has no id; one was generated")
        elif ours:
            self._note(out, "tool_id_repeated", "two calls have the same id; the later one got a generated id")
        self._ids.add(block.id)
        id_, name = self._make_id() if ours else block.id, text_of(block.value.get("name")) or None
        out.append(ToolCallDelta(0, block.call, id=id_, name=name, id_is_ours=ours))
        if not is_valid(id_):
            out.append(ExtraDelta(0, "tool_call", "messages", {}, block.call))  # so that the id is sent back unchanged
        self._call_blocks.append(block)
        self._seen = True

    def _stop_block(self, index: int, out: list[Event], *, cut_off: bool = False) -> None:
        block = self._blocks.get(index)
        if block is None or not block.open:
            return
        block.open = False
        self._open_blocks.discard(index)
        if block.kind == "thinking" and not cut_off:
            self._end_thinking(block, out)
        if block.kind not in READ:
            value = block.complete_value()
            if not value:
                return
            if not block.kind:
                self._note(out, "block_without_type", "a content block has no type; it is kept unchanged")
            self._emit_values(UnknownPart(0, keepable(value)), out)
            self._seen = True

    def _end_calls(self, out: list[Event]) -> None:
        """End all calls; unassigned input goes to those without any."""
        if self._unassigned:
            self._assign_input(out)
        for block in self._call_blocks:
            self._end_call(block, out)

    def _end_call(self, block: Block, out: list[Event]) -> None:
        """Emit the input in the start of a call, and text held back.

        A stream starts a call with an empty object and sends text; a complete answer has the object only.
        """
        text, block.value = self._start_input(block), {}
        if text:
            self._add_arguments(block, text, out)
        if block.arguments is not None and (text := block.arguments.release()):
            out.append(ToolCallDelta(0, block.call, arguments=text, late=len(text)))

    def _start_input(self, block: Block) -> str:
        """Return the input in the start of a call as text; empty for the placeholders of streams."""
        start = block.value.get("input") if block.kind == "tool_use" else None
        text = foreign.whole(start) if isinstance(start, str) else "" if start is None else self._object_text(start)
        return text if self._is_whole_body or text.strip() not in ("{}", "null") else ""

    def _assign_input(self, out: list[Event]) -> None:
        """Assign input received for an index without a call to the calls without input, else to the last one."""
        inputs, self._unassigned = list(self._unassigned.values()), {}
        lacking = [block for block in self._call_blocks if not (block.is_complete or self._start_input(block))]
        replaceable = [block for block in self._call_blocks if not block.has_arguments and self._start_input(block)]
        places = lacking or replaceable
        if len(inputs) != len(places):
            places = places[-1:] * len(inputs)
        for number, fragments in enumerate(inputs):
            if places:
                for text in fragments:
                    self._add_arguments(places[number], text, out)
            elif not self._call_blocks:
                index = self._highest + 1 if self._blocks else 0
                block = self._start_unannounced({"index": index}, "input_json_delta", out)
                for text in fragments:
                    self._add_arguments(block, text, out)
                self._stop_block(index, out)
            elif self._repeats_last(text := "".join(fragments)):
                self._note(out, *REPEATED)
            else:
                self._note(out, "tool_arguments_homeless", f"{_UNASSIGNED}: {text[:60]}", hole=True)

    def _repeats_last(self, text: str) -> bool:
        """Return whether ``text`` equals the arguments of the last call."""
        arguments = self._call_blocks[-1].arguments
        return arguments is not None and arguments.equals(text)

    @staticmethod
    def _object_text(value: JSON) -> str:
        return foreign.whole(foreign.write(value))

    def _read_delta(self, value: JSONObject, out: list[Event]) -> None:
        delta = value.get("delta")
        if not isinstance(delta, dict):
            self._note(out, "delta_missing", "a block delta says nothing", hole=bool(delta))
            return
        kind = delta.get("type")
        index = value.get("index")
        block = self._blocks.get(index if type(index) is int else self._index_of(value))
        if kind == "input_json_delta" and (block is None or block.kind in _WITHOUT_INPUT):
            self._keep_unassigned(self._index_of(value), delta.get("partial_json"), out)
            return
        if block is None:
            block = self._start_unannounced(value, kind, out)
        if kind == "text_delta" and block.kind == "text":
            self._read_text("text", delta.get("text"), out)
        elif kind == "thinking_delta" and block.kind == "thinking":
            self._read_thinking(block, delta.get("thinking"), out)
        elif kind == "signature_delta" and block.kind == "thinking":
            self._read_signature(block, delta.get("signature"), out)
        elif kind == "input_json_delta" and block.kind not in _WITHOUT_INPUT:
            self._read_input(block, delta.get("partial_json"), out)
        elif kind == "citations_delta":
            citation = members_beside({"citations": delta.get("citation")}, ()).get("citations")
            if citation is not None:
                self._emit_extra(block, {"citations": [citation]}, out, ("citations",))
            return
        else:
            self._note(out, "unknown_delta", f"a block delta of an unknown kind: {text_of(kind)[:60]}")
            members = members_beside(delta, ("type",))
            self._emit_extra(block, members, out, tuple(members))
            return
        if len(delta) > 2:
            self._emit_extra(block, members_beside(delta, _DELTA), out)

    def _start_unannounced(self, value: JSONObject, kind: JSON, out: list[Event]) -> Block:
        """Start a block whose first event is a delta."""
        start = _OF_KIND.get(kind) if isinstance(kind, str) else None
        self._note(out, "block_start_missing", "a content block has no start")
        index = self._index_of(value)
        self._start_block(index, {"type": start} if start else {}, out)
        return self._blocks[index]

    def _note_wrong_shape(self, value: JSON, out: list[Event]) -> None:
        """Note a value that is not the expected block or text."""
        if value:
            self._note(out, "block_shape", "a content block is not of its shape; that is left out", hole=True)

    def _check_text(self, value: JSON, out: list[Event]) -> str:
        if not isinstance(value, str):
            self._note_wrong_shape(value, out)
            return ""
        return value

    def _read_input_text(self, place: str, text: JSON, out: list[Event]) -> str:
        """Return a fragment of the input of a call as text; ``place`` names that call."""
        if isinstance(text, dict | list):
            self._note(out, "tool_arguments_object", "the arguments of a call are JSON, not text")
            text = self._object_text(text)
        text = self._check_text(text, out)
        return self._join_halves(place, text) if text else text

    def _keep_unassigned(self, index: int, value: JSON, out: list[Event]) -> None:
        """Keep input for an index without a call until its block starts, or the message ends."""
        if text := self._read_input_text(f"input at {index}", value, out):
            self._note(out, "tool_arguments_elsewhere", "arguments of a call have the index of no call so far")
            self._unassigned.setdefault(index, []).append(text)

    def _read_input(self, block: Block, value: JSON, out: list[Event]) -> None:
        text = self._read_input_text(f"input {block.call}", value, out)
        if not text:
            return
        if block.kind == "tool_use":
            if not block.open:
                self._note(out, "tool_arguments_late", "arguments of a call follow the end of its block")
            if text.strip() == "{}" and block.is_complete:
                self._note(out, "tool_arguments_empty", "“{}” follows the arguments of a call; it is left out")
                return
            self._add_arguments(block, text, out)
        else:
            block.input = block.input or []
            block.input.append(text)

    def _add_arguments(self, block: Block, text: str, out: list[Event]) -> None:
        arguments = block.arguments = block.arguments or Arguments()
        text, odd = arguments.take_fragment(text)
        if odd is not None:
            self._note(out, *odd)
        if text or arguments.held:
            out.append(ToolCallDelta(0, block.call, arguments=text, held=arguments.held, late=arguments.late))

    def _read_text(self, kind: str, value: JSON, out: list[Event]) -> None:
        """Read text of a block of ``kind`` text or thinking."""
        text = value if isinstance(value, str) else self._check_text(value, out)
        if text and (text := self._join_halves(kind, text)):
            out.append(TextDelta(0, text) if kind == "text" else ReasoningDelta(0, text, kind))
            self._seen = True

    def _read_thinking(self, block: Block, value: JSON, out: list[Event]) -> None:
        block.thought = block.thought or bool(value)
        self._read_text("thinking", value, out)

    def _read_signature(self, block: Block, value: JSON, out: list[Event]) -> None:
        if isinstance(value, str):
            block.signature = block.signature or value[:1]
        if text := self._check_text(value, out):
            out.append(ReasoningDelta(0, "", "thinking", signature=foreign.whole(text)))
            self._seen = True

    def _end_thinking(self, block: Block, out: list[Event]) -> None:
        """Mark complete thinking without a signature to be sent back: with an empty signature, or without the member.

        Thinking that was cut off has no signature either, and is not sent back.
        """
        if block.signature or not block.thought or block is not self._latest:
            return
        if block.signature is None:
            out.append(ExtraDelta(0, "reasoning", "messages", {}))
        else:
            out.append(ReasoningDelta(0, "", "thinking", signature=""))

    # -- ends ----------------------------------------------------------------------------------------------------

    def _read_stop_reason(self, reason: JSON, out: list[Event]) -> None:
        reason = text_of(reason)
        if not reason:
            return
        if self._finish is not None:
            self._note(out, "finish_twice", "more than one stop reason was sent; the last one counts")
            if reason == self._finish:
                return
        if reason not in DOCUMENTED:
            self._note(out, "finish_reason_unknown", f"the stop reason “{reason[:60]}” is not a documented one")
        self._finish = reason
        self._stop_all_blocks(out)
        out.append(Finish(0, reason))

    def _read_usage(self, usage: JSON, out: list[Event]) -> None:
        if isinstance(usage, dict):
            if self._usage.add_report(usage, len(self._source)):
                self._emit_usage(out)
            else:
                self._note_overflow(out)  # emitted later, without its source
        elif usage:
            self._note(out, "usage_shape", "usage is not an object; it is left out")

    def _emit_usage(self, out: list[Event]) -> None:
        if (usage := self._usage.take()) is not None:
            self._emit_values(UsageReport(usage), out)

    def _flush(self, out: list[Event]) -> None:
        self._left_open = self._left_open or bool(self._open_blocks or self._unassigned)
        self._stop_all_blocks(out)
        self._emit_usage(out)

    def _stop_all_blocks(self, out: list[Event]) -> None:
        for index in sorted(self._open_blocks):
            self._stop_block(index, out, cut_off=True)
        self._end_calls(out)
        if self._halves.pop("text", ""):
            out.append(TextDelta(0, "\ufffd"))

    def _check_complete(self, out: list[Event]) -> None:
        if self._finish is None and not self.finished:
            if self._delimited and self._seen and not self._left_open:
                self._note_missing_reason(out)
            else:
                self._fail_cut_off(out)
            return
        if self._finish is None:
            self._note(out, "no_finish_reason", "the answer ended without a stop reason")
        elif not self.finished:
            self._note(out, "no_end_marker", "the stream ended without message_stop")
        if not self._seen and self._finish in _NATURAL:
            self._fail_empty(out, self._finish)
