"""Complete answers of chat completions: made by hand, edited, and written as chunks (sections 2.4 and 2.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    value_at,
    with_value,
    without_value,
)
from playground.protocols.chat.reasoning import FIELDS

_END: Final = b"data: [DONE]\n\n"
_CHOICES: Final = "choices"
_MESSAGE: Final = "message"
_CALLS: Final = "tool_calls"
_OLD_CALL: Final = "function_call"  # of the form before tools
_CUSTOM: Final = "custom"
#: Texts of a message that are sent in pieces, in the order of a stream: reasoning precedes the answer.
_TEXTS: Final = (*FIELDS, "content", "refusal")
#: The member with the input of a call, by the member of the call that has it.
_INPUTS: Final = {"function": "arguments", _CUSTOM: "input"}
_NO_USAGE: Final = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class ChatAnswerFormat(AnswerFormat):
    """Completion objects, and chunks."""

    call_prefix = "call_"
    calling: ClassVar[Mapping[str | None, str]] = {"tool_calls": "stop", _OLD_CALL: "stop"}
    natural: ClassVar[Mapping[str | None, str]] = {"stop": "tool_calls", None: "tool_calls"}
    error_types: ClassVar[Mapping[int, str]] = {
        401: "authentication_error",
        404: "not_found_error",
        429: "rate_limit_error",
    }
    error_else = "invalid_request_error", "server_error"

    def texts(self, body: JSONObject) -> Iterator[AnswerText]:
        """Yield the content and the refusal of each choice; content that is null is an empty text."""
        for place, choice in objects(body.get(_CHOICES)):
            message = choice.get(_MESSAGE)
            if not isinstance(message, dict):
                continue
            path: Path = (_CHOICES, place, _MESSAGE, "content")
            content = message.get("content")
            if content is None or isinstance(content, str):
                yield AnswerText(path, content or "")
            for number, part in objects(content):
                if isinstance(part.get("text"), str):
                    yield AnswerText((*path, number, "text"), part["text"])
            if isinstance(message.get("refusal"), str):
                yield AnswerText((_CHOICES, place, _MESSAGE, "refusal"), message["refusal"])

    def calls(self, body: JSONObject) -> Iterator[AnswerCall]:
        for place, choice in objects(body.get(_CHOICES)):
            path: Path = (_CHOICES, place, _MESSAGE)
            for number, entry in objects(value_at(choice, (_MESSAGE, _CALLS))):
                owner = _owner(entry)
                inner = entry.get(owner)
                inner = inner if isinstance(inner, dict) else {}
                name, text = text_of(inner.get("name")), text_of(inner.get(_INPUTS[owner]))
                yield AnswerCall((*path, _CALLS, number), text_of(entry.get("id")), name, text, owner == _CUSTOM)
            old = value_at(choice, (_MESSAGE, _OLD_CALL))
            if isinstance(old, dict):
                yield AnswerCall((*path, _OLD_CALL), "", text_of(old.get("name")), text_of(old.get("arguments")))

    def _choice_of(self, path: Path) -> int:
        place = path[1]
        return place if isinstance(place, int) else 0

    def _with_call(self, entry: JSONObject, edit: SetCall) -> JSONObject:
        owner = _owner(entry)
        if owner not in entry:  # of the form before tools
            return {**entry, "name": edit.name, "arguments": edit.arguments}
        inner = entry[owner] if isinstance(entry[owner], dict) else {}
        return {**entry, owner: {**inner, "name": edit.name, _INPUTS[owner]: edit.arguments}}

    def _without_call(self, body: JSONObject, path: Path) -> JSONObject:
        """Remove the list with its last call, and let an answer without anything have an empty content."""
        without_last, message_path = without_value(body, path), path[:3]
        message = value_at(without_last, message_path)
        if message.get(_CALLS) == []:
            message = {name: value for name, value in message.items() if name != _CALLS}
        if message.get("content") is None and _CALLS not in message and not message.get("refusal"):
            message = {**message, "content": ""}
        result: JSONObject = with_value(without_last, message_path, message)
        return result

    def _with_added(self, body: JSONObject, call: MadeCall, choice: int, make_id: MakeId) -> JSONObject:
        path: Path = (_CHOICES, choice, _MESSAGE)
        message = value_at(body, path)
        if not isinstance(message, dict):
            raise ValueError(f"the answer has no choice {choice}")
        calls = message.get(_CALLS)
        entries = [*(calls if isinstance(calls, list) else ()), _entry(call, frozenset())]
        result: JSONObject = with_value(body, path, {**message, _CALLS: entries})
        return result

    def _finish_path(self, choice: int) -> Path:
        return _CHOICES, choice, "finish_reason"

    def make(
        self,
        request: JSONObject,
        text: str,
        calls: Sequence[MadeCall] = (),
        *,
        created: int,
        make_id: MakeId = make_random_id,
    ) -> JSONObject:
        """Each of the requested choices says the answer."""
        custom = custom_tools(request)
        n = request.get("n")
        choices: list[JSON] = []
        for index in range(min(n, 128) if type(n) is int and n > 1 else 1):
            message: JSONObject = {"role": "assistant", "content": text if text or not calls else None, "refusal": None}
            if calls:
                ids = [call.id if call.id and not index else make_id(self.call_prefix) for call in calls]
                own_calls = [MadeCall(call.name, call.arguments, id_) for call, id_ in zip(calls, ids, strict=True)]
                message[_CALLS] = [_entry(call, custom) for call in own_calls]
            reason = "tool_calls" if calls else "stop"
            choices.append({"index": index, _MESSAGE: message, "logprobs": None, "finish_reason": reason})
        body: JSONObject = {
            "id": make_id("chatcmpl-"),
            "object": "chat.completion",
            "created": created,
            "model": request.get("model"),
            _CHOICES: choices,
        }
        wants_usage = not request.get("stream") or value_at(request, ("stream_options", "include_usage")) is True
        return {**body, "usage": dict(_NO_USAGE)} if wants_usage else body

    def stream(self, body: JSONObject) -> Iterator[bytes]:
        """Yield the chunks of one choice after another; usage follows in a chunk without choices."""
        head: JSONObject = {name: body[name] for name in ("id", "object", "created", "model") if name in body}
        head["object"] = "chat.completion.chunk"
        more = {name: value for name, value in body.items() if name not in head and name not in (_CHOICES, "usage")}
        for place, choice in objects(body.get(_CHOICES)):
            index = choice.get("index", place)
            message = choice.get(_MESSAGE)
            for members in _choice_members(choice, message if isinstance(message, dict) else {}):
                yield to_event({**head, **more, _CHOICES: [{"index": index, **members}]})
                more = {}
        if body.get("usage") is not None:
            yield to_event({**head, **more, _CHOICES: [], "usage": body["usage"]})
        yield _END

    def _error(self, message: str, kind: str) -> JSONObject:
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def error_event(self, error: JSONObject) -> bytes:
        return to_event(error)


def _owner(entry: JSONObject) -> str:
    """Return the member of a call that has its name and its input."""
    return _CUSTOM if isinstance(entry.get(_CUSTOM), dict) else "function"


def _entry(call: MadeCall, custom: frozenset[str]) -> JSONObject:
    """Return the JSON of a call."""
    owner = _CUSTOM if call.name in custom else "function"
    return {"id": call.id, "type": owner, owner: {"name": call.name, _INPUTS[owner]: call.arguments}}


def _choice_members(choice: JSONObject, message: JSONObject) -> Iterator[JSONObject]:
    """Yield the members, except for the index, of the chunks of a choice.

    The first chunk has the role and all members that are not sent in pieces, the last one the finish reason.
    """
    whole = {name: value for name, value in message.items() if name not in (*_TEXTS, _CALLS, _OLD_CALL)}
    content = message.get("content")
    first = {"role": "assistant", **whole, "content": None if content is None else ""}
    logprobs = choice.get("logprobs")
    yield {"delta": first, **({"logprobs": logprobs} if logprobs is not None else {}), "finish_reason": None}
    for delta in _deltas(message):
        yield {"delta": delta, "finish_reason": None}
    rest = {name: choice[name] for name in choice if name not in ("index", _MESSAGE, "logprobs", "finish_reason")}
    yield {"delta": {}, **rest, "finish_reason": choice.get("finish_reason")}


def _deltas(message: JSONObject) -> Iterator[JSONObject]:
    """Yield the deltas with the texts and the calls of a message."""
    for name in _TEXTS:
        value = message.get(name)
        if isinstance(value, str):
            for piece in pieces(value):
                yield {name: piece}
        elif value:
            yield {name: value}  # a list of parts
    for index, entry in objects(message.get(_CALLS)):
        owner = _owner(entry)
        inner = entry.get(owner)
        inner = inner if isinstance(inner, dict) else {}
        member = _INPUTS[owner]
        text = text_of(inner.get(member))
        yield {_CALLS: [{"index": index, **entry, owner: {**inner, member: ""}}]}
        for piece in pieces(text):
            yield {_CALLS: [{"index": index, owner: {member: piece}}]}
    old = message.get(_OLD_CALL)
    if isinstance(old, dict):
        yield {_OLD_CALL: {**old, "arguments": ""}}
        for piece in pieces(text_of(old.get("arguments"))):
            yield {_OLD_CALL: {"arguments": piece}}
