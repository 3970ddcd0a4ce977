"""Complete answers of the Messages API: made by hand, edited, and written as events (public protocol)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from playground.jsonkit import foreign
from playground.jsonkit.foreign import text_of
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject, Path
from playground.protocols.answer_format import (
    AnswerCall,
    AnswerFormat,
    AnswerText,
    MadeCall,
    MakeId,
    SetCall,
    make_random_id,
    objects,
    pieces,
    to_event,
    with_value,
)

_CONTENT: Final = "content"
_CALL: Final = "tool_use"
#: Members of a message that its stream has in the last delta.
_AT_END: Final = ("stop_reason", "stop_sequence", "stop_details", "container")
_BESIDE_DELTA: Final = ("context_management",)
#: Texts of blocks that are sent in pieces: the type of a delta by type of the block.
_DELTAS: Final = {"text": "text_delta", "thinking": "thinking_delta"}


class MessagesAnswerFormat(AnswerFormat):
    """Messages, and their events."""

    call_prefix = "toolu_"
    calling: ClassVar[Mapping[str | None, str]] = {_CALL: "end_turn"}
    natural: ClassVar[Mapping[str | None, str]] = {"end_turn": _CALL, "stop_sequence": _CALL, None: _CALL}
    error_types: ClassVar[Mapping[int, str]] = {
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        504: "timeout_error",
        529: "overloaded_error",
    }
    error_else = "invalid_request_error", "api_error"

    def texts(self, body: JSONObject) -> Iterator[AnswerText]:
        for place, block in objects(body.get(_CONTENT)):
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                yield AnswerText((_CONTENT, place, "text"), block["text"])

    def calls(self, body: JSONObject) -> Iterator[AnswerCall]:
        for place, block in objects(body.get(_CONTENT)):
            if block.get("type") == _CALL:
                arguments = foreign.write(block.get("input", {}))
                yield AnswerCall((_CONTENT, place), text_of(block.get("id")), text_of(block.get("name")), arguments)

    def _with_call(self, entry: JSONObject, edit: SetCall) -> JSONObject:
        return {**entry, "name": edit.name, "input": _read_input(edit.name, edit.arguments)}

    def _with_added(self, body: JSONObject, call: MadeCall, choice: int, make_id: MakeId) -> JSONObject:
        content = body.get(_CONTENT)
        return {**body, _CONTENT: [*(content if isinstance(content, list) else ()), _block(call)]}

    def _finish_path(self, choice: int) -> Path:
        return ("stop_reason",)

    def _with_finish(self, body: JSONObject, choice: int, *, has_calls: bool) -> JSONObject:
        """Remove the stop sequence together with the reason that names it."""
        result = super()._with_finish(body, choice, has_calls=has_calls)
        is_changed = result.get("stop_reason") != body.get("stop_reason")
        if is_changed and result.get("stop_sequence") is not None:
            result = with_value(result, ("stop_sequence",), None)
        return result

    def make(
        self,
        request: JSONObject,
        text: str,
        calls: Sequence[MadeCall] = (),
        *,
        created: int,
        make_id: MakeId = make_random_id,
    ) -> JSONObject:
        """The protocol has no time; clients require usage."""
        content: list[JSON] = [{"type": "text", "text": text}] if text or not calls else []
        for call in calls:
            content.append(_block(MadeCall(call.name, call.arguments, call.id or make_id(self.call_prefix))))
        return {
            "id": make_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": request.get("model"),
            _CONTENT: content,
            "stop_reason": _CALL if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }

    def stream(self, body: JSONObject) -> Iterator[bytes]:
        """Yield the events of one block after another; the last delta has the stop reason and the usage."""
        usage = body.get("usage")
        start: JSONObject = {
            **{name: value for name, value in body.items() if name not in (*_AT_END[2:], *_BESIDE_DELTA)},
            _CONTENT: [],
            "stop_reason": None,
            "stop_sequence": None,
        }
        if isinstance(usage, dict):
            start["usage"] = {**usage, "output_tokens": 0}
        yield _event("message_start", message=start)
        for index, (_, block) in enumerate(objects(body.get(_CONTENT))):
            started, deltas = _split(block)
            yield _event("content_block_start", index=index, content_block=started)
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        delta = {"stop_reason": None, "stop_sequence": None, **{name: body[name] for name in _AT_END if name in body}}
        more = {name: body[name] for name in _BESIDE_DELTA if name in body}
        yield _event("message_delta", delta=delta, **({"usage": usage} if usage is not None else {}), **more)
        yield _event("message_stop")

    def _error(self, message: str, kind: str) -> JSONObject:
        return {"type": "error", "error": {"type": kind, "message": message}}

    def error_event(self, error: JSONObject) -> bytes:
        return to_event(error, "error")


def _event(kind: str, **members: JSON) -> bytes:
    return to_event({"type": kind, **members}, kind)


def _read_input(name: str, arguments: str) -> JSONObject:
    """Return arguments as an object. Raises ValueError for any other text."""
    try:
        value = parse_json(arguments) if arguments.strip() else {}
    except ValueError as error:
        raise ValueError(f"the arguments of {name} are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"the arguments of {name} must be a JSON object; the Messages API has no other form")
    return value


def _block(call: MadeCall) -> JSONObject:
    """Return the block of a call."""
    return {"type": _CALL, "id": call.id, "name": call.name, "input": _read_input(call.name, call.arguments)}


def _split(block: JSONObject) -> tuple[JSONObject, list[JSONObject]]:
    """Return a block as its start has it, and the deltas that complete it."""
    kind = block.get("type")
    if kind == _CALL and "input" in block:
        fragments = pieces(foreign.whole(foreign.write(block["input"])))
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text} for text in fragments]
    if not isinstance(kind, str) or not isinstance(block.get(kind), str) or kind not in _DELTAS:
        return block, []
    started = {**block, kind: ""}
    deltas: list[JSONObject] = [{"type": _DELTAS[kind], kind: text} for text in pieces(block[kind])]
    if kind == "text" and isinstance(block.get("citations"), list):
        started["citations"] = []
        deltas += [{"type": "citations_delta", "citation": citation} for citation in block["citations"]]
    if kind == "thinking" and isinstance(block.get("signature"), str):
        started["signature"] = ""
        if block["signature"]:
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
    return started, deltas
