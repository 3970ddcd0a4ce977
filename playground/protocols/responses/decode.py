"""Decode answers of the Responses protocol, streamed or not, into events.

A slot for each output item, found by ``output_index``, collects its pieces; ``response.output_item.done`` has the whole
item and overrides them. The texts of an item are parts of their own at their places, so that items may arrive mixed.
Items that a gateway ran itself, and unknown ones, are kept whole. No bytes make the decoder raise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from playground.domain.events import (
    AnswerMembers,
    Event,
    ExtraDelta,
    Finish,
    Opened,
    PartStart,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    UnknownPart,
    UsageReport,
)
from playground.domain.usage import Usage
from playground.jsonkit import foreign
from playground.jsonkit.foreign import amount_of, count_of, keepable, members_beside, text_of
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols import verdicts
from playground.protocols.decoding import Decoder
from playground.protocols.error_fields import looks_like_error
from playground.protocols.errors import read_error
from playground.protocols.responses.items import (
    CALLS,
    CONTINUES,
    DIGEST,
    HELD,
    ITEM,
    MESSAGE,
    NAME,
    REASONING,
    TEXTS,
    Slot,
    TextKey,
    digest,
    item_marks,
    part_marks,
    reasoning_texts,
)
from playground.protocols.sse import DEFAULT_CAP

#: Events that end a stream; each has the whole response.
ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_STARTS: Final = frozenset({"response.created", "response.in_progress", "response.queued"})

#: Texts by the stem of their events: the kind of the text, the kind of its item, the member of ``.done``, the index.
_TEXT_EVENTS: Final = {
    "output_text": ("output_text", MESSAGE, "text", "content_index"),
    "refusal": ("refusal", MESSAGE, "refusal", "content_index"),
    "reasoning_summary_text": ("summary_text", REASONING, "text", "summary_index"),
    "reasoning_text": ("reasoning_text", REASONING, "text", "content_index"),
    "reasoning": ("reasoning_text", REASONING, "text", "content_index"),
    "function_call_arguments": ("arguments", "function_call", "arguments", ""),
    "custom_tool_call_input": ("input", "custom_tool_call", "input", ""),
    "code_interpreter_call_code": ("code", "code_interpreter_call", "code", ""),
    "mcp_call_arguments": ("arguments", "mcp_call", "arguments", ""),
}
_TEXT_EVENT: Final = re.compile(rf"response\.({'|'.join(_TEXT_EVENTS)})\.(delta|done)")
#: Progress of an item, which its end repeats, and events without content.
_PROGRESS: Final = re.compile(
    r"response\.(?:\w+_call|mcp_list_tools|compaction|shell_call_\w+|apply_patch_call_\w+|audio)(?:\.\w+)+|keepalive|ping"
    r"|[\w-]+:.*"  # a vendor's own, by Open Responses
)
_ARGUMENTS: Final = frozenset({"arguments", "input", "code"})

#: Members of a response that repeat the request, and those that are read.
_ECHOED: Final = frozenset(
    """
    id object created_at completed_at status error incomplete_details instructions max_output_tokens max_tool_calls
    model output output_text parallel_tool_calls previous_response_id reasoning store temperature text tool_choice tools
    top_logprobs top_p truncation usage user metadata background service_tier safety_identifier prompt_cache_key
    prompt_cache_retention presence_penalty frequency_penalty moderation conversation prompt include logprobs
    """.split()  # noqa: SIM905 - a list of forty strings reads worse
)
_OF_EVENT: Final = frozenset({"type", "response", "sequence_number"})


def read_usage(value: JSONObject) -> Usage:
    """Return the counts of a usage object; its details are parts of the totals."""
    input_details, output_details = value.get("input_tokens_details"), value.get("output_tokens_details")
    return Usage(
        prompt=count_of(value.get("input_tokens")),
        completion=count_of(value.get("output_tokens")),
        total=count_of(value.get("total_tokens")),
        cached=count_of(input_details.get("cached_tokens")) if isinstance(input_details, dict) else None,
        reasoning=count_of(output_details.get("reasoning_tokens")) if isinstance(output_details, dict) else None,
        cost=amount_of(value.get("cost")),
        raw=members_beside(value, (), empty=True),
    )


class ResponsesDecoder(Decoder):
    """Decoder of one body of the Responses protocol."""

    _protocol = NAME
    _end_marker = "response.completed"

    def __init__(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> None:
        super().__init__(content_type, cap, make_id)
        self._slots: list[Slot] = []
        self._by_index: dict[int, Slot] = {}
        self._by_name: dict[str, Slot] = {}  # by its id, and that of its call
        self._ids: set[str] = set()  # of calls
        self._calls = 0
        self._place: tuple[int, ...] | None = None  # where the last fragment went
        self._opened = False
        self._status = ""
        self._has_content = False

    # -- one object ----------------------------------------------------------------------------------------------

    def _read_object(self, value: JSONObject, event: str | None, out: list[Event]) -> None:
        kind = text_of(value.get("type")) or (event or "")
        if match := _TEXT_EVENT.fullmatch(kind):
            self._objects += 1
            self._read_text_event(match[1], value, out, is_done=match[2] == "done")
        elif kind in _STARTS or kind in ENDS:
            self._objects += 1
            response = value.get("response")
            self._open_response(response if isinstance(response, dict) else {}, out)
            if kind in ENDS:
                self._end_response(response if isinstance(response, dict) else {}, kind.partition(".")[2], out)
                self._emit_members("answer", members_beside(value, _OF_EVENT), out)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._objects += 1
            self._read_item_event(value, out, is_done=kind.endswith("done"))
        elif kind.startswith(("response.content_part.", "response.reasoning_summary_part.")):
            self._objects += 1
            self._read_part_event(value, out, is_summary="summary" in kind)
        elif kind == "response.output_text.annotation.added":
            key = ("output_text", _index(value, "content_index"))
            self._add_member(self._slot(value, MESSAGE, out), key, "annotations", [value.get("annotation")])
        elif value.get("object") == "response":
            self._read_response(value, out)
        elif kind == "error" or (not kind and looks_like_error(value)):
            self._read_error_or_remark(value, out)
        elif _PROGRESS.fullmatch(kind) or self._is_foreign(value, out):
            return
        elif self._is_whole_body:
            self._fail(out, verdicts.no_answer("no response: its object is not “response”", self._source))
        else:
            note = f"an event of an unknown kind: {kind[:60] or 'without a type'}"
            self._strange = self._strange or f"{note}: {foreign.whole(self._source[:120])}"
            self._note(out, "unknown_event", note)

    def _open_response(self, response: JSONObject, out: list[Event]) -> None:
        id_, model = text_of(response.get("id")), text_of(response.get("model"))
        if not self._opened and (id_ or model):
            self._opened = True
            out.append(Opened(id_, model))

    def _read_response(self, response: JSONObject, out: list[Event]) -> None:
        """Read a complete answer: the body of a request without streaming."""
        self._objects += 1
        if not self._is_whole_body:
            self._note(out, "response_in_stream", "a whole response is inside the stream")
        self._open_response(response, out)
        self._end_response(response, text_of(response.get("status")) or "completed", out)

    def _end_response(self, response: JSONObject, status: str, out: list[Event]) -> None:
        """Read the whole response at the end: items that never came as events, usage, and how it ended."""
        if self._status:
            self._note(out, "end_twice", "the response ended more than once")
            return
        self._add_missing_items(response.get("output"), out)
        status = text_of(response.get("status")) or status
        self._read_usage(response.get("usage"), out)
        self._emit_members("answer", members_beside(response, _ECHOED), out)
        details = response.get("incomplete_details")
        reason = text_of(details.get("reason")) if isinstance(details, dict) else ""
        self._flush(out)
        if status == "failed" or (isinstance(response.get("error"), dict) and not self._failed):
            self._status = "failed"
            if not self._failed:  # an event “error” reported it before
                error = response.get("error")
                self._fail(out, read_error({"error": error if isinstance(error, dict) else {}}, text=self._source))
        else:
            self._status = reason or status
            out.append(Finish(0, self._status))
        if not self._is_whole_body:
            self._end_stream(out)

    def _end_stream(self, out: list[Event]) -> None:
        """End the answer. “[DONE]” may follow the last event, and is no end without one."""
        if not self.finished:
            super()._end_stream(out)

    def _emit_members(self, owner: str, members: JSONObject, out: list[Event]) -> None:
        if members:
            self._emit_values(AnswerMembers(0, owner, NAME, members), out)

    def _read_usage(self, usage: JSON, out: list[Event]) -> None:
        if isinstance(usage, dict):
            self._emit_values(UsageReport(read_usage(usage)), out)
        elif usage:
            self._note(out, "usage_shape", "usage is not an object; it is left out")

    # -- slots -----------------------------------------------------------------------------------------------------

    def _find_slot(self, value: JSONObject, item: JSONObject, kind: str) -> Slot | None:
        """Return the slot of an event or item: by index, id, id of the call, or the last open one of a kind."""
        index = value.get("output_index")
        if type(index) is int:
            return self._by_index.get(index)
        id_, call_id = text_of(item.get("id")) or text_of(value.get("item_id")), text_of(item.get("call_id"))
        by_kind = (slot for slot in reversed(self._slots) if slot.kind == kind and not slot.is_done)
        return self._by_name.get(id_) or self._by_name.get(call_id) or next(by_kind, None)

    def _slot(self, value: JSONObject, kind: str, out: list[Event]) -> Slot:
        """Return the slot of an event about an item of a kind; a new one if the item never began."""
        slot = self._find_slot(value, {}, kind)
        if slot is None:
            self._note(out, "item_start_missing", "an item has no start")
            slot = self._start_item({"type": kind, "id": text_of(value.get("item_id"))}, value.get("output_index"), out)
        return slot

    def _start_item(
        self, item: JSONObject, index: JSON, out: list[Event], order: tuple[int, ...] | None = None
    ) -> Slot:
        kind, number = text_of(item.get("type")), len(self._slots)
        slot = Slot(order or (index if type(index) is int else number, number), kind, item, text_of(item.get("id")))
        self._slots.append(slot)
        self._by_name |= {name: slot for name in (slot.id, text_of(item.get("call_id"))) if name}
        if type(index) is int:
            self._by_index[index] = slot
        if kind in CALLS:
            slot.call = self._calls
            self._calls += 1
            self._go_to(slot.place((CALLS[kind][0], 0)), out)
            self._name_call(slot, item, out)
        elif kind not in (MESSAGE, REASONING):
            self._show_item(slot, item, out)
        return slot

    def _show_item(self, slot: Slot, item: JSONObject, out: list[Event]) -> None:
        """Emit an item that is kept whole, with the texts received so far."""
        self._go_to((*slot.order, 0), out)
        texts = {name: "".join(pieces) for (name, _), pieces in slot.pieces.items()}
        self._emit_values(UnknownPart(0, keepable({**item, **texts} if texts and not slot.is_done else item)), out)
        self._place = None
        self._has_content = True

    def _name_call(self, slot: Slot, item: JSONObject, out: list[Event]) -> None:
        """Emit the id and name of a call as soon as they are known."""
        id_, name = text_of(item.get("call_id")), text_of(item.get("name"))
        is_first = not slot.call_id
        if (not is_first and id_ in ("", slot.call_id)) and name in ("", slot.name):
            return
        id_ = id_ if is_first or id_ not in self._ids else slot.call_id
        is_ours = is_first and (not id_ or id_ in self._ids)
        if is_ours and id_:
            self._note(out, "tool_id_repeated", "two calls have the same id; the later one got a generated id")
        elif is_ours:
            self._note(out, "tool_id_missing", "a tool call has no id; one was generated")
        id_ = self._make_id() if is_ours else id_ or slot.call_id
        slot.call_id, slot.name = id_, name or slot.name
        self._ids.add(id_)
        is_text = slot.kind == "custom_tool_call"
        out.append(ToolCallDelta(0, slot.call, id=id_, name=slot.name or None, id_is_ours=is_ours, free_text=is_text))
        self._has_content = True

    # -- texts -----------------------------------------------------------------------------------------------------

    def _go_to(self, place: tuple[int, ...], out: list[Event], *, clear: bool = False) -> None:
        if place != self._place or clear:
            self._place = place
            out.append(PartStart(0, place, clear))

    def _add_text(self, slot: Slot, key: TextKey, value: JSON, out: list[Event], *, clear: bool = False) -> None:
        """Add a fragment of a text, or with ``clear`` the complete text in place of all fragments."""
        if isinstance(value, dict | list) and key[0] == "arguments" and value:
            self._note(out, "tool_arguments_object", "the arguments of a call are JSON, not text")
            value = foreign.write(value)
        if not isinstance(value, str):
            if value:
                self._note(out, "text_shape", "a text is not a string; it is left out", hole=True)
            return
        if not value:
            return
        if clear:
            slot.pieces[key] = []
        slot.pieces.setdefault(key, []).append(value)
        self._has_content = True
        if slot.call < 0 and key[0] in _ARGUMENTS:  # of an item that is kept whole, and shown at its end
            return
        # Raw reasoning is one text: vLLM counts ``content_index`` up with each fragment.
        place = slot.place(("reasoning_text", 0) if key[0] == "reasoning_text" else key)
        self._go_to(place, out, clear=clear)
        if clear:
            self._halves.pop(place, None)
        out.append(self._delta(slot, key[0], self._join_halves(place, value)))

    @staticmethod
    def _delta(slot: Slot, kind: str, text: str) -> Event:
        if slot.call >= 0:
            return ToolCallDelta(0, slot.call, arguments=text)
        if kind == "refusal":
            return RefusalDelta(0, text)
        return TextDelta(0, text) if kind == "output_text" else ReasoningDelta(0, text, kind)

    def _finish_text(self, slot: Slot, key: TextKey, value: JSON, out: list[Event]) -> None:
        """Take the complete text: add what is missing of it, or replace the fragments if it is another one."""
        text = value if isinstance(value, str) else foreign.write(value) if isinstance(value, dict) else ""
        received = slot.text(key)
        if not text or text == received or (key[0] == "arguments" and _is_same_json(text, received)):
            return
        if text.startswith(received):
            self._add_text(slot, key, text[len(received) :], out)
            return
        self._note(out, "text_differs", "the complete text of an item differs from its fragments; it replaces them")
        self._add_text(slot, key, text, out, clear=True)

    def _read_text_event(self, stem: str, value: JSONObject, out: list[Event], *, is_done: bool) -> None:
        kind, item_kind, member, index = _TEXT_EVENTS[stem]
        slot = self._slot(value, item_kind, out)
        key = (kind, _index(value, index))
        if is_done and (kind != "reasoning_text" or not slot.pieces):
            self._finish_text(slot, key, value.get(member), out)
        elif not is_done:
            if slot.is_done:
                self._note(out, "delta_after_item", "a fragment follows the end of its item")
            self._add_text(slot, key, value.get("delta"), out)
        if not is_done and isinstance(value.get("logprobs"), list):
            self._add_member(slot, key, "logprobs", value["logprobs"])

    def _read_part_event(self, value: JSONObject, out: list[Event], *, is_summary: bool) -> None:
        part = value.get("part")
        kind = text_of(part.get("type")) if isinstance(part, dict) else ""
        if not isinstance(part, dict) or not (kind in TEXTS or is_summary):
            return
        if text := part.get(TEXTS.get(kind, "text")):
            slot = self._slot(value, REASONING if is_summary else MESSAGE, out)
            index = _index(value, "summary_index" if is_summary else "content_index")
            self._finish_text(slot, _key("summary_text" if is_summary else kind, index), text, out)

    @staticmethod
    def _add_member(slot: Slot, key: TextKey, name: str, values: list[JSON]) -> None:
        if values:
            slot.members.setdefault(key, {}).setdefault(name, []).extend(values)

    # -- items -----------------------------------------------------------------------------------------------------

    def _read_item_event(self, value: JSONObject, out: list[Event], *, is_done: bool) -> None:
        item, index = value.get("item"), value.get("output_index")
        if not isinstance(item, dict):
            if item:
                self._note(out, "item_shape", "an item is not an object; it is left out", hole=True)
            return
        kind = text_of(item.get("type"))
        slot = self._find_slot(value, item, kind if is_done else "")
        if slot is not None and not is_done and slot.id != text_of(item.get("id")):
            self._note(out, "item_index_shared", "several items share one output_index")
            slot = None
        if slot is None or slot.kind != kind:
            if is_done:
                self._note(out, "item_start_missing", "an item has no start")
            slot = self._start_item(item, index, out)
        elif not is_done:
            self._note(out, "item_start_repeated", "an item started more than once; it goes on")
        if is_done and slot.is_done:
            self._note(out, "item_end_repeated", "an item ended more than once; its first end counts")
        elif is_done:
            self._finish_item(slot, item, out)

    def _match_items(self, items: list[JSONObject]) -> list[Slot | None]:
        """Return the slot of each item of the whole response: by its ids, which may change at the end, or its kind."""
        by_kind: dict[str, list[Slot]] = {}
        for slot in self._slots[::-1]:
            by_kind.setdefault(slot.kind, []).append(slot)
        matched: set[int] = set()
        matches: list[Slot | None] = []
        for item in items:
            match = self._by_name.get(text_of(item.get("id"))) or self._by_name.get(text_of(item.get("call_id")))
            same_kind = by_kind.get(text_of(item.get("type")), [])
            while (match is None or id(match) in matched) and same_kind:
                match = same_kind.pop()
            match = match if match is not None and id(match) not in matched else None
            matches.append(match)
            matched.add(id(match))
        return matches

    def _add_missing_items(self, output: JSON, out: list[Event]) -> None:
        """Add the items of the whole response that never came as events, in their order."""
        items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
        matches = self._match_items(items)
        following: tuple[int, ...] = (len(items) + len(self._slots), 0)
        orders = []  # of the next item that came as events, for each from the last one on
        for match in reversed(matches):
            following = match.order if match is not None else following
            orders.append(following)
        for number, (item, match) in enumerate(zip(items, matches, strict=True)):
            order = (*orders.pop(), number - len(items))
            slot = match or self._start_item(item, None, out, order)
            if not slot.is_done:
                self._finish_item(slot, item, out)

    def _finish_item(self, slot: Slot, item: JSONObject, out: list[Event]) -> None:
        """Read a complete item: its texts, and the members that no part holds."""
        slot.is_done = True
        marks = item_marks(item, HELD.get(slot.kind, ()))
        if slot.call >= 0:
            member, _ = CALLS[slot.kind]
            self._name_call(slot, item, out)
            self._finish_text(slot, (member, 0), item.get(member), out)
            out.append(ExtraDelta(0, "tool_call", NAME, marks, slot.call))
        elif slot.kind == REASONING:
            self._finish_reasoning(slot, item, marks, out)
        elif slot.kind == MESSAGE:
            self._finish_message(slot, item, marks, out)
        else:
            self._show_item(slot, item, out)
        slot.pieces.clear()

    def _finish_message(self, slot: Slot, item: JSONObject, marks: JSONObject, out: list[Event]) -> None:
        content = item.get("content")
        parts = content if isinstance(content, list) else [{"type": "output_text", "text": content}] if content else []
        extras: dict[TextKey, JSONObject] = {key: dict(slot.members.get(key, {})) for key in slot.pieces}
        for index, part in enumerate(parts):
            kind = text_of(part.get("type")) if isinstance(part, dict) else ""
            if kind in TEXTS:
                member, key = TEXTS[kind], _key(kind, index)
                self._finish_text(slot, key, part.get(member), out)
                extras[key] = part_marks(part, ("type", member))
            elif isinstance(part, dict):
                self._go_to(slot.place((kind, index)), out)
                self._emit_values(UnknownPart(0, keepable({**item, "content": [part]})), out)
                self._place, self._has_content = None, True
        for key, extra in extras.items():
            self._go_to(slot.place(key), out)
            owner = "refusal" if key[0] == "refusal" else "text"
            checksum = digest(foreign.whole(slot.text(key)))
            self._emit_values(ExtraDelta(0, owner, NAME, {**extra, **marks, DIGEST: checksum}), out)
            marks = {CONTINUES: True}

    def _finish_reasoning(self, slot: Slot, item: JSONObject, marks: JSONObject, out: list[Event]) -> None:
        summary, content = item.get("summary"), item.get("content")
        for index, part in enumerate(summary if isinstance(summary, list) else ()):
            self._finish_text(slot, ("summary_text", index), part.get("text") if isinstance(part, dict) else part, out)
        text = reasoning_texts(content)
        received = "".join("".join(pieces) for key, pieces in slot.pieces.items() if key[0] == "reasoning_text")
        if text and text != received:
            slot.pieces = {key: pieces for key, pieces in slot.pieces.items() if key[0] != "reasoning_text"}
            slot.pieces[("reasoning_text", 0)] = [received] if received else []
            self._finish_text(slot, ("reasoning_text", 0), text, out)
        if "content" in item and content != [{"type": "reasoning_text", "text": text}]:
            marks[ITEM] |= members_beside({"content": content}, (), empty=True)  # another shape than the usual one
        self._go_to((*slot.order, 0), out)
        self._emit_values(ExtraDelta(0, REASONING, NAME, marks), out)
        self._has_content = self._has_content or bool(marks[ITEM].get("encrypted_content"))
        for key, ordinal in slot.ordinals.items():
            if ordinal:
                self._go_to(slot.place(key), out)
                out.append(ExtraDelta(0, REASONING, NAME, {CONTINUES: True}))

    # -- ends ----------------------------------------------------------------------------------------------------

    def _flush(self, out: list[Event]) -> None:
        """End items that were cut off: their last states are unfinished and not kept, their ids are."""
        for slot in self._slots:
            if not slot.is_done and slot.kind in HELD:
                names = ("type", "id", "phase", "namespace") if slot.kind == MESSAGE else ("id", "namespace")
                began = {name: slot.item[name] for name in names if slot.item.get(name)}
                self._finish_item(slot, began, out)
            elif not slot.is_done and slot.pieces:
                self._show_item(slot, slot.item, out)
        self._halves.clear()

    def _check_complete(self, out: list[Event]) -> None:
        if not self._status:
            self._fail_cut_off(out)
        elif not self._has_content and self._status == "completed":
            self._fail_empty(out, self._status)


def _key(kind: str, index: int) -> TextKey:
    return kind if kind in ("refusal", "summary_text") else "output_text", index


def _index(value: JSONObject, name: str) -> int:
    index = value.get(name) if name else 0
    return index if type(index) is int else 0


def _is_same_json(text: str, received: str) -> bool:
    """Return whether two texts of arguments are the same JSON."""
    if text.strip() == "{}" and not received.strip():
        return False
    try:
        return same(foreign.parse(text), foreign.parse(received))
    except ValueError:
        return False
