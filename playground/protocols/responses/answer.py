"""Complete answers of the Responses API: made by hand, edited, and written as events (public protocol)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

from playground.jsonkit.foreign import text_of
from playground.jsonkit.values import JSON, JSONObject, Path
from playground.protocols.answer_format import (
    AnswerCall,
    AnswerFormat,
    AnswerText,
    MadeCall,
    MakeId,
    SetCall,
    custom_tools,
    make_random_id,
    objects,
    pieces,
    to_event,
)
from playground.protocols.responses.decode import ENDS
from playground.protocols.responses.items import CALLS, MESSAGE, REASONING

_OUTPUT: Final = "output"
_CUSTOM: Final = "custom_tool_call"
#: Stems of the events with the input of a call.
_CALL_EVENTS: Final = {"function_call": "function_call_arguments", _CUSTOM: "custom_tool_call_input"}
#: Prefixes of the ids of items.
_PREFIXES: Final = {"function_call": "fc_", _CUSTOM: "ctc_"}
#: Content parts whose text is sent in pieces, with the member that has it.
_PART_TEXTS: Final = {"output_text": "text", "refusal": "refusal", "reasoning_text": "text"}
#: Members of a response that are null until its last event.
_AT_END: Final = ("completed_at", "error", "incomplete_details", "usage")
#: Settings that a response repeats from its request, with their defaults.
_ECHOED: Final[JSONObject] = {
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "previous_response_id": None,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "text": {"format": {"type": "text"}},
    "reasoning": None,
    "temperature": 1.0,
    "top_p": 1.0,
    "top_logprobs": 0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "truncation": "disabled",
    "store": False,
    "background": False,
    "service_tier": "default",
    "metadata": {},
    "safety_identifier": None,
    "prompt_cache_key": None,
}
_NO_USAGE: Final[JSONObject] = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}

#: Writes one event of a kind.
_Write = Callable[..., bytes]


class ResponsesAnswerFormat(AnswerFormat):
    """Responses, and their events. A call does not change the status of a response."""

    call_prefix = "call_"
    calling: ClassVar[Mapping[str | None, str]] = {}
    natural: ClassVar[Mapping[str | None, str]] = {}
    error_types: ClassVar[Mapping[int, str]] = {401: "authentication_error", 404: "not_found", 429: "too_many_requests"}
    error_else = "invalid_request_error", "server_error"

    def texts(self, body: JSONObject) -> Iterator[AnswerText]:
        for place, item in objects(body.get(_OUTPUT)):
            if item.get("type") != MESSAGE:
                continue
            for number, part in objects(item.get("content")):
                member = _PART_TEXTS.get(text_of(part.get("type")), "")
                if isinstance(part.get(member), str):
                    yield AnswerText((_OUTPUT, place, "content", number, member), part[member])

    def calls(self, body: JSONObject) -> Iterator[AnswerCall]:
        for place, item in objects(body.get(_OUTPUT)):
            kind = item.get("type")
            if kind in CALLS:
                id_, name, text = (text_of(item.get(member)) for member in ("call_id", "name", CALLS[kind][0]))
                yield AnswerCall((_OUTPUT, place), id_, name, text, kind == _CUSTOM)

    def _with_call(self, entry: JSONObject, edit: SetCall) -> JSONObject:
        return {**entry, "name": edit.name, CALLS[entry["type"]][0]: edit.arguments}

    def _with_added(self, body: JSONObject, call: MadeCall, choice: int, make_id: MakeId) -> JSONObject:
        output = body.get(_OUTPUT)
        item = _call_item(call, custom_tools(body), make_id)
        return {**body, _OUTPUT: [*(output if isinstance(output, list) else ()), item]}

    def _finish_path(self, choice: int) -> Path:
        return ()

    def make(
        self,
        request: JSONObject,
        text: str,
        calls: Sequence[MadeCall] = (),
        *,
        created: int,
        make_id: MakeId = make_random_id,
    ) -> JSONObject:
        """The answer has all members that clients require, with the settings of the request."""
        output: list[JSON] = []
        if text or not calls:
            part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            message = {"type": MESSAGE, "id": make_id("msg_"), "status": "completed", "role": "assistant"}
            output.append({**message, "content": [part]})
        custom = custom_tools(request)
        for call in calls:
            id_ = call.id or make_id(self.call_prefix)
            output.append(_call_item(MadeCall(call.name, call.arguments, id_), custom, make_id))
        settings: JSONObject = {name: request.get(name, default) for name, default in _ECHOED.items()}
        return {
            "id": make_id("resp_"),
            "object": "response",
            "created_at": created,
            "completed_at": created,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "model": request.get("model"),
            _OUTPUT: output,
            **settings,
            "usage": dict(_NO_USAGE),
        }

    def last_whole(self, events: Sequence[JSONObject]) -> JSONObject | None:
        """The last event has the response. Its items are taken from their own events, as clients do.

        Servers encrypt reasoning again for the last event, and some change the ids.
        """
        responses = [event.get("response") for event in events if event.get("type") in ENDS]
        done = [event for event in events if event.get("type") == "response.output_item.done"]
        if len(responses) != 1 or not isinstance(responses[0], dict):
            return None
        output = responses[0].get(_OUTPUT)
        places = [event.get("output_index") for event in done]
        if not isinstance(output, list) or len(output) != len(done) or places != [*range(len(done))]:
            return None
        items = [event.get("item") for event in done]
        return {**responses[0], _OUTPUT: items}

    def stream(self, body: JSONObject) -> Iterator[bytes]:
        """Yield the events of one item after another; the last event has the whole response."""
        number = -1

        def write(kind: str, **members: JSON) -> bytes:
            nonlocal number
            number += 1
            name = f"response.{kind}"
            return to_event({"type": name, "sequence_number": number, **members}, name)

        unknown: JSONObject = {name: None for name in _AT_END if name in body}
        started: JSONObject = {**body, "status": "in_progress", _OUTPUT: [], **unknown}
        yield write("created", response=started)
        yield write("in_progress", response=started)
        for index, (_, item) in enumerate(objects(body.get(_OUTPUT))):
            yield from _write_item(write, index, item)
        status = body.get("status")
        yield write(status if status in ("failed", "incomplete") else "completed", response=body)

    def _error(self, message: str, kind: str) -> JSONObject:
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def error_event(self, error: JSONObject) -> bytes:
        return to_event({"type": "error", **error}, "error")


def _call_item(call: MadeCall, custom: frozenset[str], make_id: MakeId) -> JSONObject:
    """Return the item of a call."""
    kind = _CUSTOM if call.name in custom else "function_call"
    item = {"type": kind, "id": make_id(_PREFIXES[kind]), "status": "completed", "call_id": call.id}
    return {**item, "name": call.name, CALLS[kind][0]: call.arguments}


def _write_item(write: _Write, index: int, item: JSONObject) -> Iterator[bytes]:
    """Yield the events of an output item."""
    kind = text_of(item.get("type"))
    place: JSONObject = {"item_id": text_of(item.get("id")), "output_index": index}
    started = {**item, "status": "in_progress"} if "status" in item else dict(item)
    if kind in CALLS:
        member = CALLS[kind][0]
        yield write("output_item.added", output_index=index, item={**started, member: ""})
        text = text_of(item.get(member))
        for piece in pieces(text):
            yield write(f"{_CALL_EVENTS[kind]}.delta", **place, delta=piece)
        yield write(f"{_CALL_EVENTS[kind]}.done", **place, **_named(kind, item), **{member: text})
    elif kind in (MESSAGE, REASONING):
        for name in ("summary", "content"):
            if isinstance(started.get(name), list):
                started[name] = []
        started.pop("encrypted_content", None)  # it is whole only at the end of its item
        yield write("output_item.added", output_index=index, item=started)
        for number, part in objects(item.get("summary")):
            yield from _write_summary(write, {**place, "summary_index": number}, part)
        for number, part in objects(item.get("content")):
            yield from _write_part(write, {**place, "content_index": number}, part)
    else:
        yield write("output_item.added", output_index=index, item=started)
    yield write("output_item.done", output_index=index, item=item)


def _named(kind: str, item: JSONObject) -> JSONObject:
    """Return the name of a function, which the last event of its arguments repeats."""
    return {"name": item.get("name")} if kind == "function_call" else {}


def _write_summary(write: _Write, place: JSONObject, part: JSONObject) -> Iterator[bytes]:
    """Yield the events of one paragraph of a summary of reasoning."""
    text = text_of(part.get("text"))
    yield write("reasoning_summary_part.added", **place, part={**part, "text": ""})
    for piece in pieces(text):
        yield write("reasoning_summary_text.delta", **place, delta=piece)
    yield write("reasoning_summary_text.done", **place, text=text)
    yield write("reasoning_summary_part.done", **place, part=part)


def _write_part(write: _Write, place: JSONObject, part: JSONObject) -> Iterator[bytes]:
    """Yield the events of one part of the content of an item."""
    kind = text_of(part.get("type"))
    member = _PART_TEXTS.get(kind)
    if member is None:
        yield write("content_part.added", **place, part=part)
        yield write("content_part.done", **place, part=part)
        return
    text = text_of(part.get(member))
    logprobs: JSONObject = {"logprobs": []} if kind == "output_text" else {}
    empty: JSONObject = {name: [] for name in ("annotations", "logprobs") if name in part}
    yield write("content_part.added", **place, part={**part, member: "", **empty})
    for piece in pieces(text):
        yield write(f"{kind}.delta", **place, delta=piece, **logprobs)
    annotations = part.get("annotations")
    for number, annotation in enumerate(annotations if isinstance(annotations, list) else ()):
        yield write("output_text.annotation.added", **place, annotation_index=number, annotation=annotation)
    whole = {"logprobs": part.get("logprobs") or []} if kind == "output_text" else {}
    yield write(f"{kind}.done", **place, **{member: text}, **whole)
    yield write("content_part.done", **place, part=part)
